"""Cases 6 to 10: NaN, and other answers that differ."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from encoder_lib.checks.clinic import fault_injection
from encoder_lib.checks.clinic.registry import case
from encoder_lib.checks.clinic.tools import (
    all_true,
    count,
    double,
    made,
    network,
    no_gradient,
    of_shape,
    run,
    weigh_cases,
)
from encoder_lib.checks.verdict import Probe, Verdict, diagnose, difference, examine, numbers
from encoder_lib.model.attention import attention, masked_softmax


@case("a row that sees nothing", fault_injection.inject_weigh)
def check_empty_text(thing: Callable) -> Verdict:
    """weigh(scores, mask): softmax over the keys that the mask allows; zeros where it allows none."""

    def value(thing: Callable) -> str:
        return examine("weigh", thing, masked_softmax, weigh_cases(hidden=True), ("",)).problem

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

    probes = (Probe("the weights", value), Probe("the gradient", gradient), Probe("half precision", half))
    return diagnose("Case 6, weigh", thing, probes, hints)


@case("a mask turned round", fault_injection.inject_torch_attend)
def check_torch_mask(thing: Callable) -> Verdict:
    """attend(attention, x, real): torch's nn.MultiheadAttention on x (B, T, D), real (B, T) True where a word is."""

    def look(x: Tensor, real: Tensor) -> Callable[[Callable], str]:
        def ask(thing: Callable) -> str:
            theirs = nn.MultiheadAttention(x.shape[-1], 1, batch_first=True, dtype=torch.float64)
            with torch.no_grad():
                theirs.in_proj_weight.copy_(torch.eye(x.shape[-1]).repeat(3, 1))
                theirs.out_proj.weight.copy_(torch.eye(x.shape[-1]))
            mask = real[:, None, :] & all_true(1, real.shape[1], 1)  # (B, T, T)
            given = f"vectors {x.tolist()}, real {real.tolist()}" if x.numel() < 5 else f"x of shape {tuple(x.shape)}"
            got = thing(theirs, x.clone(), real.clone())
            return difference(given, attention(x, x, x, mask)[0], got)

        return ask

    lengths = torch.arange(4) < torch.tensor([[4], [1], [3]])
    probes = (
        Probe("a word and padding", look(double([[[1], [5]]]), torch.tensor([[True, False]]))),
        Probe("no padding", look(double([[[1], [5]]]), all_true(1, 2))),
        Probe("sentences of three lengths", look(numbers(3, 4, 2), lengths)),
        Probe("wide vectors", look(numbers(3, 4, 6), lengths)),
    )
    hints = (
        "Whose vector came out: the word's, or the padding's?",
        "Read what nn.MultiheadAttention says of key_padding_mask: what does True stand for there?",
        "Two conventions are in use, each the opposite of the other. Translate at the border.",
    )
    return diagnose("Case 7, attend", thing, probes, hints)


@case("ε too small for float16", fault_injection.inject_norm)
def check_quiet_rows(thing: Callable) -> Verdict:
    """layer_norm(x): as torch's with its eps of 1e-5, without gain and bias, also in half precision."""

    def half(thing: Callable) -> str:
        got = thing(torch.full((1, 3), 3.0, dtype=torch.float16))
        return difference("[[3.0, 3.0, 3.0]] in float16", torch.zeros(1, 3), got)

    def same(label: str, x: Tensor) -> Probe:
        given = str(x.tolist()) if x.numel() <= 4 else f"x of shape {tuple(x.shape)}"
        return Probe(label, lambda thing: difference(given, F.layer_norm(x, x.shape[-1:]), thing(x.clone())))

    probes = (
        same("three numbers", double([[1, 2, 6]])),
        same("a row of equal numbers", double([[3, 3, 3]])),
        Probe("a row of equal numbers in half precision", half),
        same("small numbers", double([[0.0, 0.001]])),
        same("a batch", numbers(2, 3, 8)),
    )
    hints = (
        "Which number keeps the denominator from being zero? Is it still there in float16?",
        "Numbers below 6e-8 do not exist in float16. Half precision is fine for vectors, and delicate for variances.",
        "Compare with torch.nn.functional.layer_norm on numbers as small as 0.001 too.",
    )
    return diagnose("Case 8, layer_norm", thing, probes, hints)


@case("layers made in forward", fault_injection.inject_self_attention)
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
        Probe("what there is to train", lambda thing: count(made(thing, 4), 3 * (4 * 4 + 4))),
        Probe("what training reaches", lambda thing: no_gradient(made(thing, 4), numbers(2, 3, 4))),
        Probe("the formula", formula),
    )
    hints = (
        "When are the weights drawn, and how often?",
        "Print list(module.parameters()). What would an optimiser have to hold on to?",
        "A layer is made once and used many times: the two belong into different methods.",
    )
    return diagnose("Case 9, SelfAttention", thing, probes, hints)


@case("dropout that never stops", lambda thing: fault_injection.inject_feed_forward(thing, 0.5))
def check_evaluation(thing: Callable) -> Verdict:
    """FeedForward(d_model, d_ff, dropout): dropout on the hidden numbers, in training mode alone."""

    def twice(training: bool) -> float:
        module, x = made(thing, 4, 32, 0.5).train(training), numbers(2, 3, 4)
        return (module(x) - module(x)).abs().max().item()

    def evaluating(thing: Callable) -> str:
        moved = twice(training=False)
        return f"the two outputs differ by up to {moved:.4f}" if moved > 1e-9 else ""

    def training(thing: Callable) -> str:
        return "" if twice(training=True) > 1e-9 else "expected dropout 0.5 to change the output, got the same twice"

    def formula(thing: Callable) -> str:
        module, x = made(thing, 4, 32, 0.5).eval(), numbers(2, 3, 4)
        return difference("2 sequences of 3 tokens", network(module, x, 32), run(module, x))

    def all_silent(thing: Callable) -> str:
        module, x = made(thing, 4, 5, 0.99999), numbers(1, 1, 4)
        got = run(module, x)
        return difference("a dropout of 0.99999, the second bias alone,", of_shape(module, 4).expand(1, 1, 4), got)

    def once_more(thing: Callable) -> str:
        module, x = made(thing, 4, 32, 0.5), numbers(2, 3, 4)
        module.eval(), run(module, x), module.train()
        same = torch.equal(module(x), module(x))
        return "after eval() and train(), expected dropout to be back, got the same twice" if same else ""

    probes = (
        Probe("twice in eval mode", evaluating),
        Probe("twice in training mode", training),
        Probe("the formula in eval mode", formula),
        Probe("back in training mode", once_more),
        Probe("every hidden number silent", all_silent),
    )
    hints = (
        "model.eval() sets one flag in every module. Who reads it here?",
        "F.dropout does not know which module it is called from. Read its list of arguments.",
        "Training still needs dropout: do not take it out.",
    )
    return diagnose("Case 10, FeedForward", thing, probes, hints)
