"""Checks of the exercises of 11_fast_encoder."""

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

import torch
from torch import Tensor, nn

from encoder_lib.course.kit.checking.trained import examine_trained
from encoder_lib.course.kit.checking.verdict import Case, Feedback, Verdict, examine, numbers, require_written
from encoder_lib.model.encoder import EncoderLayer
from encoder_lib.model.masks import lengths_mask
from encoder_lib.seeded import seeded


def _half(scores: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """The result of attention over some of the keys: its output (T, K), and the logarithm of its total (T, 1)."""
    return scores.softmax(-1) @ values, scores.logsumexp(-1, keepdim=True)


def _halves(first: Tensor, second: Tensor, values: Tensor) -> tuple[Tensor, ...]:
    """The four arguments of `join`. Shapes: scores (T, n) and (T, m), values (n + m, K)."""
    n = first.shape[1]
    return *_half(first, values[:n]), *_half(second, values[n:])


def check_join(attempt: Callable) -> Verdict:
    """join: the attention output over all keys, from the results of two workers with half of the keys each.

    It takes the output (T, K) and the logarithm of the total (T, 1) of the first worker, then of the second -> (T, K).
    """
    few = torch.tensor([[1.0], [3.0], [5.0]], dtype=torch.float64)
    row = torch.tensor([[2.0, 0.0, 2.0]], dtype=torch.float64)
    two = torch.cat([row - 1000, row + 1000])  # two queries
    cases = [
        Case("one key each, with the same score", _halves(row[:, :1], row[:, 2:], few[:2])),
        Case("one key for the first, two for the second", _halves(row[:, :1], row[:, 1:], few)),
        Case(
            "scores so large that their exponentials overflow",
            _halves(1000 + row[:, :1], 1000 + row[:, 1:], few),
        ),
        Case("scores so low that their exponentials are 0", _halves(row[:, :1] - 1000, row[:, 1:] - 1000, few)),
        Case("the first half's scores larger by 2000", _halves(1000 + row[:, :1], row[:, 1:] - 1000, few)),
        Case(
            "the second half's scores larger by 2000",
            _halves(row[:, :1] - 1000, 1000 + row[:, 1:], few),
            hint="the first half's scores larger by 2000",
        ),
        Case("two queries, the scores of one larger by 2000", _halves(two[:, :1], two[:, 1:], few)),
        Case("four queries, values of three numbers", _halves(3 * numbers(4, 5), 3 * numbers(4, 2), numbers(7, 3))),
    ]

    def reference(out_1: Tensor, log_1: Tensor, out_2: Tensor, log_2: Tensor) -> Tensor:
        first = torch.sigmoid(log_1 - log_2)  # (T, 1)
        return first * out_1 + (1 - first) * out_2

    return examine("join", attempt, reference, cases)


class _PackedLayer(nn.Module):
    """A layer that accepts only a packed sequence of this many tokens, and records the shapes of its calls."""

    def __init__(self, tokens: int) -> None:
        super().__init__()
        with seeded(0):  # the layer's random numbers are not used, and the learner's random state is left as it was
            self.layer, self.tokens = EncoderLayer(4, 2, 6), tokens
        self.calls: list[tuple[int, ...]] = []
        for seed, parameter in enumerate(self.layer.parameters()):
            parameter.data = numbers(*parameter.shape, seed=seed)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        self.calls.append(tuple(x.shape))
        self.expect_packed()
        return self.layer(x, mask)

    def expect_packed(self) -> None:
        """Raises: Feedback if a call was not with the packed sequence, even if the learner's code caught that."""
        packed = (1, self.tokens, 4)
        if wrong := [shape for shape in self.calls if shape != packed]:
            raise Feedback(f"the layer expected the packed sequence, of shape {packed}, got {wrong[0]}")


def check_packed(attempt: Callable) -> Verdict:
    """packed(layer, x, lengths): the layer's output for the real tokens of x (B, T, D), from one call on all of them.

    lengths (B,) -> (B, T, D), zeros at padding.
    """

    def case(label: str, *lengths: int) -> Case:
        x = numbers(len(lengths), max(lengths), 4)  # padding that is not zero
        return Case(label, (_PackedLayer(sum(lengths)), x, torch.tensor(lengths)))

    cases = [
        case("one text", 3),
        case("texts of 2 tokens and 1", 2, 1),
        case("two texts of the same length", 2, 2),
        case("the longest text in the middle", 1, 3, 2),
        case("five texts", 4, 1, 7, 2, 4),
    ]

    def called(layer: _PackedLayer, x: Tensor, lengths: Tensor) -> Any:
        y = require_written(attempt(layer, x, lengths), attempt)
        layer.expect_packed()
        if len(layer.calls) != 1:
            raise Feedback(f"expected one call of layer, on the packed sequence, got {len(layer.calls)}")
        return y

    def reference(layer: _PackedLayer, x: Tensor, lengths: Tensor) -> Tensor:
        mask = lengths_mask(lengths)
        return layer.layer(x, mask) * mask[:, 0, 0, :, None]  # (B, T, D)

    mine = update_wrapper(called, attempt, (), ()) if callable(attempt) else attempt
    return examine_trained("packed", mine, reference, cases)
