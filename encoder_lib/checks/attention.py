"""Checks of the exercises of 04_attention."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from encoder_lib.checks.verdict import Case, Verdict, examine, numbers
from encoder_lib.model.attention import MultiHeadAttention, attention
from encoder_lib.model.masks import causal_mask, lengths_mask, padding_mask
from encoder_lib.seeded import seeded

OF_MASK = "Without a mask it is right. True means: may be looked at; the mask acts on the scores, before the softmax."
OF_NOBODY = (
    "Where the mask forbids a whole row, the softmax has nothing to share out, and zeros are asked for. What does your "
    "code give there: nan, or an even share? One more masked_fill, after the softmax, mends both."
)


def check_scaled_attention(attempt: Callable) -> Verdict:
    """scaled_attention(query, key, value, mask): weighted means (…, q, V); zeros where a row of the mask is False."""

    def reference(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        return attention(query, key, value, mask)[0]

    def some(*shapes: tuple[int, ...]) -> tuple[Tensor, ...]:
        return tuple(numbers(*shape, seed=seed) for seed, shape in enumerate(shapes, start=1))

    one, two = torch.tensor([[1.0, 0.0]], dtype=torch.float64), torch.eye(2, dtype=torch.float64)
    lengths = torch.tensor([[4], [2]])  # of two sentences
    deaf = torch.tensor([[True, True, False], [False, False, False], [True, True, True]])
    cases = [
        Case("one query, two keys", (one, two, 10 * two, None)),
        Case("three words, four numbers each", (*some((3, 4), (3, 4), (3, 4)), None)),
        Case("more keys than queries, and wider values", (*some((2, 3), (5, 3), (5, 6)), None)),
        Case("a mask", (*some((3, 4), (3, 4), (3, 4)), causal_mask(3)), hint=OF_MASK),
        Case(
            "a hidden key that fits far better",
            (-200 * one, two, 10 * two, torch.tensor([[True, False]])),
            hint="What overwrites the score of a hidden key has to be lower than any score that there may be.",
        ),
        Case("a row that may attend to nothing", (*some((3, 2), (3, 2), (3, 2)), deaf), hint=OF_NOBODY),
        Case(
            "a batch without a mask",
            (*some((2, 4, 3), (2, 4, 3), (2, 4, 3)), None),
            hint="A single sentence is right. In a batch only the last two dimensions of the keys change places.",
        ),
        Case(
            "two heads, with padding",
            (*some((2, 2, 4, 3), (2, 2, 4, 3), (2, 2, 4, 3)), (torch.arange(4) < lengths)[:, None, None, :]),
        ),
    ]
    hints = (
        "One score for each query and key; the last dimension of query and key is the one that is summed over.",
        "The scores are divided by the square root of a query's width; the softmax runs along each row, over the keys.",
        "Masked scores must not count before the softmax; and a row in which all are masked ends as zeros.",
    )
    return examine("scaled_attention", attempt, reference, cases, hints)


def check_mask_padding(attempt: Callable) -> Verdict:
    """mask_padding(ids, padding_idx): True where a key is a real token, ids (B, T) -> (B, 1, 1, T)."""
    cases = [
        Case("one word, no padding", (torch.tensor([[7]]), 0)),
        Case("padding at the end", (torch.tensor([[5, 3, 0]]), 0)),
        Case("padding that is not id 0", (torch.tensor([[4, 0, 2, 1, 1]]), 1)),
        Case("two sentences", (torch.tensor([[5, 3, 2, 9], [8, 0, 0, 0]]), 0)),
        Case("padding in front", (torch.tensor([[0, 0, 6], [4, 5, 6]]), 0)),
        Case("as many sentences as tokens", (torch.tensor([[3, 2, 2], [2, 2, 2], [1, 3, 2]]), 2)),
    ]
    hints = (
        "Compare the ids with the id of padding: which tokens are real?",
        "The mask is boolean and says who may be looked at: True for a word, False for padding.",
        "Scores have shape (B, H, query, key). The mask has size 1 where it is the same for all: heads and queries.",
    )
    return examine("mask_padding", attempt, padding_mask, cases, hints)


def check_mask_future(attempt: Callable) -> Verdict:
    """mask_future(length): True where the key stands at or before the query -> (T, T)."""
    cases = [
        Case("one word", (1,)),
        Case("two words", (2,)),
        Case("three words", (3,)),
        Case("five words", (5,)),
        Case("twelve words", (12,)),
    ]
    hints = (
        "Row i looks, column j is looked at. For which j may row i see something?",
        "The first word sees itself and nothing else; the last word sees all.",
        "The result is boolean: compare two ranges of positions, or make booleans of a triangle of ones.",
    )
    return examine("mask_future", attempt, causal_mask, cases, hints)


def check_multi_head(attempt: Callable) -> Verdict:
    """multi_head(x, q_proj, k_proj, v_proj, out_proj, n_heads, mask): H attentions on slices of D -> (B, T, D)."""

    def reference(x: Tensor, *rest: Any) -> Tensor:
        *projections, n_heads, mask = rest
        with seeded(0):  # what the layer draws is thrown away, and the learner's random numbers go on as they were
            layer = MultiHeadAttention(x.shape[-1], n_heads)
        layer.q_proj, layer.k_proj, layer.v_proj, layer.out_proj = projections
        return layer(x, x, x, mask)

    def case(
        label: str, batch: int, length: int, width: int, n_heads: int, mask: Tensor | None = None, hint: str = ""
    ) -> Case:
        projections = [_linear(width, seed=seed) for seed in range(4)]
        return Case(label, (numbers(batch, length, width, seed=9), *projections, n_heads, mask), hint)

    of_heads = (
        "The mask (B, 1, 1, T) fits scores (B, H, T, T): it says who may be looked at, the same for all heads and "
        "queries. In a loop over heads the scores are (B, T, T): there the mask has to lose its second dimension."
    )
    of_slices = (
        "A head's slice is K neighbours: numbers 0 to K − 1 for the first, K to 2K − 1 for the second. Cut the last "
        "dimension, then bring the heads forward; on the way back in the opposite order."
    )
    lengths, nobody = torch.tensor([4, 2]), torch.tensor([[True, False], [False, False]])
    cases = [
        case("one head", 1, 2, 2, 1),
        case("two heads of one number", 1, 2, 2, 2, hint="One head is right. Has each of two a softmax of its own?"),
        case("two heads of three numbers", 1, 2, 6, 2, hint=of_slices),
        case("as many words as heads", 1, 3, 12, 3, hint=of_slices),
        case("a batch of two", 2, 4, 8, 2),
        case("padding in the second sentence", 2, 4, 8, 4, lengths_mask(lengths), of_heads),
        case("a mask of queries and keys", 2, 3, 8, 2, causal_mask(3), OF_MASK),
        case("a word that may look at nobody", 1, 2, 4, 2, nobody, OF_NOBODY),
    ]
    hints = (
        "Project first: queries, keys and values are q_proj(x), k_proj(x), v_proj(x),"
        " each (B, T, D); out_proj comes last.",
        "Each head gets its own slice of K = D / n_heads numbers, of queries, keys and values alike: scores are then "
        "(B, H, T, T), divided by the root of K, and the mask goes to `attention` as it is.",
        "Cutting (B, T, D) into heads takes two steps: give the last dimension the shape (H, K), which makes it "
        "(B, T, H, K), then exchange T and H. On the way back exchange first, then join the last two.",
    )
    return examine("multi_head", attempt, reference, cases, hints)


def _linear(width: int, *, seed: int) -> nn.Linear:
    """A linear layer with drawn weights, in float64 whatever the default is."""
    with seeded(0):
        layer = nn.Linear(width, width, dtype=torch.float64)
    layer.load_state_dict({"weight": numbers(width, width, seed=seed), "bias": numbers(width, seed=seed + 10)})
    return layer.requires_grad_(False)
