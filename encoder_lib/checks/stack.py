"""Checks of the exercises of 07_encoder_stack."""

from collections.abc import Callable

import torch
from torch import Tensor

from encoder_lib.checks.verdict import Case, Verdict, examine, numbers
from encoder_lib.lab.measure import layer_flops, token_similarity


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
