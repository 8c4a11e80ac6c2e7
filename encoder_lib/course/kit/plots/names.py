"""Names at the ends of curves, in place of a legend."""

import textwrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import ScaledTranslation, blended_transform_factory

from encoder_lib.course.kit.plots import style

MOST, LETTERS = 6, 24  # curves with names at their ends, and letters on a line of a name
NEAR, FAR, WORDS = 0.06, 0.28, 0.34  # inches to the right of the plot: a line that leads to the name, and the name
ROOM = 1.25  # lines of text from one name to the next


class Name(Text):
    """The name of a curve, at its end, with a line that leads to it."""

    def __init__(self, curve: Line2D, leader: Line2D) -> None:
        words = textwrap.fill(str(curve.get_label()).strip(), LETTERS) or " "
        look = style.plain_text(va="center_baseline", color=style.INK, fontsize=style.TICK_SIZE)
        super().__init__(WORDS, 0.5, words, **look)
        self.set_clip_on(False)
        self.curve, self.leader = curve, leader

    def draw(self, renderer: RendererBase) -> None:
        self.leader.draw(renderer)
        super().draw(renderer)

    def height(self) -> float:
        """In inches, with the room around it."""
        return ROOM * style.TICK_SIZE / 72 * (1 + self.get_text().count("\n"))

    def end(self) -> float:
        """How high the curve ends, as a part of the plot's height."""
        x, y = (np.asarray(values, float) for values in self.curve.get_data(orig=False))
        last = np.flatnonzero(np.isfinite(x) & np.isfinite(y))[-1:]
        if not last.size:
            return 0.5
        ax: Any = self.axes
        pixels = ax.transData.transform((x[last[0]], y[last[0]]))
        return float(ax.transAxes.inverted().transform(pixels)[1])


def name_curves(ax: Axes) -> bool:
    """Write the name of each labelled curve at its end, if all have room. Returns whether they have.

    `place_names` moves them to where the curves end in the finished picture.
    """
    curves = [line for line in ax.lines if not str(line.get_label()).startswith("_")]
    names = []
    edge: Any = ax.transAxes
    inches = ax.figure.dpi_scale_trans + ScaledTranslation(1, 0, edge)  # from the right edge
    beside = blended_transform_factory(inches, edge)
    for curve in curves if len(curves) <= MOST else ():
        leader = Line2D([NEAR, FAR], [0.5, 0.5], transform=beside, clip_on=False, color=curve.get_color())
        leader.set(linestyle=curve.get_linestyle(), linewidth=curve.get_linewidth())
        names.append(Name(curve, leader))
    if not names or sum(name.height() for name in names) > 0.8 * style.room_of(ax)[1]:
        return False
    for name in names:
        name.set_transform(beside)
        name.leader.set_figure(ax.figure)
        ax.add_artist(name)
    place_names(ax)
    return True


def place_names(ax: Axes) -> None:
    """Move the names of the curves to their ends, as far apart as their heights need."""
    names = sorted((artist for artist in ax.texts if isinstance(artist, Name)), key=Name.end)
    if not names:
        return
    inches = ax.bbox.height / ax.figure.get_figure(root=True).dpi
    ends = np.clip([name.end() for name in names], 0, 1)
    heights = np.array([name.height() for name in names]) / inches
    for name, end, place in zip(names, ends, apart(ends, heights), strict=True):
        name.set_y(place)
        name.leader.set_ydata([end, place])


def apart(ends: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """Places as near to `ends` (n,), which rise, as the heights (n,) of what stands there allow."""
    offsets = np.cumsum(heights) - heights / 2 - heights[0] / 2  # where all stand if they touch
    wanted, blocks = ends - offsets, []
    for value in wanted:  # those that would overlap form a block at their mean
        blocks.append([value])
        while len(blocks) > 1 and np.mean(blocks[-2]) > np.mean(blocks[-1]):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    return np.concatenate([[np.mean(block)] * len(block) for block in blocks]) + offsets


def place_all_names(figure: Figure) -> None:
    """Lay the figure out, and move the names of its curves to their ends."""
    if any(isinstance(text, Name) for ax in figure.axes for text in ax.texts):
        figure.draw_without_rendering()
        for ax in figure.axes:
            place_names(ax)
