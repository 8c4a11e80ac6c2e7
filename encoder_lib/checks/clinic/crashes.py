"""Cases 6 to 9: it stops with an error."""

from collections.abc import Callable

import torch

from encoder_lib.checks.clinic.tools import (
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
from encoder_lib.model.attention import masked_softmax
from encoder_lib.model.positional import sinusoidal_table
from encoder_lib.seeded import seeded


@seeded(0)
def check_feed_forward(thing: Callable) -> Verdict:
    """FeedForward(d_model, d_ff): Linear, ReLU, Linear."""

    def runs(thing: Callable) -> str:
        got = run(made(thing, 2, 3), double([[[1, -1]]])).shape
        return "" if got == (1, 1, 2) else f"with x of shape (1, 1, 2) expected the same shape, got {tuple(got)}"

    def one_token(thing: Callable) -> str:
        module, x = made(thing, 2, 3), double([[[1, -1]]])
        got = run(module, x)
        return difference("[[[1.0, -1.0]]]", network(module, x, 3), got)

    def formula(thing: Callable) -> str:
        module, x = made(thing, 4, 7), numbers(2, 3, 4)
        return difference("2 sequences of 3 tokens", network(module, x, 7), run(module, x))

    between = "Two linear maps, and a ReLU between them: what does the data meet, and in which order?"
    probes = (
        Probe("it runs", runs),
        Probe(
            "what there is to train",
            lambda thing: count(made(thing, 2, 3), 2 * 3 + 3 + 3 * 2 + 2),
            "parameters() finds modules that are attributes, or in nn.Sequential or nn.ModuleList; not a list's.",
        ),
        Probe("one token", one_token, between),
        Probe(
            "what training reaches",
            lambda thing: no_gradient(made(thing, 4, 7), numbers(2, 3, 4)),
            "The data has to go through what the module holds, and nothing may cut it off from the gradient.",
        ),
        Probe("several sequences", formula, between),
    )
    hints = (
        "Print list(module.parameters()). Where are the three layers kept, and does the module look there?",
        "A name without `self.` is gone when the method ends.",
        "All three have to be the module's own when the constructor ends, and in the order of the formula.",
    )
    return diagnose("Case 6, FeedForward", thing, probes, hints)


@seeded(0)
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
        Probe(
            "one query, one key",
            cut(1, 1, 1, 4, 2),
            "With one token there is little to cut: head 1 gets the first half of its numbers, head 2 the second.",
        ),
        Probe(
            "three queries, three keys",
            cut(1, 3, 3, 4, 2),
            "A row of a head is a slice of one token. Cut every token first, then bring the heads to the front.",
        ),
        Probe("two queries, three keys", cut(1, 2, 3, 4, 2)),
        Probe("three queries, two keys", cut(1, 3, 2, 4, 2)),
        Probe("lengths that divide each other", cut(2, 2, 4, 6, 3)),
    )
    hints = (
        "Which of the three tensors are T rows long?",
        "A decoder's queries look at the encoder's keys: two texts, two lengths.",
        "Ask each tensor for its own shape before you cut it. The number of heads goes behind the tokens first.",
    )
    return diagnose("Case 7, split", thing, probes, hints)


@seeded(0)
def check_half_precision(thing: Callable) -> Verdict:
    """weigh(scores, mask): softmax over the keys that the mask allows, in any floating-point dtype."""

    def exact(dtype: torch.dtype) -> Callable[[Callable], str]:
        def look(thing: Callable) -> str:
            scores, mask = torch.tensor([[0, 0, 3]], dtype=dtype), torch.tensor([[True, True, False]])
            got = thing(scores, mask)
            problem = difference(f"[[0, 0, 3]] in {dtype} and the last key hidden", double([[0.5, 0.5, 0]]), got)
            return problem or ("" if got.dtype == dtype else f"{dtype} in, {got.dtype} out")

        return look

    def in_float64(thing: Callable) -> str:
        return examine("weigh", thing, masked_softmax, weigh_cases(hidden=False), ("",)).problem

    own = "A hidden key weighs 0, and the answer comes back in the dtype that the scores have."
    probes = (
        Probe(
            "float64",
            in_float64,
            "In float64 all was well. A hidden key weighs 0, the others share 1, and a score may be as low as −30000.",
        ),
        Probe("float32", exact(torch.float32), own),
        Probe("bfloat16", exact(torch.bfloat16), own),
        Probe("float16", exact(torch.float16)),
    )
    hints = (
        "What is the smallest number that a float16 can hold? torch.finfo(torch.float16) knows.",
        "The fill has to be lower than any score and exist in every dtype.",
        "Ask the scores for their dtype, or take a number that each floating-point dtype has.",
    )
    return diagnose("Case 8, weigh", thing, probes, hints)


@seeded(0)
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
        return difference("the row of id 0, which is padding,", torch.zeros(4, dtype=torch.float64), row)

    place = "Which row of the positions did each token get? The first of every sentence gets row 0, the next row 1."
    probes = (
        Probe(
            "the first word of the table",
            embed([[0]], 3, 2),
            "Position 0 adds 0 and 1 to the word's vector. Which term of your sum is in it twice, or not at all?",
        ),
        Probe("the last word of the table", embed([[2]], 3, 2)),
        Probe("as many tokens as numbers in a vector", embed([[3, 1, 2, 0]], 5, 4), place),
        Probe("two sentences", embed([[3, 1, 2], [4, 4, 1]], 5, 4), place),
        Probe("wide vectors", embed([[1, 2, 3]], 5, 16), place),
        Probe("the padding's row", padding, "Id 0 should have a row of zeros: nn.Embedding can be told so."),
    )
    hints = (
        "By how much is the result off? Where else does that number occur in the input?",
        "Print the shape of every term of the sum: which of them should be (B, T, D), and is?",
        "The tokens' vectors go in once, and each position's row once.",
    )
    return diagnose("Case 9, Embedding", thing, probes, hints)
