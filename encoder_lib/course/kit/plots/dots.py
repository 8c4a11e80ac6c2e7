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
    decimals: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw several numbers for each name as dots on one line, the first name on top, and a legend for the kinds of dot.

    Dots after the first kind are hollow, so that those below them show. With at most eight names, each dot has its
    number beside it, with so many decimals; by default two, or one if a number has two digits before the point.

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
    few = len(array) <= MOST_NUMBERS
    decimals = (2 if abs(array).max() < 10 else 1) if decimals is None else decimals
    if few:
        ax.margins(x=0.12)
    for i, (kind, column, colour, marker) in enumerate(
        zip(kinds, array.T, cycle(style.COLOURS), cycle(style.MARKERS), strict=False)
    ):
        look = {"color": colour} if i == 0 else {"facecolor": style.GROUND, "edgecolor": colour, "linewidth": 2}
        ax.scatter(column, rows, **look, marker=marker, s=50, label=style.legend_label(kind), zorder=3 - (i > 0))
    for row, line in enumerate(array if few else ()):
        first, last = line.argmin(), line.argmax()
        for i, number in enumerate(line):
            side, across, up = ("left", 9, 0) if i == last else ("right", -9, 0)
            if i not in (first, last):
                side, across, up = "center", 0, 11
            ax.annotate(
                f"{number:.{decimals}f}".replace("-", "−"), (number, row), (across, up),
                textcoords="offset points", ha=side, va="center_baseline", fontsize=style.NOTE_SIZE, gid=style.HALO,
                **style.plain_text(),
            )  # fmt: skip
    names = [textwrap.fill(style.drawable(name, style.LABEL), LETTERS if few else style.LABEL) for name in values]
    ax.set_yticks(rows, names, **style.plain_text())
    ax.set_ylim(len(array) - 0.5, -0.6)
    style.add_grid(ax, "x")
    ax.tick_params(axis="y", length=0)
    if len(kinds) > 1:
        style.add_legend(ax, above=True)
    return style.label_axes(ax, title, x_label, pad=style.ABOVE if len(kinds) > 1 else None)
