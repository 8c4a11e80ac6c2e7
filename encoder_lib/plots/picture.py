"""A finished picture as the output of a cell, with alt text that survives wherever the notebook is read."""

import base64
import html
import io
from dataclasses import dataclass

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from PIL import Image

from encoder_lib import expect
from encoder_lib.plots.palette import indexed
from encoder_lib.plots.style import DPI, MARGIN, readable


@dataclass(frozen=True)
class Picture:
    """A finished picture: its PNG file and the alt text that says in words what it shows."""

    png: bytes
    alt: str

    def __post_init__(self) -> None:
        expect.kind("png", self.png, bytes, "the bytes of a PNG file")
        expect.text("alt", self.alt)

    def __repr__(self) -> str:
        return f"<picture: {self.alt}>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """Give a notebook the picture as PNG, as HTML with its alt text, and as text."""
        data = base64.b64encode(self.png).decode()
        alt = html.escape(self.alt, quote=True)
        return {
            "image/png": data,
            "text/html": f'<img alt="{alt}" src="data:image/png;base64,{data}" style="max-width:100%">',
            "text/plain": repr(self),
        }


def show(picture: Axes | Figure, *, alt: str) -> Picture:
    """Render a figure, or the figure of an Axes, once, close it, and return it with its alt text as a cell's output.

    Raises ValueError for an empty alt text, TypeError for anything that is neither an Axes nor a Figure.
    """
    kind = type(picture).__name__
    if not isinstance(picture, Axes | Figure):
        raise TypeError(f"picture: expected an Axes or a Figure, got {kind}: pass what plot_heatmap returned")
    expect.text("alt", alt)
    if not alt.strip():
        raise ValueError(
            "alt: expected an alt text, got an empty one: say what the picture shows to someone who cannot see it"
        )
    figure = picture if isinstance(picture, Figure) else picture.figure.get_figure(root=True)
    file = io.BytesIO()
    _close_gaps(figure)
    figure.savefig(file, format="png", dpi=DPI, bbox_inches="tight", pad_inches=MARGIN, facecolor="white")
    plt.close(figure)  # otherwise the notebook would draw it a second time
    return Picture(compact(Image.open(file)), readable(alt, 2000))


def _close_gaps(figure: Figure) -> None:
    """Move plots of fixed proportions together, where the layout left them the room that they do not need."""
    plots = [ax for ax in figure.axes if ax.get_subplotspec() is not None]
    engine = figure.get_layout_engine()
    fixed = all(ax.get_aspect() != "auto" or ax.get_box_aspect() is not None for ax in plots)
    fixed = fixed and not figure.get_supxlabel() and not figure.get_supylabel()  # they would be left behind
    if fixed and len({ax.get_gridspec() for ax in plots}) == 1 and isinstance(engine, ConstrainedLayoutEngine):
        figure.set_layout_engine("compressed", **engine.get())


def compact(image: Image.Image) -> bytes:
    """Return an image as a small PNG: of 256 colours where these are near enough to its own, else of all of them.

    No channel of any pixel is off by more than 8 of 255. Raises TypeError for what is no image.
    """
    expect.kind("image", image, Image.Image, "an image of Pillow's")
    file = io.BytesIO()
    indexed(image.convert("RGB")).save(file, "png", optimize=True)
    return file.getvalue()
