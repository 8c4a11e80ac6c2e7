"""Checks for the exercises in 06_encoder_block."""

from collections.abc import Callable

import torch
from torch import Tensor

from encoder_lib.course.kit.checking.layers import examine_layer
from encoder_lib.course.kit.checking.mistakes import Mistakes, examine_with_mistakes
from encoder_lib.course.kit.checking.verdict import Case, Verdict, numbers
from encoder_lib.model.encoder import EncoderLayer
from encoder_lib.model.masks import lengths_mask


def check_encoder_layer(attempt: Callable) -> Verdict:
    """Block(d_model, n_heads, d_ff, norm_first), called with (x, mask): an encoder layer, x (B, T, D) -> (B, T, D).

    Its parts are called attention, feed_forward, norm1 and norm2, as in EncoderLayer.
    """
    padding = lengths_mask(torch.tensor([4, 2]))
    cases = [
        Case("one token, post-norm", (4, 2, 8, False, numbers(1, 1, 4), None)),
        Case("three tokens, post-norm", (4, 2, 6, False, numbers(1, 3, 4), None)),
        Case("a batch of two", (6, 3, 6, False, numbers(2, 4, 6), None)),
        Case("padding in the second sentence", (6, 3, 6, False, numbers(2, 4, 6), padding)),
        Case("three tokens, pre-norm", (4, 2, 6, True, numbers(1, 3, 4), None)),
        Case(
            "pre-norm, with padding", (6, 1, 12, True, numbers(2, 4, 6), padding), hint="padding in the second sentence"
        ),
    ]
    return examine_layer("Block", "attention, feed_forward, norm1 and norm2", attempt, EncoderLayer, cases)


def check_count_parameters(attempt: Callable) -> Verdict:
    """count_parameters(d_model, n_heads, d_ff): how many parameters an encoder layer has."""

    cases = [
        Case("two numbers a token", (2, 1, 3)),  # at other sizes, two of the mistakes would count the same
        Case("a wider network", (2, 1, 5)),
        Case("wider vectors", (3, 1, 4)),
        Case("two heads", (2, 2, 3)),
        Case("the original base model", (512, 8, 2048)),
    ]
    return examine_with_mistakes("count_parameters", attempt, _count(), cases, COUNT_MISTAKES)


def _count(*, linear: int = 4, bias: int = 1, inner_bias: int = 1, norms: int = 2, per_head: bool = False) -> Callable:
    """A function that counts the parameters of a layer, with the right or another number of parts."""

    def count(d_model: int, n_heads: int, d_ff: int) -> Tensor:
        attention = linear * (d_model**2 + bias * d_model) * (n_heads if per_head else 1)
        network = 2 * d_model * d_ff + bias * inner_bias * (d_ff + d_model)
        return torch.tensor(attention + network + norms * 2 * d_model)

    return count


COUNT_MISTAKES: Mistakes = [
    ("linear layers without biases", _count(bias=0)),
    ("a network without biases", _count(inner_bias=0)),
    ("three linear layers in attention", _count(linear=3)),
    ("one norm, or two without biases", _count(norms=1)),
    ("no norms", _count(norms=0)),
    ("four linear layers for each head", _count(per_head=True)),
]
