"""Figures as SVG: sharp at every size, and so similar from state to state that most lines are stored only once."""

import base64
import io
import re
from functools import cache

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from PIL import Image

AGAIN = {"svg.fonttype": "none", "svg.hashsalt": ""}  # text stays text, and names are the same in each run
UNDATED = dict.fromkeys(("Creator", "Date", "Format", "Type"))
LETTERS = "system-ui, sans-serif"  # the fonts of the page, because an SVG contains none


def svg_of(figure: Figure, shades: int) -> str:
    """Return the figure as SVG, with its size in pixels, numbers to two decimals, and `shades` values of each colour.

    An image whose pixels are drawn as squares is stored with one pixel for each, and the browser draws the squares.
    """
    squares = [image for ax in figure.axes for image in ax.images if image.get_interpolation() == "nearest"]
    file, (wide, high) = io.StringIO(), figure.get_size_inches() * figure.dpi
    for image in squares:
        image.set_interpolation("none")
    figure.set_layout_engine(None)  # already laid out; otherwise everything would be drawn twice
    with mpl.rc_context(AGAIN):
        figure.savefig(file, format="svg", dpi=figure.dpi, metadata=UNDATED)
    for image in squares:
        image.set_interpolation("nearest")
    text = re.sub(r'base64,\s*([^"]+)', lambda png: f"base64,{_smaller(png[1], shades)}", file.getvalue())
    text = re.sub(r"-?\d+\.\d{3,}", lambda number: f"{round(float(number[0]), 2):g}", text)
    text = re.sub(r"'DejaVu Sans'[^;\"]*", LETTERS, text)
    return re.sub(r'width="[\d.]+pt" height="[\d.]+pt"', f'width="{wide:.0f}" height="{high:.0f}"', text, count=1)


@cache  # most images are part of several states
def _smaller(png: str, shades: int) -> str:
    """Round the colours of an image in base64 to the nearest shades, which include black and white."""
    pixels, file = np.asarray(Image.open(io.BytesIO(base64.b64decode(png))).convert("RGBA")), io.BytesIO()
    step = 255 / (shades - 1)
    few = (np.round(pixels / step) * step).round().astype(np.uint8)
    Image.fromarray(few).save(file, "webp", lossless=True, quality=80, method=4)
    return base64.b64encode(file.getvalue()).decode()
