"""Normalisation: torch's own numbers, and what half precision and a constant row do to them."""

import pytest
import torch
from torch import nn

from encoder_lib import LayerNorm, RMSNorm

B, T, D = 2, 5, 8
F64 = torch.float64
NORMS = {LayerNorm: nn.LayerNorm, RMSNorm: nn.RMSNorm}
norms = pytest.mark.parametrize("norm", NORMS)


def random_weights(norm):
    """Weights and biases that are not 1 and 0."""
    for p in norm.parameters():
        nn.init.normal_(p)
    return norm


@norms
@pytest.mark.parametrize("eps", [1e-12, 1e-5, 0.1])
@pytest.mark.parametrize("size", [1e-4, 1e4])
@pytest.mark.parametrize("shape", [(T, D), (B, 3, T, D), (B, 0, D)])
def test_equals_torch(norm, eps, size, shape, device):
    """Values and gradients in float64, over sizes of the input and of eps; the input is not written to."""
    width = shape[-1]
    ours = random_weights(norm(width, eps=eps)).to(device, F64)
    theirs = NORMS[norm](width, eps=eps, dtype=F64, device=device)
    theirs.load_state_dict(ours.state_dict())
    x, weights = (torch.randn(2, *shape, dtype=F64) * size).to(device)
    before, gradients = x.clone(), []
    for module in (ours, theirs):
        given_x = x.clone().requires_grad_()
        (module(given_x) * weights).sum().backward()
        gradients.append([given_x.grad, *(p.grad for p in module.parameters())])
    torch.testing.assert_close(ours(x), theirs(x), atol=1e-10, rtol=1e-10)
    torch.testing.assert_close(gradients[0], gradients[1], atol=1e-8, rtol=1e-9)
    assert torch.equal(x, before)


def test_the_published_eps_and_no_bias():
    """The defaults are 1e-5 and 1e-6; `bias=False` leaves the parameter out, as nn.LayerNorm does."""
    x = 1e-3 * torch.randn(B, T, D, dtype=F64)
    ours, theirs = LayerNorm(D, bias=False).double(), nn.LayerNorm(D, bias=False, dtype=F64)
    assert [name for name, _ in ours.named_parameters()] == ["weight"]
    torch.testing.assert_close(ours(x), theirs(x), atol=1e-10, rtol=0)
    torch.testing.assert_close(RMSNorm(D).double()(x), nn.RMSNorm(D, eps=1e-6, dtype=F64)(x), atol=1e-10, rtol=0)


@norms
@pytest.mark.parametrize("value", [0.0, -1e4])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("width", [1, D])
def test_constant_row(norm, value, dtype, width, device):
    """A row of equal numbers has no variance and still gives finite numbers and gradients, in every dtype.

    One number alone is such a row: exactly 0 here, where torch's kernel keeps a rounding error in its gradients.
    """
    x = torch.full((1, width), value, dtype=dtype, device=device, requires_grad=True)
    y = norm(width).to(device, dtype)(x)
    y.sum().backward()
    assert y.isfinite().all() and x.grad.isfinite().all()
    assert norm is RMSNorm or not y.any()


@norms
@pytest.mark.parametrize(("dtype", "limit"), [(torch.float16, 5e-3), (torch.bfloat16, 4e-2), (torch.float32, 1e-6)])
def test_half_precision(norm, dtype, limit, device):
    """Statistics are taken in float32: squares that overflow float16 do no harm."""
    norm, x = norm(D).to(device, dtype), (300 * torch.randn(B, T, D)).to(device, dtype)
    y = norm(x)
    assert y.dtype == dtype and (y.double() - norm.double()(x.double())).abs().max() < limit


@norms
@pytest.mark.long
def test_compiles(norm, compiles):
    batch, length = torch.export.Dim("B"), torch.export.Dim("T")
    compiles(norm(D), lambda b, t: (torch.randn(b, t, D),), ({0: batch, 1: length},))
