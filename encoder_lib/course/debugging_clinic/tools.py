"""Helpers that several checks of the clinic share."""

import torch
from torch import Tensor, nn

from encoder_lib.course.kit.checking.modules import run
from encoder_lib.course.kit.checking.verdict import numbers


def double(rows: list | float) -> Tensor:
    return torch.tensor(rows, dtype=torch.float64)


def all_true(*shape: int) -> Tensor:
    return torch.ones(*shape, dtype=torch.bool)


def trainable(module: nn.Module, expected: int) -> str:
    """What is wrong if a module does not train exactly `expected` numbers; empty if it does."""
    got = sum(weight.numel() for weight in module.parameters() if weight.requires_grad)
    return "" if got == expected else f"expected {expected} trainable numbers in parameters(), got {got}"


def other_shape(module: nn.Module, *shape: int) -> str:
    """What is wrong if a module's output does not have the shape of its input; empty if it has."""
    got = run(module, numbers(*shape)).shape
    return "" if got == shape else f"with x of shape {shape} expected the same shape, got {tuple(got)}"
