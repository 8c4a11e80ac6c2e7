"""Checks of the exercises of 07_encoder_stack."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from encoder_lib.course.checks.modules import encoder_layers, in_a_row, made, unreached
from encoder_lib.course.checks.verdict import Case, Probe, Verdict, diagnose, difference, examine, numbers, written
from encoder_lib.course.lab.measure import token_similarity

WIDTH, HEADS, HIDDEN = 4, 2, 6  # of the stacks that are tried


def check_residual_gradient(attempt: Callable) -> Verdict:
    """residual_gradient(weights, residual): the derivative of the last number of a chain of scalars for the first."""
    cases = [
        Case("one layer, with the residual path", (torch.tensor([0.5]), True)),
        Case("one layer, without", (torch.tensor([0.5]), False)),
        Case("two layers, with", (torch.tensor([0.5, -0.25]), True)),
        Case("two layers, without", (torch.tensor([0.5, -0.25]), False)),
        Case("eight random layers, with", (numbers(8), True)),
    ]

    def reference(weights: Tensor, residual: bool) -> Tensor:
        return (weights + residual).prod()

    return examine("residual_gradient", attempt, reference, cases)


def check_token_similarity(attempt: Callable) -> Verdict:
    """alike(x): the mean cosine of two different tokens, for x (B, T, D) -> (B,)."""
    two = torch.tensor([[[1.0, 0.0], [3.0, 4.0]]])
    cases = [
        Case("two tokens", (two,)),
        Case("tokens that point away from each other", (torch.tensor([[[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]]),)),
        Case("two sequences", (numbers(2, 3, 4) + 1,)),
    ]
    return examine("alike", attempt, token_similarity, cases)


def check_reach(attempt: Callable) -> Verdict:
    """reach(arrows, n_layers): whose letter and arrow each card has, if in each layer it goes where its own points."""
    ring = torch.tensor([1, 2, 3, 4, 5, 6, 7, 8, 0])
    cases = [
        Case("no layer", (ring[:3] % 3, 0)),
        Case("one layer", (ring, 1)),
        Case("two layers", (ring, 2)),
        Case("three layers", (ring, 3)),
        Case("arrows that meet", (torch.tensor([3, 0, 1, 4, 4, 2]), 2)),
        Case("four layers", (torch.tensor([6, 3, 0, 5, 1, 7, 2, 4]), 4)),
    ]

    def reference(arrows: Tensor, n_layers: int) -> Tensor:
        has = torch.arange(len(arrows))
        for _ in range(n_layers):
            has = has[arrows[has]]
        return has

    return examine("reach", attempt, reference, cases)


def check_encoder(attempt: Callable) -> Verdict:
    """Stack(n_layers, d_model, n_heads, d_ff, norm_first): encoder layers in a row, x (B, T, D) -> (B, T, D)."""
    hidden = torch.tensor([[True, True, False], [True, True, True]])[:, None, None]  # (B, 1, 1, T)
    probes = (
        Probe("as many layers as asked for", _found),
        Probe("one layer", partial(_in_a_row, n_layers=1)),
        Probe("three layers, one after the other", partial(_in_a_row, n_layers=3)),
        Probe("training reaches every parameter", _no_gradient),
        Probe("a mask that hides a token", partial(_in_a_row, n_layers=2, mask=hidden)),
        Probe("norm_first, and a norm at the end", partial(_in_a_row, n_layers=2, norm_first=True)),
    )
    return diagnose("Stack", attempt, probes)


def _stack(thing: Callable, n_layers: int, norm_first: bool = False) -> nn.Module:
    return made(thing, n_layers, WIDTH, HEADS, HIDDEN, norm_first)


def _found(thing: Callable) -> str:
    """Whether a stack's layers can be found in it."""
    module = _stack(thing, 3)
    if (found := len(encoder_layers(module))) == 3:
        return ""
    with suppress(Exception):  # layers in a plain list are of another dtype
        written(module(numbers(2, 3, WIDTH), None), type(module).forward)
    where = "" if found else "; are they in an nn.ModuleList? A plain list hides them"
    return f"with n_layers=3 expected as many EncoderLayers in the object, found {found}{where}"


def _in_a_row(thing: Callable, n_layers: int, norm_first: bool = False, mask: Tensor | None = None) -> str:
    """How the stack's output differs from that of its own layers, one after the other."""
    module, x = _stack(thing, n_layers, norm_first), numbers(2, 3, WIDTH)
    got = written(module(x, mask), type(module).forward)
    layers = encoder_layers(module)
    if any(layer.norm_first != norm_first for layer in layers):
        return f"with norm_first={norm_first} expected layers with norm_first={norm_first}, found others"
    expected = in_a_row(layers, x, mask)
    if norm_first:
        expected = F.layer_norm(expected, (WIDTH,))
    inside = {id(weight) for layer in layers for weight in layer.parameters()}
    beside = [name for name, weight in module.named_parameters() if id(weight) not in inside]
    if len(beside) != 2 * norm_first:
        wanted = "the weight and bias of one norm" if norm_first else "no parameter"
        found = ", ".join(beside[:3]) or "none"
        return f"with norm_first={norm_first} expected {wanted} beside those of the layers, found {found}"
    return difference(f"x of shape (2, 3, {WIDTH}), n_layers={n_layers}, norm_first={norm_first}", expected, got)


def _no_gradient(thing: Callable) -> str:
    """Which parameters a loss does not reach."""
    names = unreached(_stack(thing, 2), numbers(2, 3, WIDTH))
    return f"expected a gradient for every parameter, {names[0]} got none" if names else ""
