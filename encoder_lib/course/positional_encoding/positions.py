"""What positions buy: small models that live on them, trained with positions of one kind or another."""

from functools import partial
from typing import cast

import torch
from torch import Tensor, nn

from encoder_lib.model.encoder import TransformerEncoder
from encoder_lib.seeded import seeded
from encoder_lib.training.fit import accuracy, fit
from encoder_lib.training.tasks import IGNORE_INDEX, LETTERS, TASKS, Task, copy_back, solver

N_TEST = 500  # fresh sequences that a model is tried on
TRAINED = 16  # letters in a text that a model learns to copy on


class _Scaled(nn.Module):
    """Positions a factor louder: x + factor · position."""

    def __init__(self, position: nn.Module, factor: float):
        super().__init__()
        self.position, self.factor = position, factor

    def forward(self, x: Tensor) -> Tensor:
        return self.factor * self.position(x / self.factor)


def reversal_accuracy(
    *, words: float = 1.0, positions: float = 1.0, scores: float = 1.0, steps: int = 100, seed: int = 0
) -> float:
    """How well a small encoder learns to write 16 random letters backwards, from 0 to 1, on fresh sequences.

        what enters the layer = words · embedding + positions · sinusoids        scores · (query · key / √K)

    One layer, one head, D = 64, embeddings drawn from N(0, 1); Adam at 0.003 on batches of 64 sequences, in float32.
    All that is drawn comes from the seed.
    """
    task = TASKS["reverse"]
    with seeded(seed):
        model = solver(task, positional="sinusoidal")
        encoder = cast(TransformerEncoder, model[0])
        encoder.embedding.token.factor = words
        encoder.embedding.position = _Scaled(encoder.embedding.position, positions)
        queries = encoder.get_submodule("encoder.layers.0.attention.q_proj")
        queries.register_forward_hook(lambda module, x, query: scores * query)
        fit(model, lambda: task.draw(64)[:2], steps=steps)
        return accuracy(model, *task.draw(N_TEST)[:2])


def copy_accuracy(kind: str, *, length: int = 64, texts: int = N_TEST, steps: int = 200, seed: int = 0) -> Tensor:
    """How well an encoder that was trained on texts of 16 letters copies the letter three places back in others.

    Trained: one layer, one head, D = 64, positions of one `kind` ("learned" with a row for each of the 16 places); Adam
    at 0.003 on batches of 32 texts, in float32. Tried: on so many `texts` of `length` letters, place by place. NaN
    stands where nothing is asked (the first places), and where a learned table has no row.

    Shapes: -> (length,), shares from 0 to 1.
    """
    draw = partial(copy_back, length=TRAINED, vocab_size=len(LETTERS))
    task = Task(draw, LETTERS, len(LETTERS), TRAINED)
    with seeded(seed):
        model = solver(task, n_heads=1, positional=kind, max_len=TRAINED)
        fit(model, lambda: draw(32)[:2], steps=steps)
        reach = TRAINED if kind == "learned" else length
        ids, targets, _ = copy_back(texts, reach, len(LETTERS))
        with torch.no_grad():
            right = (model(ids).argmax(-1) == targets).double()  # (N, reach)
    shares = right.masked_fill(targets == IGNORE_INDEX, torch.nan).mean(dim=0)  # (reach,)
    return torch.cat([shares, shares.new_full((length - reach,), torch.nan)])  # (length,)
