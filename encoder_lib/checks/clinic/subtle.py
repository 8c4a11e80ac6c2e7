"""Cases 18 to 20: the numbers are a little off."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from encoder_lib.checks.clinic.tools import (
    all_true,
    attend_cases,
    attend_like,
    double,
)
from encoder_lib.checks.verdict import Case, Probe, Verdict, diagnose, difference, examine, numbers
from encoder_lib.model.encoder import EncoderLayer
from encoder_lib.seeded import seeded


@seeded(0)
def check_reread(thing: Callable) -> Verdict:
    """block(x, attend, network, norm1, norm2): norm1(x + attend(x)), then norm2(x + network(x))."""

    def numbers_by_hand(thing: Callable) -> str:
        got = thing(double([[[1]]]), lambda x: 2 * x, lambda x: x * x, lambda x: x / 2, lambda x: -x)
        given = "x = 1, attention that doubles, a network that squares, norm1 that halves and norm2 that turns the sign"
        return difference(given, double([[[-3.75]]]), got)

    def real_parts(thing: Callable, n_heads: int, *shape: int) -> str:
        layer, x = EncoderLayer(shape[-1], n_heads, 7).double(), numbers(*shape)
        mine = x.clone()
        got = thing(mine, lambda x: layer.attention(x, x, x), layer.feed_forward, layer.norm1, layer.norm2)
        if not torch.equal(mine, x):
            return "the function changed its own input; make a new tensor instead"
        return difference(f"a layer's own parts and x of shape {shape}", layer(x), got)

    def nothing_added(thing: Callable) -> str:
        got = thing(double([[[1]]]), torch.zeros_like, torch.zeros_like, lambda x: x + 1, lambda x: 10 * x)
        return difference("branches that add nothing, x = 1, norm1 + 1 and norm2 · 10", double([[[20]]]), got)

    tensors = "The number by hand is right. Do you write into a tensor that is still needed, with += for instance?"

    probes = (
        Probe(
            "without branches",
            nothing_added,
            "The branches add nothing here: the 1 goes through norm1, which adds 1, and then norm2, which makes it ten "
            "times as large. What stands in your code between them, and after?",
        ),
        Probe("one number", numbers_by_hand),
        Probe("one head", lambda thing: real_parts(thing, 1, 2, 3, 4), tensors),
        Probe("two heads", lambda thing: real_parts(thing, 2, 1, 5, 6), tensors),
    )
    hints = (
        "Follow the number 1 through the code by hand, and write down what each name stands for.",
        "A residual sum adds to a tensor what a branch made of the same tensor.",
        "Two different names are in the last line. Which of them is normalised?",
    )
    return diagnose("Case 18, block", thing, probes, hints)


@seeded(0)
def check_wide(thing: Callable) -> Verdict:
    """attend(query, key, value, mask): scaled dot-product attention at any width."""
    key, value = double([[[1, 1, 1, 1], [0, 0, 0, 0]]]), double([[[0], [1]]])
    cases = [
        Case(
            "one number wide",
            (double([[[1]]]), key[..., :1], value, all_true(1, 1, 2)),
            "At one number wide it was right. Whatever you multiply or divide by has to be 1 there.",
        ),
        Case("four numbers wide", (key[:, :1], key, value, all_true(1, 1, 2))),
        *attend_cases(),
        Case(
            "sixteen wide",
            (*(numbers(1, 5, 16, seed=i) for i in range(3)), all_true(1, 1, 5)),
            "At one number and at four it is right. Does what you divide by know of the width?",
        ),
    ]
    hints = (
        "One number wide it is right. What grows with the width?",
        "A dot product of K terms of variance 1 has variance K.",
        "Compare the formula of attention with the line of the scores, symbol by symbol.",
    )
    return attend_like("Case 19, attend", thing, cases, hints)


@seeded(0)
def check_biased_variance(thing: Callable) -> Verdict:
    """layer_norm(x): as torch's with its eps of 1e-5, without gain and bias."""

    def reference(x: Tensor) -> Tensor:
        return F.layer_norm(x, x.shape[-1:])

    formula = "Each row minus its own mean, divided by the root of its own variance + ε."

    cases = [
        Case("two numbers", (double([[1, 3]]),)),
        Case("one number", (double([[2]]),), "A single number is its own mean. What is left of it?"),
        Case("numbers around zero", (double([[-2, 0, 2]]),), formula),
        Case("a row of equal numbers", (double([[3, 3, 3]]),), formula),
        Case(
            "small numbers",
            (double([[0.0, 0.001]]),),
            "The second fault. Small numbers show ε: it is added to the variance, before the root is taken, and it is "
            "torch's, 0.00001.",
        ),
        Case("a batch", (numbers(2, 3, 8) + 5,), formula),
    ]
    hints = (
        "The mean of the squares of the result should be 1. By which factor is it off, for two numbers, and for eight?",
        "torch's std() divides by D − 1 unless told otherwise. Layer normalisation does not estimate anything.",
        "The variance is the mean of the squared distances from the mean: a sum, divided by how many?",
    )
    return examine("Case 20, layer_norm", thing, reference, cases, hints)
