"""Colour maps: the course's own in both themes, and those of matplotlib."""

import numpy as np
import pytest
from matplotlib import colormaps
from matplotlib.colors import to_hex

from encoder_lib.course.kit.plots.colour_maps import OURS, colour_map, is_diverging, light_to_dark

EVERY = np.arange(256)


@pytest.mark.parametrize(("name", "same"), [("viridis", True), ("coolwarm", False), ("coolwarm_r", False)])
def test_diverging_maps_of_matplotlib_end_before_their_darkest_colours(name, same):
    ours, theirs = colour_map(name), colormaps[name]
    for end, place in ((0.0, 0.06), (1.0, 0.94)):
        assert ours(end) == pytest.approx(theirs(end if same else place), abs=0.01)
    assert (colour_map(name, dark=True)(EVERY) == ours(EVERY)).all()


def test_the_middle_of_diverging_maps_is_zero():
    names = ("diverging", "coolwarm_r", "sequential", "viridis")
    assert [is_diverging(name) for name in names] == [True, True, False, False]


@pytest.mark.parametrize("name", OURS)
def test_a_colour_of_the_light_theme_leads_to_that_of_the_dark(name):
    """Within one step of 256, where two neighbours are equal."""
    light, dark = (colour_map(name, dark=theme) for theme in (False, True))
    partners = [light_to_dark(name)[to_hex(colour)] for colour in light(EVERY)]
    near = [{to_hex(dark(min(255, max(0, i + step)))) for step in (-1, 0, 1)} for i in range(256)]
    assert [i for i, colour in enumerate(partners) if colour not in near[i]] == []
    assert len(set(partners)) > 230


def test_a_map_that_does_not_exist_is_named():
    with pytest.raises(KeyError, match="no such map"):
        colour_map("no such map")
