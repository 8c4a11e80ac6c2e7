"""Embedding: token ids become vectors."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from encoder_lib import expect
from encoder_lib.model.norm import LayerNorm
from encoder_lib.model.positional import ADDED, INSIDE, LearnedPositionalEncoding, SinusoidalPositionalEncoding


class TokenEmbedding(nn.Module):
    """A look-up table with one row of D numbers for each token of the vocabulary.

        y[b, t] = weight[ids[b, t]]                    · √D with `scale=True`

    The rows are initialised from N(0, 1), or from N(0, 1/D) with `scale=True`, so that the output has variance 1 in
    both cases. The row `padding_idx` is initialised to zero and never gets a gradient.

    Shapes: ids (…, T) -> (…, T, D).
    Raises: TypeError for ids that are not integers; IndexError for an id outside 0 … vocab_size − 1; ValueError for
    a single id without a dimension, sizes below 1, a `padding_idx` outside the table.
    Source: Vaswani et al. 2017, "Attention Is All You Need", section 3.4 (arXiv 1706.03762).
    """

    def __init__(self, vocab_size: int, d_model: int, *, padding_idx: int | None = None, scale: bool = False):
        super().__init__()
        expect.sizes(vocab_size=vocab_size, d_model=d_model)
        expect.flags(scale=scale)
        if padding_idx is not None:
            expect.integer("padding_idx", padding_idx, least=0, most=vocab_size - 1)
        self.vocab_size, self.d_model, self.padding_idx = vocab_size, d_model, padding_idx
        self.factor = math.sqrt(d_model) if scale else 1.0
        self.weight = nn.Parameter(torch.randn(vocab_size, d_model) / self.factor)
        if padding_idx is not None:
            with torch.no_grad():
                self.weight[padding_idx] = 0

    def forward(self, ids: Tensor) -> Tensor:
        expect.token_ids(ids, self.vocab_size)
        return F.embedding(ids, self.weight, self.padding_idx) * self.factor  # (…, T, D)


class TransformerEmbedding(nn.Module):
    """The input of the first layer: the token's vector plus the vector of its position, then dropout.

        y = dropout(norm(token(ids) + position))       norm: a LayerNorm with `norm=True`, as in BERT, else nothing

    `positional` is "sinusoidal", "learned" (up to `max_len` tokens) or "none". The other two kinds, "rotary" and
    "alibi", are applied inside attention: pass them to MultiHeadAttention or to TransformerEncoder.

    Shapes: ids (B, T) -> (B, T, D).
    Raises: as TokenEmbedding; ValueError for an unknown `positional`, T > `max_len` for "learned", an odd D for
    "sinusoidal".
    Source: Vaswani et al. 2017, sections 3.4 and 3.5.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        *,
        positional: str = "sinusoidal",
        max_len: int = 512,
        padding_idx: int | None = None,
        scale: bool = False,
        norm: bool = False,
        eps: float = 1e-5,
        dropout: float = 0.0,
    ):
        super().__init__()
        hint = "; that kind is applied inside attention: pass it to MultiHeadAttention or TransformerEncoder"
        expect.choice("positional", positional, (*ADDED, "none"), hint if positional in INSIDE else "")
        expect.probability("dropout", dropout)
        expect.flags(norm=norm)
        expect.not_negative("eps", eps)
        expect.sizes(max_len=max_len)
        self.token = TokenEmbedding(vocab_size, d_model, padding_idx=padding_idx, scale=scale)
        self.position: nn.Module
        if positional == "sinusoidal":
            self.position = SinusoidalPositionalEncoding(d_model)
        elif positional == "learned":
            self.position = LearnedPositionalEncoding(d_model, max_len)
        else:
            self.position = nn.Identity()
        self.norm = LayerNorm(d_model, eps=eps) if norm else nn.Identity()
        self.dropout = nn.Dropout(dropout)

    def forward(self, ids: Tensor) -> Tensor:
        return self.dropout(self.norm(self.position(self.token(ids))))  # (B, T, D)
