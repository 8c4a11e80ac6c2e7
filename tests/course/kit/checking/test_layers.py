"""A class is compared with a layer of the library: parameters, output and gradients."""

import pytest
from torch import nn

from encoder_lib.course.kit.checking.layers import examine_layer
from encoder_lib.course.kit.checking.verdict import Case, numbers
from encoder_lib.model.encoder import EncoderLayer

CASES = [
    Case("three tokens", (4, 2, 6, False, numbers(1, 3, 4), None)),
    Case("pre-norm", (4, 1, 6, True, numbers(2, 3, 4), None)),
]


def check(attempt):
    return examine_layer("Block", "attention, feed_forward, norm1 and norm2", attempt, EncoderLayer, CASES)


def layer(d_model, n_heads, d_ff, norm_first):
    return EncoderLayer(d_model, n_heads, d_ff, norm_first=norm_first)


def test_the_layer_itself_is_accepted():
    verdict = check(layer)
    assert verdict.correct and verdict.passed == ("three tokens", "pre-norm")


class WithoutANorm(EncoderLayer):
    def __init__(self, *sizes):
        super().__init__(*sizes[:3], norm_first=sizes[3])
        del self.norm2


class WithAnother(EncoderLayer):
    def __init__(self, *sizes):
        super().__init__(*sizes[:3], norm_first=sizes[3])
        self.extra = nn.Linear(2, 2)


class Frozen(EncoderLayer):
    def __init__(self, *sizes):
        super().__init__(*sizes[:3], norm_first=sizes[3])
        self.norm1.weight.requires_grad_(False)


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (WithoutANorm, "norm2.weight is missing"),
        (WithAnother, "got extra.weight"),
        (Frozen, "norm1.weight has requires_grad=False"),
        (lambda d_model, n_heads, d_ff, norm_first: layer(d_model, n_heads, d_ff + 1, norm_first), "expected shape"),
        (lambda d_model, n_heads, d_ff, norm_first: layer(d_model, n_heads, d_ff, True), "three tokens"),
        (layer(4, 2, 6, False), "three tokens"),
    ],
)
def test_what_differs_from_the_layer_is_named(attempt, words):
    verdict = check(attempt)
    assert not verdict.correct and words in verdict.problem
