"""Checks of the exercises of 03_layer_norm."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from encoder_lib.course.checks.verdict import Case, Verdict, examine, numbers

EPS = 1e-5


def check_layer_norm(attempt: Callable) -> Verdict:
    """layer_norm(x, weight, bias, eps): each token of x (…, T, D) at mean 0 and variance 1, times weight, plus bias."""

    def plain(x: Tensor, eps: float = EPS) -> tuple:
        return x, x.new_ones(x.shape[-1]), x.new_zeros(x.shape[-1]), eps

    one = torch.tensor([[2.0, 4.0, 4.0, 6.0]], dtype=torch.float64)
    weight, bias = torch.tensor([[1.0, 2.0, 0.5, -1.0], [0.0, 1.0, -2.0, 3.0]], dtype=torch.float64)
    cases = [
        Case("one token", plain(one)),
        Case("a weight and a bias", (one, weight, bias, EPS)),
        Case("a token whose numbers are all equal", plain(torch.full((1, 4), 3.0, dtype=torch.float64))),
        Case("a large eps", plain(one, 2.0)),
        Case("three tokens of different size", plain(numbers(3, 2) * torch.tensor([[1.0], [10.0], [100.0]]))),
        Case("a batch of sequences", (numbers(2, 3, 5) + 7, numbers(5, seed=1), numbers(5, seed=2), 1e-3)),
    ]

    def reference(x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
        return F.layer_norm(x, x.shape[-1:], weight, bias, eps)

    return examine("layer_norm", attempt, reference, cases)


def check_undo(attempt: Callable) -> Verdict:
    """undo(y, mean, variance, weight, bias, eps): the x (T, D) that layer norm turned into y; the statistics (T, 1)."""

    def case(label: str, x: Tensor, weight: Tensor, bias: Tensor, eps: float = EPS) -> Case:
        y = F.layer_norm(x, x.shape[-1:], weight, bias, eps)
        return Case(label, (y, x.mean(-1, keepdim=True), x.var(-1, correction=0, keepdim=True), weight, bias, eps))

    one, ones = torch.tensor([[2.0, 4.0, 4.0, 6.0]], dtype=torch.float64), torch.ones(4, dtype=torch.float64)
    cases = [
        case("one token", one, ones, ones - 1),
        case("a weight", one, ones * 2, ones - 1),
        case("a weight and a bias", one, ones * 2, ones),
        case("a large eps", one, ones, ones - 1, 2.0),
        case("three tokens", numbers(3, 5) * torch.tensor([[1.0], [5.0], [0.1]]) + 3, numbers(5, seed=1), numbers(5)),
        case("as many tokens as numbers", numbers(4, 4) - 2, numbers(4, seed=1), numbers(4, seed=2), 0.5),
    ]

    def reference(y: Tensor, mean: Tensor, variance: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
        return (y - bias) / weight * (variance + eps).sqrt() + mean

    return examine("undo", attempt, reference, cases)
