"""Cases 18 to 20: the numbers are a little off."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from encoder_lib.checks.clinic import fault_injection
from encoder_lib.checks.clinic.registry import case
from encoder_lib.checks.clinic.tools import (
    all_true,
    attend_cases,
    attend_like,
    double,
)
from encoder_lib.checks.verdict import Case, Verdict, examine, numbers
from encoder_lib.model.positional import sinusoidal_table


@case("a frequency a column", fault_injection.inject_table)
def check_table(thing: Callable) -> Verdict:
    """table(length, d_model): sinusoidal positions (T, D)."""
    cases = [
        Case("one position", (1, 4)),
        Case("one clock, two positions", (2, 2)),
        Case("two clocks, three positions", (3, 4)),
        Case("more columns than positions", (4, 16)),
        Case("a long table", (200, 6)),
    ]
    hints = (
        "Column 0 is right. Which number should column 1 have in common with it?",
        "A sine and a cosine that make one clock turn with one speed.",
        "The exponent counts pairs of columns, not columns.",
    )

    def reference(length: int, d_model: int) -> Tensor:
        return sinusoidal_table(length, d_model, dtype=torch.float64)

    return examine("Case 18, table", thing, reference, cases, hints)


@case("no 1/√K", fault_injection.inject_attend)
def check_wide(thing: Callable) -> Verdict:
    """attend(query, key, value, mask): scaled dot-product attention at any width."""
    key, value = double([[[1, 1, 1, 1], [0, 0, 0, 0]]]), double([[[0], [1]]])
    cases = [
        Case("one number wide", (double([[[1]]]), key[..., :1], value, all_true(1, 1, 2))),
        Case("four numbers wide", (key[:, :1], key, value, all_true(1, 1, 2))),
        *attend_cases(),
        Case("sixteen wide", (*(numbers(1, 5, 16, seed=i) for i in range(3)), all_true(1, 1, 5))),
    ]
    hints = (
        "One number wide it is right. What grows with the width?",
        "A dot product of K terms of variance 1 has variance K.",
        "Compare the formula of attention with the line of the scores, symbol by symbol.",
    )
    return attend_like("Case 19, attend", thing, cases, hints)


@case("unbiased std, ε outside", fault_injection.inject_norm)
def check_biased_variance(thing: Callable) -> Verdict:
    """layer_norm(x): as torch's with its eps of 1e-5, without gain and bias."""

    def reference(x: Tensor) -> Tensor:
        return F.layer_norm(x, x.shape[-1:])

    cases = [
        Case("two numbers", (double([[1, 3]]),)),
        Case("one number", (double([[2]]),)),
        Case("numbers around zero", (double([[-2, 0, 2]]),)),
        Case("a row of equal numbers", (double([[3, 3, 3]]),)),
        Case("small numbers", (double([[0.0, 0.001]]),)),
        Case("a batch", (numbers(2, 3, 8) + 5,)),
    ]
    hints = (
        "The mean of the squares of the result should be 1. By which factor is it off, for two numbers, and for eight?",
        "torch's std() divides by D − 1 unless told otherwise. Layer normalisation does not estimate anything.",
        "ε is added to the variance, before the root is taken: small numbers show the difference.",
    )
    return examine("Case 20, layer_norm", thing, reference, cases, hints)
