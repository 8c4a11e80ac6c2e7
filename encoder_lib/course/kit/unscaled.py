"""Attention without the division by √K, to show what the division is for."""

import math

from torch import Tensor

from encoder_lib.model.attention import MultiHeadAttention


class UnscaledAttention(MultiHeadAttention):
    """Attention whose queries are multiplied by √K, which undoes the division by √K."""

    def attend(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
        return super().attend(q * math.sqrt(self.d_head), k, v, mask)
