"""Cases 13 to 17: it trains, and something is missing."""

from collections.abc import Callable

import torch
from torch import Tensor

from encoder_lib.course.checks.clinic.tools import all_true, attend_cases, attend_like, double
from encoder_lib.course.checks.modules import in_a_row, made, run
from encoder_lib.course.checks.verdict import Case, Probe, Verdict, diagnose, difference, examine, numbers
from encoder_lib.model.attention import attention
from encoder_lib.model.embedding import TransformerEmbedding
from encoder_lib.model.encoder import EncoderLayer
from encoder_lib.seeded import seeded


def check_padding_row(thing: Callable) -> Verdict:
    """Words(vocab_size, d_model, padding_idx): Xavier-uniform rows, and a padding row of zeros that stays so."""

    def row(padding_idx: int) -> Callable[[Callable], str]:
        def look(thing: Callable) -> str:
            got = run(made(thing, 5, 2, padding_idx), torch.tensor([[padding_idx]]))
            return difference(f"ids [[{padding_idx}]], the padding", torch.zeros(1, 1, 2), got)

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
        module(torch.tensor([[1, 2, 1]])).sum().backward()
        for weight in module.parameters():
            weight.data -= 0 if weight.grad is None else weight.grad
        return difference("one step of training, padding", torch.zeros(1, 1, 2), module(torch.tensor([[1]])))

    probes = (
        Probe("padding 0", row(0)),
        Probe("padding 3", row(3)),
        Probe("the other words", others),
        Probe("after a step of training", trained),
    )
    return diagnose("Case 13, Words", thing, probes)


def check_context(thing: Callable) -> Verdict:
    """attend(query, key, value, mask): attention as an encoder has it."""
    zero, pair = torch.zeros(1, 2, 1, dtype=torch.float64), double([[[0], [1]]])
    cases = [
        Case("one token", (zero[:, :1], zero[:, :1], pair[:, 1:], all_true(1, 1, 1))),
        Case("two tokens", (zero, zero, pair, all_true(1, 1, 2))),
        *attend_cases(),
    ]
    return attend_like("Case 14, attend", thing, cases)


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
        Case("four sentences of four tokens", inputs(4, 4, 4, 2, 3, 1)),
    ]
    return examine("Case 15, attend", thing, reference, cases)


@seeded(0)
def check_padding(thing: Callable) -> Verdict:
    """encode(ids, embedding, layers): vectors of a padded batch; id 0 is padding."""
    embedding = TransformerEmbedding(6, 4, padding_idx=0).double()
    layers = [EncoderLayer(4, 1, 8).double() for _ in range(2)]

    def batch(*sentences: list[int], n_layers: int = 2) -> Callable[[Callable], str]:
        def look(thing: Callable) -> str:
            length = max(map(len, sentences))
            ids = torch.tensor([[*s, *[0] * (length - len(s))] for s in sentences])
            got = thing(ids.clone(), embedding, layers[:n_layers])
            for i, sentence in enumerate(sentences):
                words = [n for n in sentence if n]
                expected = in_a_row(layers[:n_layers], embedding(torch.tensor([words])), None)[0]  # (T, D)
                given = f"ids {ids.tolist()}, the words {words}"
                if problem := difference(given, expected, got[i, : len(words)]):
                    return problem
            return ""

        return look

    probes = (
        Probe("no padding", batch([3, 1])),
        Probe("one padding token", batch([3, 0], n_layers=1)),
        Probe("two layers", batch([3, 0])),
        Probe("a short and a long sentence", batch([2, 5, 1], [4])),
    )
    return diagnose("Case 16, encode", thing, probes)


def check_mixture(thing: Callable) -> Verdict:
    """attend(query, key, value, mask): each output is a weighted mean of the values."""
    zero, pair = torch.zeros(1, 2, 1, dtype=torch.float64), double([[[1], [1]]])
    cases = [
        Case("as many queries as keys, all alike", (zero, zero, pair, all_true(1, 1, 2))),
        Case("one query, two equal values", (zero[:, :1], zero, pair, all_true(1, 1, 2))),
        *attend_cases(),
    ]
    return attend_like("Case 17, attend", thing, cases)
