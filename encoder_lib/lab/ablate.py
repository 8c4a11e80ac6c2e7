"""Take one part out of a built model and see what it was good for."""

import math

from torch import Tensor, nn

from encoder_lib import expect
from encoder_lib.model.attention import MultiHeadAttention
from encoder_lib.model.encoder import EncoderLayer, TransformerEncoder
from encoder_lib.model.positional import RotaryPositionalEncoding
from encoder_lib.packed import Packed
from encoder_lib.recast import recast

PARTS = ("positions", "mask", "residual", "norm", "heads", "scale")


def ablate(part: str, model: nn.Module) -> nn.Module:
    """Take a part out of every TransformerEncoder in `model`, before it is trained, and return the model.

        "positions"   nothing tells where a token stands (only what is added to the embedding can be taken out)
        "mask"        padding is a token like any other
        "residual"    a layer passes on its branch alone: norm1(attention(x)), then norm2(feed_forward(x))
        "norm"        no normalisation in the layers, nor after the last
        "heads"       one head in place of several, with as many weights
        "scale"       scores are q · k, not q · k / √K

    The model is changed in place; its weights stay the same, apart from those that went with the part.

    Raises: TypeError for a model that is no torch module; ValueError for another part, or a model in which there is
    nothing to take out.
    """
    expect.choice("part", part, PARTS)
    expect.module("model", model)
    encoders = [m for m in model.modules() if isinstance(m, TransformerEncoder)]
    if not any([_ABLATIONS[part](encoder) for encoder in encoders]):  # all of them, hence a list
        raise ValueError(f"model: expected a TransformerEncoder with {part} to take out, got none")
    return model


def _layers(encoder: TransformerEncoder) -> list[EncoderLayer]:
    return [layer for layer in encoder.encoder.layers if isinstance(layer, EncoderLayer)]


def _positions(encoder: TransformerEncoder) -> bool:
    there = not isinstance(encoder.embedding.position, nn.Identity)
    encoder.embedding.position = nn.Identity()
    return there


def _mask(encoder: TransformerEncoder) -> bool:
    there, encoder.padding_idx = encoder.padding_idx is not None, None
    return there


class _NoResidualLayer(EncoderLayer):
    """A layer that passes on its branches alone."""

    def forward(self, x: Tensor, mask: Tensor | Packed | None = None) -> Tensor:
        if self.norm_first:
            return self._feed_forward(self.norm2(self._attend(self.norm1(x), mask)))
        return self.norm2(self._feed_forward(self.norm1(self._attend(x, mask))))


def _residual(encoder: TransformerEncoder) -> bool:
    layers = encoder.encoder.layers
    there = not all(isinstance(layer, _NoResidualLayer) for layer in layers)
    encoder.encoder.layers = nn.ModuleList(recast(layer, _NoResidualLayer) for layer in layers)
    return there


def _norm(encoder: TransformerEncoder) -> bool:
    places = [(layer, name) for layer in encoder.encoder.layers for name in ("norm1", "norm2")]
    places = [place for place in (*places, (encoder.encoder, "norm")) if not isinstance(getattr(*place), nn.Identity)]
    for module, name in places:
        setattr(module, name, nn.Identity())
    return bool(places)


def _heads(encoder: TransformerEncoder) -> bool:
    if encoder.n_heads == 1:
        return False
    encoder.n_heads = 1
    for layer in _layers(encoder):
        attention = layer.attention
        attention.n_heads, attention.d_head = 1, attention.d_model
        if attention.positional == "rotary":  # there are more pairs to turn now
            attention.rotary = RotaryPositionalEncoding(attention.d_model)
    return True


class UnscaledAttention(MultiHeadAttention):
    """Attention with queries √K times as long, which undoes the division by √K, whatever K is by now."""

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
        return super()._attend(q * math.sqrt(self.d_head), k, v, mask)


def _scale(encoder: TransformerEncoder) -> bool:
    there = not all(isinstance(layer.attention, UnscaledAttention) for layer in _layers(encoder))
    for layer in _layers(encoder):
        layer.attention = recast(layer.attention, UnscaledAttention)
    return there


_ABLATIONS = {
    "positions": _positions,
    "mask": _mask,
    "residual": _residual,
    "norm": _norm,
    "heads": _heads,
    "scale": _scale,
}
