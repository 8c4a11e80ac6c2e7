"""The encoder: blocks of attention and feed-forward, stacked, with an embedding at the bottom."""

from torch import Tensor, nn

from encoder_lib import expect
from encoder_lib.model.attention import MultiHeadAttention
from encoder_lib.model.embedding import POSITIONS, TransformerEmbedding
from encoder_lib.model.feed_forward import FeedForward
from encoder_lib.model.masks import padding_mask
from encoder_lib.model.norm import LayerNorm
from encoder_lib.packed import Packed


class EncoderLayer(nn.Module):
    """Tokens look at each other, then each thinks alone; around both, a residual path and a normalisation.

        post-norm (norm_first=False):   x = norm1(x + attention(x))     x = norm2(x + feed_forward(x))
        pre-norm  (norm_first=True):    x = x + attention(norm1(x))     x = x + feed_forward(norm2(x))

    Dropout falls on the attention weights, the hidden numbers and each branch before it is added. `bias=False` leaves
    the biases out of every linear map and norm, `attention_bias=False` out of the attention's linear maps alone.
    `positional` is "none", "rotary" or "alibi": see MultiHeadAttention, also for the mask.

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

    def forward(self, x: Tensor, mask: Tensor | Packed | None = None) -> Tensor:
        if self.norm_first:
            x = x + self._attend(self.norm1(x), mask)
            return x + self._feed_forward(self.norm2(x))
        x = self.norm1(x + self._attend(x, mask))
        return self.norm2(x + self._feed_forward(x))

    def _attend(self, x: Tensor, mask: Tensor | Packed | None) -> Tensor:
        return self.dropout(self.attention(x, x, x, mask))  # (B, T, D)

    def _feed_forward(self, x: Tensor) -> Tensor:
        return self.dropout(self.feed_forward(x))  # (B, T, D)


class Encoder(nn.Module):
    """N layers, one after the other, each with weights of its own.

        x = layer_N( … layer_1(x) … ),  then norm(x) with `final_norm`

    `final_norm` follows `norm_first` when None: a pre-norm stack leaves its sum unnormalised without it. Every other
    keyword is one of EncoderLayer's.

    Shapes: x (B, T, D), mask broadcastable to (B, H, T, T) -> (B, T, D).
    Raises: as EncoderLayer; TypeError or ValueError for an `n_layers` that is not an integer ≥ 1.
    Source: as EncoderLayer.
    """

    def __init__(
        self,
        n_layers: int,
        d_model: int,
        n_heads: int,
        d_ff: int,
        *,
        norm_first: bool = False,
        final_norm: bool | None = None,
        eps: float = 1e-5,
        bias: bool = True,
        **layer,
    ):
        super().__init__()
        final_norm = norm_first if final_norm is None else final_norm
        expect.sizes(n_layers=n_layers)
        expect.flags(norm_first=norm_first, final_norm=final_norm)
        self.layers = nn.ModuleList(
            EncoderLayer(d_model, n_heads, d_ff, norm_first=norm_first, eps=eps, bias=bias, **layer)
            for _ in range(n_layers)
        )
        self.norm = LayerNorm(d_model, eps=eps, bias=bias) if final_norm else nn.Identity()

    def forward(self, x: Tensor, mask: Tensor | Packed | None = None) -> Tensor:
        for layer in self.layers:
            x = layer(x, mask)  # (B, T, D)
        return self.norm(x)


class TransformerEncoder(nn.Module):
    """Token ids in, one vector for each token out, and each vector has seen the whole sequence.

        y = encoder(embedding(ids), mask)

    `positional` is one of the five kinds: "sinusoidal" and "learned" are added to the embedding, "rotary" and "alibi"
    act in every layer, "none" leaves the order out. With a `padding_idx`, padding is masked in every layer, whatever
    else the mask says. `embedding_norm` normalises what enters the first layer, as BERT does. Every other keyword is
    one of Encoder's.

    Shapes: ids (B, T), mask broadcastable to (B, H, T, T) -> (B, T, D).
    Raises: as TransformerEmbedding and Encoder; ValueError for ids of another shape.
    Source: Vaswani et al. 2017; encoder alone: Devlin et al. 2018, "BERT" (arXiv 1810.04805).
    """

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
        dropout: float = 0.0,
        eps: float = 1e-5,
        **encoder,
    ):
        super().__init__()
        expect.choice("positional", positional, POSITIONS)
        expect.flags(embedding_norm=embedding_norm)
        added, inside = (positional, "none") if positional not in ("rotary", "alibi") else ("none", positional)
        embedding = {"max_len": max_len, "padding_idx": padding_idx, "scale": scale, "norm": embedding_norm, "eps": eps}
        self.embedding = TransformerEmbedding(vocab_size, d_model, positional=added, dropout=dropout, **embedding)
        self.encoder = Encoder(n_layers, d_model, n_heads, d_ff, positional=inside, dropout=dropout, eps=eps, **encoder)
        self.padding_idx, self.n_heads = padding_idx, n_heads

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        expect.token_ids(ids, batched=True)
        x = self.embedding(ids)  # (B, T, D)
        if self.padding_idx is not None:
            real = padding_mask(ids, self.padding_idx)  # (B, 1, 1, T)
            mask = expect.layer_mask(mask, ids.shape[0], self.n_heads, ids.shape[1], ids.shape[1])
            mask = real if mask is None else mask & real  # (B, 1 or H, 1 or T, T)
        return self.encoder(x, mask)
