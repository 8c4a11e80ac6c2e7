"""Attention: each token takes a weighted mean over the tokens that it attends to."""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from encoder_lib import expect
from encoder_lib.model.positional import INSIDE, RotaryPositionalEncoding, alibi_bias_for

Probe = Callable[[str, Tensor], Tensor]  # is shown a tensor by its name, and returns the one to go on with
# The probes that `trace` has set, by `key_of` the layer, for its own thread (or task) and no other.
PROBES: ContextVar[Mapping[int, Probe]] = ContextVar("PROBES", default=MappingProxyType({}))


def key_of(module: nn.Module) -> int:
    """The same for a module and for copies that share its parameters: they have one dictionary of hooks in common."""
    return id(module._forward_hooks)


@contextmanager
def probing(probes: Mapping[int, Probe]) -> Iterator[None]:
    """Within the `with` block, and in this thread alone, layers show their tensors to these probes and no others."""
    token = PROBES.set(probes)
    try:
        yield
    finally:
        PROBES.reset(token)


def attention_scores(query: Tensor, key: Tensor, *, bias: Tensor | None = None, scale: float | None = None) -> Tensor:
    """How well each query matches each key: scores = query · keyᵀ · scale + bias, with scale 1/√K when None.

    In float16 the queries are scaled before the product, because the product alone could overflow.

    Shapes: query (…, q, K), key (…, k, K), bias broadcastable to (…, q, k) -> (…, q, k).
    """
    expect.queries_and_keys(query, key, bias, scale)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    if query.dtype == torch.float16:
        scores = (query * scale) @ key.transpose(-2, -1)  # (…, q, k)
    else:
        scores = query @ key.transpose(-2, -1) * scale  # (…, q, k)
    return scores if bias is None else scores + bias


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Softmax over the keys that the mask allows. A row without any allowed key gets weights of zero, and no gradient.

    Shapes: scores (…, q, k), boolean mask broadcastable to them -> (…, q, k).
    """
    expect.scores(scores, mask)
    if mask is None:
        return scores.softmax(dim=-1)
    lowest = torch.finfo(scores.dtype).min  # not −inf: the softmax of a row of −inf is NaN
    return scores.masked_fill(~mask, lowest).softmax(dim=-1).masked_fill(~mask, 0.0)


def attention_weights(
    query: Tensor,
    key: Tensor,
    mask: Tensor | None = None,
    *,
    bias: Tensor | None = None,
    scale: float | None = None,
    probe: Probe | None = None,
) -> Tensor:
    """How much each query attends to each key: softmax(scores), as in `attention`.

    Shapes: query (…, q, K), key (…, k, K) -> (…, q, k).
    """
    show = probe or _keep
    scores = show("scores", attention_scores(query, key, bias=bias, scale=scale))  # (…, q, k)
    return show("weights", masked_softmax(scores, mask))  # (…, q, k)


def _keep(name: str, x: Tensor) -> Tensor:
    return x


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    *,
    bias: Tensor | None = None,
    scale: float | None = None,
    dropout: float = 0.0,
    probe: Probe | None = None,
) -> tuple[Tensor, Tensor]:
    """Each query's weighted mean of the values, and the weights of that mean.

        weights = softmax(query · keyᵀ / √K + bias), over the keys         output = dropout(weights) · value

    The weights returned are those before dropout. `probe("scores", scores)` and `probe("weights", weights)` are called
    as these tensors are computed, and the computation goes on with what they return.

    Shapes: query (…, q, K), key (…, k, K), value (…, k, V), mask and bias as the weights -> (…, q, V) and (…, q, k).
    Raises: TypeError for mixed dtypes or a mask that is not boolean; ValueError for sizes that do not fit, a mask or
    bias that does not broadcast, a `scale` that is not finite, a dropout outside 0 … 1.
    Source: Vaswani et al. 2017, "Attention Is All You Need", equation 1 (arXiv 1706.03762).
    """
    weights = attention_weights(query, key, mask, bias=bias, scale=scale, probe=probe)  # (…, q, k)
    expect.values(value, weights)
    expect.probability("dropout", dropout)
    kept = F.dropout(weights, dropout) if dropout else weights  # (…, q, k)
    return kept @ value, weights


class MultiHeadAttention(nn.Module):
    """H attentions side by side, each on its own slice of K = D/H components, followed by an output projection.

        head_h = attention(query · W_q, key · W_k, value · W_v), on slice h
        y      = concat(head_1 … head_H) · W_o

    The mask is boolean, True = may attend. It has the shape (query, key) or (B, H, query, key), with 1 for a size that
    does not matter, and broadcasts as in `F.scaled_dot_product_attention`; `nn.MultiheadAttention` takes the opposite
    convention. Two dimensions always mean (query, key), even when B = T: a padding mask has four, as in `padding_mask`.
    `positional` is "none", "rotary" (queries and keys are rotated) or "alibi" (distance lowers the scores).

    Shapes: query (B, q, D), key and value (B, k, D) -> (B, q, D).
    Raises: as `attention`; ValueError when D is not divisible by H, or for a mask of another shape.
    Source: Vaswani et al. 2017, section 3.2.2.
    """

    def __init__(
        self, d_model: int, n_heads: int, *, bias: bool = True, dropout: float = 0.0, positional: str = "none"
    ):
        super().__init__()
        expect.heads(d_model, n_heads)
        expect.flags(bias=bias)
        expect.probability("dropout", dropout)
        hint = "; the other kinds are added to the embedding: pass them to TransformerEmbedding"
        expect.choice("positional", positional, ("none", *INSIDE), hint)
        self.d_model, self.n_heads, self.d_head = d_model, n_heads, d_model // n_heads
        self.dropout, self.alibi = dropout, positional == "alibi"
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)
        self.rotary = RotaryPositionalEncoding(self.d_head) if positional == "rotary" else nn.Identity()

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        like = expect.weight_of(self.q_proj)
        expect.check_attention_inputs(query, key, value, mask, self.d_model, self.n_heads, like=like)
        projected = self.q_proj(query), self.k_proj(key), self.v_proj(value)  # (B, T, D) each
        q, k, v = (x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for x in projected)  # (B, H, T, K) each
        heads = self.attend(self.rotary(q), self.rotary(k), v, mask)  # (B, H, q, K)
        return self.out_proj(heads.transpose(1, 2).flatten(-2))  # (B, q, D)

    def attend(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
        """`attention` in every head, by torch's fused kernel unless a trace wants to see the scores and the weights.

        Shapes: q (B, H, q, K), k and v (B, H, k, K), mask broadcastable to (B, H, q, k) -> (B, H, q, K).
        """
        bias = alibi_bias_for(q, k) if self.alibi else None  # (H, q, k)
        dropout = self.dropout if self.training else 0.0
        probe = None if torch.compiler.is_compiling() else PROBES.get().get(key_of(self))
        if probe is None:
            return fused_attention(q, k, v, mask, bias=bias, dropout=dropout)
        q, k, v = probe("query", q), probe("key", k), probe("value", v)
        heads, _ = attention(q, k, v, mask, bias=bias, dropout=dropout, probe=probe)  # (B, H, q, K)
        return probe("heads", heads)


def fused_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, *, bias: Tensor | None, dropout: float
) -> Tensor:
    """The output of `attention` by torch's fused kernel, which never stores the weights. Shapes: as `attention`."""
    if bias is not None:  # the kernel takes one tensor for both, and is fast only with four dimensions
        bias = bias[None]  # (1, H, q, k)
        mask = bias if mask is None else bias.masked_fill(~mask, -torch.inf)  # (B, H, q, k)
    return F.scaled_dot_product_attention(q, k, v, mask, dropout)
