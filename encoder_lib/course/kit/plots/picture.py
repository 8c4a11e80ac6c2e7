"""A finished picture as the output of a cell, with alt text that survives wherever the notebook is read."""

import base64
import html
import io
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from PIL import Image, ImageChops

from encoder_lib.course.kit.plots import style

COLOUR_ERROR = 16  # of 255: the largest allowed difference between a stored and a drawn colour, in each channel
WHITE = 0.9  # opacity: white on a white page, and on a dark page a light grey that does not glare


@dataclass(frozen=True)
class Picture:
    """A finished picture: its PNG file, and an alt text that says what it shows."""

    png: bytes
    alt: str

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
    """Render a figure, or the figure of an Axes, once, close it, and return it with its alt text as a cell output."""
    figure = picture if isinstance(picture, Figure) else picture.figure.get_figure(root=True)
    file = io.BytesIO()
    _close_gaps(figure)
    figure.savefig(file, format="png", dpi=style.DPI, bbox_inches="tight", pad_inches=style.MARGIN, facecolor="white")
    plt.close(figure)  # otherwise the notebook would draw it a second time
    return Picture(compact(Image.open(file)), style.readable(alt, 2000))


def _close_gaps(figure: Figure) -> None:
    """Move plots of fixed proportions closer together where the layout gave them more room than they need."""
    plots = [ax for ax in figure.axes if ax.get_subplotspec() is not None]
    engine = figure.get_layout_engine()
    fixed = all(ax.get_aspect() != "auto" or ax.get_box_aspect() is not None for ax in plots)
    fixed = fixed and not figure.get_supxlabel() and not figure.get_supylabel()  # they would stay behind
    if fixed and len({ax.get_gridspec() for ax in plots}) == 1 and isinstance(engine, ConstrainedLayoutEngine):
        figure.set_layout_engine("compressed", **engine.get())


def compact(image: Image.Image) -> bytes:
    """Return an image as a small PNG for light and dark pages, with 256 colours if these are close enough to all."""
    image = image.convert("RGB")
    few = image.quantize(256, method=Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE)
    near = np.asarray(ImageChops.difference(image, few.convert("RGB"))).max() <= COLOUR_ERROR
    colours = _to_rgba(np.asarray(few.getpalette()).reshape(-1, 3) if near else np.asarray(image))
    file = io.BytesIO()
    if near:
        few.putpalette(colours[:, :3].tobytes())
        few.save(file, "png", optimize=True, transparency=colours[:, 3].tobytes())
    else:
        Image.fromarray(colours).save(file, "png", optimize=True)
    return file.getvalue()


def _to_rgba(colours: np.ndarray) -> np.ndarray:
    """Add opacity to colours (…, 3) -> (…, 4), from 0 to 255: the same on white; paler is more transparent."""
    through = (1 - WHITE) / 255 * colours.min(axis=-1, keepdims=True)
    opaque = (colours - 255 * through) / (1 - through)
    return np.concatenate([opaque, 255 * (1 - through)], axis=-1).round().astype(np.uint8)
