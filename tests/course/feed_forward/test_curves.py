"""Networks grown to fit curves, one unit at a time."""

import itertools

import pytest
import torch
from fits import kinks, rmse
from torch import nn

from encoder_lib import FeedForward
from encoder_lib.course.feed_forward.curves import (
    CURVES,
    MAX_UNITS,
    breakpoints,
    decompose,
    grid,
    orthogonal_least_squares,
    train,
    unit_contributions,
)

PAIRS = [(curve, activation) for curve in CURVES for activation in ("relu", "gelu")]


@pytest.mark.parametrize(("curve", "activation"), PAIRS)
def test_more_units_fit_better(curve, activation):
    """From 1 unit to 2, 4 … 32 the error falls, and in all to less than a fifth."""
    networks = orthogonal_least_squares(curve, MAX_UNITS, activation=activation)
    errors = [rmse(network, curve) for network in networks]
    assert [network.linear1.out_features for network in networks] == list(range(1, MAX_UNITS + 1))
    assert all(errors[2 * n - 1] < errors[n - 1] for n in (1, 2, 4, 8)) and errors[-1] < errors[0] / 5
    assert all(after < before + 1e-3 for before, after in itertools.pairwise(errors))


@pytest.mark.parametrize(("curve", "activation"), PAIRS)
def test_the_last_layer_is_the_best_there_is(curve, activation):
    """No other output weights bring the error down by more than the ridge costs."""
    network = orthogonal_least_squares(curve, 8, activation=activation)[-1]
    hidden = unit_contributions(network, grid()) / network.linear2.weight[0]
    columns = torch.cat([hidden, torch.ones(len(hidden), 1, dtype=torch.float64)], dim=1)
    best = torch.linalg.lstsq(columns, CURVES[curve](grid())).solution
    missed = (columns @ best - CURVES[curve](grid())).square().mean().sqrt().item()
    assert missed - 1e-9 <= rmse(network, curve) < missed + 2e-3


@pytest.mark.parametrize(("curve", "activation"), PAIRS)
def test_a_fit_is_the_sum_of_its_units(curve, activation, nothing_drawn):
    network = orthogonal_least_squares(curve, 12, activation=activation)[-1]
    total = unit_contributions(network, grid()).sum(dim=1, keepdim=True) + network.linear2.bias
    torch.testing.assert_close(total, network(grid()), atol=1e-10, rtol=0)


@pytest.mark.parametrize("curve", CURVES)
def test_relu_network_is_straight_between_its_corners(curve):
    """Every corner of the fit is the corner of a unit, and every unit that counts has one."""
    network = orthogonal_least_squares(curve, 6)[-1]
    found, where = kinks(network), breakpoints(network)
    assert len(found) == len({round(b, 6) for b in where.tolist() if abs(b) < 1}) > 4
    assert (found[:, None] - where).abs().amin(dim=1).max() < 2e-4


def test_training_lowers_the_error_in_place():
    torch.manual_seed(0)
    network = FeedForward(1, 32)
    before = rmse(network, "wave")
    assert train(network, grid(), CURVES["wave"](grid()), steps=200) is network
    assert rmse(network, "wave") < before / 2
    straight = nn.Sequential(nn.Linear(1, 8), nn.Linear(8, 1))
    assert rmse(train(straight, grid(), CURVES["wave"](grid()), steps=300), "wave") > 0.5


def test_the_anatomy_is_what_the_picture_draws():
    network = orthogonal_least_squares("steps", 5)[-1]
    drawn = decompose(network, "steps")
    total = drawn["units"].sum(dim=1) + drawn["constant"]
    torch.testing.assert_close(total, network(drawn["x"][:, None])[:, 0], atol=1e-10, rtol=0)
    assert torch.equal(drawn["target"], CURVES["steps"](grid())[:, 0]) and len(drawn["breakpoints"]) == 5


def test_training_without_gradients_says_how_to_switch_them_on():
    x = torch.ones(3, 1)
    with torch.no_grad(), pytest.raises(RuntimeError, match=r"off in this kernel: try torch.set_grad_enabled"):
        train(nn.Linear(1, 1), x, x, steps=1)
