"""Several numbers for each name, as dots on one line."""

import textwrap
from collections.abc import Mapping
from itertools import cycle

import numpy as np
from matplotlib.axes import Axes

from encoder_lib.course.kit.plots import style
from encoder_lib.course.kit.plots.inputs import as_array

MOST_NUMBERS = 8  # with more names, no numbers are written beside the dots
LETTERS = 34  # on a line of a name, if numbers are written


@style.close_on_error
def plot_dots(
    values: Mapping[str, Mapping[str, float]],
    *,
    title: str = "",
    x_label: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw several numbers for each name as dots on one line, the first name on top, and a legend for the kinds of dot.

    With at most eight names, the smallest and the largest number of each are written beside its line.

    values: name -> {kind of dot: number}, the same kinds for every name.
    Raises ValueError for no numbers, or one that is not finite; KeyError for a kind that is missing; TypeError for
    anything that is not numbers.
    """
    kinds = list(next(iter(values.values()), {}))
    numbers = [[as_array(row[kind], ndim=(0,)) for kind in kinds] for row in values.values()]  # also from a GPU
    array = as_array(numbers, finite=True)  # (names, kinds)
    rows = np.arange(len(array))
    ax = style.axes_or_new(ax, style.figure_size(1, min(style.HEIGHT, 1.4 + 0.42 * len(array))))
    ax.hlines(rows, array.min(axis=1), array.max(axis=1), color=style.LINE_STRONG, linewidth=2, zorder=1)
    for kind, column, colour, marker in zip(kinds, array.T, cycle(style.COLOURS), cycle(style.MARKERS), strict=False):
        ax.scatter(column, rows, color=colour, marker=marker, s=50, label=style.legend_label(kind), zorder=2)
    few, decimals = len(array) <= MOST_NUMBERS, 2 if abs(array).max() < 10 else 1
    for row, line in enumerate(array if few else ()):
        for number, side, across in ((line.min(), "right", -9), (line.max(), "left", 9)):
            ax.annotate(
                f"{number:.{decimals}f}".replace("-", "−"), (number, row), (across, 0), textcoords="offset points",
                ha=side, va="center", fontsize=style.NOTE_SIZE, gid=style.HALO, **style.plain_text(),
            )  # fmt: skip
    if few:
        ax.margins(x=0.12)
    names = [textwrap.fill(style.drawable(name, style.LABEL), LETTERS if few else style.LABEL) for name in values]
    ax.set_yticks(rows, names, **style.plain_text())
    ax.set_ylim(len(array) - 0.5, -0.6)
    style.add_grid(ax, "x")
    ax.tick_params(axis="y", length=0)
    style.add_legend(ax, above=True)
    return style.label_axes(ax, title, x_label, pad=style.ABOVE)
