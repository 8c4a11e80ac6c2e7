"""The check of the first exercise of 03_layer_norm; the second uses notebook 12's `check_own_norm`."""

import math
from collections.abc import Callable
from functools import partial

from encoder_lib.course.kit.checking.results import as_number
from encoder_lib.course.kit.checking.verdict import TOLERANCE, Feedback, Probe, Verdict, diagnose, require_written


def check_largest(attempt: Callable) -> Verdict:
    """largest(D): the largest component that layer norm, without eps, gain and bias, can give a token (D,)."""
    probes = [Probe(f"tokens with {n} components", partial(_reached_and_not_exceeded, n)) for n in (2, 3, 10, 384)]
    return diagnose("largest", attempt, probes)


def _reached_and_not_exceeded(n: int, largest: Callable) -> str:
    """What is wrong with the answer for tokens with n components; empty if nothing is."""
    try:
        got = as_number(require_written(largest(n), largest))
    except Feedback as complaint:
        return f"with D = {n}: {complaint}"
    most = (n - 1) ** 0.5  # the largest component of [1, 0, 0, …] after the norm
    if math.isnan(got):
        return f"with D = {n}: expected a number, got NaN"
    if abs(got - most) < TOLERANCE:
        return ""
    if got < most:
        return f"with D = {n}: some tokens come out with a component above {got:.4g}"
    return f"with D = {n}: no token comes out with a component as large as {got:.4g}"
