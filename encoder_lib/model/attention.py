"""Attention: each token takes a weighted mean over the tokens that it looks at."""

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from encoder_lib import expect
from encoder_lib.model.positional import INSIDE, RotaryPositionalEncoding, alibi_bias
from encoder_lib.packed import Packed

Record = Callable[..., None]  # takes every tensor inside attention, by name


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
    """Who looks at whom: each row is non-negative and sums to 1.

        weights = softmax(query · keyᵀ / √K + bias), over the keys

    Shapes: query (…, q, K), key (…, k, K), mask and bias broadcastable to (…, q, k) -> (…, q, k).
    Raises: TypeError for mixed dtypes or a mask that is not boolean; ValueError for widths that differ, a mask shape
    that does not broadcast, a `scale` that is not finite.
    Source: Vaswani et al. 2017, "Attention Is All You Need", equation 1 (arXiv 1706.03762).
    """
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
    """Each query's weighted mean of the values, and the weights it was taken with: output = weights · value.

    Shapes: as `attention_weights`, value (…, k, V) -> (…, q, V) and (…, q, k).
    Raises: as `attention_weights`; ValueError when keys and values differ in number.
    """
    expect.queries_keys_values(query, key, value, bias, scale)
    weights = attention_weights(query, key, mask, bias=bias, scale=scale)  # (…, q, k)
    return weights @ value, weights


class MultiHeadAttention(nn.Module):
    """H attentions side by side, each on its own slice of K = D/H numbers, joined by a last linear map.

        head_h = attention(query · W_q, key · W_k, value · W_v), on slice h
        y      = concat(head_1 … head_H) · W_o

    The mask is boolean, True = may attend, shaped (query, key) or (B, H, query, key) with 1 wherever a size does not
    matter, as for `F.scaled_dot_product_attention` and opposite to `nn.MultiheadAttention`; or a row's `Packed`.
    `positional` is "none", "rotary" (queries and keys are turned) or "alibi" (distance lowers the scores).
    `trace` reads what happens inside; without one, torch's fused attention computes the same numbers.

    Shapes: query (B, q, D), key and value (B, k, D) -> (B, q, D).
    Raises: TypeError for other dtypes than the weights', a mask that is not boolean; ValueError when D is not
    divisible by H, for other shapes, for a square mask while B = T (it could be meant as (B, T)).
    Source: Vaswani et al. 2017, section 3.2.2.
    """

    def __init__(
        self, d_model: int, n_heads: int, *, bias: bool = True, dropout: float = 0.0, positional: str = "none"
    ):
        super().__init__()
        expect.heads(d_model, n_heads)
        expect.flags(bias=bias)
        expect.probability("dropout", dropout)
        hint = "; the other kinds are added to the embedding: give them to TransformerEmbedding"
        expect.choice("positional", positional, ("none", *INSIDE), hint)
        self.d_model, self.n_heads, self.d_head = d_model, n_heads, d_model // n_heads
        self.dropout, self.positional = dropout, positional
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)
        self.rotary = RotaryPositionalEncoding(self.d_head) if positional == "rotary" else None
        self.record: Record | None = None  # set by `trace`

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | Packed | None = None) -> Tensor:
        self._check(query, key, value, mask)
        q, k, v = self.q_proj(query), self.k_proj(key), self.v_proj(value)  # (B, q, D), (B, k, D), (B, k, D)
        if isinstance(mask, Packed):
            heads = mask.apart(self._attend, q, k, v)  # each sequence of the row alone
        else:
            heads = self._attend(q, k, v, mask)
        return self.out_proj(heads)  # (B, q, D)

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
        q, k, v = self._split(q), self._split(k), self._split(v)  # (B, H, q, K), (B, H, k, K), (B, H, k, K)
        if self.rotary is not None:
            q, k = self.rotary(q), self.rotary(k)
        bias = None
        if self.positional == "alibi":
            bias = alibi_bias(self.n_heads, q.shape[2], k.shape[2], dtype=q.dtype, device=q.device)  # (H, q, k)
        if self.record is None:
            heads = self._fused(q, k, v, mask, bias)
        else:
            heads = self._recorded(self.record, q, k, v, mask, bias)
        return heads.transpose(1, 2).flatten(-2)  # (B, H, q, K) -> (B, q, D)

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.n_heads, self.d_head)).transpose(1, 2)  # (B, T, D) -> (B, H, T, K)

    def _recorded(
        self, record: Record, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, bias: Tensor | None
    ) -> Tensor:
        scores = attention_scores(q, k, bias=bias)  # (B, H, q, k)
        weights = masked_softmax(scores, mask)  # (B, H, q, k)
        heads = F.dropout(weights, self.dropout, self.training) @ v  # (B, H, q, K)
        record(query=q, key=k, value=v, scores=scores, weights=weights, heads=heads)
        return heads

    def _fused(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, bias: Tensor | None) -> Tensor:
        if bias is not None:  # one tensor carries both
            mask = bias if mask is None else bias.masked_fill(~mask, -torch.inf)  # (B, H, q, k)
        return F.scaled_dot_product_attention(q, k, v, mask, self.dropout if self.training else 0.0)

    def _check(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | Packed | None) -> None:
        expect.attended(query, key, value, self.d_model, like=self.q_proj.weight)
        if isinstance(mask, Packed):
            expect.untraced(self.record)
        else:
            expect.layer_mask(mask, query.shape[0], self.n_heads, query.shape[1], key.shape[1])

    def __getstate__(self) -> dict:
        return self.__dict__ | {"record": None}  # a copy is not traced
