"""What positions buy: small models that live on them, trained with positions of one kind or another."""

from functools import partial
from typing import cast

import torch
from torch import Tensor, nn

from encoder_lib import expect
from encoder_lib.model.encoder import TransformerEncoder
from encoder_lib.model.positional import POSITIONS
from encoder_lib.seeded import seeded
from encoder_lib.training.fit import accuracy, fit
from encoder_lib.training.tasks import IGNORE_INDEX, LETTERS, TASKS, Task, copy_back, solver

N_TRIED = 500  # fresh sequences that a model is tried on


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

    Raises: TypeError or ValueError for factors that are not above 0, steps that are no integer ≥ 1, a seed that is
    none.
    """
    for name, factor in {"words": words, "positions": positions, "scores": scores}.items():
        expect.positive(name, factor)
    task = TASKS["reverse"]
    with seeded(seed):
        model = solver(task, positional="sinusoidal")
        encoder = cast(TransformerEncoder, model[0])
        encoder.embedding.token.scale = words
        encoder.embedding.position = _Scaled(encoder.embedding.position, positions)
        queries = encoder.get_submodule("encoder.layers.0.attention.q_proj")
        queries.register_forward_hook(lambda module, x, query: scores * query)
        fit(model, lambda: task.draw(64)[:2], steps=steps)
        return accuracy(model, *task.draw(N_TRIED)[:2])


def copy_accuracy(
    kind: str, *, trained: int = 16, tried: int = 64, back: int = 3, steps: int = 200, seed: int = 0
) -> Tensor:
    """How well a model that was trained on short sequences copies the letter `back` places before, place by place.

    One layer, one head, D = 64, positions of one `kind` ("learned" with a row for each of the `trained` places); Adam
    at 0.003 on batches of 32 sequences of `trained` letters, in float32, then tried on fresh sequences of `tried`
    letters. NaN stands where nothing is asked (the first places), and where a learned table has no row.

    Shapes: -> (tried,), shares from 0 to 1.
    Raises: ValueError for an unknown kind, a `back` not below `trained`, a `tried` below it; TypeError or ValueError
    for sizes or steps that are no integers ≥ 1, a seed that is none.
    """
    expect.choice("kind", kind, POSITIONS)
    expect.sizes(trained=trained, tried=tried, back=back)
    if tried < trained:
        raise ValueError(f"tried: expected at least trained={trained} letters, got {tried}; try tried={4 * trained}")
    draw = partial(copy_back, length=trained, vocab_size=len(LETTERS), back=back)
    task = Task(draw, LETTERS, len(LETTERS), trained)
    with seeded(seed):
        model = solver(task, n_heads=1, positional=kind, max_len=trained)
        fit(model, lambda: draw(32)[:2], steps=steps)
        reach = trained if kind == "learned" else tried
        ids, targets, _ = copy_back(N_TRIED, reach, len(LETTERS), back=back)
        with torch.no_grad():
            right = (model(ids).argmax(-1) == targets).double()  # (N, reach)
    shares = right.masked_fill(targets == IGNORE_INDEX, torch.nan).mean(dim=0)  # (reach,)
    return torch.cat([shares, shares.new_full((tried - reach,), torch.nan)])  # (tried,)
