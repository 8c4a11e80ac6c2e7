"""Position: four positional encodings, two added to the embedding and two applied inside attention."""

from functools import lru_cache

import torch
from torch import Tensor, nn

from encoder_lib import expect

ADDED = ("sinusoidal", "learned")  # kinds that are added to the embedding
INSIDE = ("rotary", "alibi")  # kinds that act inside attention
POSITIONS = (*ADDED, *INSIDE, "none")


def sinusoidal_table(length: int, d_model: int, *, base: float = 10_000.0, dtype: torch.dtype | None = None) -> Tensor:
    """One row for each position t, made of D/2 clocks: clock k shows its angle t · ω_k as a sine and a cosine.

        table[t, 2k] = sin(t · ω_k)      table[t, 2k + 1] = cos(t · ω_k)      ω_k = base^(−2k / D)

    The wavelengths 2π / ω_k run from 2π up to nearly 2π · base. The table is computed in float64 and
    rounded once, to `dtype` (torch's default when None).

    Shapes: -> (T, D).
    Raises: TypeError for sizes that are not integers; ValueError for a negative length, an odd D, base ≤ 0.
    Source: Vaswani et al. 2017, "Attention Is All You Need", section 3.5 (arXiv 1706.03762).
    """
    expect.integer("length", length, least=0)
    expect.even("d_model", d_model)
    expect.positive("base", base)
    expect.float_dtype(dtype)
    return _table(length, d_model, base, dtype or torch.get_default_dtype(), torch.get_default_device())


def _table(length: int, d_model: int, base: float, dtype: torch.dtype, device: torch.device) -> Tensor:
    # on the CPU first: not every device has float64
    frequencies = base ** (-torch.arange(0, d_model, 2, dtype=torch.float64, device="cpu") / d_model)  # (D/2,)
    angles = torch.arange(length, dtype=torch.float64, device="cpu")[:, None] * frequencies  # (T, D/2)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2).to(device, dtype)  # (T, D)


# Outside inference mode, because a later pass may need the table for its gradients.
_cached_table = lru_cache(maxsize=32)(torch.inference_mode(False)(_table))


def _table_for(x: Tensor) -> Tensor:
    """The sinusoidal table for vectors x (…, T, D), in their dtype and on their device. Shapes: -> (T, D).

    It is computed once for each power of two that T reaches, and anew where it could not outlive the call.
    """
    length, width = x.shape[-2:]
    if not expect.is_plain(x):
        return _table(length, width, 10_000.0, x.dtype, x.device)
    rows = 1 << max(length - 1, 0).bit_length()
    return _cached_table(rows, width, 10_000.0, x.dtype, x.device)[:length]


class SinusoidalPositionalEncoding(nn.Module):
    """Add to each vector the row of its position, for sequences of any length.

        y[t] = x[t] + table[t]                         table: see `sinusoidal_table`

    Shapes: x (…, T, D) -> (…, T, D).
    Raises: TypeError for token ids in place of vectors; ValueError for another width, an odd D.
    Source: Vaswani et al. 2017, section 3.5.
    """

    def __init__(self, d_model: int):
        super().__init__()
        expect.even("d_model", d_model)
        self.d_model = d_model

    def forward(self, x: Tensor) -> Tensor:
        expect.vectors(x, self.d_model)
        return x + _table_for(x)  # (…, T, D)


class LearnedPositionalEncoding(nn.Module):
    """Add to each vector a learned row, one for each position below `max_len`.

        y[t] = x[t] + weight[t]

    Shapes: x (…, T, D) -> (…, T, D).
    Raises: as SinusoidalPositionalEncoding; ValueError when T > `max_len`.
    Source: Gehring et al. 2017 (arXiv 1705.03122); used by BERT, Devlin et al. 2018 (arXiv 1810.04805).
    """

    def __init__(self, d_model: int, max_len: int):
        super().__init__()
        expect.sizes(d_model=d_model, max_len=max_len)
        self.weight = nn.Parameter(torch.randn(max_len, d_model))

    def forward(self, x: Tensor) -> Tensor:
        expect.vectors(x, like=self.weight)
        if x.shape[-2] > len(self.weight):
            got = f"max_len={len(self.weight)} positions, got {x.shape[-2]}"
            raise ValueError(f"x: expected at most {got}; try a larger max_len")
        return x + self.weight[: x.shape[-2]]  # (…, T, D)


class RotaryPositionalEncoding(nn.Module):
    """Rotate each pair of components of a query or key by an angle that grows with its position.

        (y[2k], y[2k + 1]) = rotation by t · ω_k of (x[2k], x[2k + 1])      ω_k = 10000^(−2k / K)

    The dot product of a rotated query and a rotated key depends on their positions only through the distance.

    Shapes: x (…, T, K) -> (…, T, K).
    Raises: as SinusoidalPositionalEncoding.
    Source: Su et al. 2021, "RoFormer", section 3.2 (arXiv 2104.09864).
    """

    def __init__(self, d_head: int):
        super().__init__()
        expect.even("d_head", d_head)
        self.d_head = d_head

    def forward(self, x: Tensor) -> Tensor:
        expect.vectors(x, self.d_head)
        table = _table_for(x)  # (T, K)
        sin, cos = table[:, 0::2], table[:, 1::2]  # (T, K/2)
        first, second = x[..., 0::2], x[..., 1::2]  # (…, T, K/2)
        return torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)  # (…, T, K)


def alibi_bias(
    n_heads: int, q_len: int, k_len: int, *, dtype: torch.dtype | None = None, device: torch.device | None = None
) -> Tensor:
    """A penalty on the scores that grows with the distance, with a slope of its own in each head.

        bias[h, i, j] = −slope_h · |i − j|             slope_h = 2^(−8h / H),  h = 1 … H

    An encoder attends in both directions, hence the absolute value. When H is not a power of two, the slopes are those
    of the next smaller power of two, followed by every other slope of the next larger one.

    Shapes: -> (H, q, k).
    Raises: TypeError for sizes that are not integers; ValueError for n_heads < 1 or a negative length.
    Source: Press, Smith, Lewis 2021, "Train Short, Test Long", section 3 (arXiv 2108.12409).
    """
    n_heads = expect.integer("n_heads", n_heads, least=1)
    expect.integer("q_len", q_len, least=0)
    expect.integer("k_len", k_len, least=0)
    expect.float_dtype(dtype)
    return _alibi(n_heads, q_len, k_len, dtype or torch.get_default_dtype(), device or torch.get_default_device())


def _alibi(n_heads: int, q_len: int, k_len: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    wide = torch.promote_types(dtype, torch.float32)  # half precision has no room for long distances

    def slopes(n: int) -> Tensor:
        return 2.0 ** (-8.0 * torch.arange(1, n + 1, dtype=torch.float64, device="cpu") / n)

    power = 2 ** (n_heads.bit_length() - 1)
    slope = torch.cat([slopes(power), slopes(2 * power)[0::2]])[:n_heads].to(device, wide)  # (H,)
    query, key = (torch.arange(length, dtype=wide, device=device) for length in (q_len, k_len))
    distance = (query[:, None] - key).abs()  # (q, k)
    return (-slope[:, None, None] * distance).to(dtype)  # (H, q, k)


_cached_alibi = lru_cache(maxsize=2)(torch.inference_mode(False)(_alibi))  # few, since each holds H · q · k numbers


def alibi_bias_for(q: Tensor, k: Tensor) -> Tensor:
    """The ALiBi bias for queries (B, H, q, K) and keys (B, H, k, K), computed once for all layers of a pass.

    Shapes: -> (H, q, k).
    """
    make = _cached_alibi if expect.is_plain(q) else _alibi
    return make(q.shape[1], q.shape[2], k.shape[2], q.dtype, q.device)
