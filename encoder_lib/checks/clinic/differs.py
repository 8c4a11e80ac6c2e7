"""Cases 10 to 12: NaN, and other answers that differ."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from encoder_lib.checks.clinic.tools import (
    all_true,
    count,
    double,
    made,
    no_gradient,
    run,
    weigh_cases,
)
from encoder_lib.checks.verdict import Probe, Verdict, diagnose, difference, examine, numbers
from encoder_lib.model.attention import attention, masked_softmax
from encoder_lib.seeded import seeded


@seeded(0)
def check_empty_text(thing: Callable) -> Verdict:
    """weigh(scores, mask): softmax over the keys that the mask allows; zeros where it allows none."""

    def value(hidden: bool) -> Callable[[Callable], str]:
        return lambda thing: examine("weigh", thing, masked_softmax, weigh_cases(hidden), ("",)).problem

    def number(thing: Callable) -> str:
        got, given = thing(double([[0, 0]]), ~all_true(1, 2)), "scores [[0.0, 0.0]], mask [[False, False]]"
        return difference(given, double([[0, 0]]), got) if got.isnan().any() else ""

    def gradient(thing: Callable) -> str:
        scores = double([[0, 0], [0, 0]]).requires_grad_()
        (thing(scores, torch.tensor([[True, True], [False, False]])) * double([[1, 2], [3, 4]])).sum().backward()
        return difference("a second row that is hidden, the gradient:", double([[-0.25, 0.25], [0, 0]]), scores.grad)

    hints = (
        "Write down the softmax of a row of −∞: what is divided by what?",
        "A finite fill gives no NaN. What does it give in a row where all numbers are the same?",
        "Whatever the softmax says, a hidden key has weight zero. There is a moment to say so.",
    )

    def half(thing: Callable) -> str:
        got = thing(torch.zeros(1, 2, dtype=torch.float16), torch.tensor([[True, False]]))
        return difference("[[0, 0]] in float16, one key hidden,", double([[1, 0]]), got)

    probes = (
        Probe(
            "some keys hidden",
            value(hidden=False),
            "Where a key may be seen all was well: a hidden one weighs 0, and those that may be seen share 1.",
        ),
        Probe("no NaN", number),
        Probe(
            "hidden keys weigh nothing",
            value(hidden=True),
            "The NaN is gone, and hidden keys have a weight. Whatever the softmax says, theirs is 0.",
        ),
        Probe(
            "the gradient",
            gradient,
            "The weights are right. Which step makes a wrong number, or a NaN, on the way back?",
        ),
        Probe("half precision", half, "Does float16 have the number that you fill in? Case 8 is about that."),
    )
    return diagnose("Case 10, weigh", thing, probes, hints)


@seeded(0)
def check_quiet_rows(thing: Callable) -> Verdict:
    """layer_norm(x): as torch's with its eps of 1e-5, without gain and bias, also in half precision."""

    def half(thing: Callable) -> str:
        got = thing(torch.full((1, 3), 3.0, dtype=torch.float16))
        return difference("[[3.0, 3.0, 3.0]] in float16", torch.zeros(1, 3), got)

    def same(label: str, x: Tensor, hint: str) -> Probe:
        given = str(x.tolist()) if x.numel() <= 4 else f"x of shape {tuple(x.shape)}"
        return Probe(label, lambda thing: difference(given, F.layer_norm(x, x.shape[-1:]), thing(x.clone())), hint)

    formula = "In whole precision this was right: each row minus its mean, divided by √(its variance + ε)."

    probes = (
        same("three numbers", double([[1, 2, 6]]), formula),
        same("a row of equal numbers", double([[3, 3, 3]]), formula),
        Probe("a row of equal numbers in half precision", half),
        same(
            "small numbers",
            double([[0.0, 0.001]]),
            "Equal numbers are right. Small ones show ε: is yours the one of torch's layer norm, and under the root?",
        ),
        same("a batch", numbers(2, 3, 8), formula),
    )
    hints = (
        "Which number keeps the denominator from being zero? Is it still there in float16?",
        "Numbers below 6e-8 do not exist in float16. Half precision is fine for vectors, and delicate for variances.",
        "Which ε does torch.nn.functional.layer_norm take? Does float16 have that number?",
    )
    return diagnose("Case 11, layer_norm", thing, probes, hints)


@seeded(0)
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
        mask, got = torch.tensor([[True, True, False]]), None
        for q, k, v in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
            query, key, value = (F.linear(x, weights[i], biases[i]) for i in (q, k, v))
            got = run(module, x, mask) if got is None else got
            if not difference("", attention(query, key, value, mask)[0], got):
                return ""
        return "the output is not the attention of three linear maps of x, last token hidden"

    probes = (
        Probe("the same input twice", twice),
        Probe(
            "what there is to train",
            lambda thing: count(made(thing, 4), 3 * (4 * 4 + 4)),
            "Print list(module.parameters()): all three maps have to be in it. What is in a plain list is not.",
        ),
        Probe(
            "what training reaches",
            lambda thing: no_gradient(made(thing, 4), numbers(2, 3, 4)),
            "The maps are there. Does forward use them, and may the gradient come back to them?",
        ),
        Probe("the formula", formula, "Three linear maps of x go into attention, and the mask as well."),
    )
    hints = (
        "When are the parameters drawn, and how often?",
        "Print list(module.parameters()). What would an optimiser have to hold on to?",
        "A layer is made once and used many times: the two belong into different methods.",
    )
    return diagnose("Case 12, SelfAttention", thing, probes, hints)
