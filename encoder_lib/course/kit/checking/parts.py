"""The parts of an encoder as notebook 12 asks for them, with the parameter names of `EncoderLayer`.

They are plain torch, because a reader who exports an encoder also exports the source of the parts that were lent.
"""

from collections.abc import Callable, Iterable

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence


class Embedding(nn.Module):
    """ids (B, T) -> the rows of a table (B, T, D)."""

    def __init__(self, vocab_size: int, d_model: int):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(vocab_size, d_model))

    def forward(self, ids: Tensor) -> Tensor:
        return F.embedding(ids, self.weight)


class Positions(nn.Module):
    """x (B, T, D) -> x plus the first T rows of a table."""

    def __init__(self, max_len: int, d_model: int):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(max_len, d_model))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.weight[: x.shape[1]]


class Norm(nn.LayerNorm):
    """x (…, D) -> each token at mean 0 and variance 1, times a gain, plus a bias."""

    def __init__(self, d_model: int, eps: float):
        super().__init__(d_model, eps=eps)


class Attention(nn.Module):
    """x (B, T, D), mask (B, 1, 1, T) -> the output of multi-head self-attention (B, T, D)."""

    def __init__(self, d_model: int, n_heads: int):
        super().__init__()
        self.n_heads = n_heads
        self.q_proj, self.k_proj = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.v_proj, self.out_proj = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        projected = (self.q_proj(x), self.k_proj(x), self.v_proj(x))
        q, k, v = (y.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for y in projected)  # (B, H, T, K) each
        heads = F.scaled_dot_product_attention(q, k, v, mask)  # (B, H, T, K)
        return self.out_proj(heads.transpose(1, 2).flatten(-2))


class FeedForward(nn.Module):
    """x (…, D) -> two linear layers with GELU between them (…, D)."""

    def __init__(self, d_model: int, d_ff: int):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear2(F.gelu(self.linear1(x)))


class Block(nn.Module):
    """x (B, T, D), mask -> x after attention and feed-forward, each followed by a residual connection and a norm."""

    def __init__(self, attention: nn.Module, feed_forward: nn.Module, norm1: nn.Module, norm2: nn.Module):
        super().__init__()
        self.attention, self.feed_forward, self.norm1, self.norm2 = attention, feed_forward, norm1, norm2

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x = self.norm1(x + self.attention(x, mask))
        return self.norm2(x + self.feed_forward(x))


class Encoder(nn.Module):
    """ids (B, T), mask -> one vector for each token (B, T, D): embedding, positions, norm, and the layers in order."""

    def __init__(self, embedding: nn.Module, positions: nn.Module, norm: nn.Module, blocks: Iterable[nn.Module]):
        super().__init__()
        self.embedding, self.positions, self.norm = embedding, positions, norm
        self.blocks = nn.ModuleList(blocks)

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        x = self.norm(self.positions(self.embedding(ids)))  # (B, T, D)
        for block in self.blocks:
            x = block(x, mask)
        return x


def vectors_of(encoder: nn.Module, rows: list[Tensor]) -> Tensor:
    """The mean of the real tokens' vectors, scaled to length 1, for each of B rows of ids (T,) -> (B, D)."""
    ids = pad_sequence(rows, batch_first=True)  # (B, T)
    real = ids != 0  # (B, T): 0 is padding
    x = encoder(ids, real[:, None, None, :])  # (B, T, D)
    real = real[..., None]  # (B, T, 1)
    return F.normalize((x * real).sum(dim=1) / real.sum(dim=1), dim=-1)


def learn(model: nn.Module, draw: Callable[[], tuple[Tensor, Tensor]], steps: int, lr: float) -> list[float]:
    """Train with Adam on a new batch in every step, and return each step's loss. Targets of −100 do not count."""
    optimiser, losses = torch.optim.Adam(model.parameters(), lr=lr), []
    for _ in range(steps):
        ids, targets = draw()  # (B, T) each
        loss = F.cross_entropy(model(ids).flatten(0, 1), targets.flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses
