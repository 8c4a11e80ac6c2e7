"""Checks of the exercises of 04_attention."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from encoder_lib.course.checks.verdict import Case, Verdict, examine, numbers
from encoder_lib.model.attention import MultiHeadAttention, attention
from encoder_lib.model.masks import causal_mask, lengths_mask, padding_mask
from encoder_lib.seeded import seeded


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
    return examine("scaled_attention", attempt, reference, cases)


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
    return examine("mask_padding", attempt, padding_mask, cases)


def check_mask_future(attempt: Callable) -> Verdict:
    """mask_future(length): True where the key stands at or before the query -> (T, T)."""
    cases = [
        Case("one word", (1,)),
        Case("two words", (2,)),
        Case("three words", (3,)),
        Case("five words", (5,)),
    ]
    return examine("mask_future", attempt, causal_mask, cases)


def check_multi_head(attempt: Callable) -> Verdict:
    """multi_head(x, q_proj, k_proj, v_proj, out_proj, n_heads, mask): H attentions on slices of D -> (B, T, D)."""

    def reference(x: Tensor, *rest: Any) -> Tensor:
        *projections, n_heads, mask = rest
        with seeded(0):  # what the layer draws is thrown away, and the learner's random numbers go on as they were
            layer = MultiHeadAttention(x.shape[-1], n_heads)
        layer.q_proj, layer.k_proj, layer.v_proj, layer.out_proj = projections
        return layer(x, x, x, mask)

    def case(label: str, batch: int, length: int, width: int, n_heads: int, mask: Tensor | None = None) -> Case:
        projections = [_linear(width, seed=seed) for seed in range(4)]
        return Case(label, (numbers(batch, length, width, seed=9), *projections, n_heads, mask))

    lengths, nobody = torch.tensor([4, 2]), torch.tensor([[[[True, False], [False, False]]]])  # (1, 1, T, T)
    cases = [
        case("one head", 1, 2, 2, 1),
        case("two heads of one number", 1, 2, 2, 2),
        case("two heads of three numbers", 1, 2, 6, 2),
        case("a batch of two", 2, 4, 8, 2),
        case("padding in the second sentence", 2, 4, 8, 4, lengths_mask(lengths)),
        case("a word that may look at nobody", 1, 2, 4, 2, nobody),
    ]
    return examine("multi_head", attempt, reference, cases)


def _linear(width: int, *, seed: int) -> nn.Linear:
    """A linear layer with drawn weights, in float64 whatever the default is."""
    with seeded(0):
        layer = nn.Linear(width, width, dtype=torch.float64)
    layer.load_state_dict({"weight": numbers(width, width, seed=seed), "bias": numbers(width, seed=seed + 10)})
    return layer.requires_grad_(False)
