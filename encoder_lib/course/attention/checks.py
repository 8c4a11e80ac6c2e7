"""Checks of the exercises of 04_attention."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from encoder_lib.course.kit import ladder
from encoder_lib.course.kit.checking.mistakes import LOW_SCORE, Mistakes, examine_with_mistakes
from encoder_lib.course.kit.checking.results import as_tensor, describe_type
from encoder_lib.course.kit.checking.verdict import (
    Case,
    Feedback,
    Probe,
    Verdict,
    diagnose,
    examine,
    numbers,
    require_written,
    show,
)
from encoder_lib.model.attention import MultiHeadAttention, attention, attention_scores
from encoder_lib.model.masks import causal_mask, lengths_mask, padding_mask
from encoder_lib.seeded import seeded

ENOUGH = 0.9899  # 99 % of the weight, as a factor of 18.5 gives it: 0.989997


def check_head_by_hand(attempt: Callable) -> Verdict:
    """head_by_hand() -> W_Q (24, K), W_K (24, K), W_V (24, 8).

    Each card attends to the one left of the card at its arrow, and brings back its letter with the case swapped.
    """
    with seeded(0):
        cards, _ = ladder.deal(40)  # (B, T)
    arrows, positions = cards % 8, torch.arange(8).expand_as(cards)  # (B, T) each
    one_hot = torch.eye(8, dtype=torch.float64)
    x = torch.cat([one_hot[cards // 8], one_hot[positions], one_hot[arrows]], dim=-1)  # (B, T, 24)
    left = (arrows - 1) % 8  # (B, T)

    def weights_and_outputs(attempt: Callable) -> tuple[Tensor, Tensor]:
        w_q, w_k, w_v = _matrices(require_written(attempt(), attempt))
        output, weights = attention(x @ w_q, x @ w_k, x @ w_v)
        return weights, output

    def shapes(attempt: Callable) -> str:
        weights_and_outputs(attempt)
        return ""

    def attends(attempt: Callable) -> str:
        weights, _ = weights_and_outputs(attempt)
        for row, position in (weights.argmax(dim=-1) != left).nonzero().tolist():
            most = int(weights[row, position].argmax())
            arrow, wanted = int(arrows[row, position]), int(left[row, position])
            return (
                f"the card at position {position}, whose arrow points at {arrow}, attends most to position {most}, "
                f"expected {wanted}"
            )
        return ""

    def surely(attempt: Callable) -> str:
        least = weights_and_outputs(attempt)[0].gather(-1, left[..., None]).min().item()
        return "" if least >= ENOUGH else f"one card has only {100 * least:.2f} % of its weight there"

    def brings(attempt: Callable) -> str:
        output = weights_and_outputs(attempt)[1]
        letters = (cards // 8).gather(1, left)  # (B, T), before the swap
        for row, position in ((output - one_hot[letters ^ 1]).abs().amax(dim=-1) > 0.02).nonzero().tolist():
            found, wanted = ladder.spell(torch.stack([letters[row, position], letters[row, position] ^ 1]))
            got = show(output[row, position])
            return f"a card that attends to {found} brings back {got}, expected the vector of {wanted}"
        return ""

    probes = [
        Probe("three matrices", shapes),
        Probe("each card attends to the right one", attends),
        Probe("with 99 % of its weight", surely),
        Probe("what it brings back", brings),
    ]
    return diagnose("head_by_hand", attempt, probes)


def _matrices(made: Any) -> list[Tensor]:
    """The three matrices of a head that a learner built, in float64. Raises: Feedback for anything else."""
    three = "three tensors, W_Q, W_K and W_V"
    if not isinstance(made, tuple | list | Tensor) or len(made) != 3:
        raise Feedback(f"expected {three}, got {describe_type(made)}")
    names = "W_Q", "W_K", "W_V"
    parts = zip(names, made, strict=True)
    matrices = [as_tensor(matrix, f"a tensor as {name}").detach().double() for name, matrix in parts]
    shapes = [tuple(m.shape) for m in matrices]
    width = shapes[0][-1] if shapes[0] else 0
    if not width or shapes != [(24, width), (24, width), (24, 8)]:
        raise Feedback(f"expected shapes (24, K), (24, K) and (24, 8), got {shapes[0]}, {shapes[1]} and {shapes[2]}")
    for name, matrix in zip(names, matrices, strict=True):
        if not matrix.isfinite().all():
            raise Feedback(f"{name} has NaN or infinite numbers")
    return matrices


def check_mask_padding(attempt: Callable) -> Verdict:
    """mask_padding(ids, padding_idx): True where a key is a real token, ids (B, T) -> (B, 1, 1, T)."""
    cases = [
        Case("one word, no padding", (torch.tensor([[7]]), 0)),
        Case("padding at the end", (torch.tensor([[5, 3, 0]]), 0)),
        Case("padding that is not id 0", (torch.tensor([[4, 0, 2, 3, 3]]), 3)),
        Case("two sentences", (torch.tensor([[5, 3, 2, 9], [8, 6, 6, 6]]), 6)),
        Case("padding in front", (torch.tensor([[9, 9, 6], [4, 5, 6]]), 9)),
        Case("as many sentences as tokens", (torch.tensor([[3, 2, 2], [2, 2, 2], [1, 3, 2]]), 2)),
    ]
    return examine("mask_padding", attempt, padding_mask, cases)


def check_mask_future(attempt: Callable) -> Verdict:
    """mask_future(length): True where the key is at or before the query's position -> (T, T)."""
    cases = [
        Case("one word", (1,)),
        Case("two words", (2,)),
        Case("three words", (3,)),
        Case("five words", (5,)),
        Case("twelve words", (12,)),
    ]
    return examine("mask_future", attempt, causal_mask, cases)


def check_multi_head(attempt: Callable) -> Verdict:
    """multi_head(x, q_proj, k_proj, v_proj, out_proj, n_heads, mask): H attentions on slices of D -> (B, T, D)."""

    def reference(x: Tensor, *rest: Any) -> Tensor:
        *projections, n_heads, mask = rest
        with seeded(0):  # its own parameters are replaced at once, and the learner's random numbers stay as they were
            layer = MultiHeadAttention(x.shape[-1], n_heads)
        layer.q_proj, layer.k_proj, layer.v_proj, layer.out_proj = projections
        return layer(x, x, x, mask)

    def case(
        label: str, batch: int, length: int, width: int, n_heads: int, mask: Tensor | None = None, low: bool = False
    ) -> Case:
        seed = 10 * (batch + length + width + n_heads) + 3  # no two mistakes give the same in the first case
        projections = [_linear(width, seed=seed + i) for i in range(4)]
        if low:  # all numbers of queries and keys are near b and −b, so the scores are near −b² √K
            b = (-LOW_SCORE / (width / n_heads) ** 0.5) ** 0.5
            for sign, projection in ((1, projections[0]), (-1, projections[1])):
                with torch.no_grad():
                    projection.weight.mul_(0.02)
                    projection.bias.mul_(0.02).add_(sign * b)
        return Case(label, (numbers(batch, length, width, seed=seed + 9), *projections, n_heads, mask))

    nobody = torch.tensor([[[[True, False, True], [False, False, False], [True, True, False]]]])  # (1, 1, T, T)
    cases = [
        case("one head", 1, 2, 2, 1),
        case("two heads of one number", 1, 3, 2, 2),
        case("two heads of three numbers", 1, 4, 6, 2),
        case("a batch of two", 2, 5, 12, 3),
        case("padding in the second sentence", 2, 5, 12, 4, lengths_mask(torch.tensor([5, 2]))),
        case("very low scores", 2, 4, 6, 3, lengths_mask(torch.tensor([3, 1]), 4), low=True),
        case("a word that may attend to nobody", 1, 3, 4, 2, nobody),
    ]
    trained = "a batch of two", "padding in the second sentence"
    return examine_with_mistakes("multi_head", attempt, reference, cases, MULTI_HEAD_MISTAKES, with_gradients=trained)


def _linear(width: int, *, seed: int) -> nn.Linear:
    """A linear layer with random weights, in float64 whatever the default is."""
    with seeded(0):
        layer = nn.Linear(width, width, dtype=torch.float64)
    layer.load_state_dict({"weight": numbers(width, width, seed=seed), "bias": numbers(width, seed=seed + 100)})
    return layer


def _cut(y: Tensor, n_heads: int) -> Tensor:
    return y.unflatten(-1, (n_heads, -1)).transpose(1, 2)  # (B, T, D) -> (B, H, T, K)


def _cut_alone(y: Tensor, n_heads: int) -> Tensor:
    return y.unflatten(-1, (n_heads, -1))  # (B, T, D) -> (B, T, H, K)


def _reshape_to_heads(y: Tensor, n_heads: int) -> Tensor:
    return y.reshape(len(y), n_heads, y.shape[1], -1)


def _join(heads: Tensor) -> Tensor:
    return heads.transpose(1, 2).flatten(-2)  # (B, H, T, K) -> (B, T, D)


def _reshape_to_join(heads: Tensor) -> Tensor:
    return heads.reshape(len(heads), heads.shape[2], -1)


def _mistaken(
    cut: Callable = _cut,
    join: Callable = _join,
    attend: Callable = attention,
    *,
    project: Callable = lambda x, q, k, v: (q(x), k(x), v(x)),
    finish: bool = True,
) -> Callable:
    """multi_head with one of its steps replaced, or without its last step."""

    def multi_head(x: Tensor, q_proj: nn.Module, k_proj: nn.Module, v_proj: nn.Module, out_proj: nn.Module,
                   n_heads: int, mask: Tensor | None) -> Tensor:  # fmt: skip
        heads, _ = attend(*(cut(y, n_heads) for y in project(x, q_proj, k_proj, v_proj)), mask)
        return out_proj(join(heads)) if finish else join(heads)

    return multi_head


def _filled(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, *, score: float, zeros: bool) -> tuple[Tensor, None]:
    """Attention in which masked keys have some finite score, and with `zeros` no weight in the end."""
    hidden = torch.tensor(False) if mask is None else ~mask
    weights = attention_scores(q, k).masked_fill(hidden, score).softmax(dim=-1)
    return (weights.masked_fill(hidden, 0.0) if zeros else weights) @ v, None


FINITE = [partial(_filled, score=score, zeros=zeros) for score in (0.0, -1.0, -10.0, -100.0) for zeros in (True, False)]
MULTI_HEAD_MISTAKES: Mistakes = [
    ("heads cut by reshape alone", _mistaken(cut=_reshape_to_heads)),
    ("heads cut by reshape alone", _mistaken(cut=_reshape_to_heads, join=_reshape_to_join)),
    ("heads joined by reshape alone", _mistaken(join=_reshape_to_join)),
    ("heads that are cut and never exchanged with the tokens", _mistaken(cut=_cut_alone, join=lambda y: y.flatten(-2))),
    ("the attention weights in place of the output", _mistaken(attend=lambda *given: attention(*given)[::-1])),
    ("keys that are projected like queries", _mistaken(project=lambda x, q, k, v: (q(x), q(x), v(x)))),
    ("x in place of its projections", _mistaken(project=lambda x, *_: (x, x, x))),
    ("joined heads without out_proj", _mistaken(finish=False)),
    ("one head as wide as x", _mistaken(cut=lambda y, n_heads: _cut(y, 1))),
    ("scores that are not divided by √K", _mistaken(attend=partial(attention, scale=1.0))),
    *(("a finite score for masked keys", _mistaken(attend=attend)) for attend in FINITE),
    ("attention without the mask", _mistaken(attend=lambda q, k, v, mask: attention(q, k, v))),
    (
        "a mask read the wrong way round",
        _mistaken(attend=lambda q, k, v, mask: attention(q, k, v, mask if mask is None else ~mask)),
    ),
]
