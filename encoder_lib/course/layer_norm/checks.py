"""The check of one exercise of 03_layer_norm; the check of the other is `check_own_norm`."""

import math
from collections.abc import Callable
from functools import partial

from encoder_lib.course.kit.checking.results import as_number
from encoder_lib.course.kit.checking.verdict import TOLERANCE, Feedback, Probe, Verdict, diagnose, require_written


def check_largest(attempt: Callable) -> Verdict:
    """largest(D): the largest number that layer norm, without eps, gain and bias, makes of any token of D numbers."""
    probes = [Probe(f"tokens of {n} numbers", partial(_reached_and_not_passed, n)) for n in (2, 3, 10, 384)]
    return diagnose("largest", attempt, probes)


def _reached_and_not_passed(n: int, largest: Callable) -> str:
    """What is wrong with a largest number for tokens of n numbers, in words; empty if nothing is."""
    try:
        got = as_number(require_written(largest(n), largest))
    except Feedback as complaint:
        return f"with D {n}: {complaint}"
    most = (n - 1) ** 0.5  # what [1, 0, 0, …] comes to
    if math.isnan(got):
        return f"with D {n}: expected a number, got NaN"
    if abs(got - most) < TOLERANCE:
        return ""
    if got < most:
        return f"with D {n}: some tokens come out with a number above {got:.4g}"
    return f"with D {n}: no token comes out with a number as large as {got:.4g}"
