"""What a network with one input and one output makes of a curve: how much it misses, and where it bends."""

import torch

from encoder_lib.course.feed_forward.curves import CURVES, MIN_SLOPE_CHANGE, grid


@torch.no_grad()
def rmse(network, curve):
    """The root mean square of what a network misses of a curve."""
    x = grid().to(next(network.parameters()))
    return (network(x) - CURVES[curve](grid()).to(x)).square().mean().sqrt().item()


def kinks(network):
    """Where the slope jumps, whatever the weights say: it is compared between 20,000 places, none of them a bend."""
    x = torch.linspace(-1, 1, 20_000, dtype=torch.float64).to(next(network.parameters())).requires_grad_()
    (slope,) = torch.autograd.grad(network(x[:, None]).sum(), x)
    return x.detach()[1:][slope.diff().abs() > MIN_SLOPE_CHANGE]
