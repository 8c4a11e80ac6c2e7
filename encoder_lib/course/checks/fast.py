"""Checks of the exercises of 11_fast_encoder."""

from collections.abc import Callable

import torch
from torch import Tensor

from encoder_lib.course.checks.verdict import Case, Verdict, examine, numbers


def _lengths(count: int, most: int, seed: int) -> Tensor:
    return torch.randint(1, most + 1, (count,), generator=torch.Generator().manual_seed(seed))


def _half(scores: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """What is kept of some keys: the largest score (T, 1), the total (T, 1) and the sum of values (T, K)."""
    largest = scores.amax(-1, keepdim=True)
    powers = (scores - largest).exp()  # (T, keys)
    return largest, powers.sum(-1, keepdim=True), powers @ values


def _halves(first: Tensor, second: Tensor, values: Tensor) -> tuple[Tensor, ...]:
    """The six arguments of `join`. Shapes: scores (T, n) and (T, m), values (n + m, K)."""
    n = first.shape[1]
    return *_half(first, values[:n]), *_half(second, values[n:])


def check_join(attempt: Callable) -> Verdict:
    """join: the attention output over all keys from what two halves of the keys have left behind.

    It takes largest (T, 1), total (T, 1) and summed (T, K) of the first half, then those of the second -> (T, K).
    """
    few = torch.tensor([[1.0], [3.0], [5.0]], dtype=torch.float64)
    row = torch.tensor([[2.0, 0.0, 2.0]], dtype=torch.float64)
    two = torch.cat([row, 1000 + row])  # two queries
    cases = [
        Case("both halves have the same largest score", _halves(row[:, :2], row[:, 2:], few)),
        Case("the second half has a larger score", _halves(row[:, 1:2], row[:, [0, 2]], few)),
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

    def reference(
        largest_1: Tensor, total_1: Tensor, summed_1: Tensor, largest_2: Tensor, total_2: Tensor, summed_2: Tensor
    ) -> Tensor:
        largest = torch.maximum(largest_1, largest_2)  # (T, 1)
        factor_1, factor_2 = (largest_1 - largest).exp(), (largest_2 - largest).exp()
        return (factor_1 * summed_1 + factor_2 * summed_2) / (factor_1 * total_1 + factor_2 * total_2)

    return examine("join", attempt, reference, cases)


def check_strip_means(attempt: Callable) -> Verdict:
    """strip_means(strip, lengths): the mean of each text's vectors in a strip (1, N, D), lengths (B,) -> (B, D)."""

    def case(label: str, lengths: list[int], width: int = 2) -> Case:
        return Case(label, (numbers(1, sum(lengths), width), torch.tensor(lengths)))

    cases = [
        case("one text", [2]),
        case("two texts of one token", [1, 1]),
        case("two texts of two tokens", [2, 2]),
        case("a text of one token, then one of three", [1, 3]),
        case("three texts, the longest first", [4, 1, 2], 3),
        Case("fifty texts", (numbers(1, int(_lengths(50, 9, 1).sum()), 4), _lengths(50, 9, 1))),
    ]

    def reference(strip: Tensor, lengths: Tensor) -> Tensor:
        return torch.cat([text.mean(dim=1) for text in strip.split(lengths.tolist(), dim=1)])  # (B, D)

    return examine("strip_means", attempt, reference, cases)
