"""Checks of the exercises of 03_layer_norm."""

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from encoder_lib.course.checks.verdict import (
    CHANGED,
    Case,
    Probe,
    Verdict,
    diagnose,
    difference,
    examine,
    numbers,
    show,
    written,
)

EPS = 1e-5


def check_layer_norm(attempt: Callable) -> Verdict:
    """layer_norm(x, gain, bias, eps): each token of x (…, T, D) at mean 0 and variance 1, times gain, plus bias."""

    def plain(x: Tensor, eps: float = EPS) -> tuple:
        return x, x.new_ones(x.shape[-1]), x.new_zeros(x.shape[-1]), eps

    one = torch.tensor([[2.0, 4.0, 4.0, 6.0]], dtype=torch.float64)
    gain, bias = torch.tensor([[1.0, 2.0, 0.5, -1.0], [0.0, 1.0, -2.0, 3.0]], dtype=torch.float64)
    cases = [
        Case("one token", plain(one)),
        Case("a gain and a bias", (one, gain, bias, EPS)),
        Case("a token whose numbers are all equal", plain(torch.full((1, 4), 3.0, dtype=torch.float64))),
        Case("a large eps", plain(one, 2.0)),
        Case("three tokens of different size", plain(numbers(3, 2) * torch.tensor([[1.0], [10.0], [100.0]]))),
        Case("a batch of sequences", (numbers(2, 3, 5) + 7, numbers(5, seed=1), numbers(5, seed=2), 1e-3)),
    ]

    def reference(x: Tensor, gain: Tensor, bias: Tensor, eps: float) -> Tensor:
        return F.layer_norm(x, x.shape[-1:], gain, bias, eps)

    return examine("layer_norm", attempt, reference, cases)


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
