"""The explorers of 02_positional_encoding: the table with its dot products, the clocks, and two rotated words."""

import math

import pytest
import torch

from encoder_lib import sinusoidal_table
from encoder_lib.course import explore


@pytest.mark.parametrize(
    ("length", "d_model", "base", "shift"), [(64, 128, 10_000, 0), (8, 16, 100, 5), (128, 8, 10, 64)]
)
def test_positional_shows_the_table_and_its_dot_products(length, d_model, base, shift):
    explorer = explore.positional(length, d_model, base, shift)
    table, products = explorer._view.panels
    rows = sinusoidal_table(2 * length + shift, d_model, base=base, dtype=torch.float64)[shift:]
    assert torch.allclose(torch.tensor(table.frame(shift)).double(), rows[:length], atol=1e-6)
    for t in (0, 3, length - 1):
        by_hand = rows[t : t + length] @ rows[t] / (d_model / 2)
        assert torch.allclose(torch.tensor(products.frame(shift)[t]).double(), by_hand, atol=1e-6)
    assert abs(products.frame(shift) - products.frame(0)).max() < 1e-6
    assert "change by 0.0000 at most" in explorer.description
    assert f"{2 * math.pi * base ** (1 - 2 / d_model):,.1f} positions" in explorer.description
    assert f"Positions {shift} to {shift + length - 1} " in explorer.description


@pytest.mark.parametrize("shift", [0, 5, 44, 100])
def test_clocks_turn_and_the_angle_between_their_hands_stays(shift):
    """Clock k turns by 100^(−k/4) radians a step; all words say by how much it turns in `shift` steps."""
    explorer = explore.clocks(position=3, shift=shift)
    speeds = [100 ** (-k / 4) for k in range(4)]
    angles = ", ".join(f"{round(math.degrees(shift * speed)) % 360}°" for speed in speeds)
    assert explorer._frames == "position" and {panel.frames for panel in explorer._view.panels} == {32}
    for t in range(32):
        explorer.position = t
        assert explorer.description == f"From position {t} to position {t + shift} the four clocks turn by {angles}."
        for panel, speed in zip(explorer._view.panels, speeds, strict=True):
            expected = [[math.cos(at * speed), math.sin(at * speed)] for at in (t, t + shift)]
            assert abs(panel.frame(t) - expected).max() < 1e-6


@pytest.mark.parametrize(("dog", "man"), [(0, 1), (1, 0), (3, 5), (2, 2)])
def test_two_hands_turn_and_their_angle_stays(dog, man):
    """At 20° and 50°, and 57° further for each position; the angle is the shorter way around."""
    explorer = explore.two_hands(dog=dog, man=man)
    (panel,) = explorer._view.panels
    angle = 30 + 57 * (man - dog)
    angle -= 360 * round(angle / 360)
    for moved in range(panel.frames):
        hands = panel.frame(moved)
        expected = [math.radians(20 + 57 * (dog + moved)), math.radians(50 + 57 * (man + moved))]
        assert abs(hands - [[math.cos(a), math.sin(a)] for a in expected]).max() < 1e-6
        explorer.moved = moved
        assert f"From dog to man the angle is {angle}°" in explorer.description.replace("−", "-")
        assert f"dot product of the two hands is {hands[0] @ hands[1]:.2f}" in explorer.description.replace("−", "-")
        assert f"At position {dog + moved} the hand of dog points to {(20 + 57 * (dog + moved)) % 360}°" in (
            explorer.description
        )
