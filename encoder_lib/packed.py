"""Sequences of many lengths laid end to end in one strip of tokens, without padding between them."""

import itertools
from collections.abc import Callable

import torch
from torch import Tensor

from encoder_lib import expect


class Packed:
    """Where each sequence of a packed strip ends; as an attention mask: every token sees its own sequence, all of it.

        packed = Packed(lengths)        strip = packed.pack(x)        x = packed.unpack(strip, T)

    A strip holds the N = Σ lengths real tokens of B sequences, one sequence after the other. What treats each token
    alone (linear maps, norms, activations) takes the strip as it is; attention takes it apart with `apart`.

    Shapes: lengths (B,), of integers from 0; x (B, T, D) <-> strip (1, N, D).
    Raises: TypeError for lengths that are not integers; ValueError for another shape or a length below 0.
    Source: Krell et al. 2021, "Efficient Sequence Packing without Cross-contamination" (arXiv 2107.02027).
    """

    def __init__(self, lengths: Tensor):
        self.longest = expect.lengths(lengths, None)
        self.lengths = lengths
        real = [length for length in lengths.tolist() if length]
        self.runs = [(len(list(run)), length) for length, run in itertools.groupby(real)]  # (sequences, tokens of each)
        self.tokens = sum(real)

    def pack(self, x: Tensor) -> Tensor:
        """The first lengths[b] tokens of each sequence, in one strip. Shapes: (B, T, D) -> (1, N, D)."""
        expect.vectors(x, batched=True)
        expect.batch_of("x", x, len(self.lengths), self.longest)
        return x[self._real(x.shape[1])][None]

    def unpack(self, strip: Tensor, length: int) -> Tensor:
        """The sequences under each other again, zeros after each one's end. Shapes: (1, N, D) -> (B, length, D)."""
        expect.packed_strip(strip, self.tokens)
        expect.integer("length", length, least=self.longest)
        x = strip.new_zeros(len(self.lengths), length, strip.shape[-1])  # (B, T, D)
        x[self._real(length)] = strip[0]
        return x

    def _real(self, length: int) -> Tensor:
        return torch.arange(length, device=self.lengths.device) < self.lengths[:, None]  # (B, T)

    def apart(self, function: Callable[..., Tensor], *strips: Tensor) -> Tensor:
        """The function's result for each sequence alone: neighbours of one length go through it together, as a batch.

        Shapes: strips (1, N, D), function (n, t, D), … -> (n, t, D), over all runs -> (1, N, D).
        """
        for strip in strips:
            expect.packed_strip(strip, self.tokens)
        tokens = [n * t for n, t in self.runs]
        pieces = zip(*(strip.split(tokens, dim=1) for strip in strips), strict=True)
        shapes = zip(self.runs, pieces, strict=True)
        done = [function(*(x.reshape(n, t, -1) for x in run)).reshape(1, n * t, -1) for (n, t), run in shapes]
        return torch.cat(done, dim=1) if done else strips[0]
