"""Patients: a small encoder of which one part was exchanged for a piece of somebody's code.

Each `inject_x(thing, model)` takes a piece of one kind, and puts it where it belongs in a sound encoder.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.func import functional_call

from encoder_lib.model.attention import MultiHeadAttention, attention
from encoder_lib.model.encoder import EncoderLayer, TransformerEncoder
from encoder_lib.recast import recast
from encoder_lib.seeded import seeded

VOCAB, LAYERS, D, D_FF = 11, 2, 6, 10


@dataclass(frozen=True)
class Patient:
    """Called, it builds the encoder, each time the same: `inject` has exchanged one part of a sound one, in place."""

    inject: Callable[[TransformerEncoder], None]
    n_heads: int = 1

    def __call__(self) -> TransformerEncoder:
        """An encoder with 11 words, 2 layers, D = 6 and F = 10, the patient's piece in it."""
        with seeded(0):
            model = TransformerEncoder(
                VOCAB, LAYERS, D, self.n_heads, D_FF, final_norm=False, padding_idx=0, dropout=0.1
            )
            self.inject(model)
        return model

    def twin(self) -> nn.TransformerEncoder:
        """PyTorch's own stack of the same sizes, ready to be asked, with all its parameters drawn at random.

        PyTorch starts its layers as copies of one, its biases at 0 and its gains at 1: a fault could hide there.
        """
        layer = nn.TransformerEncoderLayer(D, self.n_heads, D_FF, dropout=0.0, batch_first=True)
        stack = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
        with seeded(1):
            for parameter in stack.parameters():
                nn.init.normal_(parameter)
        return stack.requires_grad_(False).eval()


def no_fault(model: TransformerEncoder) -> None:
    """A sound encoder stays as it is."""


def _layers(model: TransformerEncoder) -> list[EncoderLayer]:
    return [layer for layer in model.encoder.layers if isinstance(layer, EncoderLayer)]


def _sizes(model: TransformerEncoder) -> tuple[int, int, int]:
    """The number of layers, D and F."""
    layers = _layers(model)
    return len(layers), layers[0].norm1.d_model, layers[0].feed_forward.linear1.out_features


class Attention(MultiHeadAttention):
    """Attention whose inside is `core(query, key, value, mask)`, with vectors (B, T, D) and a mask (B, q or 1, k)."""

    def __init__(self, d_model: int, core: Callable[..., Tensor]):
        super().__init__(d_model, 1)
        self.core = core

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        everything = torch.ones(query.shape[0], 1, key.shape[1], dtype=torch.bool, device=query.device)
        mask = everything if mask is None else mask[:, 0]
        return self.out_proj(self.core(self.q_proj(query), self.k_proj(key), self.v_proj(value), mask))  # (B, q, D)


def inject_split(thing: Callable, model: TransformerEncoder) -> None:
    """split(query, key, value, n_heads)."""

    def core(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
        query, key, value = thing(q, k, v, model.n_heads)  # (B, H, …, K) each
        heads, _ = attention(query, key, value, mask[:, None])  # (B, H, q, K)
        return heads.transpose(1, 2).flatten(-2)  # (B, q, D)

    for layer in _layers(model):
        sound, layer.attention = layer.attention, Attention(layer.attention.d_model, core)
        layer.attention.load_state_dict(sound.state_dict())


def inject_torch_attend(thing: Callable, model: TransformerEncoder) -> None:
    """attend(attention, x, real), with torch's own attention."""

    class TorchAttention(MultiHeadAttention):
        def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
            three = (self.q_proj, self.k_proj, self.v_proj)
            weights = {
                "in_proj_weight": torch.cat([p.weight for p in three]),
                "in_proj_bias": torch.cat([p.bias for p in three]),
                "out_proj.weight": self.out_proj.weight,
                "out_proj.bias": self.out_proj.bias,
            }
            theirs = nn.MultiheadAttention(self.d_model, 1, batch_first=True).train(self.training)
            everything = torch.ones(query.shape[:2], dtype=torch.bool, device=query.device)
            real = everything if mask is None else mask[:, 0, 0]  # (B, T)
            real = real | ~real.any(dim=1, keepdim=True)  # an empty sentence gives NaN in torch's own layer
            return thing(lambda *args, **options: functional_call(theirs, weights, args, options), query, real)

    for layer in _layers(model):
        layer.attention = TorchAttention(layer.attention.d_model, 1)


def inject_heads(thing: Callable, model: TransformerEncoder) -> None:
    """multi_head(layer, query, key, value, mask), with an attention's maps and number of heads in `layer`."""

    class Heads(MultiHeadAttention):
        def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
            return thing(self, query, key, value, mask)

    for layer in _layers(model):
        layer.attention = recast(layer.attention, Heads)


def inject_feed_forward(thing: Callable, model: TransformerEncoder, **options: float) -> None:
    """FeedForward(d_model, d_ff), or with options, by place, after them."""
    _, *sizes = _sizes(model)
    for layer in _layers(model):
        layer.feed_forward = thing(*sizes, *options.values())


def inject_stack(thing: Callable, model: TransformerEncoder) -> None:
    """Stack(n_layers, d_model, n_heads, d_ff)."""
    n_layers, d_model, d_ff = _sizes(model)
    model.encoder = thing(n_layers, d_model, model.n_heads, d_ff)


def inject_positions(thing: Callable, model: TransformerEncoder) -> None:
    """Positions(d_model): vectors -> vectors with their positions."""
    model.embedding.position = thing(model.embedding.token.d_model)


def inject_table(thing: Callable, model: TransformerEncoder) -> None:
    """table(length, d_model)."""

    class Rows(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x + thing(*x.shape[-2:]).to(x)  # (B, T, D)

    model.embedding.set_submodule("position", Rows())
