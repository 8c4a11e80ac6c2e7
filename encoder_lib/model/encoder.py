"""The encoder: layers of attention and feed-forward, stacked, with an embedding at the bottom."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypedDict, TypeVar, Unpack, cast

from torch import Tensor, nn

from encoder_lib import expect
from encoder_lib.model.attention import MultiHeadAttention
from encoder_lib.model.embedding import TransformerEmbedding
from encoder_lib.model.feed_forward import FeedForward
from encoder_lib.model.masks import padding_mask
from encoder_lib.model.norm import LayerNorm
from encoder_lib.model.positional import INSIDE, POSITIONS

Init = TypeVar("Init", bound=Callable[..., None])


class LayerSettings(TypedDict, total=False):
    """Keyword arguments passed through to EncoderLayer; omitted ones take its defaults."""

    norm_first: bool  # a norm before each sublayer (pre-norm) instead of after each residual sum (post-norm)
    activation: str  # activation of the feed-forward network: "relu" or "gelu"
    dropout: float  # probability that an activation is dropped in training
    eps: float  # added to the variance in each norm
    bias: bool  # biases in every linear layer and norm
    attention_bias: bool  # biases in the attention's projections; none without `bias`


class EncoderLayer(nn.Module):
    """Self-attention, then a position-wise feed-forward network, each with a residual connection and layer norm.

        post-norm (norm_first=False):   x = norm1(x + attention(x))     x = norm2(x + feed_forward(x))
        pre-norm  (norm_first=True):    x = x + attention(norm1(x))     x = x + feed_forward(norm2(x))

    Dropout is applied to the attention weights, to the hidden activations, and to the output of each sublayer before it
    is added. `bias=False` omits the biases of every linear layer and norm, `attention_bias=False` only those of the
    attention's projections. `positional` is "none", "rotary" or "alibi": see MultiHeadAttention, also for the mask.

    Shapes: x (B, T, D), mask broadcastable to (B, H, T, T) -> (B, T, D).
    Raises: as MultiHeadAttention, FeedForward and LayerNorm; TypeError for a `norm_first` that is not True or False.
    Source: Vaswani et al. 2017, section 3.1 (arXiv 1706.03762); pre-norm: Xiong et al. 2020 (arXiv 2002.04745).
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_ff: int,
        *,
        norm_first: bool = False,
        activation: str = "relu",
        dropout: float = 0.0,
        eps: float = 1e-5,
        bias: bool = True,
        attention_bias: bool = True,
        positional: str = "none",
    ):
        super().__init__()
        expect.flags(norm_first=norm_first, bias=bias, attention_bias=attention_bias)
        self.norm_first = norm_first
        self.attention = MultiHeadAttention(
            d_model, n_heads, bias=bias and attention_bias, dropout=dropout, positional=positional
        )
        self.feed_forward = FeedForward(d_model, d_ff, activation=activation, dropout=dropout, bias=bias)
        self.norm1 = LayerNorm(d_model, eps=eps, bias=bias)
        self.norm2 = LayerNorm(d_model, eps=eps, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        if self.norm_first:
            y = self.norm1(x)  # (B, T, D)
            x = x + self.dropout(self.attention(y, y, y, mask))  # (B, T, D)
            return x + self.dropout(self.feed_forward(self.norm2(x)))  # (B, T, D)
        x = self.norm1(x + self.dropout(self.attention(x, x, x, mask)))  # (B, T, D)
        return self.norm2(x + self.dropout(self.feed_forward(x)))  # (B, T, D)


def with_layer_settings(init: Init) -> Init:
    """List EncoderLayer's settings and defaults in the signature of an `__init__` that passes them through.

    Completion and help then show them, and an unknown keyword raises TypeError with those that there are.
    """
    own = inspect.signature(init).parameters
    passed = inspect.signature(EncoderLayer).parameters
    named = [p for p in own.values() if p.kind is not p.VAR_KEYWORD]
    named += [passed[name] for name in LayerSettings.__annotations__]
    signature = inspect.Signature(named)

    @wraps(init)
    def checked(self: nn.Module, *args: Any, **kwargs: Any) -> None:
        if unknown := [name for name in kwargs if name not in signature.parameters]:
            known = ", ".join(p.name for p in named if p.kind is p.KEYWORD_ONLY)
            raise TypeError(f"{type(self).__name__}: expected keywords among {known}, got {unknown[0]!r}")
        init(self, *args, **kwargs)

    checked.__signature__ = signature  # type: ignore[attr-defined]
    return cast(Init, checked)


class Encoder(nn.Module):
    """N layers, one after the other, each with its own parameters.

        x = layer_N( … layer_1(x) … ),  then norm(x) with `final_norm`

    `final_norm=None` follows `norm_first`: without a final norm, a pre-norm stack ends unnormalised. All other settings
    are those of a layer: norm_first, activation, dropout, eps, bias, attention_bias (see LayerSettings), positional.

    Shapes: x (B, T, D), mask broadcastable to (B, H, T, T) -> (B, T, D).
    Raises: as EncoderLayer; TypeError or ValueError for an `n_layers` that is not an integer ≥ 1.
    Source: as EncoderLayer.
    """

    @with_layer_settings
    def __init__(
        self,
        n_layers: int,
        d_model: int,
        n_heads: int,
        d_ff: int,
        *,
        final_norm: bool | None = None,
        positional: str = "none",
        **settings: Unpack[LayerSettings],
    ):
        super().__init__()
        expect.sizes(n_layers=n_layers)
        self.layers = nn.ModuleList(
            EncoderLayer(d_model, n_heads, d_ff, positional=positional, **settings) for _ in range(n_layers)
        )
        last = cast(EncoderLayer, self.layers[-1])
        final_norm = last.norm_first if final_norm is None else final_norm
        expect.flags(final_norm=final_norm)
        norm_bias = last.norm2.bias is not None
        self.norm = LayerNorm(d_model, eps=last.norm2.eps, bias=norm_bias) if final_norm else nn.Identity()

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        for layer in self.layers:
            x = layer(x, mask)  # (B, T, D)
        return self.norm(x)


class TransformerEncoder(nn.Module):
    """From token ids to one vector for each token, which depends on the whole sequence.

        y = encoder(embedding(ids), mask)

        positional      the positional encoding: "sinusoidal" and "learned" are added to the embedding, "rotary" and
                        "alibi" are applied inside the attention of every layer, "none" ignores the order
        max_len         the largest number of tokens, for "learned" positions
        padding_idx     the id of padding, which is then masked in every layer, in addition to `mask`
        scale           multiply the token vectors by √D, as in the original Transformer
        embedding_norm  a layer norm after the embedding, as in BERT

    The other settings are those of Encoder: norm_first, final_norm, activation, dropout, eps, bias, attention_bias.
    `dropout` and `eps` also hold for the embedding.

    Shapes: ids (B, T), mask broadcastable to (B, H, T, T) -> (B, T, D).
    Raises: as TransformerEmbedding and Encoder; ValueError for ids of another shape.
    Source: Vaswani et al. 2017; encoder alone: Devlin et al. 2018, "BERT" (arXiv 1810.04805).
    """

    @with_layer_settings
    def __init__(
        self,
        vocab_size: int,
        n_layers: int,
        d_model: int,
        n_heads: int,
        d_ff: int,
        *,
        positional: str = "sinusoidal",
        max_len: int = 512,
        padding_idx: int | None = None,
        scale: bool = False,
        embedding_norm: bool = False,
        final_norm: bool | None = None,
        **settings: Unpack[LayerSettings],
    ):
        super().__init__()
        expect.choice("positional", positional, POSITIONS)
        expect.flags(embedding_norm=embedding_norm)
        shared = {name: settings[name] for name in ("eps", "dropout") if name in settings}
        added, inside = ("none", positional) if positional in INSIDE else (positional, "none")
        self.embedding = TransformerEmbedding(
            vocab_size,
            d_model,
            positional=added,
            max_len=max_len,
            padding_idx=padding_idx,
            scale=scale,
            norm=embedding_norm,
            **shared,
        )
        self.encoder = Encoder(n_layers, d_model, n_heads, d_ff, final_norm=final_norm, positional=inside, **settings)
        self.padding_idx, self.n_heads = padding_idx, n_heads

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        expect.token_ids(ids, batched=True)
        expect.layer_mask(mask, ids.shape[0], self.n_heads, ids.shape[1], ids.shape[1])
        if self.padding_idx is not None:
            real = padding_mask(ids, self.padding_idx)  # (B, 1, 1, T)
            mask = real if mask is None else mask & real  # (B, 1 or H, 1 or T, T)
        return self.encoder(self.embedding(ids), mask)  # (B, T, D)
