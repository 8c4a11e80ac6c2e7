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


def check_padding(attempt: Callable) -> Verdict:
    """padding(lengths, pool): the least share of padding in rectangles of 16, chosen within each pool of texts."""

    def case(label: str, lengths: list[int], pool: int) -> Case:
        return Case(label, (torch.tensor(lengths), pool))

    drawn = torch.randint(1, 257, (192,), generator=torch.Generator().manual_seed(1))
    cases = [
        case("16 texts of one length", 16 * [3], 16),
        case("one text of four tokens, and 15 of one", [4, *15 * [1]], 16),
        case("two lengths in turn, in a pool of 32", 16 * [1, 4], 32),
        case("two pools of 16: nobody goes from one to the other", [4, *15 * [1], 4, *15 * [1]], 16),
        case("one pool of 32, with two long texts", [4, *15 * [1], 4, *15 * [1]], 32),
        Case("192 texts in pools of 64", (drawn, 64)),
    ]

    def reference(lengths: Tensor, pool: int) -> Tensor:
        rectangles = torch.cat([part.sort().values.view(-1, 16) for part in lengths.split(pool)])  # (N / 16, 16)
        return 1 - lengths.sum() / (16 * rectangles[:, -1].sum())

    return examine("padding", attempt, reference, cases)
