"""Answers to the exercises in 06_encoder_block: right ones, and wrong ones named after their mistakes."""

from source_edits import folded, wrong
from torch import nn

from encoder_lib import EncoderLayer, FeedForward, LayerNorm, MultiHeadAttention  # noqa: F401 (the notebook's answer wants them)
from encoder_lib.course import checks

(_Block,) = folded("06", __name__, "Block")


class _BlockOfTorchsNorms(_Block):
    def __init__(self, d_model, n_heads, d_ff, norm_first=False):
        super().__init__(d_model, n_heads, d_ff, norm_first)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)


def _count(d, h, f):
    return 4 * (d * d + d) + 2 * d * f + f + d + 4 * d


def _count_by_layers(d, h, f):
    def linear(rows, columns):
        return rows * columns + columns

    head = 3 * h * linear(d, d // h) + linear(d, d)
    return head + linear(d, f) + linear(f, d) + 2 * (d + d)


ANSWERS = {
    checks.check_encoder_layer: (
        {
            "two branches": _Block,
            "torch's norms": _BlockOfTorchsNorms,
            "the library's": lambda d, h, f, norm_first: EncoderLayer(d, h, f, norm_first=norm_first),
        },
        wrong(_Block, {
            "no super().__init__()": {"        super().__init__()\n": ""},
            "always four times as wide": {"d_model, d_ff)\n": "d_model, 4 * d_model)\n"},
            "always one head": {"(d_model, n_heads)": "(d_model, 1)"},
            "without the mask": {"x, x, x, mask": "x, x, x"},
            "always post-norm": {"if self.norm_first": "if False"},
            "without the mask in pre-norm": {"read, read, read, mask": "read, read, read"},
            "in place": {"x + self.attention(x, x, x, mask)": "x.add_(self.attention(x, x, x, mask))"},
            "the mask in place": {"        if self": "        mask is None or mask.fill_(True)\n        if self"},
            "a detached residual path": {"self.norm1(x + self.attention(x": "self.norm1(x.detach() + self.attention(x"},
            "a detached residual path in pre-norm": {"return x1 + self": "return x1.detach() + self"},
            "a detached branch": {"x1 + self.feed_forward(x1))": "x1 + self.feed_forward(x1).detach())"},
            "keys without a gradient": {"x, x, x, mask": "x, x.detach(), x, mask"},
            "the output as a NumPy array": {
                "return self.norm2(x1 + self.feed_forward(x1))":
                    "return self.norm2(x1 + self.feed_forward(x1)).detach().numpy()"},
            "a frozen norm": {"LayerNorm(d_model)\n": "LayerNorm(d_model).requires_grad_(False)\n"},
            "an extra parameter": {"(d_model, d_ff)\n": "(d_model, d_ff)\n        self.more = LayerNorm(d_model)\n"},
        }),
    ),
    checks.check_count_parameters: (
        {"formula": _count, "layer by layer": _count_by_layers},
        {
            "more heads, more parameters": lambda d, h, f: h * 4 * (d * d + d) + 2 * d * f + f + d + 4 * d,
            "without biases": lambda d, h, f: 4 * d * d + 2 * d * f + 4 * d,
            "no biases in the network": lambda d, h, f: _count(d, h, f) - f - d,
            "three maps in attention": lambda d, h, f: _count(d, h, f) - d * d - d,
            "one norm": lambda d, h, f: _count(d, h, f) - 2 * d,
            "no norms": lambda d, h, f: _count(d, h, f) - 4 * d,
            "F biases in both layers of the network": lambda d, h, f: _count(d, h, f) + f - d,
            "a norm of one number": lambda d, h, f: _count(d, h, f) - 4 * d + 4,
            "F is four times D": lambda d, h, f: _count(d, h, 4 * d),
        },
    ),
}  # fmt: skip
