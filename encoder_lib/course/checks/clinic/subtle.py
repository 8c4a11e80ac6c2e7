"""Cases 18 to 20: the numbers are a little off."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from encoder_lib.course.checks.clinic.tools import all_true, attend_cases, attend_like, double
from encoder_lib.course.checks.verdict import Case, Probe, Verdict, diagnose, difference, examine, numbers
from encoder_lib.model.encoder import EncoderLayer


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

    probes = (
        Probe("without branches", nothing_added),
        Probe("one number", numbers_by_hand),
        Probe("one head", lambda thing: real_parts(thing, 1, 2, 3, 4)),
        Probe("two heads", lambda thing: real_parts(thing, 2, 1, 5, 6), hint="one head"),
    )
    return diagnose("Case 18, block", thing, probes)


def check_wide(thing: Callable) -> Verdict:
    """attend(query, key, value, mask): scaled dot-product attention at any width."""
    key, value = double([[[1, 1, 1, 1], [0, 0, 0, 0]]]), double([[[0], [1]]])
    cases = [
        Case("one number wide", (double([[[1]]]), key[..., :1], value, all_true(1, 1, 2))),
        Case("four numbers wide", (key[:, :1], key, value, all_true(1, 1, 2))),
        *attend_cases(),
        Case("sixteen wide", (*(numbers(1, 5, 16, seed=i) for i in range(3)), all_true(1, 1, 5))),
    ]
    return attend_like("Case 19, attend", thing, cases)


def check_biased_variance(thing: Callable) -> Verdict:
    """layer_norm(x): as torch's with its eps of 1e-5, without gain and bias."""

    def reference(x: Tensor) -> Tensor:
        return F.layer_norm(x, x.shape[-1:])

    cases = [
        Case("two numbers", (double([[1, 3]]),)),
        Case("one number", (double([[2]]),)),
        Case("small numbers", (double([[0.0, 0.001]]),)),
        Case("a batch", (numbers(2, 3, 8) + 5,)),
    ]
    return examine("Case 20, layer_norm", thing, reference, cases)
