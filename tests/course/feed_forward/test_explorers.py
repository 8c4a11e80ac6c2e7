"""The explorer of 05_feed_forward shows the networks that were grown."""

import re

import numpy as np
import pytest
import torch
from fits import kinks

from encoder_lib.course import explore
from encoder_lib.course.feed_forward.curves import CURVES, breakpoints, grid, orthogonal_least_squares


@pytest.mark.parametrize(
    ("width", "unit", "activation", "curve"),
    [(4, 1, "ReLU", "wave"), (32, 32, "GELU", "steps"), (1, 1, "GELU", "zigzag"), (7, 3, "ReLU", "zigzag")],
)
def test_the_picture_holds_the_network(width, unit, activation, curve):
    """Target, fit, corners and units on the Axes equal an independent computation."""
    explorer = explore.fit_curve(width=1, unit=1, activation="ReLU", curve="wave")
    explorer.set(width=width, unit=unit, activation=activation, curve=curve)
    left, right = explorer._figure.axes
    network = orthogonal_least_squares(curve, width, activation=activation.lower())[-1]
    x = grid()
    np.testing.assert_array_equal(left.lines[0].get_ydata(), CURVES[curve](x)[:, 0])
    np.testing.assert_allclose(left.lines[1].get_ydata(), network(x)[:, 0], atol=1e-10)
    assert set(left.lines[2].get_xdata()) == {b for b in breakpoints(network).tolist() if -1 < b < 1}
    hidden = {"ReLU": torch.relu, "GELU": torch.nn.functional.gelu}[activation](network.linear1(x))
    parts = (hidden * network.linear2.weight).numpy()
    np.testing.assert_allclose(right.lines[0].get_ydata(), parts[:, unit - 1], atol=1e-10)
    drawn = [path.vertices[:, 1] for path in right.collections[0].get_paths()]
    np.testing.assert_allclose(np.array(drawn).reshape(-1, len(x)).T, np.delete(parts, unit - 1, axis=1), atol=1e-10)
    assert right.get_ylim()[1] >= abs(parts).max()


def test_description_gives_error_corners_and_unit():
    explorer = explore.fit_curve(width=7, unit=3, curve="zigzag")
    network = orthogonal_least_squares("zigzag", 7)[-1]
    missed = (network(grid()) - CURVES["zigzag"](grid())).abs()
    root = missed.square().mean().sqrt()
    assert f"by {root:.3f} (root mean square) and by {missed.max():.2f} at most" in explorer.description
    assert "It has 7 corners; unit 3 has its corner at" in explorer.description
    assert f"x = {breakpoints(network)[2]:.2f}" in explorer.description
    explorer.activation = "GELU"
    assert "It has no corners" in explorer.description
    explorer.set(width=1, activation="ReLU")
    assert explorer.description.startswith("1 ReLU unit:") and "It has 1 corner;" in explorer.description


def test_a_unit_beyond_the_last_is_said_to_be_missing():
    explorer = explore.fit_curve(width=4, unit=4)
    last = explorer._picture
    explorer.unit = 20
    assert "there is no unit 20; the last one, unit 4," in explorer.description and explorer._picture == last
    explorer.width = 20
    assert "there is no" not in explorer.description and re.search(r"; unit 20 has its", explorer.description)


def test_units_that_add_no_corner_are_not_counted_as_one():
    """From 14 units on the zigzag is met exactly: six corners are all it has."""
    explorer = explore.fit_curve(width=14, curve="zigzag")
    assert "It has 6 corners" in explorer.description and len(kinks(orthogonal_least_squares("zigzag", 14)[-1])) == 6
