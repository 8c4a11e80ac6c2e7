"""Cases 6 to 12: what is left when the five tests have their cases."""

from collections.abc import Callable

import torch
from torch import Tensor

from encoder_lib.course.checks.clinic.tools import all_true, double
from encoder_lib.course.checks.modules import in_a_row, made, of_shape, run
from encoder_lib.course.checks.verdict import Case, Probe, Verdict, diagnose, difference, examine, numbers
from encoder_lib.model.attention import attention
from encoder_lib.model.embedding import TransformerEmbedding
from encoder_lib.model.encoder import EncoderLayer
from encoder_lib.model.positional import sinusoidal_table
from encoder_lib.seeded import seeded


def check_split(thing: Callable) -> Verdict:
    """split(query, key, value, n_heads): each (B, T, D) cut into heads (B, H, T, K), whatever its own T is."""

    def cut(batch: int, queries: int, keys: int, d_model: int, n_heads: int) -> Callable[[Callable], str]:
        def look(thing: Callable) -> str:
            three = [numbers(batch, n, d_model, seed=i) for i, n in enumerate((queries, keys, keys))]
            got = thing(*(x.clone() for x in three), n_heads)
            if len(got) != 3:
                return f"expected three tensors, got {len(got)}"
            for name, x, heads in zip(("query", "key", "value"), three, got, strict=True):
                expected = x.unflatten(-1, (n_heads, -1)).transpose(1, 2)  # (B, H, T, K)
                if problem := difference(f"a {name} of shape {tuple(x.shape)} and {n_heads} heads", expected, heads):
                    return problem
            return ""

        return look

    probes = (
        Probe("one query, one key", cut(1, 1, 1, 4, 2)),
        Probe("three queries, three keys", cut(1, 3, 3, 4, 2)),
        Probe("two queries, three keys", cut(1, 2, 3, 4, 2)),
        Probe("lengths that divide each other", cut(2, 2, 4, 6, 3)),
    )
    return diagnose("Case 6, split", thing, probes)


def check_embedding(thing: Callable) -> Verdict:
    """Embedding(vocab_size, d_model): token vector plus the sinusoidal row of its position."""

    def embed(ids: list, vocab_size: int, d_model: int) -> Callable[[Callable], str]:
        def look(thing: Callable) -> str:
            module, given = made(thing, vocab_size, d_model), torch.tensor(ids)
            table = of_shape(module, vocab_size, d_model)
            with torch.no_grad():
                table.copy_(torch.arange(1, table.numel() + 1).view_as(table) / 10)
            expected = table[given] + sinusoidal_table(given.shape[1], d_model, dtype=torch.float64)
            rows = f" and the table {[[round(n, 1) for n in row] for row in table.tolist()]}" if d_model == 2 else ""
            return difference(f"ids {ids}{rows}", expected, run(module, given))

        return look

    def padding(thing: Callable) -> str:
        row = of_shape(made(thing, 5, 4), 5, 4)[0]
        return difference("id 0, which is padding", torch.zeros(4, dtype=torch.float64), row)

    probes = (
        Probe("the first word of the table", embed([[0]], 3, 2)),
        Probe("the last word of the table", embed([[2]], 3, 2)),
        Probe("two sentences", embed([[3, 1, 2], [4, 4, 1]], 5, 4)),
        Probe("the padding's row", padding),
    )
    return diagnose("Case 7, Embedding", thing, probes)


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
    return diagnose("Case 8, Words", thing, probes)


def check_context(thing: Callable) -> Verdict:
    """attend(query, key, value, mask): attention as an encoder has it."""
    zero, pair = torch.zeros(1, 2, 1, dtype=torch.float64), double([[[0], [1]]])
    three = [numbers(2, 3, 4, seed=i) for i in range(3)]
    cases = [
        Case("one token", (zero[:, :1], zero[:, :1], pair[:, 1:], all_true(1, 1, 1))),
        Case("two tokens", (zero, zero, pair, all_true(1, 1, 2))),
        Case("a batch", (*three, all_true(2, 1, 3)), hint="attention in a batch"),
        Case("the last key hidden", (*three, torch.tensor([True, True, False]).expand(2, 1, 3))),
        Case("more keys than queries", (three[0][:, :2], *three[1:], all_true(2, 1, 3))),
    ]
    return examine("Case 9, attend", thing, lambda q, k, v, mask: attention(q, k, v, mask)[0], cases)


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
    return examine("Case 10, attend", thing, reference, cases)


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
    return diagnose("Case 11, encode", thing, probes)


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
    return diagnose("Case 12, block", thing, probes)
