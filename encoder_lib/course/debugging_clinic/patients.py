"""Patients: a small correct encoder in which one part has been replaced by a piece of somebody's code.

Each `inject_x(thing, model)` takes a piece of one kind, and puts it where that kind belongs in the encoder.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.func import functional_call

from encoder_lib.from_torch import from_torch
from encoder_lib.model.attention import MultiHeadAttention, attention
from encoder_lib.model.encoder import EncoderLayer, TransformerEncoder
from encoder_lib.recast import with_class
from encoder_lib.seeded import seeded

VOCAB, LAYERS, D, HEADS, D_FF = 11, 2, 6, 2, 10


@contextmanager
def in_float64() -> Iterator[None]:
    """Make float64 the default dtype: a table that a part makes in float32 would keep its rounding."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def correct_encoder(inject: Callable[[TransformerEncoder], None] = lambda model: None) -> TransformerEncoder:
    """An encoder of 11 words, 2 layers, 2 heads, D = 6, F = 10, in `eval()`; `inject` may replace a part of it."""
    with seeded(0), in_float64():
        model = TransformerEncoder(VOCAB, LAYERS, D, HEADS, D_FF, final_norm=False, padding_idx=0)
        inject(model)
    return model.eval()


def torch_counterpart(model: nn.Module) -> tuple[Tensor, nn.TransformerEncoder]:
    """The reference: a table of words (V, D) and PyTorch's encoder, drawn at random and copied into `model`, in order.

    PyTorch starts its layers as copies of one, attention's biases at 0 and gains at 1, and a fault could hide in that.
    Raises: ValueError for a model with more or fewer parameters.
    """
    with seeded(1), in_float64():
        layer = nn.TransformerEncoderLayer(D, HEADS, D_FF, dropout=0.0, batch_first=True)
        stack = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False).requires_grad_(False).eval()
        words = torch.randn(VOCAB, D)
        for parameter in stack.parameters():
            nn.init.normal_(parameter)
    for parameter, value in zip(model.parameters(), [words, *from_torch(stack).parameters()], strict=True):
        parameter.data.copy_(value)
    return words, stack


def _layers(model: TransformerEncoder) -> list[EncoderLayer]:
    return [layer for layer in model.encoder.layers if isinstance(layer, EncoderLayer)]


def _sizes(model: TransformerEncoder) -> tuple[int, int, int]:
    """The number of layers, D and F."""
    layers = _layers(model)
    return len(layers), layers[0].norm1.d_model, layers[0].feed_forward.linear1.out_features


class Attention(MultiHeadAttention):
    """Attention whose heads come from `core(query, key, value, mask)`; vectors (B, T, D), mask (B, q or 1, k)."""

    def __init__(self, d_model: int, core: Callable[..., Tensor]):
        super().__init__(d_model, 1)
        self.core = core

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        everything = torch.ones(query.shape[0], 1, key.shape[1], dtype=torch.bool, device=query.device)
        mask = everything if mask is None else mask[:, 0]
        return self.out_proj(self.core(self.q_proj(query), self.k_proj(key), self.v_proj(value), mask))  # (B, q, D)


def inject_cut(thing: Callable, model: TransformerEncoder) -> None:
    """cut(x, n_heads), for queries, keys and values."""

    def core(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
        query, key, value = (thing(x, model.n_heads) for x in (q, k, v))  # (B, H, …, K) each
        heads, _ = attention(query, key, value, mask[:, None])  # (B, H, q, K)
        return heads.transpose(1, 2).flatten(-2)  # (B, q, D)

    for layer in _layers(model):
        original, layer.attention = layer.attention, Attention(layer.attention.d_model, core)
        layer.attention.load_state_dict(original.state_dict())


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
            theirs = nn.MultiheadAttention(self.d_model, self.n_heads, batch_first=True).train(self.training)
            everything = torch.ones(query.shape[:2], dtype=torch.bool, device=query.device)
            real = everything if mask is None else mask[:, 0, 0]  # (B, T)
            real = real | ~real.any(dim=1, keepdim=True)  # an empty sentence gives NaN in torch's own layer
            return thing(lambda *args, **options: functional_call(theirs, weights, args, options), query, real)

    for layer in _layers(model):
        layer.attention = TorchAttention(layer.attention.d_model, model.n_heads)


def inject_heads(thing: Callable, model: TransformerEncoder) -> None:
    """multi_head(layer, query, key, value, mask); `layer` has the attention's linear layers and number of heads."""

    class Heads(MultiHeadAttention):
        def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
            return thing(self, query, key, value, mask)

    for layer in _layers(model):
        layer.attention = with_class(layer.attention, Heads)


def inject_stack(thing: Callable, model: TransformerEncoder) -> None:
    """Stack(n_layers, d_model, n_heads, d_ff)."""
    n_layers, d_model, d_ff = _sizes(model)
    model.encoder = thing(n_layers, d_model, model.n_heads, d_ff)


def inject_positions(thing: Callable, model: TransformerEncoder) -> None:
    """Positions(d_model): vectors -> vectors with positions added."""
    model.embedding.position = thing(model.embedding.token.d_model)


def inject_table(thing: Callable, model: TransformerEncoder) -> None:
    """table(length, d_model)."""

    class Rows(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x + thing(*x.shape[-2:]).to(x)  # (B, T, D)

    model.embedding.set_submodule("position", Rows())
