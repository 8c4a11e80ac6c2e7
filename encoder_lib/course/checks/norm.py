"""The check of an exercise of 03_layer_norm; that of the other is `check_own_norm`."""

from collections.abc import Callable
from functools import partial
from numbers import Real

from torch import Tensor

from encoder_lib.course.checks.verdict import TOLERANCE, Probe, Verdict, diagnose, written


def check_largest(attempt: Callable) -> Verdict:
    """largest(D): the largest number that layer norm, without eps, gain and bias, makes of any token of D numbers."""
    probes = [Probe(f"tokens of {n} numbers", partial(_reached_and_not_passed, n)) for n in (2, 3, 5, 384)]
    return diagnose("largest", attempt, probes)


def _reached_and_not_passed(n: int, largest: Callable) -> str:
    """What is wrong with a largest number for tokens of n numbers; empty when nothing is."""
    got = written(largest(n), largest)
    got = got.item() if isinstance(got, Tensor) and got.numel() == 1 else got
    if not isinstance(got, Real):
        return f"with {n}: expected a number, got {type(got).__name__}"
    most = (n - 1) ** 0.5  # what [1, 0, 0, …] comes to
    if abs(got - most) < TOLERANCE:
        return ""
    if got < most:
        return f"with {n}: some tokens come out with a number above {got:.4g}"
    return f"with {n}: no token comes out with a number as large as {got:.4g}"
