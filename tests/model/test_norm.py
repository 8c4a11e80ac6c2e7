"""Normalisation: torch's own numbers, the statistics that the formula promises, and what it leaves alone."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from encoder_lib import LayerNorm, RMSNorm

B, T, D = 2, 5, 8
F64 = torch.float64
PAIRS = [
    pytest.param(LayerNorm, nn.LayerNorm, id="LayerNorm"),
    pytest.param(RMSNorm, nn.RMSNorm, id="RMSNorm"),
]
NORMS = [LayerNorm, RMSNorm]


def random_weights(norm):
    """Weights and biases that are not 1 and 0."""
    for p in norm.parameters():
        nn.init.normal_(p)
    return norm


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
@pytest.mark.parametrize("eps", [1e-12, 1e-5, 0.1])
@pytest.mark.parametrize("size", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("shape", [(T, D), (B, T, D), (B, 3, T, D), (B, 0, D), (1, 1, D)])
def test_equals_torch(ours, theirs, eps, size, shape, device):
    """Values and gradients to 1e-10 in float64, over sizes of the input and of eps."""
    ours, theirs = random_weights(ours(D, eps=eps)).to(device, F64), theirs(D, eps=eps, dtype=F64, device=device)
    theirs.load_state_dict(ours.state_dict())
    x, weights = (torch.randn(2, *shape, dtype=F64) * size).to(device)
    gradients = []
    for norm in (ours, theirs):
        given_x = x.clone().requires_grad_()
        (norm(given_x) * weights).sum().backward()
        gradients.append([given_x.grad, *(p.grad for p in norm.parameters())])
    torch.testing.assert_close(ours(x), theirs(x), atol=1e-10, rtol=1e-10)
    torch.testing.assert_close(gradients[0], gradients[1], atol=1e-10, rtol=1e-9)


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_equals_torch_in_float32(ours, theirs):
    """Single precision agrees to 1e-6."""
    ours, theirs, x = ours(64), theirs(64, eps=ours(64).eps), torch.randn(B, T, 64)
    torch.testing.assert_close(ours(x), theirs(x), atol=1e-6, rtol=0)


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_another_eps_would_show(ours, theirs):
    """The parity above is not blind: 1e-12 in place of 1e-5 is far outside its limit."""
    x = torch.randn(B, T, D, dtype=F64)
    wrong = ours(D, eps=1e-12).double()(x) - theirs(D, eps=1e-5, dtype=F64)(x)
    assert wrong.abs().max() > 1e-6


def test_biased_variance_and_eps_inside_the_root():
    """The two common slips, unbiased deviation and eps outside the root, give other numbers."""
    x = torch.randn(50, 8, dtype=F64)
    ours = LayerNorm(8).double()(x)
    slip = (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-6)
    torch.testing.assert_close(ours, slip * (8 / 7) ** 0.5, atol=1e-3, rtol=0)
    assert (ours - slip).abs().max() > 0.1


def test_without_bias():
    """`bias=False` leaves the parameter out, as nn.LayerNorm does."""
    ours, theirs = LayerNorm(D, bias=False), nn.LayerNorm(D, bias=False)
    x = torch.randn(B, T, D)
    assert [name for name, _ in ours.named_parameters()] == ["weight"]
    torch.testing.assert_close(ours(x), theirs(x), atol=1e-6, rtol=0)


@given(st.integers(2, 40), st.floats(-1e3, 1e3), st.floats(0.1, 1e3), st.integers(0, 2**31))
def test_mean_zero_and_variance_one(width, centre, spread, seed):
    """Whatever comes in, each token leaves with mean 0 and (biased) variance 1; after RMSNorm with mean square 1."""
    x = centre + spread * torch.randn(3, width, dtype=F64, generator=torch.Generator().manual_seed(seed))
    x[:, 0] += spread  # never constant
    y = LayerNorm(width, eps=0.0).double()(x)
    assert y.mean(-1).abs().max() < 1e-9
    assert (y.var(-1, unbiased=False) - 1).abs().max() < 1e-9
    assert (RMSNorm(width, eps=0.0).double()(x).square().mean(-1) - 1).abs().max() < 1e-9


@given(st.floats(-50, 50), st.floats(0.5, 50))
def test_shape_of_the_distribution_stays(shift, factor):
    """Another centre and another spread of the input change nothing: only these two are taken away."""
    x = torch.randn(4, D, dtype=F64).exp()
    norm = LayerNorm(D, eps=0.0).double()
    torch.testing.assert_close(norm(factor * x + shift), norm(x), atol=1e-8, rtol=0)
    rms = RMSNorm(D, eps=0.0).double()
    torch.testing.assert_close(rms(factor * x), rms(x), atol=1e-8, rtol=0)


@pytest.mark.parametrize("norm", NORMS)
def test_each_token_alone(norm):
    """A token's vector is the same, bit by bit, whoever stands beside it in sequence and batch."""
    norm, x = random_weights(norm(D)), torch.randn(B, T, D)
    whole = norm(x)
    x[1, 3:] *= 100
    assert torch.equal(norm(x)[0], whole[0]) and torch.equal(norm(x)[1, :3], whole[1, :3])
    torch.testing.assert_close(norm(x[:, [2]]), norm(x)[:, [2]], atol=0, rtol=0)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("value", [0.0, 3.0, -1e4])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, F64])
def test_constant_row(norm, value, dtype, device):
    """A row of equal numbers has no variance and still gives finite numbers and gradients, in every dtype."""
    norm = norm(D).to(device, dtype)
    x = torch.full((1, D), value, dtype=dtype, device=device, requires_grad=True)
    y = norm(x)
    y.sum().backward()
    assert y.isfinite().all() and x.grad.isfinite().all()
    if isinstance(norm, LayerNorm) or value == 0:
        assert not y.any()


@pytest.mark.parametrize("norm", NORMS)
def test_width_one(norm):
    """A single number is its own mean: LayerNorm leaves zero (the unbiased deviation would be NaN)."""
    y = norm(1)(torch.randn(B, T, 1))
    assert y.isfinite().all() and (norm is RMSNorm or not y.any())


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(("dtype", "limit"), [(torch.float16, 5e-3), (torch.bfloat16, 4e-2)])
def test_half_precision(norm, dtype, limit, device):
    """Statistics are taken in float32: squares that overflow float16 do no harm."""
    norm, x = norm(D).to(device, dtype), (300 * torch.randn(B, T, D)).to(device, dtype)
    expected = norm.double()(x.double())
    y = norm.to(dtype)(x)
    assert y.dtype == dtype and (y.double() - expected).abs().max() < limit
    assert (x.float().square() > torch.finfo(torch.float16).max).any()


@pytest.mark.parametrize("norm", NORMS)
def test_gradcheck(norm, gradcheck):
    """Gradients of input and weights against finite differences, at a constant row and at a row of zeros too."""
    x = torch.randn(4, D, dtype=F64)
    x[1], x[2] = 0.7, 0
    assert gradcheck(random_weights(norm(D, eps=1e-3)).double(), x)


@pytest.mark.parametrize("norm", NORMS)
def test_state_dict_round_trip_and_untouched_input(norm):
    """A second norm loads the first one's weights; the input is not written to."""
    first, second, x = random_weights(norm(D)), norm(D), torch.randn(B, T, D)
    before = x.clone()
    second.load_state_dict(first.state_dict())
    assert torch.equal(first(x), second(x)) and torch.equal(x, before)


@pytest.mark.parametrize("norm", NORMS)
def test_compiles(norm, compiles):
    """As one graph, for any B and T."""
    batch, length = torch.export.Dim("B"), torch.export.Dim("T")
    compiles(norm(D), lambda b, t: (torch.randn(b, t, D),), ({0: batch, 1: length},))
