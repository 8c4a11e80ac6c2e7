"""Sequences of many lengths laid end to end in one strip of tokens, without padding between them."""

import itertools
from collections.abc import Callable

import torch
from torch import Tensor

from encoder_lib import expect


class Packed:
    """Where each sequence of a packed strip ends.

        packed = Packed(lengths)        strip = packed.pack(x)        x = packed.unpack(strip, T)

    A strip holds the N = Σ lengths real tokens of B sequences, one sequence after the other. What treats each token
    alone (linear maps, norms, activations) takes the strip as it is; for attention it is taken `attend_per_sequence`.

    Shapes: lengths (B,), of integers from 0; x (B, T, D) <-> strip (1, N, D).
    Raises: TypeError for lengths that are not integers; ValueError for another shape or a length below 0.
    Source: Krell et al. 2021, "Efficient Sequence Packing without Cross-contamination" (arXiv 2107.02027).
    """

    def __init__(self, lengths: Tensor):
        self.longest = expect.lengths(lengths, None)
        self.lengths = lengths
        real = [length for length in lengths.tolist() if length]
        self.runs = [(len(list(run)), length) for length, run in itertools.groupby(real)]  # (sequences, tokens of each)

    def pack(self, x: Tensor) -> Tensor:
        """The first lengths[b] tokens of each sequence, in one strip. Shapes: (B, T, D) -> (1, N, D)."""
        expect.vectors(x, batched=True)
        expect.batch_of("x", x, len(self.lengths), self.longest)
        return x[self._real(x.shape[1])][None]

    def unpack(self, strip: Tensor, length: int) -> Tensor:
        """The sequences under each other again, zeros after each one's end. Shapes: (1, N, D) -> (B, length, D)."""
        x = strip.new_zeros(len(self.lengths), length, strip.shape[-1])  # (B, T, D)
        x[self._real(length)] = strip[0]
        return x

    def _real(self, length: int) -> Tensor:
        return torch.arange(length, device=self.lengths.device) < self.lengths[:, None]  # (B, T)

    def attend_per_sequence(self, attend: Callable[..., Tensor], q: Tensor, k: Tensor, v: Tensor, mask: None = None) -> Tensor:
        """Attention for each sequence alone: neighbours of one length go through it together, as a batch.

        Rotary turns count on through the whole strip, which changes nothing: only distances matter.

        Shapes: q, k, v (1, H, N, K), attend (n, H, t, K) -> (n, H, t, K), over all runs -> (1, H, N, K).
        """
        tokens = [n * t for n, t in self.runs]
        pieces = zip(*(x[0].split(tokens, dim=1) for x in (q, k, v)), strict=True)
        done = []
        for run, three in zip(self.runs, pieces, strict=True):
            batch = (x.unflatten(1, run).transpose(0, 1) for x in three)  # (H, n · t, K) -> (n, H, t, K) each
            done.append(attend(*batch).transpose(1, 2).flatten(0, 1))  # (n · t, H, K)
        return torch.cat(done).transpose(0, 1)[None] if done else v  # (1, H, N, K)
