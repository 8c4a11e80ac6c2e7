"""How far a network with one input and one output is from a curve, and where its own curve has kinks."""

import torch

from encoder_lib.course.feed_forward.curves import CURVES, MIN_SLOPE_CHANGE, grid


@torch.no_grad()
def rmse(network, curve):
    """The root mean square of what a network misses of a curve."""
    x = grid().to(next(network.parameters()))
    return (network(x) - CURVES[curve](grid()).to(x)).square().mean().sqrt().item()


def kinks(network):
    """Where the slope jumps, whatever the weights say: between which two of 20,000 places it changes."""
    x = torch.linspace(-1, 1, 20_000, dtype=torch.float64).to(next(network.parameters())).requires_grad_()
    (slope,) = torch.autograd.grad(network(x[:, None]).sum(), x)
    return x.detach()[1:][slope.diff().abs() > MIN_SLOPE_CHANGE]
