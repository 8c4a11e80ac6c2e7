"""Curves to fit, and networks that fit them, grown by one hidden unit at a time, each where it helps most."""

import itertools
import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from encoder_lib.model.feed_forward import ACTIVATIONS, FeedForward
from encoder_lib.seeded import seeded
from encoder_lib.training.fit import require_gradients
from encoder_lib.training.loading import load_optimisers

N_POINTS = 161  # at which a curve is evaluated, from −1 to 1
N_BREAKPOINTS, MAX_UNITS = 81, 32  # positions of a corner, and the largest number of units
STEEPNESS = {"relu": (1.0,), "gelu": (2.0, 5.0, 12.0, 30.0)}  # a ReLU has a corner for every weight
MIN_NOVELTY = {"relu": 3e-3, "gelu": 1e-2}  # the part of a unit that the chosen ones must not be able to imitate
EQUAL = (
    1e-9  # units whose gains differ by less, relative to the curve, count as equal, so that rounding decides nothing
)
RIDGE = 1e-4
MIN_SLOPE_CHANGE = 1e-2  # the smallest change of slope that counts as a corner
KNOTS = ((-1.0, -0.6), (-0.75, 0.5), (-0.45, -0.3), (-0.2, 0.7), (0.1, 0.2), (0.45, -0.8), (0.7, 0.4), (1.0, 0.1))
STEP_HEIGHTS = ((-0.5, 0.9), (0.1, -0.5), (0.6, 0.9))


def _wave(x: Tensor) -> Tensor:
    return 0.8 * torch.sin(5 * x + 0.4)


def _zigzag(x: Tensor) -> Tensor:
    y = torch.full_like(x, KNOTS[0][1])
    for (a, low), (b, high) in itertools.pairwise(KNOTS):
        y = y + (high - low) * ((x - a) / (b - a)).clamp(0, 1)
    return y


def _steps(x: Tensor) -> Tensor:
    y = torch.full_like(x, -0.6)
    for position, jump in STEP_HEIGHTS:
        y = y + jump * (x >= position)
    return y


CURVES: dict[str, Callable[[Tensor], Tensor]] = {"wave": _wave, "zigzag": _zigzag, "steps": _steps}


def grid() -> Tensor:
    """The positions at which a curve is evaluated. Shapes: -> (P, 1), float64 from −1 to 1."""
    return torch.linspace(-1, 1, N_POINTS, dtype=torch.float64)[:, None]


def orthogonal_least_squares(curve: str, width: int, *, activation: str = "relu") -> list[FeedForward]:
    """Networks 1 -> n -> 1 for n = 1 … `width`, each with one more unit than the one before.

        unit = activation(±s · (x − position))        position, sign and s: those that lower the error most

    The last weights and bias are then set by least squares over all positions, held back a little (ridge) from growing
    large. Nothing is random. Going through all candidates is possible because there is only one input; real networks
    are trained by gradients.

    Source: orthogonal least squares, Chen, Cowan, Grant 1991, IEEE Trans. Neural Networks 2(2).
    """
    x, y = grid(), CURVES[curve](grid())  # (P, 1) each
    weight, bias = _candidates(STEEPNESS[activation])  # (C,) each
    hidden = ACTIVATIONS[activation](x * weight + bias)  # (P, C)
    chosen = _choose(hidden, y[:, 0], width, outward=bias <= 0, new=MIN_NOVELTY[activation])
    with seeded(0):  # a new network draws numbers, which are not used here
        return [_network(weight, bias, hidden, y, chosen[:n], activation) for n in range(1, width + 1)]


def train(network: nn.Module, x: Tensor, y: Tensor, *, steps: int = 500) -> nn.Module:
    """Train a module in place to predict y from x, and return it. Shapes: x (P, inputs), y (P, outputs).

    Each step moves the weights against the gradient of the mean squared error over all rows (Adam at 0.02).
    """
    like = next(network.parameters())
    x, y = x.to(like), y.to(like)
    require_gradients(network)
    load_optimisers()
    optimiser = torch.optim.Adam(network.parameters(), lr=0.02)
    for _ in range(steps):
        loss = F.mse_loss(network(x), y)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return network


def decompose(network: FeedForward, curve: str) -> dict:
    """The arguments of `plots.plot_fit` for a network 1 -> F -> 1: the curve, the units and their corners."""
    x = grid().to(network.linear1.weight)  # (P, 1)
    return {
        "x": x[:, 0],
        "target": CURVES[curve](x)[:, 0],
        "units": unit_contributions(network, x),
        "constant": network.linear2.bias.item(),
        "breakpoints": breakpoints(network),
    }


def unit_contributions(network: FeedForward, x: Tensor) -> Tensor:
    """What each hidden unit of a network 1 -> F -> 1 adds to the output: its activation times its output weight.

    Their sum plus the output bias is the output of the network. Shapes: x (P, 1) -> (P, F).
    """
    hidden = ACTIVATIONS[network.activation](network.linear1(x))  # (P, F)
    return (hidden * network.linear2.weight[0]).detach()


def breakpoints(network: FeedForward) -> Tensor:
    """The corner of each hidden unit of a network 1 -> F -> 1: the x at which its pre-activation is zero.

    Shapes: -> (F,), in the order of the units.
    """
    return -network.linear1.bias.detach() / network.linear1.weight.detach()[:, 0]


def _candidates(steepness: tuple[float, ...]) -> tuple[Tensor, Tensor]:
    """Input weights and biases of all candidates, opening to the right and to the left. -> (C,) each."""
    position = torch.linspace(-1, 1, N_BREAKPOINTS, dtype=torch.float64)
    slope = torch.tensor([sign * s for s in steepness for sign in (1, -1)], dtype=torch.float64)
    return slope.repeat_interleave(N_BREAKPOINTS), (-slope[:, None] * position).flatten()


def _choose(hidden: Tensor, y: Tensor, width: int, *, outward: Tensor, new: float) -> list[int]:
    """The columns of `hidden` (P, C) that explain y (P,) best, one after another.

    After each choice, its direction is removed from all columns and from the rest of y, so that the next choice adds
    something new; a column of which less than the fraction `new` is left is excluded. Among equally helpful columns,
    the first one that opens `outward` (C,), away from the centre, is taken, because it stays smaller.
    """
    size = hidden.norm(dim=0)  # (C,)
    rest = torch.cat([torch.ones_like(y)[:, None], hidden, y[:, None]], dim=1)  # (P, 1 + C + 1): constant, units, y
    chosen: list[int] = []
    column = 0
    for _ in range(width):
        direction = rest[:, column] / rest[:, column].norm()  # (P,)
        rest = rest - direction[:, None] * (direction @ rest)
        units, left = rest[:, 1:-1], rest[:, -1]
        left_over = units.norm(dim=0)  # (C,)
        gain = (units.T @ left).abs() / left_over * (1 + 1e-6 * outward)  # (C,)
        gain[left_over <= new * size] = -math.inf
        best = gain >= gain.max() - EQUAL * y.norm()  # (C,)
        chosen.append(int(best.nonzero()[0]))
        column = 1 + chosen[-1]
    return chosen


def _network(
    weight: Tensor, bias: Tensor, hidden: Tensor, y: Tensor, chosen: list[int], activation: str
) -> FeedForward:
    """The network with the chosen units, and its last layer fitted by least squares."""
    n = len(chosen)
    columns = torch.cat([hidden[:, chosen], torch.ones_like(y)], dim=1)  # (P, n + 1)
    small = RIDGE * torch.eye(n + 1, dtype=y.dtype)
    last = torch.linalg.lstsq(torch.cat([columns, small]), torch.cat([y, y.new_zeros(n + 1, 1)])).solution  # (n + 1, 1)
    network = FeedForward(1, n, activation=activation).double().requires_grad_(False)
    network.linear1.weight[:, 0], network.linear1.bias[:] = weight[chosen], bias[chosen]
    network.linear2.weight[0], network.linear2.bias[:] = last[:n, 0], last[n]
    return network
