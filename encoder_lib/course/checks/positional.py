"""Checks of the exercises of 02_positional_encoding."""

from collections.abc import Callable

import torch
from torch import Tensor

from encoder_lib.course.checks.verdict import Case, Verdict, examine, numbers
from encoder_lib.model.positional import RotaryPositionalEncoding, sinusoidal_table


def check_sinusoidal_table(attempt: Callable) -> Verdict:
    """sinusoidal(length, d_model, base): the table (T, D)."""
    cases = [
        Case("one position", (1, 4, 10_000.0)),
        Case("two positions, one clock", (2, 2, 10_000.0)),
        Case("three positions, two clocks", (3, 4, 10_000.0)),
        Case("another base", (3, 4, 100.0)),
        Case("a long table", (200, 6, 10_000.0)),
    ]

    def reference(length: int, d_model: int, base: float) -> Tensor:
        return sinusoidal_table(length, d_model, base=base, dtype=torch.float64)

    return examine("sinusoidal", attempt, reference, cases)


def check_shift_matrix(attempt: Callable) -> Verdict:
    """shift_matrix(s, d_model): the matrix (D, D) with matrix @ PE(t) = PE(t + s) for every t, base 10,000."""

    def reference(k: int, d_model: int) -> Tensor:
        sin, cos = sinusoidal_table(k + 1, d_model, dtype=torch.float64)[k].unflatten(0, (-1, 2)).T  # (D/2,) each
        return torch.block_diag(
            *(torch.stack([torch.stack([c, s]), torch.stack([-s, c])]) for s, c in zip(sin, cos, strict=True))
        )

    cases = [
        Case("no shift", (0, 4)),
        Case("one clock, one step", (1, 2)),
        Case("two clocks, one step", (1, 4)),
        Case("eight clocks, fifty steps", (50, 16)),
    ]
    return examine("shift_matrix", attempt, reference, cases)


def check_rotate(attempt: Callable) -> Verdict:
    """rotate(x): turn pair k of the vector at position t counter-clockwise by t · ω_k, for x (T, K) and base 10,000."""
    ones = torch.ones(2, 2, dtype=torch.float64)
    cases = [
        Case("position 0 stays", (ones[:1],)),
        Case("one pair, two positions", (ones,)),
        Case("two pairs", (numbers(3, 4),)),
        Case("many positions", (numbers(40, 8),)),
    ]

    def reference(x: Tensor) -> Tensor:
        return RotaryPositionalEncoding(x.shape[-1])(x)

    return examine("rotate", attempt, reference, cases)
