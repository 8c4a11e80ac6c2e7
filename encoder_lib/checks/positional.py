"""Checks of the exercises of 02_positional_encoding."""

from collections.abc import Callable

import torch
from torch import Tensor

from encoder_lib.checks.verdict import Case, Verdict, examine, numbers
from encoder_lib.model.positional import RotaryPositionalEncoding, sinusoidal_table


def check_sinusoidal_table(attempt: Callable) -> Verdict:
    """sinusoidal(length, d_model, base): the table (T, D)."""
    cases = [
        Case(
            "one position",
            (1, 4, 10_000.0),
            "At position 0 every angle is 0: each sine is 0, each cosine 1. The two of one clock stand side by side.",
        ),
        Case(
            "two positions, one clock",
            (2, 2, 10_000.0),
            "A single clock has speed 1, whatever the base. At position 1 its angle is 1 radian.",
        ),
        Case(
            "three positions, two clocks",
            (3, 4, 10_000.0),
            "A single clock is right. ω_k = base^(−2k / D), and k counts pairs of columns: 0 for the first, 1 for the "
            "second. Each pair holds its sine and its cosine side by side.",
        ),
        Case("another base", (3, 4, 100.0), "With base 10,000 it is right. Is `base` used?"),
        Case("more dimensions than positions", (5, 16, 10_000.0)),
        Case("a long table", (200, 6, 10_000.0)),
    ]
    hints = (
        "Column 2k holds sines and column 2k + 1 cosines of the same angle, position times ω_k.",
        "ω_k = base^(−2k / D), and k counts pairs of columns: 0, 1, … D/2 − 1.",
        "Build the angles (T, D/2) first, then let their sines and cosines alternate.",
    )

    def reference(length: int, d_model: int, base: float) -> Tensor:
        return sinusoidal_table(length, d_model, base=base, dtype=torch.float64)

    return examine("sinusoidal", attempt, reference, cases, hints)


def check_shift_matrix(attempt: Callable) -> Verdict:
    """shift_matrix(s, d_model): the matrix (D, D) with matrix @ PE(t) = PE(t + s) for every t, base 10,000."""

    def reference(k: int, d_model: int) -> Tensor:
        sin, cos = sinusoidal_table(k + 1, d_model, dtype=torch.float64)[k].unflatten(0, (-1, 2)).T  # (D/2,) each
        return torch.block_diag(
            *(torch.stack([torch.stack([c, s]), torch.stack([-s, c])]) for s, c in zip(sin, cos, strict=True))
        )

    cases = [
        Case("no shift", (0, 4), "Without a shift every row stays as it is. Which matrix leaves all vectors alone?"),
        Case(
            "one clock, one step",
            (1, 2),
            "Try it by hand on position 0, where the clock holds (0, 1): the new row is (sin 1, cos 1), both positive. "
            "The block multiplies from the left.",
        ),
        Case(
            "two clocks, one step",
            (1, 4),
            "One clock is right. The second has an angle of its own, s · ω_1, and a block of its own on the diagonal.",
        ),
        Case("two clocks, three steps", (3, 4), "One step is right. What do three steps do to each angle?"),
        Case("eight clocks, fifty steps", (50, 16)),
    ]
    hints = (
        "Each clock turns by its own angle s · ω_k, and by nothing else: the matrix has 2 × 2 blocks on its diagonal.",
        "sin(a + b) = sin a · cos b + cos a · sin b, and cos(a + b) = cos a · cos b − sin a · sin b.",
        "Row 0 of a block gives the new sine, row 1 the new cosine; column 0 takes the old sine.",
    )
    return examine("shift_matrix", attempt, reference, cases, hints)


def check_rotate(attempt: Callable) -> Verdict:
    """rotate(x): turn pair k of the vector at position t counter-clockwise by t · ω_k, for x (T, K) and base 10,000."""
    ones = torch.ones(2, 2, dtype=torch.float64)
    cases = [
        Case("position 0 stays", (ones[:1],), "At position 0 every angle is 0, and nothing turns."),
        Case(
            "one pair, two positions",
            (ones,),
            "At position 1 the point (1, 1) turns by 1 radian counter-clockwise: its first number shrinks, its second "
            "grows.",
        ),
        Case(
            "two pairs",
            (numbers(3, 4),),
            "One pair is right. The pairs lie side by side, numbers 0 and 1, then 2 and 3, and each has its own ω_k.",
        ),
        Case("one position of six", (numbers(1, 6),)),
        Case("many positions", (numbers(40, 8),)),
    ]
    hints = (
        "The numbers x[:, 0::2] and x[:, 1::2] form the pairs; turn each like a point in the plane, counter-clockwise.",
        "A point (a, b) turned by θ is (a · cos θ − b · sin θ, a · sin θ + b · cos θ).",
        "The angle is position times ω_k; the new pairs go back to the places where the old ones stood.",
    )

    def reference(x: Tensor) -> Tensor:
        return RotaryPositionalEncoding(x.shape[-1])(x)

    return examine("rotate", attempt, reference, cases, hints)
