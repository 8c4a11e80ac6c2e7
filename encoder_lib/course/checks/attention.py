"""Checks of the exercises of 04_attention."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from encoder_lib.course.checks.verdict import Case, Probe, Told, Verdict, diagnose, examine, numbers, show, written
from encoder_lib.course.lab import ladder
from encoder_lib.model.attention import MultiHeadAttention, attention
from encoder_lib.model.masks import causal_mask, lengths_mask, padding_mask
from encoder_lib.seeded import seeded


def check_head_by_hand(attempt: Callable) -> Verdict:
    """head_by_hand() -> W_Q (24, K), W_K (24, K), W_V (24, 8).

    Each card looks at the one left of the card at its arrow, and brings back its letter with the case swapped.
    """
    with seeded(0):
        cards, _ = ladder.deal(40)  # (B, T)
    arrows, places = cards % 8, torch.arange(8).expand_as(cards)  # (B, T) each
    one = torch.eye(8, dtype=torch.float64)
    x = torch.cat([one[cards // 8], one[places], one[arrows]], dim=-1)  # (B, T, 24)
    left = (arrows - 1) % 8  # (B, T)

    def weights_and_outputs(attempt: Callable) -> tuple[Tensor, Tensor]:
        w_q, w_k, w_v = _matrices(written(attempt(), attempt))
        output, weights = attention(x @ w_q, x @ w_k, x @ w_v)
        return weights, output

    def shapes(attempt: Callable) -> str:
        weights_and_outputs(attempt)
        return ""

    def looks(attempt: Callable) -> str:
        weights, _ = weights_and_outputs(attempt)
        for row, place in (weights.argmax(dim=-1) != left).nonzero().tolist():
            most = int(weights[row, place].argmax())
            arrow, wanted = int(arrows[row, place]), int(left[row, place])
            return f"the card at place {place}, its arrow at {arrow}, looks most at place {most}, expected {wanted}"
        return ""

    def surely(attempt: Callable) -> str:
        share = weights_and_outputs(attempt)[0].gather(-1, left[..., None]).min().item()
        return "" if share >= 0.99 else f"one card has no more than {100 * share:.1f} % of its weight there"

    def brings(attempt: Callable) -> str:
        output = weights_and_outputs(attempt)[1]
        letters = (cards // 8).gather(1, left)  # (B, T), before the swap
        for row, place in ((output - one[letters ^ 1]).abs().amax(dim=-1) > 0.02).nonzero().tolist():
            found, wanted = ladder.spell(torch.stack([letters[row, place], letters[row, place] ^ 1]))
            return f"a card that looks at {found} brings back {show(output[row, place])}, expected the one of {wanted}"
        return ""

    probes = [
        Probe("three matrices", shapes),
        Probe("who looks where", looks),
        Probe("with 99 % of its weight", surely),
        Probe("what it brings back", brings),
    ]
    return diagnose("head_by_hand", attempt, probes)


def _matrices(made: Any) -> list[Tensor]:
    """The three matrices that a head was built of, in float64. Raises: Told for anything else."""
    if not isinstance(made, tuple | list) or [type(m) for m in made] != [Tensor] * 3:
        raise Told("expected three tensors, W_Q, W_K and W_V")
    shapes = [tuple(m.shape) for m in made]
    width = shapes[0][-1] if shapes[0] else 0
    if not width or shapes != [(24, width), (24, width), (24, 8)]:
        raise Told(f"expected shapes (24, K), (24, K) and (24, 8), got {shapes[0]}, {shapes[1]} and {shapes[2]}")
    return [m.detach().double() for m in made]


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
