"""Cases 10 to 12: NaN, and other answers that differ."""

from collections.abc import Callable
from functools import partial
from itertools import permutations

import torch
import torch.nn.functional as F
from torch import Tensor

from encoder_lib.course.checks.clinic.tools import all_true, double, no_gradient, trainable, weighs
from encoder_lib.course.checks.modules import made, run
from encoder_lib.course.checks.verdict import Probe, Verdict, diagnose, difference, numbers, show
from encoder_lib.model.attention import attention


def check_empty_text(thing: Callable) -> Verdict:
    """weigh(scores, mask): softmax over the keys that the mask allows; zeros where it allows none."""

    def number(thing: Callable) -> str:
        got, given = thing(double([[0, 0]]), ~all_true(1, 2)), "scores [[0.0, 0.0]], mask [[False, False]]"
        return difference(given, double([[0, 0]]), got) if got.isnan().any() else ""

    def gradient(thing: Callable) -> str:
        scores = double([[0, 0], [0, 0]]).requires_grad_()
        (thing(scores, torch.tensor([[True, True], [False, False]])) * double([[1, 2], [3, 4]])).sum().backward()
        return difference("a second row that is hidden, the gradient", double([[-0.25, 0.25], [0, 0]]), scores.grad)

    def half(thing: Callable) -> str:
        got = thing(torch.zeros(1, 2, dtype=torch.float16), torch.tensor([[True, False]]))
        return difference("[[0, 0]] in float16, one key hidden", double([[1, 0]]), got)

    probes = (
        Probe("some keys hidden", partial(weighs, hidden=False)),
        Probe("no NaN", number),
        Probe("hidden keys weigh nothing", partial(weighs, hidden=True)),
        Probe("the gradient", gradient),
        Probe("half precision", half),
    )
    return diagnose("Case 10, weigh", thing, probes)


def check_quiet_rows(thing: Callable) -> Verdict:
    """layer_norm(x): as torch's, with its eps of 1e-5 or with 1e-10, without gain and bias, also in half precision."""

    def same(label: str, x: Tensor, hint: str = "") -> Probe:
        def look(thing: Callable) -> str:
            given, got = show(x) + " in float16" * (x.dtype == torch.float16), thing(x.clone())
            torchs, its_own = (
                difference(given, F.layer_norm(x.double(), x.shape[-1:], eps=eps), got) for eps in (1e-5, 1e-10)
            )
            return its_own and torchs

        return Probe(label, look, hint)

    probes = (
        same("three numbers", double([[1, 2, 6]])),
        same("a row of equal numbers", double([[3, 3, 3]]), hint="three numbers"),
        same("a row of equal numbers in half precision", torch.full((1, 3), 3.0, dtype=torch.float16)),
        same("small numbers", double([[0.0, 0.001]])),
        same("small numbers in half precision", torch.tensor([[0, 4e-6]], dtype=torch.float16)),
        same("a batch", numbers(2, 3, 8), hint="three numbers"),
    )
    return diagnose("Case 11, layer_norm", thing, probes)


def check_self_attention(thing: Callable) -> Verdict:
    """SelfAttention(d_model): x, mask -> attention with linear maps of its own for query, key and value."""

    def twice(thing: Callable) -> str:
        module, x = made(thing, 2), double([[[1, 0], [0, 1]]])
        first, second = module(x), module(x)
        moved = (second - first).abs().max().item()
        return f"the two outputs differ by up to {moved:.4f}" if moved > 1e-9 else ""

    def formula(thing: Callable) -> str:
        module, x = made(thing, 4), numbers(2, 3, 4)
        weights = torch.cat([w for w in module.parameters() if w.ndim == 2]).split(4)  # three (D, D)
        biases = torch.cat([b for b in module.parameters() if b.ndim == 1]).split(4)
        mask = torch.tensor([[True, True, False]])
        got = run(module, x, mask)
        maps = [F.linear(x, weight, bias) for weight, bias in zip(weights, biases, strict=True)]
        if any(not difference("", attention(q, k, v, mask)[0], got) for q, k, v in permutations(maps, 3)):
            return ""
        return "the output is not the attention of three linear maps of x, last token hidden"

    probes = (
        Probe("the same input twice", twice),
        Probe("what there is to train", lambda thing: trainable(made(thing, 4), 3 * (4 * 4 + 4))),
        Probe("what training reaches", lambda thing: no_gradient(made(thing, 4), numbers(2, 3, 4))),
        Probe("the formula", formula),
    )
    return diagnose("Case 12, SelfAttention", thing, probes)
