"""Cases 11 to 17: it trains, and something is missing."""

from collections.abc import Callable

import torch
from torch import Tensor

from encoder_lib.checks.clinic import fault_injection
from encoder_lib.checks.clinic.registry import case
from encoder_lib.checks.clinic.tools import (
    all_true,
    attend_cases,
    attend_like,
    count,
    double,
    made,
    no_gradient,
    run,
)
from encoder_lib.checks.verdict import Case, Probe, Verdict, diagnose, difference, examine, numbers
from encoder_lib.model.attention import attention
from encoder_lib.model.embedding import TransformerEmbedding
from encoder_lib.model.encoder import EncoderLayer


@case("a registered template", fault_injection.inject_stack)
def check_stack(thing: Callable) -> Verdict:
    """Stack(n_layers, d_model, n_heads, d_ff): encoder layers in a row, each with weights of its own."""

    def many(n_layers: int) -> str:
        layer = sum(weight.numel() for weight in EncoderLayer(4, 1, 6).parameters())
        return count(made(thing, n_layers, 4, 1, 6), n_layers * layer)

    def apart(thing: Callable) -> str:
        matrices = [weight for weight in made(thing, 3, 4, 1, 6).parameters() if weight.ndim == 2]
        pairs = [(a, b) for i, a in enumerate(matrices) for b in matrices[:i] if torch.equal(a, b)]
        return f"expected layers that begin apart, got {len(pairs)} pairs of equal matrices" if pairs else ""

    def in_a_row(thing: Callable) -> str:
        module, x = made(thing, 3, 4, 1, 6), numbers(2, 3, 4)
        mask, expected = torch.tensor([[True, True, False], [True, True, True]])[:, None, None], x
        for layer in (m for m in module.modules() if isinstance(m, EncoderLayer)):
            expected = layer(expected, mask)  # (B, T, D)
        return difference("three layers, and one token hidden", expected, run(module, x, mask))

    def shape(thing: Callable) -> str:
        got = run(made(thing, 2, 4, 1, 6), numbers(2, 3, 4)).shape
        return "" if got == (2, 3, 4) else f"with x of shape (2, 3, 4) expected the same shape, got {tuple(got)}"

    probes = (
        Probe("it runs", shape),
        Probe("what training reaches", lambda thing: no_gradient(made(thing, 2, 4, 1, 6), numbers(2, 3, 4))),
        Probe("one layer", lambda thing: many(1)),
        Probe("three layers", lambda thing: many(3)),
        Probe("the first weights", apart),
        Probe("layers in a row", in_a_row),
    )
    hints = (
        "How many layers does the object hold? Count what is assigned to self.",
        "Whatever is assigned to self is registered, whether forward uses it or not.",
        "A list that holds one object three times holds one layer; a deep copy copies the random weights too.",
    )
    return diagnose("Case 11, Stack", thing, probes, hints)


@case("a padding row not zero", fault_injection.inject_words)
def check_padding_row(thing: Callable) -> Verdict:
    """Words(vocab_size, d_model, padding_idx): Xavier-uniform rows, and a padding row of zeros that stays so."""

    def row(padding_idx: int) -> Callable[[Callable], str]:
        def look(thing: Callable) -> str:
            module = made(thing, 5, 2, padding_idx)
            return difference(
                f"ids [[{padding_idx}]], the padding,",
                torch.zeros(1, 1, 2),
                run(module, torch.tensor([[padding_idx]])),
            )

        return look

    def others(thing: Callable) -> str:
        y = run(made(thing, 50, 10, 0), torch.arange(1, 50)[None])
        if y.shape != (1, 49, 10):
            return f"with 49 ids expected shape (1, 49, 10), got {tuple(y.shape)}"
        largest, bound = y.abs().max().item(), (6 / 60) ** 0.5
        if 0.9 * bound < largest <= bound and y.abs().amin(dim=(0, 2)).min() > 0:
            return ""
        return f"expected every other row drawn from −{bound:.4f} … {bound:.4f}, got numbers up to {largest:.4f}"

    def trained(thing: Callable) -> str:
        module = made(thing, 5, 2, 1)
        optimiser = torch.optim.SGD(module.parameters(), lr=1.0)
        module(torch.tensor([[1, 2, 1]])).sum().backward()
        optimiser.step()
        return difference("one step of training, padding", torch.zeros(1, 1, 2), module(torch.tensor([[1]])))

    probes = (
        Probe("padding 0", row(0)),
        Probe("padding 3", row(3)),
        Probe("the other words", others),
        Probe("after a step of training", trained),
    )
    hints = (
        "nn.Embedding sets the padding row to zero when it is made. What happens to the row afterwards?",
        "padding_idx keeps the gradient of that row at zero: what once stands there stays there.",
        "Who writes last wins. Changing a parameter by hand wants torch.no_grad().",
    )
    return diagnose("Case 12, Words", thing, probes, hints)


@case("a causal mask left in", fault_injection.inject_attend)
def check_context(thing: Callable) -> Verdict:
    """attend(query, key, value, mask): attention as an encoder has it."""
    zero, pair = torch.zeros(1, 2, 1, dtype=torch.float64), double([[[0], [1]]])
    cases = [
        Case("one token", (zero[:, :1], zero[:, :1], pair[:, 1:], all_true(1, 1, 1))),
        Case("two tokens", (zero, zero, pair, all_true(1, 1, 2))),
        *attend_cases(),
    ]
    hints = (
        "Which tokens had a say in the first row of the result, and which should have had?",
        "Print the mask that the softmax gets.",
        "A decoder must not see what comes next. An encoder reads a text that is there already.",
    )
    return attend_like("Case 13, attend", thing, cases, hints)


@case("a (B, T) mask as (T, T)", fault_injection.inject_attend_real)
def check_batch_mask(thing: Callable) -> Verdict:
    """attend(query, key, value, real): attention to the real tokens of each sentence, real (B, T)."""

    def reference(query: Tensor, key: Tensor, value: Tensor, real: Tensor) -> Tensor:
        return attention(query, key, value, real[:, None, :])[0]

    def inputs(batch: int, length: int, *lengths: int) -> tuple[Tensor, ...]:
        real = torch.arange(length) < torch.tensor(lengths)[:, None]
        return *(numbers(batch, length, 4, seed=i) for i in range(3)), real

    zero, pair = torch.zeros(2, 2, 1, dtype=torch.float64), double([[[0], [1]], [[0], [1]]])
    cases = [
        Case("one sentence", (zero[:1], zero[:1], pair[:1], torch.tensor([[True, False]]))),
        Case("two sentences of two tokens", (zero, zero, pair, torch.tensor([[True, True], [True, False]]))),
        Case("three sentences of four tokens", inputs(3, 4, 4, 2, 1)),
        Case("four sentences of four tokens", inputs(4, 4, 4, 2, 3, 1)),
        Case("one sentence of five", inputs(1, 5, 3)),
    ]
    hints = (
        "Write down the shape of the scores and, under it from the right, the shape of the mask. Which axes meet?",
        "Shapes are matched from the right: a mask (B, T) meets scores (B, query, key) in its last two axes.",
        "The mask has one row a sentence and says something about keys; it has nothing to say about queries.",
    )
    return examine("Case 14, attend", thing, reference, cases, hints)


@case("padding not masked", fault_injection.inject_encode)
def check_padding(thing: Callable) -> Verdict:
    """encode(ids, embedding, layers): vectors of a padded batch; id 0 is padding."""
    embedding = TransformerEmbedding(6, 4, padding_idx=0).double()
    layers = [EncoderLayer(4, 1, 8).double() for _ in range(2)]

    @torch.no_grad()
    def alone(ids: list[int]) -> Tensor:
        x = embedding(torch.tensor([ids]))
        for layer in layers:
            x = layer(x)
        return x[0]  # (T, D)

    def batch(*sentences: list[int]) -> Callable[[Callable], str]:
        def look(thing: Callable) -> str:
            length = max(map(len, sentences))
            ids = torch.tensor([[*s, *[0] * (length - len(s))] for s in sentences])
            got = thing(ids.clone(), embedding, layers)
            for i, sentence in enumerate(sentences):
                words = [n for n in sentence if n]
                if problem := difference(f"ids {ids.tolist()}, the words {words}", alone(words), got[i, : len(words)]):
                    return problem
            return ""

        return look

    probes = (
        Probe("no padding", batch([3, 1])),
        Probe("one padding token", batch([3, 0])),
        Probe("a short and a long sentence", batch([2, 5, 1], [4])),
        Probe("much padding", batch([2, 5, 0, 0, 0, 0])),
    )
    hints = (
        "The padding's row is zero. What is added to it before the first layer, and what are its key and its value?",
        "A key that is never to be looked at has to be hidden from the softmax, in every layer.",
        "The library's layers take the mask as a second argument; padding_mask(ids, 0) makes one.",
    )
    return diagnose("Case 15, encode", thing, probes, hints)


@case("softmax over queries", fault_injection.inject_attend)
def check_mixture(thing: Callable) -> Verdict:
    """attend(query, key, value, mask): each output is a weighted mean of the values."""
    zero, pair = torch.zeros(1, 2, 1, dtype=torch.float64), double([[[1], [1]]])
    cases = [
        Case("as many queries as keys, all alike", (zero, zero, pair, all_true(1, 1, 2))),
        Case("one query, two equal values", (zero[:, :1], zero, pair, all_true(1, 1, 2))),
        *attend_cases(),
    ]
    hints = (
        "Both values are 1. Which number is a weighted mean of ones?",
        "For each query the weights sum to 1. Which axis of the scores do you sum over to see it?",
        "The scores are (B, query, key). Name the axis from the right, and it holds with heads too.",
    )
    return attend_like("Case 16, attend", thing, cases, hints)


@case("network reads another x", fault_injection.inject_block)
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
        Probe("two heads", lambda thing: real_parts(thing, 2, 1, 5, 6)),
    )
    hints = (
        "Follow the number 1 through the code by hand, and write down what each name stands for.",
        "A residual sum adds to a tensor what a branch made of the same tensor.",
        "Two different names are in the last line. Which of them is normalised?",
    )
    return diagnose("Case 17, block", thing, probes, hints)
