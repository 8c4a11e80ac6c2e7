"""Several numbers for each name, as dots on one line."""

import textwrap
from collections.abc import Mapping
from itertools import chain, cycle

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
    log: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw several numbers for each name as dots on one line, the first name on top, and a legend for the kinds of dot.

    Dots after the first kind are hollow, so that those below them show. With at most eight names, each dot has its
    number beside it, with so many decimals; by default two, or one if a number has two digits before the point. With
    more than three dots on a line, only the first kind, the smallest and the largest get a number.

    values: name -> {kind of dot: number}; a name need not have every kind. log: whether the axis is logarithmic.
    Raises ValueError for no numbers, one that is not finite, or on a logarithmic axis one that is not positive;
    TypeError for anything that is not numbers.
    """
    kinds = list(dict.fromkeys(chain.from_iterable(values.values())))
    given = [
        {kind: float(as_array(number, ndim=(0,), finite=True)) for kind, number in row.items()}
        for row in values.values()
    ]
    if not kinds or not all(given):
        raise ValueError(
            f"values: expected at least one number for each name, got {[len(row) for row in given]} numbers"
        )
    array = np.array([[row.get(kind, np.nan) for kind in kinds] for row in given])  # (names, kinds)
    if log and np.nanmin(array) <= 0:
        raise ValueError(f"values: expected positive numbers on a logarithmic axis, got {np.nanmin(array):g}")
    most = max(map(len, given))
    rows = np.arange(len(array))
    ax = style.axes_or_new(ax, style.figure_size(1, min(style.HEIGHT, 1.4 + (0.42 if most > 1 else 0.3) * len(array))))
    ax.hlines(rows, np.nanmin(array, axis=1), np.nanmax(array, axis=1), color=style.LINE_STRONG, linewidth=2, zorder=1)
    if log:
        ax.set_xscale("log")
    few = len(array) <= MOST_NUMBERS
    decimals = (2 if np.nanmax(abs(array)) < 10 or log else 1) if decimals is None else decimals
    if few:
        ax.margins(x=0.12)
    for i, (kind, column, colour, marker) in enumerate(
        zip(kinds, array.T, chain(style.COLOURS, cycle(style.COLOURS[1:])), cycle(style.MARKERS), strict=False)
    ):
        look = {"color": colour} if i == 0 else {"facecolor": style.GROUND, "edgecolor": colour, "linewidth": 2}
        ax.scatter(column, rows, **look, marker=marker, s=50, label=style.legend_label(kind), zorder=3 - (i > 0))
    for row, line in enumerate(array if few else ()):
        first, last = np.nanargmin(line), np.nanargmax(line)
        for i, number in enumerate(line):
            if np.isnan(number) or (most > 3 and i not in (0, first, last)):
                continue
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
    if log:
        style.label_log_axis(ax.xaxis)
    style.add_grid(ax, "x")
    ax.tick_params(axis="y", length=0)
    if len(kinds) > 1:
        style.add_legend(ax, above=True)
    return style.label_axes(ax, title, x_label, pad=style.ABOVE if len(kinds) > 1 else None)
