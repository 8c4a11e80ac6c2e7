"""The explorer of 03_layer_norm: its bars, compared with torch's own norms and torch's statistics."""

import pytest
import torch
from torch import nn

from encoder_lib.course import explore
from encoder_lib.course.layer_norm import explorers as norms

F64 = torch.float64
TOKEN = torch.tensor(norms.TOKEN, dtype=F64)


def bars(explorer):
    """The numbers of all steps (5, D), and the outlines (D,), as they are drawn."""
    (panel,) = explorer._view.panels
    points = torch.from_numpy(panel.values[..., 1]).double()
    return points[:, :6], points[0, 6:12]


def by_torch(x, method, eps):
    """A token (D,) after torch's own norm."""
    layer = {"layer norm": nn.LayerNorm, "RMS norm": nn.RMSNorm}[method]
    return layer(6, eps=eps, dtype=F64)(x).detach()


@pytest.mark.parametrize("method", norms.METHODS)
@pytest.mark.parametrize("eps", [1e-12, 1.0])
@pytest.mark.parametrize(("third", "factor", "add"), [(9.0, 1.0, 0.0), (0.5, 1e-4, 5.0), (10.0, 2.0, -5.0)])
def test_bars_are_those_of_torchs_own_norms(method, eps, third, factor, add):
    steps, outlines = bars(explore.normalise(method, 4, third, add, factor, 1.5, -0.5, eps))
    x = TOKEN.clone()
    x[2] = third
    x = factor * x + add
    normalised = by_torch(x, method, eps)
    gain, bias = torch.tensor([1, 1, 1.5, 1, 1, 1]), torch.tensor([0, 0, -0.5, 0, 0, 0])
    expected = torch.stack(
        [x, x - x.mean() if method == "layer norm" else x, normalised, gain * normalised, gain * normalised + bias]
    )
    torch.testing.assert_close(steps, expected, atol=2e-6, rtol=1e-6)
    torch.testing.assert_close(outlines, x, atol=2e-6, rtol=1e-6)


def test_the_line_is_the_mean_and_the_band_one_deviation():
    (panel,) = explore.normalise(add=3.0)._view.panels
    numbers = torch.from_numpy(panel.values[:, :6, 1])
    torch.testing.assert_close(torch.from_numpy(panel.values[:, -1, 0]), numbers.mean(dim=1))
    torch.testing.assert_close(torch.from_numpy(panel.values[:, -1, 1]), numbers.std(dim=1, correction=0))


def test_the_words_name_the_step_the_numbers_and_their_moments():
    explorer = explore.normalise(step=2, add=1.0)
    assert explorer.description == (
        "Step 2, divided by √(σ² + ε), so that their size no longer counts: "
        "the token 4, 6, 10, 6, 4, 6 has become −1.00, 0.00, 2.00, 0.00, −1.00, 0.00. "
        "Mean 0.00, standard deviation 1."
    )
    explorer.step = 0
    assert "the six numbers are 4, 6, 10, 6, 4, 6. Mean 6.00, standard deviation 2." in explorer.description
