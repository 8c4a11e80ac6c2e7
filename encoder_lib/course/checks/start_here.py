"""Checks of the exercises of 00_start_here."""

from collections.abc import Callable

import torch

from encoder_lib.course.checks.verdict import Case, Verdict, examine, numbers


def check_mean_vector(attempt: Callable) -> Verdict:
    """mean_vector(x): the mean of the vectors x (T, D), one number for each dimension (D,)."""
    cases = [
        Case("one token", (torch.tensor([[1.0, 2.0, 3.0]], dtype=torch.float64),)),
        Case("two tokens", (torch.tensor([[1.0, 2.0], [3.0, 6.0]], dtype=torch.float64),)),
        Case("more tokens than numbers", (numbers(5, 2),)),
    ]
    return examine("mean_vector", attempt, lambda x: x.mean(dim=0), cases)


def check_unit(attempt: Callable) -> Verdict:
    """unit(x): every vector of x (N, D) brought to length 1, in its own direction."""
    cases = [
        Case("one vector", (torch.tensor([[3.0, 4.0]], dtype=torch.float64),)),
        Case("two vectors", (torch.tensor([[3.0, 4.0], [0.0, -5.0]], dtype=torch.float64),)),
        Case("many numbers", (numbers(3, 8),)),
        Case("long and short vectors", (numbers(3, 2) * torch.tensor([[1e4], [1.0], [1e-2]]),)),
    ]
    return examine("unit", attempt, lambda x: x / x.norm(dim=-1, keepdim=True), cases)
