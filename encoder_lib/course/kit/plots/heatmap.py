"""A matrix as colours."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import ceil
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from encoder_lib.course.kit.plots import style
from encoder_lib.course.kit.plots.colour_maps import SEQUENTIAL, colour_map
from encoder_lib.course.kit.plots.inputs import as_array, as_labels, colour_limits

LINE = 0.2  # inches between two slanted labels, at least
MOST_NUMBERS = 60  # with more cells, no numbers are written into them
FEW = 16  # rows or columns; fewer have lines between them, which would be a grid in front of more
SHADES = 64  # of a colour bar
APART = 0.07  # inches; nor have cells that are less wide or less high lines between them


@style.close_on_error
def plot_heatmap(
    values: ArrayLike,
    *,
    title: str = "",
    x_label: str = "",
    y_label: str = "",
    x_ticks: Sequence | None = None,
    y_ticks: Sequence | None = None,
    limits: tuple[float, float] | None = None,
    cmap: str = SEQUENTIAL,
    colorbar: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw a matrix as colours: row 0 at the top, NaN and infinity in grey stripes.

    The cells of a matrix with as many rows as columns are squares. A few cells have lines between them, so that they
    can be counted even if all numbers are equal. If there are at most 60 cells and their numbers fit, these are written
    into the cells, and there is no colour bar.

    values: tensor or array (R, C). x_ticks: one label for each of the C columns; y_ticks: one for each of the R rows.
    limits: the values at the two ends of the colours; without it they fit the data (see `colour_limits`).
    cmap: "sequential" or, for numbers above and below zero, "diverging", which follow the theme of the page; or one of
    matplotlib's.
    Raises ValueError for another shape, or labels that do not match it; TypeError for anything that is not numbers.
    """
    array = as_array(values)  # (R, C)
    low, high = colour_limits(array, limits, cmap)
    labels = {"x": as_labels(x_ticks, array.shape[1], "x_ticks"), "y": as_labels(y_ticks, array.shape[0], "y_ticks")}
    ax = style.axes_or_new(ax)

    colours = colour_map(cmap).with_extremes(bad=(0, 0, 0, 0))  # the background shows through
    if not np.isfinite(array).all():
        ax.patch.set(facecolor=style.NOT_FINITE, hatch="////", hatch_linewidth=1.5, edgecolor="0.8", linewidth=0)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    image = ax.imshow(
        np.ma.masked_invalid(array),
        cmap=colours,
        vmin=low,
        vmax=high,
        interpolation="none",
        aspect="equal" if array.shape[0] == array.shape[1] else "auto",
    )
    cell = _cell_size(ax, array.shape, max(map(len, labels["y"] or ["00"])))
    for axis, names in labels.items():
        if names is not None:
            step = ceil(len(names) / 24)  # at most 24 labels fit
            if step > 1:  # rows 0, 5, 10 …
                step = next(whole for whole in (2, 5, 10, 20, 50, 100, ceil(len(names) / 10)) if whole >= step)
            positions = range(0, len(names), step)
            shown = [style.drawable(names[place], style.TICK) for place in positions]
            room, slant = step * cell[0], 0
            if axis == "x" and 0.065 * max(map(len, shown)) + 0.03 > room:
                slant = 45 if room > LINE else 90
            ax.set(**{f"{axis}ticks": positions})
            look = style.plain_text(rotation=slant, rotation_mode="anchor")
            look["ha"] = "right" if slant or axis == "y" else "center"
            if slant == 90:
                look["va"] = "center"
            getattr(ax, f"set_{axis}ticklabels")(shown, **look)
        else:
            whole = MaxNLocator("auto", steps=(1, 2, 5, 10), integer=True)  # there is no row 1.5
            getattr(ax, f"{axis}axis").set_major_locator(whole)
    if max(array.shape) < FEW and min(cell) >= APART:
        _draw_gaps(ax, array.shape)
    written = _write_numbers(ax, array, image, cell)
    if colorbar and not written:
        _add_bar(image, ax)
    return style.label_axes(ax, title, x_label, y_label)


@style.close_on_error
def plot_heatmaps(
    maps: Mapping[str, ArrayLike],
    *,
    limits: tuple[float, float] | None = None,
    cmap: str = SEQUENTIAL,
    y_label: str = "",
    height: float | None = None,
    **settings: Any,
) -> Figure:
    """Draw matrices of equally many rows side by side, on one scale of colours, with the rows' labels on the left.

    maps: title -> values (R, C). height: of the picture, in inches. The other arguments are those of `plot_heatmap`,
    whose errors it raises.
    """
    arrays = {title: as_array(values, name=title) for title, values in maps.items()}
    limits = colour_limits(np.concatenate([array.ravel() for array in arrays.values()]), limits, cmap)
    size, layout = style.figure_size(len(arrays), height), ConstrainedLayoutEngine(wspace=0.06)
    figure, axes = plt.subplots(1, len(arrays), figsize=size, sharey=True, squeeze=False, layout=layout)
    for i, (ax, (title, array)) in enumerate(zip(axes[0], arrays.items(), strict=True)):
        names = {"title": title, "y_label": "" if i else y_label}
        plot_heatmap(array, limits=limits, cmap=cmap, colorbar=False, ax=ax, **names, **settings)
    if not all(ax.texts for ax in axes[0]):
        _add_bar(axes[0, 0].images[0], list(axes[0]))
    style.level_titles(axes[0])
    return figure


def _add_bar(image: AxesImage, axes: Axes | list[Axes]) -> None:
    """Add the colour bar of one plot, or of several that share it."""
    figure: Any = image.figure
    near = {"pad": 0.02} if isinstance(axes, list) else {}
    bar = figure.colorbar(image, ax=axes, **near)
    bar.outline.set_visible(False)
    bar.solids.set_visible(False)  # blended where they meet, its colours would not be those of the map
    bar.ax.tick_params(length=0)
    (low, high), look = image.get_clim(), {"cmap": image.cmap, "aspect": "auto", "interpolation": "none"}
    bar.ax.imshow(np.linspace(high, low, SHADES)[:, None], vmin=low, vmax=high, extent=(0, 1, low, high), **look)


def _draw_gaps(ax: Axes, shape: tuple[int, int]) -> None:
    """Draw lines in the colour of the ground between the rows and between the columns."""
    look: dict[str, Any] = {"colors": style.GROUND, "linewidths": 0.7, "alpha": 0.6}
    rows, columns = (np.arange(1, size) - 0.5 for size in shape)
    ax.hlines(rows, -0.5, shape[1] - 0.5, **look)
    ax.vlines(columns, -0.5, shape[0] - 0.5, **look)


def _cell_size(ax: Axes, shape: tuple[int, int], longest: int) -> tuple[float, float]:
    """The approximate width and height of a cell, in inches, after the layout has made room for everything around it.

    longest: the number of characters of the longest label of a row. Plots that share their rows also share the room for
    labels and for a colour bar.
    """
    width, height = style.room_of(ax)
    beside = len(ax.get_shared_y_axes().get_siblings(ax))
    if beside > 1:
        width -= 0.1 + (1.2 + 0.07 * longest) / beside
    else:
        width -= 0.7 + 0.07 * longest + 0.15 * width  # a colour bar takes the same width from every panel of a row
    cell = width / shape[1], (height - 0.75) / shape[0]
    return (min(cell), min(cell)) if ax.get_aspect() != "auto" else cell


def _write_numbers(ax: Axes, array: np.ndarray, image: AxesImage, cell: tuple[float, float]) -> bool:
    """Write each cell's number into it, with as many decimals as fit. Returns whether they do.

    Cells with NaN or infinity stay empty.
    """
    shown = np.isfinite(array)
    if array.size > MOST_NUMBERS or not shown.any():
        return False
    sizes = style.TICK_SIZE, style.NOTE_SIZE, 8.5
    for write, size in itertools.product(_formats(array[shown]), sizes):
        texts = {tuple(place): write(array[tuple(place)]) for place in np.argwhere(shown)}
        if cell[0] > (0.52 * max(map(len, texts.values())) + 0.3) * size / 72 and cell[1] > 1.3 * size / 72:
            for (row, column), text in texts.items():
                ink = style.ink_on(tuple(image.to_rgba(array[row, column])))
                ax.text(column, row, text, color=ink, fontsize=size, ha="center", va="center", **style.plain_text())
            return True
    return False


def _formats(numbers: np.ndarray) -> list[Callable[[float], str]]:
    """The ways to write these numbers, best first; none for numbers that need an exponent."""
    largest = np.abs(numbers).max()
    if (numbers == numbers.round()).all() and largest < 10_000:
        return [partial(_written, decimals=0)]
    if not 0.05 <= largest < 1000:
        return []
    if largest <= 1:
        return [partial(_written, decimals=2), _without_zero]
    return [partial(_written, decimals=decimals) for decimals in ((2, 1) if largest < 10 else (1, 0))]


def _written(number: float, decimals: int) -> str:
    return f"{round(number, decimals) + 0.0:.{decimals}f}".replace("-", "−")  # no minus before a zero


def _without_zero(number: float) -> str:
    """Two decimals in the room of one, so that the weights of a row can be added up: .47, and 1.0."""
    text = _written(number, 2)
    return text.replace("0.", ".", 1) if abs(number) < 0.995 else text[:-1]


def label_ticks(axis: Axis, positions: Sequence[float], words: Sequence[str]) -> None:
    """Put ticks at these positions of an axis (`ax.xaxis` or `ax.yaxis`), each labelled by a word as plain text."""
    names = [style.drawable(word, style.TICK) for word in words]
    axis.set_ticks(list(positions), labels=names, **style.plain_text())
