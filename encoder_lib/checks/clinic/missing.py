"""Cases 13 to 17: it trains, and something is missing."""

from collections.abc import Callable

import torch
from torch import Tensor

from encoder_lib.checks.clinic.tools import (
    all_true,
    attend_cases,
    attend_like,
    double,
    made,
    run,
)
from encoder_lib.checks.verdict import Case, Probe, Verdict, diagnose, difference, examine, numbers
from encoder_lib.model.attention import attention
from encoder_lib.model.embedding import TransformerEmbedding
from encoder_lib.model.encoder import EncoderLayer
from encoder_lib.seeded import seeded


@seeded(0)
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
        Probe("padding 3", row(3), "Row 0 is zero now. Which row is the padding's here?"),
        Probe("the other words", others, "The padding is right. All other rows should be Xavier's, as before."),
        Probe(
            "after a step of training",
            trained,
            "The row begins at zero and learns. Which argument of nn.Embedding keeps its gradient at zero?",
        ),
    )
    hints = (
        "nn.Embedding sets the padding row to zero when it is made. What happens to the row afterwards?",
        "padding_idx keeps the gradient of that row at zero: what once stands there stays there.",
        "Who writes last wins. Changing a parameter by hand wants torch.no_grad().",
    )
    return diagnose("Case 13, Words", thing, probes, hints)


@seeded(0)
def check_context(thing: Callable) -> Verdict:
    """attend(query, key, value, mask): attention as an encoder has it."""
    zero, pair = torch.zeros(1, 2, 1, dtype=torch.float64), double([[[0], [1]]])
    cases = [
        Case(
            "one token",
            (zero[:, :1], zero[:, :1], pair[:, 1:], all_true(1, 1, 1)),
            "A single token that may see itself gets its own value, with weight 1.",
        ),
        Case("two tokens", (zero, zero, pair, all_true(1, 1, 2))),
        *attend_cases(),
    ]
    hints = (
        "Which tokens had a say in each row of the result, and which should have had?",
        "Print the mask that the softmax gets.",
        "A decoder must not see what comes next. An encoder reads a text that is there already.",
    )
    return attend_like("Case 14, attend", thing, cases, hints)


@seeded(0)
def check_batch_mask(thing: Callable) -> Verdict:
    """attend(query, key, value, real): attention to the real tokens of each sentence, real (B, T)."""

    def reference(query: Tensor, key: Tensor, value: Tensor, real: Tensor) -> Tensor:
        return attention(query, key, value, real[:, None, :])[0]

    def inputs(batch: int, length: int, *lengths: int) -> tuple[Tensor, ...]:
        real = torch.arange(length) < torch.tensor(lengths)[:, None]
        return *(numbers(batch, length, 4, seed=i) for i in range(3)), real

    zero, pair = torch.zeros(2, 2, 1, dtype=torch.float64), double([[[0], [1]], [[0], [1]]])
    cases = [
        Case(
            "one sentence",
            (zero[:1], zero[:1], pair[:1], torch.tensor([[True, False]])),
            "The second token is padding: as a key it has no weight in any row. As a query it may ask like the first.",
        ),
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
    return examine("Case 15, attend", thing, reference, cases, hints)


@seeded(0)
def check_padding(thing: Callable) -> Verdict:
    """encode(ids, embedding, layers): vectors of a padded batch; id 0 is padding."""
    each = "One sentence with one padding token is right. Each sentence has a mask of its own, as long as the batch."
    embedding = TransformerEmbedding(6, 4, padding_idx=0).double()
    layers = [EncoderLayer(4, 1, 8).double() for _ in range(2)]

    @torch.no_grad()
    def alone(ids: list[int], n_layers: int) -> Tensor:
        x = embedding(torch.tensor([ids]))
        for layer in layers[:n_layers]:
            x = layer(x)
        return x[0]  # (T, D)

    def batch(*sentences: list[int], n_layers: int = 2) -> Callable[[Callable], str]:
        def look(thing: Callable) -> str:
            length = max(map(len, sentences))
            ids = torch.tensor([[*s, *[0] * (length - len(s))] for s in sentences])
            got = thing(ids.clone(), embedding, layers[:n_layers])
            for i, sentence in enumerate(sentences):
                words = [n for n in sentence if n]
                given, expected = f"ids {ids.tolist()}, the words {words}", alone(words, n_layers)
                if problem := difference(given, expected, got[i, : len(words)]):
                    return problem
            return ""

        return look

    probes = (
        Probe(
            "no padding",
            batch([3, 1]),
            "Here both tokens are words, and nothing may be hidden. What does your mask say of a word?",
        ),
        Probe("one padding token", batch([3, 0], n_layers=1)),
        Probe("two layers", batch([3, 0]), "With one layer it is right. Does each of the two hide the padding?"),
        Probe("a short and a long sentence", batch([2, 5, 1], [4]), each),
        Probe("much padding", batch([2, 5, 0, 0, 0, 0]), each),
    )
    hints = (
        "The padding's row is zero. What is added to it before the first layer, and what are its key and its value?",
        "A key that is never to be looked at has to be hidden from the softmax, in every layer.",
        "Which argument of the library's layers has not been used? What should it say, for these ids?",
    )
    return diagnose("Case 16, encode", thing, probes, hints)


@seeded(0)
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
    return attend_like("Case 17, attend", thing, cases, hints)
