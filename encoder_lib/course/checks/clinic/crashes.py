"""Cases 6 to 9: it stops with an error."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from encoder_lib.course.checks.clinic.tools import double, no_gradient, other_shape, trainable, weighs
from encoder_lib.course.checks.modules import made, network, of_shape, run
from encoder_lib.course.checks.verdict import Probe, Verdict, diagnose, difference, numbers
from encoder_lib.model.positional import sinusoidal_table


def check_feed_forward(thing: Callable) -> Verdict:
    """FeedForward(d_model, d_ff): Linear, ReLU, Linear."""

    def formula(given: str, x: Tensor, d_ff: int) -> Callable[[Callable], str]:
        def look(thing: Callable) -> str:
            module = made(thing, x.shape[-1], d_ff)
            got = run(module, x)
            return difference(given, network(module, x, d_ff), got)

        return look

    probes = (
        Probe("it runs", lambda thing: other_shape(made(thing, 2, 3), 1, 1, 2)),
        Probe("what there is to train", lambda thing: trainable(made(thing, 2, 3), 2 * 3 + 3 + 3 * 2 + 2)),
        Probe("one token", formula("[[[1.0, -1.0]]]", double([[[1, -1]]]), 3)),
        Probe("what training reaches", lambda thing: no_gradient(made(thing, 4, 7), numbers(2, 3, 4))),
        Probe("several sequences", formula("2 sequences of 3 tokens", numbers(2, 3, 4), 7), hint="one token"),
    )
    return diagnose("Case 6, FeedForward", thing, probes)


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
    return diagnose("Case 7, split", thing, probes)


def check_half_precision(thing: Callable) -> Verdict:
    """weigh(scores, mask): softmax over the keys that the mask allows, in any floating-point dtype."""

    def exact(dtype: torch.dtype) -> Callable[[Callable], str]:
        def look(thing: Callable) -> str:
            scores, mask = torch.tensor([[0, 0, 3]], dtype=dtype), torch.tensor([[True, True, False]])
            got = thing(scores, mask)
            problem = difference(f"[[0, 0, 3]] in {dtype} and the last key hidden", double([[0.5, 0.5, 0]]), got)
            return problem or ("" if got.dtype == dtype else f"{dtype} in, {got.dtype} out")

        return look

    probes = (
        Probe("float64", partial(weighs, hidden=False)),
        Probe("float32", exact(torch.float32)),
        Probe("bfloat16", exact(torch.bfloat16), hint="float32"),
        Probe("float16", exact(torch.float16)),
    )
    return diagnose("Case 8, weigh", thing, probes)


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
    return diagnose("Case 9, Embedding", thing, probes)
