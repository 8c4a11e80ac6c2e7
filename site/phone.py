"""Pictures as a phone shows them: laid out anew, a phone wide, with the plots of a figure below one another."""

import pickle
import textwrap
from collections.abc import Callable
from itertools import pairwise

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.patches import ConnectionPatch
from matplotlib.transforms import ScaledTranslation

from encoder_lib.course.kit.plots import Picture, show, style
from encoder_lib.course.kit.plots.names import Name

WIDE = 3.7  # inches, or 355 pixels: the text of a page on a phone
LETTERS, ROW_LETTERS = 34, 20  # that fit on a line of a title, and of the name of a row
ROW, LEGEND = 0.4, 1.2  # inches of a row whose name takes two lines, and of what holds a legend alone
USUAL = 0.05  # of a plot's width, to the left and right of what it shows
BETWEEN = 3  # pixels between two names
NARROW = 5.0  # inches of a figure that is shown as it is


def narrowed(figure: Figure) -> None:
    """Lay a figure out for a phone: plots below one another, titles on more lines, names of curves below each plot."""
    plots = [ax for ax in figure.axes if ax.get_subplotspec() is not None]
    heights = [_height(ax) for ax in plots]
    grid = GridSpec(len(plots), 1, figure=figure, height_ratios=heights)
    for place, ax in zip(grid, plots, strict=True):
        ax.set_subplotspec(place)
        ax.set_title(_wrapped(ax.get_title(loc="center")), x=0, **style.plain_text(ha="left"))
        ax.tick_params(labelleft=True)
        _name_below(ax)
        _wrap_rows(ax)
        if ax.margins()[0] > USUAL:  # of plots with numbers beside dots or bars, which are as long as before
            ax.margins(x=2 * ax.margins()[0])
    for line in figure.findobj(ConnectionPatch):
        line.remove()  # between plots that stood side by side; the names of their rows say the same
    if figure.get_suptitle():
        figure.suptitle(_wrapped(figure.get_suptitle()), x=0.008, **style.plain_text(ha="left"))
    for legend in list(figure.legends):
        names = [text.get_text() for text in legend.get_texts()]
        if len("".join(names)) > LETTERS:
            legend.remove()
            figure.legend(legend.legend_handles, names, loc="outside lower left")
    figure.set_layout_engine("constrained")
    figure.set_size_inches(WIDE, sum(heights))
    figure.draw_without_rendering()
    for ax in plots:
        _turn_names(ax)
        _turn_numbers(ax)
        if legend := ax.get_legend():
            legend.set_bbox_to_anchor((0, 0), ax.transAxes + ScaledTranslation(*_corner(ax), figure.dpi_scale_trans))


def _wrapped(title: str) -> str:
    return textwrap.fill(" ".join(title.split()), LETTERS)


def _height(ax: Axes) -> float:
    if ax.get_legend() and not ax.axison:
        return LEGEND
    return max(min(WIDE, style.room_of(ax)[1]), ROW * len(_long_rows(ax)))


def _turn_names(ax: Axes) -> None:
    """Slant the names below a plot where they would run into each other."""
    names = [name for name in ax.get_xticklabels() if name.get_text() and not name.get_rotation()]
    places = [name.get_window_extent() for name in names]
    if any(right.x0 < left.x1 + BETWEEN for left, right in pairwise(places)):
        for name in names:
            name.set(rotation=40, ha="right", rotation_mode="anchor")


def _turn_numbers(ax: Axes) -> None:
    """Turn the numbers in the cells of a heatmap upwards where they are wider than a cell."""
    (left, _), (right, _) = ax.transData.transform([(0, 0), (1, 0)])
    if ax.images and any(number.get_window_extent().width > right - left for number in ax.texts):
        for number in ax.texts:
            number.set_rotation(90)


def _corner(ax: Axes) -> tuple[float, float]:
    """Where the labels of a plot end to the left and below, in inches from its own corner."""
    if not ax.axison:
        return 0, 0
    dpi = ax.figure.get_figure(root=True).dpi
    left, below = ax.yaxis.get_tightbbox(), ax.xaxis.get_tightbbox()
    return (left.x0 - ax.bbox.x0) / dpi, (below.y0 - ax.bbox.y0) / dpi


def _long_rows(ax: Axes) -> list[str]:
    """The names of the rows, if some of them are too long to stand beside a plot of a phone's width."""
    names = [label.get_text() for label in ax.get_yticklabels()]
    return names if max(map(len, names), default=0) > ROW_LETTERS else []


def _wrap_rows(ax: Axes) -> None:
    if names := _long_rows(ax):
        ax.set_yticks(ax.get_yticks(), [textwrap.fill(name, ROW_LETTERS) for name in names], va="center")


def _name_below(ax: Axes) -> None:
    """Write what is named beside the plot below it."""
    names = [text for text in ax.texts if isinstance(text, Name)]
    curves = [name.curve for name in names]
    for name in names:
        name.remove()
    if ax.get_legend():
        curves, _ = ax.get_legend_handles_labels()
    if curves:
        longest = max(len(str(curve.get_label())) for curve in curves)
        ax.legend(handles=curves, loc="upper left", bbox_to_anchor=(0, -0.2), ncols=2 if longest <= LETTERS / 2 else 1)


def catching(keep: Callable[[str, str], None]) -> Callable[..., Picture]:
    """Return a `show` that draws a wide picture for a phone alone, and gives `keep` its alt text and its SVG.

    How a desk shows it is stored in the notebook.
    """

    def showing(picture: Axes | Figure, *, alt: str) -> Picture:
        figure = picture if isinstance(picture, Figure) else picture.figure.get_figure(root=True)
        wide = figure.get_figwidth() > NARROW and any(ax.get_subplotspec() for ax in figure.axes)
        if not wide:
            return show(picture, alt=alt)
        plt.close(figure)
        copy = pickle.loads(pickle.dumps(figure))  # since whoever drew the figure may go on with it
        narrowed(copy)
        shown = show(copy, alt=alt)
        keep(shown.alt, shown.svg)
        return shown

    return showing
