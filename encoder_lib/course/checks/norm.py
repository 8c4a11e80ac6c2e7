"""Checks of the exercises of 03_layer_norm."""

from collections.abc import Callable
from functools import partial
from numbers import Real

import torch
import torch.nn.functional as F
from torch import Tensor

from encoder_lib.course.checks.verdict import (
    CHANGED,
    TOLERANCE,
    Probe,
    Verdict,
    diagnose,
    difference,
    numbers,
    show,
    written,
)


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


def check_fold(attempt: Callable) -> Verdict:
    """fold(gain, bias, matrix, constants): a linear layer's (M, c) for tokens without the gain and bias of a norm.

        y Mᵀ + c = (gain · y + bias) matrixᵀ + constants        for each normalised token y, of mean 0

    Shapes: gain, bias (D,), matrix, M (F, D), constants, c (F,).
    """
    two = torch.tensor([[2.0, 3.0], [1.0, -1.0]], dtype=torch.float64)  # (F, D)
    gain, none = torch.tensor([[3.0, 0.5], [0.0, 0.0]], dtype=torch.float64)
    pair = torch.tensor([[1.0, -1.0]], dtype=torch.float64)  # one token, normalised
    cases = [
        Probe("nothing to fold", partial(_comes_out_as_before, pair, none + 1, none, two, none)),
        Probe("a gain", partial(_comes_out_as_before, pair, gain, none, two, none)),
        Probe("a bias", partial(_comes_out_as_before, pair, none + 1, none + 2, two, none + 5)),
        Probe("both", partial(_comes_out_as_before, pair, gain, none + 2, two, none + 5)),
    ]
    for n_out, width in ((3, 5), (5, 3), (1, 4)):
        tokens = F.layer_norm(numbers(6, width), (width,))
        sent = numbers(width, seed=1), numbers(width, seed=2), numbers(n_out, width, seed=3), numbers(n_out, seed=4)
        label = f"a matrix of {n_out} × {width}"
        cases.append(Probe(label, partial(_comes_out_as_before, tokens, *sent)))
    return diagnose("fold", attempt, cases)


def _comes_out_as_before(
    tokens: Tensor, gain: Tensor, bias: Tensor, matrix: Tensor, constants: Tensor, fold: Callable
) -> str:
    """What is wrong with a fold, judged by what the layer makes of tokens (T, D); empty when nothing is."""
    sent = {"gain": gain, "bias": bias, "matrix": matrix, "constants": constants}
    given = ", ".join(f"{name} {show(value)}" for name, value in sent.items())
    mine = [value.clone() for value in sent.values()]
    got = written(fold(*mine), fold)
    if not all(map(torch.equal, mine, sent.values())):
        return f"with {given}: {CHANGED}"
    if not (isinstance(got, tuple | list) and len(got) == 2 and all(isinstance(each, Tensor) for each in got)):
        return f"with {given}: expected two tensors, a matrix and constants, got {type(got).__name__}"
    for name, new, old in zip(("matrix", "constants"), got, (matrix, constants), strict=True):
        if new.shape != old.shape:
            return f"with {given}: expected a new {name} of shape {tuple(old.shape)}, got {tuple(new.shape)}"
    before = F.linear(gain * tokens + bias, matrix, constants)  # (T, F)
    after = F.linear(tokens, got[0].detach().double(), got[1].detach().double())
    return difference(f"{given}, the token {show(tokens)}", before, after)
