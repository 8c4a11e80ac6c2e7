"""Small models that need positional encodings: trained on rows of 16 letters, then tested on rows of any length."""

from collections.abc import Callable, Sequence
from typing import cast

import torch
from torch import Tensor, nn

from encoder_lib.course.kit.ladder import N_LETTERS
from encoder_lib.model.encoder import TransformerEncoder
from encoder_lib.seeded import seeded
from encoder_lib.training.fit import fit
from encoder_lib.training.tasks import IGNORE_INDEX, copy_back

N_TEST = 500  # new rows that a model is tested on, position by position
TRAINED = 16  # letters in a row that a model is trained on


def accuracy_by_position(
    build: Callable[[str], nn.Module], kind: str, *, length: int = 64, steps: int = 200, seed: int = 0
) -> Tensor:
    """Train a model to name the letter three positions to the left, and return its accuracy at each position.

    build: builds the model for one `kind` of positional encoding; it takes ids (B, T) and gives scores (B, T, 8). It is
    trained in float32 on rows of 16 of the cards' eight letters, with Adam at a learning rate of 0.003 and a batch size
    of 32, and tested on 500 new rows of `length` letters. The result is NaN where there is no answer (the first three
    positions), and from position 16 on for "learned", whose table has only 16 rows. Everything random comes from the
    seed.

    Shapes: -> (length,), from 0 to 1.
    """
    with seeded(seed):
        reach = min(length, TRAINED) if kind == "learned" else length
        accuracy = _test(_train(build, kind, steps), N_TEST, reach)  # (reach,)
    return torch.cat([accuracy, accuracy.new_full((length - reach,), torch.nan)])  # (length,)


def accuracy_by_length(
    build: Callable[[str], nn.Module], kind: str, lengths: Sequence[int], *, steps: int = 200, seed: int = 0
) -> list[float]:
    """Train a model as `accuracy_by_position` does, and return its accuracy on new rows of each length.

    For each length it is tested on about 8,000 letters in all. The encoding must not be "learned", whose table ends.
    """
    with seeded(seed):
        model = _train(build, kind, steps)
        return [float(_test(model, 8192 // length, length).nanmean()) for length in lengths]


def _train(build: Callable[[str], nn.Module], kind: str, steps: int) -> nn.Module:
    model = build(kind).float()
    fit(model, lambda: copy_back(32, TRAINED, N_LETTERS)[:2], steps=steps)
    return model


@torch.no_grad()
def _test(model: nn.Module, rows: int, length: int) -> Tensor:
    """The accuracy at each position, NaN where there is no answer. Shapes: -> (length,)."""
    ids, targets, _ = copy_back(rows, length, N_LETTERS)
    right = (model(ids).argmax(-1) == targets).double()  # (N, length)
    return right.masked_fill(targets == IGNORE_INDEX, torch.nan).mean(dim=0)


class _Scaled(nn.Module):
    """A positional encoding times a factor: x + factor · position."""

    def __init__(self, position: nn.Module, factor: float):
        super().__init__()
        self.position, self.factor = position, factor

    def forward(self, x: Tensor) -> Tensor:
        return self.factor * self.position(x / self.factor)


def rescale(
    model: nn.Sequential, *, letters: float = 1.0, positions: float = 1.0, scores: float = 1.0
) -> nn.Sequential:
    """Change the size of what enters the first layer of a model, an encoder and a linear layer, in place; return it.

    x = letters · embedding + positions · encoding        scores · (query · key / √K)
    """
    encoder = cast(TransformerEncoder, model[0])
    encoder.embedding.token.factor = letters
    encoder.embedding.position = _Scaled(encoder.embedding.position, positions)
    queries = encoder.get_submodule("encoder.layers.0.attention.q_proj")
    queries.register_forward_hook(lambda module, x, query: scores * query)
    return model
