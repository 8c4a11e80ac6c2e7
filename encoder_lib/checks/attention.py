"""Checks of the exercises of 04_attention."""

from collections.abc import Callable

import torch
from torch import Tensor

from encoder_lib.checks.verdict import Case, Verdict, examine, numbers
from encoder_lib.model.attention import attention
from encoder_lib.model.masks import causal_mask, padding_mask


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
        Case("a mask", (*some((3, 4), (3, 4), (3, 4)), causal_mask(3))),
        Case("a hidden key that fits far better", (-200 * one, two, 10 * two, torch.tensor([[True, False]]))),
        Case("a row that may attend to nothing", (*some((3, 2), (3, 2), (3, 2)), deaf)),
        Case("a batch without a mask", (*some((2, 4, 3), (2, 4, 3), (2, 4, 3)), None)),
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
