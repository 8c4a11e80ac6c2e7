"""The explorers of 05_feed_forward: the networks that were grown, and a hidden layer that folds the plane."""

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


def separable(points, wanted):
    """Whether a line separates four points, found by trying the lines along and close to every two of them."""
    wanted = np.array(wanted, dtype=bool)
    for angle in np.linspace(0, np.pi, 3601):
        along = points @ [np.cos(angle), np.sin(angle)]
        if along[wanted].min() > along[~wanted].max() + 1e-4 or along[wanted].max() < along[~wanted].min() - 1e-4:
            return True
    return False


def test_fold_passes_the_cards_through_a_hidden_layer():
    """Inputs, pre-activations and activations at stages 0, 1 and 2; the words say whether a line separates them."""
    explorer = explore.fold(stage=0)
    (panel,) = explorer._view.panels
    inputs = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    s = inputs @ np.array([[1.5, -1.0], [-1.0, 1.5]])
    for stage, expected in ((0, inputs), (1, s), (2, np.maximum(s, 0))):
        np.testing.assert_allclose(panel.frame(20 * stage)[:4], expected, atol=1e-6)
    assert panel.names[:4] == ["a → b", "a → B", "A → b", "A → B"]
    assert panel.colours[:4] == [0, 1, 1, 0]  # as the exclusive or
    for n in range(panel.frames):
        explorer.stage = n / 20
        points = panel.frame(n)
        (x, y), (other_x, other_y) = points[panel.paths[-1][0]]
        beyond = (points[:4] - [x, y]) @ [y - other_y, other_x - x] > 0
        cuts = beyond.tolist() in ([False, True, True, False], [True, False, False, True])
        assert cuts == ("The dashed line separates" in explorer.description), n
        assert separable(points[:4], [0, 1, 1, 0]) == ("No line" not in explorer.description), n
        assert explorer.description.startswith(f"Stage {n // 20 if n % 20 == 0 else f'{n / 20:.2f}'}: ")


def test_the_grid_of_fold_stays_straight_up_to_the_pre_activations():
    """And has corners after ReLU."""
    (panel,) = explore.fold()._view.panels
    bends = []
    for n in (0, 10, 20, 40):
        lines = [panel.frame(n)[path] for path, look in panel.paths if look == "thin"]
        bends.append(max(np.abs(np.diff(line, n=2, axis=0)).max() for line in lines))
    assert max(bends[:3]) < 1e-6 < 0.01 < bends[3] and len(lines) == 10
