"""Checks of the exercises of 06_encoder_block."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from encoder_lib.checks.verdict import Case, Verdict, examine, numbers
from encoder_lib.model.encoder import EncoderLayer
from encoder_lib.model.masks import lengths_mask
from encoder_lib.seeded import seeded

HINTS = (
    "Each half of a layer has one sum: what the stream carries, plus what the branch makes of it.",
    "Follow the thick line of the drawing from x to y and write down each part that stands on it, in order.",
)
PRE_NORM = "In pre-norm order a norm's output goes into a branch and nowhere else; each branch has its own."


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

    hints = (*HINTS, PRE_NORM)
    return examine("pre_norm_block", attempt, reference, _cases(), hints)


def check_encoder_layer(attempt: Callable) -> Verdict:
    """Block(d_model, n_heads, d_ff, norm_first), called with (x, mask): a layer as a class, x (B, T, D) -> (B, T, D).

    Its parts are attention, feed_forward, norm1 and norm2, as in EncoderLayer.
    """

    def output(d_model: int, n_heads: int, d_ff: int, norm_first: bool, x: Tensor, mask: Tensor | None) -> object:
        """What a block with the parameters of our layer makes of x."""
        with seeded(0):  # whatever the block draws is replaced, and the learner's random numbers go on as they were
            block = attempt(d_model, n_heads, d_ff, norm_first)
        if block is None or block is ...:
            return block
        if not isinstance(block, nn.Module):
            raise TypeError(f"expected a module, got {type(block).__name__}; try class Block(nn.Module)")
        block.double()
        given = (x,) if mask is None else (x, mask)
        if (first := block(*given)) is None or first is ...:  # before its parts are asked for: nothing is written yet
            return first
        _fill(block, _layer(d_model, n_heads, d_ff, norm_first).state_dict())
        return block(*given)

    def reference(d_model: int, n_heads: int, d_ff: int, norm_first: bool, x: Tensor, mask: Tensor | None) -> Tensor:
        return _layer(d_model, n_heads, d_ff, norm_first)(x, mask).detach()

    padding, order = lengths_mask(torch.tensor([4, 2])), "norm_first says which of the two orders is computed. "
    of_masks = "The mask is for attention, as its fourth argument: attention(x, x, x, mask)."
    cases = [
        Case("one token, post-norm", (4, 2, 8, False, numbers(1, 1, 4), None)),
        Case("three tokens, post-norm", (4, 2, 6, False, numbers(1, 3, 4), None)),
        Case("a batch of two", (6, 3, 6, False, numbers(2, 4, 6), None)),
        Case("padding in the second sentence", (6, 3, 6, False, numbers(2, 4, 6), padding), of_masks),
        Case("three tokens, pre-norm", (4, 2, 6, True, numbers(1, 3, 4), None), order + PRE_NORM),
        Case("pre-norm, with padding", (6, 1, 12, True, numbers(2, 4, 6), padding), of_masks),
    ]
    hints = (
        "__init__ begins with super().__init__() and makes four parts of the right sizes, each kept as an attribute of "
        "self; forward uses them.",
        "Attention is called with queries, keys and values: in a block all three are made from the same tensor.",
        "In post-norm order each norm takes a finished sum, and all that follows reads the norm's output.",
    )
    return examine("encoder_layer", output if callable(attempt) else attempt, reference, cases, hints)


def _layer(d_model: int, n_heads: int, d_ff: int, norm_first: bool) -> EncoderLayer:
    """A layer in float64 with parameters that are always the same, and gains and biases that are not 1 and 0."""
    with seeded(0):
        layer = EncoderLayer(d_model, n_heads, d_ff, norm_first=norm_first).double()
    for seed, parameter in enumerate(layer.parameters()):
        parameter.data += 0.3 * numbers(*parameter.shape, seed=seed)
    return layer


def _fill(block: nn.Module, parameters: dict[str, Tensor]) -> None:
    """Give a block these parameters. Raises in words what the block lacks, or has besides."""
    own = block.state_dict()
    if missing := [name for name in parameters if name not in own]:
        raise ValueError(
            f"expected the parameters of attention, feed_forward, norm1 and norm2, but {missing[0]} is missing"
        )
    if extra := [name for name in own if name not in parameters]:
        raise ValueError(
            f"expected no parameters but those of attention, feed_forward, norm1 and norm2, got {extra[0]}"
        )
    for name, wanted in parameters.items():
        if own[name].shape != wanted.shape:
            raise ValueError(f"{name}: expected shape {tuple(wanted.shape)}, got {tuple(own[name].shape)}")
    block.load_state_dict(parameters)


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
