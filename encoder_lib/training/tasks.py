"""Small synthetic tasks, generated on demand, whose answers are known."""

import string
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from encoder_lib.model.encoder import TransformerEncoder

IGNORE_INDEX = -100  # target of a position that the loss ignores


class Sample(NamedTuple):
    """Token ids, their targets, and the position in the sequence at which each answer is found; (B, T) each."""

    ids: Tensor
    targets: Tensor
    source: Tensor


def reversal(batch: int, length: int, vocab_size: int) -> tuple[Tensor, Tensor]:
    """Random sequences, to be reversed: a task that needs positions. Shapes: -> ids (B, T) and targets (B, T)."""
    ids = torch.randint(vocab_size, (batch, length))
    return ids, ids.flip(1)


def padded_reversal(batch: int, length: int, vocab_size: int, *, shortest: int = 4) -> Sample:
    """Sequences of `shortest` to `length` tokens, to be reversed, padded to `length` with the id `vocab_size`.

    Shapes: (B, T) each; targets and source are IGNORE_INDEX at the padding.
    """
    lengths = torch.randint(shortest, length + 1, (batch, 1))
    source = lengths - 1 - torch.arange(length)  # (B, T): negative at the padding
    ids = torch.randint(vocab_size, (batch, length)).masked_fill(source < 0, vocab_size)
    return _copying(ids, source)


def copy_back(batch: int, length: int, vocab_size: int, *, back: int = 3) -> Sample:
    """Random sequences in which the target of each token is the token `back` positions before it.

    Shapes: (B, T) each; targets and source are IGNORE_INDEX at the first `back` tokens.
    """
    ids = torch.randint(vocab_size, (batch, length))
    return _copying(ids, (torch.arange(length) - back).expand(batch, length))


def _copying(ids: Tensor, source: Tensor) -> Sample:
    """The target of each token is the token at its `source`, or IGNORE_INDEX if `source` < 0. Shapes: (B, T) each."""
    targets = ids.gather(1, source.clamp(min=0))
    return Sample(ids, *(x.masked_fill(source < 0, IGNORE_INDEX) for x in (targets, source)))


@dataclass(frozen=True)
class Task:
    """A task on sequences of `length` tokens: `draw(batch)` generates it, `symbols` are what its ids stand for.

    Targets are classes from 0 to answers − 1, and `padding_idx` is the id of the padding, if there is any.
    """

    draw: Callable[[int], Sample]
    symbols: tuple[str, ...]
    answers: int
    length: int
    padding_idx: int | None = None

    def read(self, ids: Tensor) -> list[str]:
        """The symbols of one sequence. Shapes: ids (T,) -> T strings."""
        return [self.symbols[i] for i in ids.tolist()]


LETTERS = tuple(string.ascii_lowercase[:10])
TASKS = {
    "reverse": Task(partial(padded_reversal, length=16, vocab_size=10, shortest=16), LETTERS, 10, 16),
    "padded": Task(partial(padded_reversal, length=12, vocab_size=10), (*LETTERS, "·"), 10, 12, padding_idx=10),
}


def solver(task: Task, *, n_layers: int = 1, n_heads: int = 1, d_model: int = 64, **settings: Any) -> nn.Sequential:
    """A model for a task, in float32: an encoder, and a linear layer from each token's vector to a score per answer.

    `settings` are passed on to TransformerEncoder, which refuses those it doesn't know.
    Shapes: ids (B, T) -> (B, T, answers).
    """
    defaults: dict[str, Any] = {"positional": "learned", "max_len": 2 * task.length, "padding_idx": task.padding_idx}
    encoder = TransformerEncoder(len(task.symbols), n_layers, d_model, n_heads, 2 * d_model, **(defaults | settings))
    return nn.Sequential(encoder, nn.Linear(d_model, task.answers)).float()
