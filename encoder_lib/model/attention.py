"""Attention: each token takes a weighted mean over the tokens that it looks at."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from encoder_lib import expect
from encoder_lib.model.positional import INSIDE, RotaryPositionalEncoding, alibi_bias


def attention_scores(query: Tensor, key: Tensor, *, bias: Tensor | None = None, scale: float | None = None) -> Tensor:
    """How well each query matches each key: scores = query · keyᵀ · scale + bias, with scale 1/√K when None.

    Shapes: query (…, q, K), key (…, k, K), bias broadcastable to (…, q, k) -> (…, q, k).
    """
    expect.queries_and_keys(query, key, bias, scale)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = query @ key.transpose(-2, -1) * scale  # (…, q, k)
    return scores if bias is None else scores + bias


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Softmax over the keys that the mask allows. A row that allows none gets weights of zero, and no gradient.

    Shapes: scores (…, q, k), boolean mask broadcastable to them -> (…, q, k).
    """
    expect.scores(scores, mask)
    if mask is None:
        return scores.softmax(dim=-1)
    lowest = torch.finfo(scores.dtype).min  # not −inf, whose softmax over a whole row is NaN
    return scores.masked_fill(~mask, lowest).softmax(dim=-1).masked_fill(~mask, 0.0)


def attention_weights(
    query: Tensor, key: Tensor, mask: Tensor | None = None, *, bias: Tensor | None = None, scale: float | None = None
) -> Tensor:
    """Who looks at whom, as `attention` takes its mean. Shapes: query (…, q, K), key (…, k, K) -> (…, q, k)."""
    return masked_softmax(attention_scores(query, key, bias=bias, scale=scale), mask)


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    *,
    bias: Tensor | None = None,
    scale: float | None = None,
) -> tuple[Tensor, Tensor]:
    """Each query's weighted mean of the values, and the weights it was taken with.

        weights = softmax(query · keyᵀ / √K + bias), over the keys         output = weights · value

    Shapes: query (…, q, K), key (…, k, K), value (…, k, V), mask and bias as the weights -> (…, q, V) and (…, q, k).
    Raises: TypeError for mixed dtypes or a mask that is not boolean; ValueError for sizes that do not fit, a mask or
    bias that does not broadcast, a `scale` that is not finite.
    Source: Vaswani et al. 2017, "Attention Is All You Need", equation 1 (arXiv 1706.03762).
    """
    weights = attention_weights(query, key, mask, bias=bias, scale=scale)  # (…, q, k)
    expect.values(value, weights)
    return weights @ value, weights


class FusedAttention(nn.Module):
    """What `attention` gives, by torch's fused kernel, which writes no weights down; dropout falls on the weights.

    Shapes: query (B, H, q, K), key and value (B, H, k, K), mask broadcastable to (B, H, q, k) -> (B, H, q, K).
    """

    def __init__(self, dropout: float = 0.0, *, alibi: bool = False):
        super().__init__()
        expect.probability("dropout", dropout)
        self.dropout, self.alibi = dropout, alibi

    def bias(self, q: Tensor, k: Tensor) -> Tensor | None:
        sizes = q.shape[1], q.shape[2], k.shape[2]  # H, q, k
        return alibi_bias(*sizes, dtype=q.dtype, device=q.device) if self.alibi else None

    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
        if (bias := self.bias(q, k)) is not None:  # (H, q, k): one tensor carries both
            mask = bias if mask is None else bias.masked_fill(~mask, -torch.inf)  # (B, H, q, k)
        return F.scaled_dot_product_attention(q, k, v, mask, self.dropout if self.training else 0.0)


class MultiHeadAttention(nn.Module):
    """H attentions side by side, each on its own slice of K = D/H numbers, joined by a last linear map.

        head_h = attention(query · W_q, key · W_k, value · W_v), on slice h
        y      = concat(head_1 … head_H) · W_o

    The mask is boolean, True = may attend, shaped (query, key) or (B, H, query, key) with 1 wherever a size does not
    matter, as for `F.scaled_dot_product_attention` and opposite to `nn.MultiheadAttention`. `positional` is "none",
    "rotary" (queries and keys are turned) or "alibi" (distance lowers the scores).

    Shapes: query (B, q, D), key and value (B, k, D) -> (B, q, D).
    Raises: as `attention`; ValueError when D is not divisible by H, for a square mask while B = T (it could be (B, T)).
    Source: Vaswani et al. 2017, section 3.2.2.
    """

    def __init__(
        self, d_model: int, n_heads: int, *, bias: bool = True, dropout: float = 0.0, positional: str = "none"
    ):
        super().__init__()
        expect.heads(d_model, n_heads)
        expect.flags(bias=bias)
        hint = "; the other kinds are added to the embedding: give them to TransformerEmbedding"
        expect.choice("positional", positional, ("none", *INSIDE), hint)
        self.d_model, self.n_heads, self.d_head = d_model, n_heads, d_model // n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)
        self.turn = RotaryPositionalEncoding(self.d_head) if positional == "rotary" else nn.Identity()
        self.fused: nn.Module = FusedAttention(dropout, alibi=positional == "alibi")

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        expect.attended(query, key, value, mask, self.n_heads, like=self.q_proj.weight)
        return self.out_proj(self._attend(self.q_proj(query), self.k_proj(key), self.v_proj(value), mask))  # (B, q, D)

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
        q, k, v = (x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for x in (q, k, v))  # (B, H, T, K) each
        heads = self.fused(self.turn(q), self.turn(k), v, mask)  # (B, H, q, K)
        return heads.transpose(1, 2).flatten(-2)  # (B, q, D)
