"""Checks of the exercises of 07_encoder_stack."""

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from encoder_lib.checks.verdict import UNWRITTEN, Case, Probe, Verdict, diagnose, difference, examine, numbers
from encoder_lib.lab.measure import layer_flops, token_similarity
from encoder_lib.model.encoder import EncoderLayer
from encoder_lib.seeded import seeded

WIDTH, HEADS, HIDDEN = 4, 2, 6  # of the stacks that are tried


def check_residual_gradient(attempt: Callable) -> Verdict:
    """residual_gradient(weights, residual): the derivative of the last number of a chain of scalars for the first."""
    cases = [
        Case("one layer, with the residual path", (torch.tensor([0.5]), True)),
        Case("one layer, without", (torch.tensor([0.5]), False)),
        Case("two layers, with", (torch.tensor([0.5, -0.25]), True)),
        Case("two layers, without", (torch.tensor([0.5, -0.25]), False)),
        Case("layers that do nothing let the gradient pass", (torch.zeros(3), True)),
        Case("eight random layers, with", (numbers(8), True)),
        Case("eight random layers, without", (numbers(8), False)),
    ]
    hints = (
        "Write down what one layer does to its input, and take the derivative of that line alone.",
        "The derivative through many layers in a row is the product of theirs: the chain rule.",
        "With the residual path a layer's output holds its input once as it is, and once more through the weight.",
    )

    def reference(weights: Tensor, residual: bool) -> Tensor:
        return (weights + residual).prod()

    return examine("residual_gradient", attempt, reference, cases, hints)


def check_token_similarity(attempt: Callable) -> Verdict:
    """alike(x): the mean cosine of two different tokens, for x (B, T, D) -> (B,)."""
    two = torch.tensor([[[1.0, 0.0], [3.0, 4.0]]])
    cases = [
        Case("two tokens", (two,)),
        Case("a longer vector is no more alike", (2 * two,)),
        Case("tokens that point the same way", (torch.tensor([[[1.0, 2.0], [2.0, 4.0], [0.5, 1.0]]]),)),
        Case("tokens that point away from each other", (torch.tensor([[[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]]),)),
        Case("two sequences", (numbers(2, 3, 4) + 1,)),
        Case("as many sequences as tokens", (numbers(4, 4, 3),)),
        Case("many tokens", (numbers(2, 20, 8) + 0.5,)),
    ]
    hints = (
        "A cosine compares directions: bring every token to length 1 over its own D numbers first.",
        "The products of all tokens with all tokens of their sequence form a (T, T) matrix. Which pairs belong to you?",
        "A token with itself is no pair of different tokens, so T · (T − 1) numbers of that matrix remain.",
    )
    return examine("alike", attempt, token_similarity, cases, hints)


def check_flops(attempt: Callable) -> Verdict:
    """flops(tokens, d_model, d_ff): what the matrix products of one layer cost, two operations a multiply-add."""
    cases = [
        Case("one token, all sizes 1", (1, 1, 1)),
        Case("three tokens", (3, 1, 1)),
        Case("wider tokens", (3, 2, 1)),
        Case("a wider feed-forward", (3, 2, 5)),
        Case("more tokens than numbers", (50, 4, 16)),
        Case("a layer of MiniLM on its longest text", (512, 384, 1536)),
    ]
    hints = (
        "A product of shapes (m, k) and (k, n) costs 2 · m · k · n. List the products of one layer with their shapes.",
        "There are six linear maps, and two products in which tokens meet tokens.",
        "The heads share the width: together, their scores cost as much as those of one head of width D.",
    )

    def reference(tokens: int, d_model: int, d_ff: int) -> Tensor:
        return torch.tensor(sum(layer_flops(tokens, d_model, d_ff)))

    return examine("flops", attempt, reference, cases, hints)


def check_encoder(attempt: Callable) -> Verdict:
    """Stack(n_layers, d_model, n_heads, d_ff, norm_first): encoder layers in a row, x (B, T, D) -> (B, T, D)."""
    hidden = torch.tensor([[True, True, False], [True, True, True]])[:, None, None]  # (B, 1, 1, T)
    probes = (
        Probe("one layer", partial(_in_a_row, n_layers=1)),
        Probe("three layers, one after the other", partial(_in_a_row, n_layers=3)),
        Probe("training reaches every parameter", _no_gradient),
        Probe("each layer begins with parameters of its own", _alike),
        Probe("a mask that hides a token", partial(_in_a_row, n_layers=2, mask=hidden)),
        Probe("norm_first, and a norm at the end", partial(_in_a_row, n_layers=2, norm_first=True)),
        Probe("norm_first, with a mask", partial(_in_a_row, n_layers=3, norm_first=True, mask=hidden)),
    )
    hints = (
        "What one layer gives, with the mask beside it, is what the next one gets.",
        "nn.ModuleList holds layers so that training finds them. Make each anew: one object three times is one layer.",
        "With norm_first, hand it on to each layer, and let one LayerNorm follow the last; without it, none.",
    )
    return diagnose("Stack", attempt, probes, hints)


def _stack(thing: Callable, n_layers: int, norm_first: bool) -> nn.Module:
    """What the learner's class makes, in float64; its random numbers are the same in each run."""
    with seeded(0):
        module = thing(n_layers, WIDTH, HEADS, HIDDEN, norm_first)
    if module is None or module is ...:
        return nn.Module()
    if not isinstance(module, nn.Module):
        raise TypeError(f"expected a class of nn.Module, got something that makes {type(module).__name__}")
    return module.double()


def _in_a_row(thing: Callable, n_layers: int, norm_first: bool = False, mask: Tensor | None = None) -> str:
    """How the stack's output differs from that of its own layers, one after the other."""
    module, x = _stack(thing, n_layers, norm_first), numbers(2, 3, WIDTH)
    got = None if type(module) is nn.Module else module(x, mask)
    if got is None or got is ...:
        return UNWRITTEN
    layers = [m for m in module.modules() if isinstance(m, EncoderLayer)]
    if len(layers) != n_layers:
        return f"with n_layers={n_layers} expected as many EncoderLayers in the object, found {len(layers)}"
    if any(layer.norm_first != norm_first for layer in layers):
        return f"with norm_first={norm_first} expected layers with norm_first={norm_first}, found others"
    expected = x
    for layer in layers:
        expected = layer(expected, mask)  # (B, T, D)
    if norm_first:
        expected = F.layer_norm(expected, (WIDTH,))
    learned = sum(weight.numel() for weight in module.parameters())
    wanted = sum(weight.numel() for layer in layers for weight in layer.parameters()) + 2 * WIDTH * norm_first
    if learned != wanted:
        return f"expected {wanted} numbers to learn in {n_layers} layers with norm_first={norm_first}, found {learned}"
    return difference(f"x of shape (2, 3, {WIDTH}), n_layers={n_layers}, norm_first={norm_first}", expected, got)


def _no_gradient(thing: Callable) -> str:
    """Which parameters a loss does not reach."""
    module, x = _stack(thing, 2, False), numbers(2, 3, WIDTH)
    (module(x) * numbers(*x.shape, seed=1)).sum().backward()
    names = [name for name, weight in module.named_parameters() if weight.grad is None]
    return f"expected a gradient for every parameter, {names[0]} got none" if names else ""


def _alike(thing: Callable) -> str:
    """Whether two layers begin as copies."""
    matrices = [weight for weight in _stack(thing, 3, False).parameters() if weight.ndim == 2]
    pairs = sum(torch.equal(a, b) for i, a in enumerate(matrices) for b in matrices[:i])
    return f"expected layers that begin apart, found {pairs} pairs of equal matrices" if pairs else ""
