"""Checks of the exercises of 11_fast_encoder."""

from collections.abc import Callable

import torch
from torch import Tensor

from encoder_lib.course.checks.verdict import Case, Verdict, examine, numbers


def _half(scores: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """What attention over some keys hands in: its output (T, K), and the logarithm of its total (T, 1)."""
    return scores.softmax(-1) @ values, scores.logsumexp(-1, keepdim=True)


def _halves(first: Tensor, second: Tensor, values: Tensor) -> tuple[Tensor, ...]:
    """The four arguments of `join`. Shapes: scores (T, n) and (T, m), values (n + m, K)."""
    n = first.shape[1]
    return *_half(first, values[:n]), *_half(second, values[n:])


def check_join(attempt: Callable) -> Verdict:
    """join: the attention output over all keys from what two workers hand in, who had a half of the keys each.

    It takes the output (T, K) and the logarithm of the total (T, 1) of the first, then of the second -> (T, K).
    """
    few = torch.tensor([[1.0], [3.0], [5.0]], dtype=torch.float64)
    row = torch.tensor([[2.0, 0.0, 2.0]], dtype=torch.float64)
    two = torch.cat([row, 1000 + row])  # two queries
    cases = [
        Case("one key each, with the same score", _halves(row[:, :1], row[:, 2:], few[:2])),
        Case("one key for the first, two for the second", _halves(row[:, :1], row[:, 1:], few)),
        Case(
            "scores so large that e to their power is no number any more",
            _halves(1000 + row[:, :1], 1000 + row[:, 1:], few),
        ),
        Case("the first half's scores larger by 1000", _halves(1000 + row[:, :1], row[:, 1:], few)),
        Case(
            "the second half's scores larger by 1000",
            _halves(row[:, :1], 1000 + row[:, 1:], few),
            hint="the first half's scores larger by 1000",
        ),
        Case("two queries, the scores of one larger by 1000", _halves(two[:, :1], two[:, 1:], few)),
        Case("four queries, values of three numbers", _halves(3 * numbers(4, 5), 3 * numbers(4, 2), numbers(7, 3))),
    ]

    def reference(out_1: Tensor, log_1: Tensor, out_2: Tensor, log_2: Tensor) -> Tensor:
        first = torch.sigmoid(log_1 - log_2)  # (T, 1)
        return first * out_1 + (1 - first) * out_2

    return examine("join", attempt, reference, cases)


def check_masked(attempt: Callable) -> Verdict:
    """masked(q, k, v, mask, size): attention in pieces of `size` keys, of which `mask` says who may be looked at.

    q (T, K), k and v (n, K), mask (T, n), True for a key that may be looked at -> (T, K).
    """
    seen = torch.ones(2, 4, dtype=torch.bool)
    first, second = seen.clone(), seen.clone()
    first[:, :2], second[:, 2:] = False, False  # the piece that is hidden
    other = torch.tensor([[False, False, True, True], [True, False, False, False]])
    mixed = torch.rand(6, 7, generator=torch.Generator().manual_seed(0)) < 0.4
    mixed[:, 3] = True
    q, k, v = numbers(2, 1), numbers(4, 1), numbers(4, 1)
    rising = 1000 + torch.arange(4.0, dtype=torch.float64)[:, None]
    one, each = torch.tensor([[1.0], [1.0]], dtype=torch.float64), torch.tensor([[1.0], [-1.0]], dtype=torch.float64)
    cases = [
        Case("two pieces, nothing hidden", (q, k, v, seen, 2)),
        Case("the second piece hidden", (q, k, v, second, 2)),
        Case("the first piece hidden", (q, k, v, first, 2)),
        Case("each query sees other keys", (q, k, v, other, 2)),
        Case("scores near 1000, rising from piece to piece", (one, rising, v, seen, 2)),
        Case("scores near 1000, falling from piece to piece", (one, rising.flip(0), v, seen, 2)),
        Case("scores near 1000 for one query, near -1000 for the other", (each, rising, v, other, 2)),
        Case("six queries, seven keys in pieces of three", (3 * numbers(6, 2), numbers(7, 2), numbers(7, 2), mixed, 3)),
    ]

    def reference(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, size: int) -> Tensor:
        return (q @ k.T / q.shape[1] ** 0.5).masked_fill(~mask, -torch.inf).softmax(-1) @ v

    return examine("masked", attempt, reference, cases)
