"""Values take the colours that matplotlib gives them, and text on them has contrast."""

import random
from math import inf, nan, nextafter

import matplotlib as mpl
import numpy as np
import pytest

from encoder_lib.course.kit.plots.colour_maps import colour_map
from encoder_lib.course.kit.widget.views import colour_table

pytestmark = pytest.mark.browser
DRAW = random.Random(0)
LIMITS = [(0.0, 1.0), (-0.3, 0.7), (0.1, 0.1 + 1e-9), (-1e30, 1e30), (1e-30, 3e-30), (3.0, 5.0)]
PIXELS = """({ colour }, [table, values, limits, dark]) => {
  const palette = colour.toPalette(bytes(table), dark);
  const pixels = colour.toPixels({ values: new Float32Array(values), limits, palette });
  return [...new Uint8Array(pixels.buffer)];
}"""


def drawn(modules, cmap, values, limits, dark=False):
    """Red, green, blue and opacity that the front end gives to each value."""
    pixels = modules.run(PIXELS, [list(colour_table(cmap)), values, limits, dark])
    return np.array(pixels, dtype=np.uint8).reshape(-1, 4)


def edges(low, high):
    """Values on both sides of every border between two of 256 colours, what lies beyond the limits, and any between."""
    borders = [low + (high - low) * i / 256 for i in range(257)]
    near = [nextafter(border, end) for border in borders for end in (-inf, inf)]
    return borders + near + [low - 1, high + 1, -1e38, 1e38] + [DRAW.uniform(low, high) for _ in range(300)]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize(("cmap", "limits"), [("sequential", (0.0, 1.0)), ("diverging", (-3.0, 3.0))])
def test_a_value_takes_the_colour_that_it_has_in_a_plot(modules, cmap, limits, dark):
    """At the limits, beyond them, and on both sides of every border between two colours; as float32, as they travel."""
    values = np.array(edges(*limits), dtype=np.float32).astype(np.float64)
    expected = colour_map(cmap, dark=dark)(mpl.colors.Normalize(*limits, clip=True)(values), bytes=True)
    np.testing.assert_array_equal(drawn(modules, cmap, values.tolist(), limits, dark), expected)


@pytest.mark.parametrize("limits", LIMITS)
def test_shades_match_matplotlib_in_double_precision(modules, limits):
    """No float lies between the values that are tried here."""
    values = edges(*limits)
    grey = mpl.colors.ListedColormap([(i / 255, 0, 0) for i in range(256)])
    expected = grey(mpl.colors.Normalize(*limits, clip=True)(np.array(values)), bytes=True)[:, 0]
    shades = modules.call("colour.js", "shadeOf", [[value, *limits] for value in values])
    assert shades == expected.tolist()


def test_non_finite_values_have_no_colour(modules):
    """It is left transparent, for stripes; every other value is opaque."""
    pixels = drawn(modules, "sequential", [nan, inf, -inf, 0.0, 1.0, -1e38], (0.0, 1.0))
    assert pixels[:3].tolist() == [[0, 0, 0, 0]] * 3
    assert pixels[3:, 3].tolist() == [255] * 3


def test_a_colour_is_that_of_the_pixel(modules):
    """What colours a word is what colours its cell."""
    values = np.linspace(-0.2, 1.2, 200, dtype=np.float32).tolist()
    script = """({ colour }, [table, values, limits]) => {
      const palette = colour.toPalette(bytes(table), false);
      return values.map((value) => colour.colourOf(value, { limits, palette }));
    }"""
    colours = modules.run(script, [list(colour_table("sequential")), values, [0.0, 1.0]])
    assert colours == drawn(modules, "sequential", values, (0.0, 1.0))[:, :3].tolist()


def luminance(colours):
    """Relative luminance (WCAG 2.2) of colours from 0 to 255, (N, 3)."""
    shares = np.asarray(colours) / 255
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    return linear @ (0.2126, 0.7152, 0.0722)


def test_ink_has_contrast_on_every_colour(modules):
    """At least 4.5 to 1, on every colour of the maps and on any other; and it is the better of black and white."""
    tables = [colour_table(cmap) for cmap in ("sequential", "diverging", "viridis")]
    colours = [list(table[i : i + 3]) for table in tables for i in range(0, len(table), 3)]
    colours += [[DRAW.randrange(256) for _ in range(3)] for _ in range(2000)]
    colours += [[v, v, v] for v in range(256)]
    inks = modules.call("colour.js", "inkOn", [[colour] for colour in colours])
    ground = luminance(colours)
    contrast = {"#000000": (ground + 0.05) / 0.05, "#ffffff": 1.05 / (ground + 0.05)}
    ratios = [contrast[ink][i] for i, ink in enumerate(inks)]
    assert min(ratios) >= 4.5
    assert np.allclose(ratios, np.maximum(*contrast.values()), rtol=0.01)
    assert set(inks) == {"#000000", "#ffffff"}
