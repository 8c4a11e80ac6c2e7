"""An image keeps its colours: a palette where one is near enough, and all of them where none is."""

import numpy as np
import pytest
from matplotlib import colormaps
from PIL import Image

from encoder_lib.plots.palette import COLOUR_ERROR, indexed


def image(pixels):
    """An RGB image of numbers (H, W, 3) from 0 to 255."""
    return Image.fromarray(np.asarray(pixels, dtype=np.uint8))


def error(one, other):
    """The largest difference in any channel of any pixel."""
    return np.abs(np.asarray(one.convert("RGB"), int) - np.asarray(other.convert("RGB"), int)).max()


def maps(*names):
    """Colour maps as stripes on white."""
    stripes = [np.tile(255 * colormaps[name](np.arange(256))[None, :, :3], (8, 1, 1)) for name in names]
    return image(np.concatenate([*stripes, np.full((20, 256, 3), 255)]))


def inked():
    """Cells of 40 colours under white and black ink that fades, as letters do: thousands of colours."""
    cells = 255 * colormaps["coolwarm"](np.linspace(0, 1, 40))[:, None, None, :3]
    fade = np.linspace(0, 1, 60)[:, None]
    return image(np.concatenate([cells * (1 - fade) + ink * fade for ink in (0, 255)], axis=1).reshape(80, -1, 3))


@pytest.mark.parametrize("drawn", [maps("viridis"), maps("viridis", "coolwarm"), maps("cividis", "viridis")])
def test_a_palette_is_never_far_from_what_was_drawn(drawn):
    stored = indexed(drawn)
    assert stored.mode == "P" and error(stored, drawn) <= COLOUR_ERROR


def test_ink_on_many_colours_is_near_in_whatever_way_it_is_kept():
    assert error(indexed(inked()), inked()) <= COLOUR_ERROR


def test_noise_keeps_all_of_its_colours():
    drawn = image(np.random.default_rng(0).integers(0, 256, (90, 90, 3)))
    assert indexed(drawn) is drawn


@pytest.mark.parametrize("colours", [1, 2, 256])
def test_few_colours_stay_what_they_are_or_near(colours):
    drawn = image(np.random.default_rng(1).integers(0, 256, (colours, 1, 3)))
    assert error(indexed(drawn), drawn) <= COLOUR_ERROR


def test_the_ground_stays_white():
    stored = indexed(inked_on_white())
    assert np.asarray(stored.convert("RGB"))[-1, -1].tolist() == [255, 255, 255]


def inked_on_white():
    """The same cells above a white ground that is the commonest colour."""
    cells = np.asarray(inked())
    return image(np.concatenate([cells, np.full((200, cells.shape[1], 3), 255)]))
