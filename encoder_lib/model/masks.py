"""Masks: which keys a query may attend to. Boolean, True = may attend, broadcastable to (B, H, query, key)."""

import torch
from torch import Tensor

from encoder_lib import expect


def padding_mask(ids: Tensor, padding_idx: int) -> Tensor:
    """True where a key is a real token: mask[b, 0, 0, t] = (ids[b, t] ≠ padding_idx).

    Shapes: ids (B, T) -> (B, 1, 1, T), the same for all heads and queries.
    Raises: TypeError for ids that are not integers; ValueError for another shape or a negative `padding_idx`.
    """
    expect.token_ids(ids, batched=True)
    return (ids != expect.integer("padding_idx", padding_idx, least=0))[:, None, None, :]


def lengths_mask(lengths: Tensor, max_len: int | None = None) -> Tensor:
    """True for the first lengths[b] keys of sequence b; `max_len` is the longest length when None.

    Shapes: lengths (B,) -> (B, 1, 1, T) with T = max_len.
    Raises: TypeError for lengths that are not integers; ValueError for another shape, a length below 0 or above T.
    """
    length = expect.lengths(lengths, max_len)
    return (torch.arange(length, device=lengths.device) < lengths[:, None])[:, None, None, :]


def causal_mask(length: int) -> Tensor:
    """True where the key is at or before the query: mask[i, j] = (j ≤ i). Decoders need it, encoders don't.

    Shapes: -> (T, T).
    Raises: TypeError or ValueError for a length that is not an integer ≥ 0.
    """
    expect.integer("length", length, least=0)
    return torch.ones(length, length, dtype=torch.bool).tril()
