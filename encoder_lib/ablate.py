"""Take one part out of a built model and see what it was good for."""

import math

from torch import Tensor, nn

from encoder_lib import expect
from encoder_lib.encoder import EncoderLayer, TransformerEncoder

PARTS = ("positions", "mask", "residual", "norm", "heads", "scale")


def without(part: str, model: nn.Module) -> nn.Module:
    """Take a part out of every TransformerEncoder in `model`, before it is trained, and return the model.

        "positions"   nothing tells where a token stands (only what is added to the embedding can be taken out)
        "mask"        padding is a token like any other
        "residual"    a layer passes on its branch alone: norm1(attention(x)), then norm2(feed_forward(x))
        "norm"        no normalisation in the layers, nor after the last
        "heads"       one head in place of several, with as many weights
        "scale"       scores are q · k, not q · k / √K

    The model is changed in place; its weights stay the same, apart from those that went with the part.

    Raises: ValueError for another part, or a model in which there is nothing to take out.
    """
    expect.choice("part", part, PARTS)
    encoders = [m for m in model.modules() if isinstance(m, TransformerEncoder)]
    if not any([_TAKE[part](encoder) for encoder in encoders]):  # all of them, hence a list
        raise ValueError(f"model: expected a TransformerEncoder with {part} to take out, got none")
    return model


def _positions(encoder: TransformerEncoder) -> bool:
    there = not isinstance(encoder.embedding.position, nn.Identity)
    encoder.embedding.position = nn.Identity()
    return there


def _mask(encoder: TransformerEncoder) -> bool:
    there, encoder.padding_idx = encoder.padding_idx is not None, None
    return there


class _Branch(EncoderLayer):
    """A layer that passes on its branches alone."""

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        if self.norm_first:
            return self._feed_forward(self.norm2(self._attend(self.norm1(x), mask)))
        return self.norm2(self._feed_forward(self.norm1(self._attend(x, mask))))


def _residual(encoder: TransformerEncoder) -> bool:
    for layer in encoder.encoder.layers:
        layer.__class__ = _Branch  # the same weights, another forward
    return True


def _norm(encoder: TransformerEncoder) -> bool:
    for layer in encoder.encoder.layers:
        layer.norm1, layer.norm2 = nn.Identity(), nn.Identity()
    encoder.encoder.norm = nn.Identity()
    return True


def _heads(encoder: TransformerEncoder) -> bool:
    there, encoder.n_heads = encoder.n_heads > 1, 1
    for layer in encoder.encoder.layers:
        layer.attention.n_heads, layer.attention.d_head = 1, layer.attention.d_model
    return there


def _scale(encoder: TransformerEncoder) -> bool:
    for layer in encoder.encoder.layers:
        root = math.sqrt(layer.attention.d_head)
        layer.attention.q_proj.register_forward_hook(lambda module, x, query, root=root: query * root)
    return True


_TAKE = {
    "positions": _positions,
    "mask": _mask,
    "residual": _residual,
    "norm": _norm,
    "heads": _heads,
    "scale": _scale,
}
