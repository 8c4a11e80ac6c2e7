"""Attention without the division by √K, to see what the division is good for."""

import math

from torch import Tensor

from encoder_lib.model.attention import MultiHeadAttention


class UnscaledAttention(MultiHeadAttention):
    """Attention with queries √K times as long, which undoes the division by √K."""

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
        return super()._attend(q * math.sqrt(self.d_head), k, v, mask)
