"""Normalisation: each token's vector is brought to a common scale, over its own D components."""

import torch
from torch import Tensor, nn

from encoder_lib import expect


class LayerNorm(nn.Module):
    """Shift each token's vector to mean 0, scale it to variance 1, then apply a learned gain and bias.

        y = (x − μ) / √(σ² + ε) · weight + bias        μ = mean(x),  σ² = mean((x − μ)²),  both over D

    The variance is the biased one (divided by D, not by D − 1), and ε is inside the square root. The statistics are per
    token, so other tokens and other sequences of the batch do not affect the result.

    Shapes: x (…, T, D) -> (…, T, D).
    Raises: TypeError for integer input or another dtype than the weights'; ValueError for another width, `eps` < 0.
    Source: Ba, Kiros, Hinton 2016, "Layer Normalization", section 3 (arXiv 1607.06450).
    """

    def __init__(self, d_model: int, *, eps: float = 1e-5, bias: bool = True):
        super().__init__()
        expect.sizes(d_model=d_model)
        expect.flags(bias=bias)
        expect.not_negative("eps", eps)
        self.d_model, self.eps = d_model, eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model)) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        expect.vectors(x, like=self.weight)
        wide = x.to(torch.promote_types(x.dtype, torch.float32))  # the squares of half precision would overflow
        mean = wide.mean(dim=-1, keepdim=True)  # (…, T, 1)
        variance = (wide - mean).square().mean(dim=-1, keepdim=True)  # (…, T, 1)
        normal = (wide - mean) / torch.sqrt(variance + self.eps)  # (…, T, D)
        y = normal.to(x.dtype) * self.weight
        return y if self.bias is None else y + self.bias


class RMSNorm(nn.Module):
    """Scale each token's vector to a root mean square of 1, without shifting its mean.

        y = x / √(mean(x²) + ε) · weight               the mean over D

    Shapes: x (…, T, D) -> (…, T, D).
    Raises: as LayerNorm.
    Source: Zhang, Sennrich 2019, "Root Mean Square Layer Normalization", equation 4 (arXiv 1910.07467).
    """

    def __init__(self, d_model: int, *, eps: float = 1e-6):
        super().__init__()
        expect.sizes(d_model=d_model)
        expect.not_negative("eps", eps)
        self.d_model, self.eps = d_model, eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x: Tensor) -> Tensor:
        expect.vectors(x, like=self.weight)
        wide = x.to(torch.promote_types(x.dtype, torch.float32))  # the squares of half precision would overflow
        mean_square = wide.square().mean(dim=-1, keepdim=True)  # (…, T, 1)
        return (wide / torch.sqrt(mean_square + self.eps)).to(x.dtype) * self.weight
