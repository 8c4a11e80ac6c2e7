"""The explorer of 03_layer_norm: its numbers, compared with torch's own norms and torch's statistics."""

import pytest
import torch
from torch import nn

from encoder_lib.course import explore
from encoder_lib.course.layer_norm import explorers as norms

F64 = torch.float64


def panels(explorer):
    """The two Axes of the figure: before and after."""
    return explorer._figure.axes


def ticks(ax):
    """The numbers drawn as black ticks: the token's components."""
    return torch.tensor(ax.lines[0].get_xdata(), dtype=F64)


def by_torch(x, method, eps):
    """A token (D,) after torch's own norm."""
    layer = {"layer norm": nn.LayerNorm, "RMS norm": nn.RMSNorm}[method]
    return layer(16, eps=eps, dtype=F64)(x).detach()


@pytest.mark.parametrize("method", norms.METHODS)
@pytest.mark.parametrize("eps", [1e-12, 1.0])
@pytest.mark.parametrize(("mean", "spread", "outlier"), [(2.0, 1.5, 0.0), (-4.0, 1e-4, 5.0)])
def test_the_ticks_are_the_numbers_before_and_after(method, eps, mean, spread, outlier):
    explorer = explore.normalise(method, mean, spread, outlier, 1.5, -0.5, eps)
    before, after = panels(explorer)
    x = mean + spread * norms._shape()
    x[8] += outlier
    torch.testing.assert_close(ticks(before), x, atol=1e-12, rtol=0)
    torch.testing.assert_close(ticks(after), by_torch(x, method, eps) * 1.5 - 0.5, atol=1e-9, rtol=0)


def test_every_number_is_counted_wherever_the_controls_put_it():
    for method in norms.METHODS:
        for mean in (-5, 5):
            explorer = explore.normalise(method, mean, 1.5, 5.0, 2.0, 2.0 if mean > 0 else -2.0, 1e-12)
            for ax in panels(explorer):
                assert ax.patches[0].get_data().values.sum() == 16
                assert ax.get_xlim() == (-norms.REACH, norms.REACH)


def test_statistics_are_in_picture_and_description():
    explorer = explore.normalise(mean=2, spread=1.5, outlier=4)
    x = ticks(panels(explorer)[0]).numpy()
    texts = [ax.texts[0].get_text().splitlines() for ax in panels(explorer)]
    before, after = ([float(line.split()[-1]) for line in lines] for lines in texts)
    assert before == pytest.approx([x.mean(), x.std()], abs=5e-3)
    assert after == pytest.approx([0, 1], abs=5e-3)
    assert "from 2.25 to 0.00" in explorer.description


def test_a_gain_of_zero_makes_all_numbers_equal():
    explorer = explore.normalise(gain=0, bias=1)
    assert "the standard deviation from 0.5 to 0." in explorer.description
    assert (ticks(panels(explorer)[1]) == 1).all()
