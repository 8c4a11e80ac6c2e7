"""Checks of the exercises of 02_positional_encoding."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from encoder_lib.course.checks.verdict import Case, Probe, Verdict, diagnose, examine, written
from encoder_lib.model.positional import sinusoidal_table


def check_clock_table(attempt: Callable) -> Verdict:
    """clock_table(length, D, base): the table of sinusoids, (T, D)."""
    cases = [
        Case("one position", (1, 4, 100)),
        Case("one clock, two positions", (2, 2, 100)),
        Case("two clocks, three positions", (3, 4, 100)),
        Case("another base", (3, 4, 10_000)),
        Case("a long table", (200, 6, 100)),
    ]
    return examine("clock_table", attempt, _clocks, cases)


def _clocks(length: int, width: int, base: float) -> Tensor:
    return sinusoidal_table(length, width, base=base, dtype=torch.float64)


def check_look_back(attempt: Callable) -> Verdict:
    """look_back(rows, steps): from 16 rows of a table of clocks, the matrix M that makes `steps` back the best match.

    Row t of rows @ M @ rows.T is largest at t − steps: among these rows, and in a table of 200 with the same M.
    """
    looks = {
        "three clocks, three steps back": (6, 3, 16),
        "one step back": (6, 1, 16),
        "four clocks": (8, 5, 16),
        "the same matrix for 200 rows": (6, 3, 200),
        "four clocks and 200 rows": (8, 5, 200),
    }
    return diagnose("look_back", attempt, [Probe(label, partial(_looks_back, *at)) for label, at in looks.items()])


def _looks_back(width: int, steps: int, length: int, look_back: Callable) -> str:
    """What is wrong with the matrix for a table of that width, tried on so many rows; empty when nothing is."""
    rows = _clocks(length, width, 100)
    matrix, given = written(look_back(rows[:16].clone(), steps), look_back), f"with rows {(16, width)}, steps {steps}"
    if not isinstance(matrix, Tensor) or matrix.shape != (width, width):
        got = tuple(matrix.shape) if isinstance(matrix, Tensor) else type(matrix).__name__
        return f"{given}: expected a tensor of shape {(width, width)}, got {got}"
    best = (rows @ matrix.detach().double() @ rows.T).argmax(dim=1)  # (T,): what each position matches best
    for t in range(steps, length):
        if best[t] != t - steps:
            return f"{given}: of {length} rows, row {t} matches row {best[t]} best, expected {t - steps}"
    return ""
