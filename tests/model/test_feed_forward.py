"""The feed-forward network: torch's own layers, one after the other."""

import pytest
import torch
from torch import nn

from encoder_lib import FeedForward

B, T, D, F = 2, 5, 4, 7
F64 = torch.float64
ACTIVATIONS = {"relu": nn.ReLU, "gelu": nn.GELU}


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(T, D), (B, 3, T, D), (B, 0, D)])
def test_equals_torch(activation, bias, shape, device):
    """Two linear layers and an activation function, values and gradients. GELU is exact. The input is not changed."""
    ours = FeedForward(D, F, activation=activation, bias=bias).to(device, F64)
    theirs = nn.Sequential(nn.Linear(D, F, bias=bias), ACTIVATIONS[activation](), nn.Linear(F, D, bias=bias))
    theirs.to(device, F64)
    theirs[0].load_state_dict(ours.linear1.state_dict())
    theirs[2].load_state_dict(ours.linear2.state_dict())
    x = torch.randn(shape, dtype=F64).to(device).requires_grad_()
    before, results = x.detach().clone(), []
    for network in (ours, theirs):
        y = network(x)
        results.append((y, *torch.autograd.grad(y.square().sum(), [x, *network.parameters()])))
    torch.testing.assert_close(*results, atol=1e-10, rtol=0)
    assert torch.equal(x, before)


def test_dropout_falls_on_the_hidden_numbers():
    """Averaged over many draws dropout changes nothing; what is dropped is hidden, so that no output is zero."""
    network, x = FeedForward(D, F, dropout=0.5).double(), torch.randn(1, T, D, dtype=F64)
    whole = network.eval()(x)
    dropped = network.train()(x.expand(4000, T, D))
    assert (dropped[0] - dropped[1]).abs().max() > 0.01
    torch.testing.assert_close(dropped.mean(0, keepdim=True), whole, atol=0.04, rtol=0)
    all_hidden = FeedForward(D, F, dropout=1.0)
    assert torch.equal(all_hidden(torch.randn(B, T, D)), all_hidden.linear2.bias.expand(B, T, D))


@pytest.mark.parametrize(("dtype", "limit"), [(torch.float16, 1e-2), (torch.bfloat16, 5e-2)])
def test_precision(dtype, limit, device):
    network, x = FeedForward(D, F).to(device, dtype), torch.randn(B, T, D).to(device, dtype)
    y = network(x)
    assert y.dtype == dtype and (y - network.double()(x.double())).abs().max() < limit


@pytest.mark.long
def test_compiles(compiles):
    batch, length = torch.export.Dim("B"), torch.export.Dim("T")
    compiles(FeedForward(D, F, activation="gelu"), lambda b, t: (torch.randn(b, t, D),), ({0: batch, 1: length},))
