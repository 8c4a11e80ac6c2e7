"""The feed-forward network, which is applied to each token alone."""

from collections.abc import Callable

import torch.nn.functional as F
from torch import Tensor, nn

from encoder_lib import expect

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": F.relu, "gelu": F.gelu}


class FeedForward(nn.Module):
    """Two linear layers with a nonlinearity between them, the same two for every token.

        y = activation(x W₁ + b₁) W₂ + b₂          D -> F -> D

    Dropout is applied to the hidden activations. GELU is the exact one, x · Φ(x).

    Shapes: x (…, T, D) -> (…, T, D).
    Raises: TypeError for integer input or another dtype than the weights'; ValueError for another width, sizes
    below 1, an unknown activation, a dropout outside 0 … 1.
    Source: Vaswani et al. 2017, "Attention Is All You Need", section 3.3 (arXiv 1706.03762); GELU: Hendrycks and
    Gimpel 2016 (arXiv 1606.08415).
    """

    def __init__(self, d_model: int, d_ff: int, *, activation: str = "relu", dropout: float = 0.0, bias: bool = True):
        super().__init__()
        expect.sizes(d_model=d_model, d_ff=d_ff)
        expect.choice("activation", activation, ACTIVATIONS)
        expect.probability("dropout", dropout)
        expect.flags(bias=bias)
        self.d_model, self.activation = d_model, activation
        self.linear1 = nn.Linear(d_model, d_ff, bias=bias)
        self.dropout = nn.Dropout(dropout)
        self.linear2 = nn.Linear(d_ff, d_model, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        expect.vectors(x, self.d_model, like=expect.weight_of(self.linear1))
        hidden = ACTIVATIONS[self.activation](self.linear1(x))  # (…, T, F)
        return self.linear2(self.dropout(hidden))  # (…, T, D)
