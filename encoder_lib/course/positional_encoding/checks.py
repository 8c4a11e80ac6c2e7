"""Checks for the exercises of 02_positional_encoding."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from encoder_lib.course.kit.checking.inputs import call
from encoder_lib.course.kit.checking.results import as_tensor
from encoder_lib.course.kit.checking.verdict import Case, Feedback, Probe, Verdict, diagnose, examine, require_written
from encoder_lib.model.positional import sinusoidal_table


def check_clock_table(attempt: Callable) -> Verdict:
    """clock_table(length, D, base): the table of sines and cosines, (T, D)."""
    cases = [
        Case("one position", (1, 4, 100)),
        Case("one clock, two positions", (2, 2, 50)),
        Case("two clocks, three positions", (3, 4, 100)),
        Case("another base", (4, 6, 30)),
        Case("a long table", (200, 10, 10_000)),
    ]
    return examine("clock_table", attempt, _clocks, cases)


def _clocks(length: int, width: int, base: float) -> Tensor:
    return sinusoidal_table(length, width, base=base, dtype=torch.float64)


def check_look_back(attempt: Callable) -> Verdict:
    """look_back(rows, steps): from 16 rows of a sinusoidal table, a matrix M that gives t − steps the highest score.

    Row t of rows @ M @ rows.T is largest at t − steps, in these 16 rows and, with the same M, in a table of 200.
    """
    looks = {  # columns, base, steps, rows
        "three clocks, three steps to the left": (6, 100, 3, 16),
        "another base, six steps to the left": (6, 10, 6, 16),
        "four clocks": (8, 300, 5, 16),
        "the same matrix for 200 rows": (6, 100, 3, 200),
        "four clocks and 200 rows": (8, 60, 7, 200),
    }
    return diagnose("look_back", attempt, [Probe(label, partial(_looks_back, *at)) for label, at in looks.items()])


def _looks_back(width: int, base: int, steps: int, length: int, look_back: Callable) -> str:
    """What is wrong with the matrix for such a table, tested on `length` rows; empty if nothing is wrong."""
    rows, given = _clocks(length, width, base), f"with 16 rows, {width} columns, base {base}, steps {steps}"
    wanted = f"a tensor of shape {(width, width)}"
    try:
        matrix = as_tensor(require_written(call(look_back, rows[:16], steps), look_back), wanted).detach()
    except Feedback as complaint:
        return f"{given}: {complaint}"
    if matrix.shape != (width, width) or matrix.is_complex():
        return f"{given}: expected {wanted}, got {matrix.dtype} of shape {tuple(matrix.shape)}"
    if not matrix.isfinite().all():
        return f"{given}: the matrix contains NaN or infinite numbers"
    best = (rows @ matrix.double() @ rows.T).argmax(dim=1)  # (T,): the row with which each row has its highest score
    for t in range(steps, length):
        if best[t] != t - steps:
            return f"{given}: of {length} rows, row {t} has its highest score with row {best[t]}, expected {t - steps}"
    return ""
