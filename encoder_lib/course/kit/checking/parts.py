"""The parts of an encoder as notebook 12 asks for them, and which parameter of such a part is which.

The parts are plain torch: a reader who takes an encoder away takes those that were lent along as text.

Readers give their own names to what they build. So a parameter is known by what the part computes with it: each order
in which its parameters could be meant is tried, and one of them gives what the library's part gives.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import permutations
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from encoder_lib.course.kit.checking.verdict import Told


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
    """x (B, T, D), mask (B, 1, 1, T) -> what each token fetched from the others (B, T, D)."""

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
    """x (…, D) -> two linear maps with GELU between them."""

    def __init__(self, d_model: int, d_ff: int):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear2(F.gelu(self.linear1(x)))


class Block(nn.Module):
    """x (B, T, D), mask -> x after attention and feed-forward, each with a sum and a norm after it."""

    def __init__(self, attention: nn.Module, feed_forward: nn.Module, norm1: nn.Module, norm2: nn.Module):
        super().__init__()
        self.attention, self.feed_forward, self.norm1, self.norm2 = attention, feed_forward, norm1, norm2

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x = self.norm1(x + self.attention(x, mask))
        return self.norm2(x + self.feed_forward(x))


class Encoder(nn.Module):
    """ids (B, T), mask -> one vector a token (B, T, D): embedding, positions, norm, and the blocks in turn."""

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
    """The mean of the real tokens' vectors at length 1, for each row of ids: rows (T,), B of them -> (B, D)."""
    ids = pad_sequence(rows, batch_first=True)  # (B, T)
    real = ids != 0  # (B, T): 0 is padding
    x = encoder(ids, real[:, None, None, :])  # (B, T, D)
    real = real[..., None]  # (B, T, 1)
    return F.normalize((x * real).sum(dim=1) / real.sum(dim=1), dim=-1)


def learn(model: nn.Module, draw: Callable[[], tuple[Tensor, Tensor]], steps: int, lr: float) -> list[float]:
    """Train with Adam on a new batch in every step, and give back each step's loss. −100 asks nothing."""
    optimiser, losses = torch.optim.Adam(model.parameters(), lr=lr), []
    for _ in range(steps):
        ids, targets = draw()  # (B, T) each
        loss = F.cross_entropy(model(ids).flatten(0, 1), targets.flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses


class Piece(NamedTuple):
    """A parameter of a part, some rows of it, or a matrix turned round, by its name."""

    name: str
    parameter: nn.Parameter
    rows: slice = slice(None)
    transposed: bool = False

    @property
    def values(self) -> Tensor:
        return self._of(self.parameter.data)

    @property
    def gradient(self) -> Tensor | None:
        return None if self.parameter.grad is None else self._of(self.parameter.grad)

    def _of(self, tensor: Tensor) -> Tensor:
        return tensor.T if self.transposed else tensor[self.rows]


Group = tuple[Piece, ...]  # what belongs together: a linear map's weight and bias, or a parameter alone


def groups(part: nn.Module, d_model: int | None = None) -> list[Group]:
    """The parameters of a part in the order in which it has them, weight and bias of each linear map together.

    With `d_model`, a linear map that makes several vectors of that width at once is cut into one for each. Without, and
    where a part has several matrices that are plain parameters, each of these follows once more, transposed: x @ w
    wants a weight (D, F), where `nn.Linear` has (F, D).
    """
    found: list[Group] = []
    maps = {name: module for name, module in part.named_modules() if isinstance(module, nn.Linear)}
    inside = {f"{name}.{kind}".lstrip(".") for name in maps for kind in ("weight", "bias")}
    for name, linear in maps.items():
        width = linear.out_features if d_model is None else d_model
        for start in range(0, linear.out_features, width):
            rows = slice(start, start + width)
            named = linear.named_parameters(prefix=name)
            found.append(tuple(Piece(path, parameter, rows) for path, parameter in named))
    plain = [(Piece(name, p),) for name, p in part.named_parameters() if name not in inside]
    matrices = [piece for (piece,) in plain if piece.parameter.ndim == 2]
    turned = [(piece._replace(transposed=True),) for piece in matrices if len(matrices) > 1 and d_model is None]
    return [*found, *plain, *turned]


def pieces(groups: Sequence[Group], order: Sequence[int] | None = None) -> list[Piece]:
    """The pieces of these groups, one by one, in an order in which groups may be left out."""
    return [piece for place in (range(len(groups)) if order is None else order) for piece in groups[place]]


def orders(mine: Sequence[Group], theirs: Sequence[Group]) -> list[tuple[int, ...]]:
    """In which orders my parameters could be theirs, by their shapes: theirs[i] is mine[order[i]].

    Where my weights and biases are plain parameters, theirs are taken one by one, too.

    Raises: Told where there is no such order.
    """
    names = {piece.name for piece in pieces(mine)}
    single = [(piece,) for piece in pieces(theirs)]
    fitting: list[tuple[int, ...]] = []
    for wanted in (theirs, single):
        if not fitting and len(wanted) <= len(mine) and len(single) >= len(names):
            fitting = [order for order in permutations(range(len(mine)), len(wanted)) if _fits(mine, order, wanted)]
    if not fitting:
        own = [piece for piece in pieces(mine) if not piece.transposed]
        got = ", ".join(f"{piece.name} {tuple(piece.values.shape)}" for piece in own) or "none"
        counts = Counter(_in_words(group) for group in theirs)
        expected = ", ".join(words if count == 1 else f"{count} × {words}" for words, count in counts.items())
        raise Told(f"expected as parameters {expected}; got {got}")
    return fitting


def _fits(mine: Sequence[Group], order: Sequence[int], theirs: Sequence[Group]) -> bool:
    """Whether my groups in that order have the shapes of theirs, and all my parameters are among them, each once."""
    if any(_shapes(mine[place]) != _shapes(group) for place, group in zip(order, theirs, strict=True)):
        return False
    taken = Counter((piece.name, piece.rows.start) for piece in pieces(mine, order))
    return max(taken.values()) == 1 and {name for name, _ in taken} == {piece.name for piece in pieces(mine)}


def _shapes(group: Group) -> list[tuple[int, ...]]:
    return [tuple(piece.values.shape) for piece in group]


def _in_words(group: Group) -> str:
    """The shapes of a group, and the call that makes it: nn.Linear(1, 2) with weight (2, 1) and bias (2,)."""
    shapes = _shapes(group)
    if not shapes[1:]:
        return str(shapes[0])
    return f"nn.Linear{shapes[0][::-1]} with weight {shapes[0]} and bias {shapes[1]}"


@torch.no_grad()
def fill(mine: Sequence[Group], order: Sequence[int], tensors: Sequence[Sequence[Tensor]]) -> None:
    """Put tensors, in the library's order, into my parameters."""
    values = [tensor for group in tensors for tensor in group]
    for piece, tensor in zip(pieces(mine, order), values, strict=True):
        piece.values.copy_(tensor)
