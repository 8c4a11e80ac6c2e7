"""Packing: sequences of different lengths joined end to end, without padding between them."""

import itertools
from collections.abc import Callable

import torch
from torch import Tensor

from encoder_lib import expect


class Packed:
    """The layout of a packed sequence: the real tokens of a batch, one sequence after the other.

        packed = Packed(lengths)        y = packed.pack(x)        x = packed.unpack(y, T)

    Of B sequences padded to T tokens, the N = Σ lengths real tokens become one sequence of N tokens. Operations that
    treat each token on its own (linear layers, norms, activations) can run on it unchanged. Attention needs
    `attend_per_sequence`, because otherwise tokens would attend to the neighbouring sequences.

    Shapes: lengths (B,), of integers from 0; x (B, T, D) <-> y (1, N, D).
    Raises: TypeError for lengths that are not integers; ValueError for another shape or a length below 0.
    Source: Krell et al. 2021, "Efficient Sequence Packing without Cross-contamination" (arXiv 2107.02027).
    """

    def __init__(self, lengths: Tensor):
        self.longest = expect.lengths(lengths, None)
        self.lengths = lengths
        real = [length for length in lengths.tolist() if length]
        # Neighbours of equal length, as (number of sequences, tokens in each).
        self.runs = [(len(list(run)), length) for length, run in itertools.groupby(real)]

    def pack(self, x: Tensor) -> Tensor:
        """Join the first lengths[b] tokens of each sequence. Shapes: (B, T, D) -> (1, N, D)."""
        expect.vectors(x, batched=True)
        expect.check_batch("x", x, len(self.lengths), self.longest)
        return x[self._real(x.shape[1])][None]

    def unpack(self, y: Tensor, length: int) -> Tensor:
        """Separate the sequences again, padded with zeros to `length`. Shapes: (1, N, D) -> (B, length, D)."""
        x = y.new_zeros(len(self.lengths), length, y.shape[-1])  # (B, T, D)
        x[self._real(length)] = y[0]
        return x

    def _real(self, length: int) -> Tensor:
        return torch.arange(length, device=self.lengths.device) < self.lengths[:, None]  # (B, T)

    def attend_per_sequence(
        self, attend: Callable[..., Tensor], q: Tensor, k: Tensor, v: Tensor, mask: None = None
    ) -> Tensor:
        """Call `attend(q, k, v)` on each sequence separately; neighbours of equal length go through it as one batch.

        Rotary positions count on from one sequence to the next. That changes nothing, because attention depends on the
        distances between positions only.

        Shapes: q, k, v (1, H, N, K) -> (1, H, N, K), by calls of `attend` on (n, H, t, K) -> (n, H, t, K).
        """
        tokens = [n * t for n, t in self.runs]
        pieces = zip(*(x[0].split(tokens, dim=1) for x in (q, k, v)), strict=True)
        heads = []
        for run, piece in zip(self.runs, pieces, strict=True):
            batch = (x.unflatten(1, run).transpose(0, 1) for x in piece)  # (H, n · t, K) -> (n, H, t, K) each
            heads.append(attend(*batch).transpose(1, 2).flatten(0, 1))  # (n · t, H, K)
        return torch.cat(heads).transpose(0, 1)[None] if heads else v  # (1, H, N, K)
