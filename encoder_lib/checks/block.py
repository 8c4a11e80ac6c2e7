"""Checks of the exercises of 06_encoder_block."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from encoder_lib.checks.verdict import Case, Verdict, examine, numbers

HINTS = (
    "Each half of a layer has one sum: what the stream carries, plus what the branch makes of it.",
    "Follow the thick line of the drawing from x to y and write down each part that stands on it, in order.",
)


@dataclass(frozen=True)
class Part:
    """A part of a layer, called with one tensor. Its repr is its formula, so that a verdict can be followed by hand."""

    formula: str
    function: Callable[[Tensor], Tensor]

    def __call__(self, *inputs: Tensor) -> Tensor:
        if len(inputs) != 1:
            raise TypeError(f"expected one tensor, got {len(inputs)}: try attention(x), feed_forward(x), norm1(x)")
        return self.function(*inputs)

    def __repr__(self) -> str:
        return self.formula


def _normal(x: Tensor) -> Tensor:
    x = x - x.mean(dim=-1, keepdim=True)
    return x / (x.square().mean(dim=-1, keepdim=True) + 1e-5).sqrt()


def _parts(width: int) -> tuple[Part, ...]:
    """Parts like those of a real layer, with weights that are always the same."""
    mix, up, down = numbers(width, width, seed=1), numbers(width, 2 * width, seed=2), numbers(2 * width, width, seed=3)
    gains = 1 + 0.5 * numbers(2, width, seed=4)
    return (
        Part("a real attention", lambda x: (x @ x.transpose(-2, -1)).softmax(dim=-1) @ x @ mix),
        Part("a real feed-forward", lambda x: (x @ up).relu() @ down),
        Part("a LayerNorm", lambda x: _normal(x) * gains[0]),
        Part("another LayerNorm", lambda x: _normal(x) * gains[1]),
    )


BY_HAND = (
    Part("attention(x) = 10 · x", lambda x: 10 * x),
    Part("feed_forward(x) = x²", lambda x: x**2),
    Part("norm1(x) = x / 2", lambda x: x / 2),
    Part("norm2(x) = x − 1", lambda x: x - 1),
)
SILENT = (
    Part("attention(x) = 0 · x", lambda x: 0 * x),
    Part("feed_forward(x) = 0 · x", lambda x: 0 * x),
    *BY_HAND[2:],
)
MEANS = (Part("attention(x) = the mean of the tokens", lambda x: x.mean(dim=-2, keepdim=True) + 0 * x), *BY_HAND[1:])


def _cases() -> list[Case]:
    one, two = torch.tensor([[1.0, 2.0]], dtype=torch.float64), torch.tensor([[1.0], [3.0]], dtype=torch.float64)
    return [
        Case("one token, to follow by hand", (one, *BY_HAND)),
        Case("two tokens that are averaged", (two, *MEANS)),
        Case("branches that add nothing", (one, *SILENT)),
        Case("real parts", (numbers(3, 4), *_parts(4))),
        Case("a batch of sequences", (numbers(2, 5, 3), *_parts(3))),
        Case("as many of everything", (numbers(3, 3, 3, seed=5), *_parts(3))),
    ]


def check_block(attempt: Callable) -> Verdict:
    """block(x, attention, feed_forward, norm1, norm2): the parts wired in post-norm order, x (…, T, D) -> (…, T, D)."""

    def reference(x: Tensor, attention: Part, feed_forward: Part, norm1: Part, norm2: Part) -> Tensor:
        x = norm1(x + attention(x))
        return norm2(x + feed_forward(x))

    hints = (*HINTS, "In post-norm order each norm takes a finished sum, and all that follows reads the norm's output.")
    return examine("block", attempt, reference, _cases(), hints)


def check_pre_norm_block(attempt: Callable) -> Verdict:
    """pre_norm_block(x, attention, feed_forward, norm1, norm2): the same parts in pre-norm order."""

    def reference(x: Tensor, attention: Part, feed_forward: Part, norm1: Part, norm2: Part) -> Tensor:
        x = x + attention(norm1(x))
        return x + feed_forward(norm2(x))

    hints = (*HINTS, "In pre-norm order a norm's output goes into a branch and nowhere else; each branch has its own.")
    return examine("pre_norm_block", attempt, reference, _cases(), hints)


def check_count_parameters(attempt: Callable) -> Verdict:
    """count_parameters(d_model, n_heads, d_ff): how many numbers an encoder layer learns."""

    def reference(d_model: int, n_heads: int, d_ff: int) -> Tensor:
        attention, norms = 4 * (d_model**2 + d_model), 2 * 2 * d_model
        return torch.tensor(attention + 2 * d_model * d_ff + d_ff + d_model + norms)

    cases = [
        Case("every size 1", (1, 1, 1)),
        Case("a wider network", (1, 1, 5)),
        Case("wider vectors", (2, 1, 3)),
        Case("two heads", (2, 2, 3)),
        Case("a narrow network", (8, 4, 2)),
        Case("the original base model", (512, 8, 2048)),
        Case("MiniLM", (384, 12, 1536)),
    ]
    hints = (
        "Count part by part: attention, feed-forward, norms. Every linear map D → E has D · E weights and E biases.",
        "Attention has four linear maps: for queries, keys, values, and one after the heads are joined.",
        "A norm learns a gain and a bias for each of the D numbers. Which size does the number of heads change?",
    )
    return examine("count_parameters", attempt, reference, cases, hints)
