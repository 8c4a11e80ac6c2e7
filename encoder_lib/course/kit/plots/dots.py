"""Several numbers for each name, as dots."""

import textwrap
from collections.abc import Mapping
from itertools import chain

import numpy as np
from matplotlib.axes import Axes

from encoder_lib.course.kit.plots import style
from encoder_lib.course.kit.plots.inputs import as_array

MOST_NUMBERS = 8  # with more names, no numbers are written beside the dots
MOST_DOTS = 3  # on one line; with more for a name, each gets a line of its own
LINE = 0.18  # inches of such a line
LETTERS = 34  # on a line of a name, if numbers are written


@style.close_on_error
def plot_dots(
    values: Mapping[str, Mapping[str, float]],
    *,
    title: str = "",
    x_label: str = "",
    decimals: int | None = None,
    log: bool = False,
    path: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw several numbers for each name as dots, the first name on top.

    Up to three dots share a line, with a legend for the kinds of dot. Those after the first kind are hollow, so that
    those below them show. If a name has more dots, each is on a line of its own, with its kind beside it. With at most
    eight names, each dot has its number beside it, with so many decimals; by default two, or one if a number has two
    digits before the point.

    values: name -> {kind of dot: number}; a name need not have every kind. log: whether the axis is logarithmic.
    path: whether the names are steps: a thin line then joins the dots of the first kind, and a faint one reaches from
    each name's least number to its largest.
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
    separate = most > MOST_DOTS
    rows = np.arange(len(array))
    places = (
        rows[:, None] + (np.arange(len(kinds)) - (len(kinds) - 1) / 2) / (len(kinds) + 1) * separate
    )  # (names, kinds)
    high = LINE * (len(kinds) + 1) if separate else 0.42 if most > 1 else 0.3
    ax = style.axes_or_new(ax, style.figure_size(1, min(style.HEIGHT, 1.4 + high * len(array))))
    if path or not separate:
        ends = np.nanmin(array, axis=1), np.nanmax(array, axis=1)
        colour, width = (style.LINE, 3) if separate else (style.LINE_STRONG, 2)
        ax.hlines(rows, *ends, color=colour, linewidth=width, zorder=1)
    for row in rows[1:] if separate else ():
        ax.axhline(row - 0.5, color=style.LINE, linewidth=0.8, zorder=1)
    if log:
        ax.set_xscale("log")
    few = len(array) <= MOST_NUMBERS
    decimals = (2 if np.nanmax(abs(array)) < 10 or log else 1) if decimals is None else decimals
    if few:
        ax.margins(x=0.12)
    if path:
        dots_of_first = array[:, 0], places[:, 0]
        ax.plot(*dots_of_first, color=style.GROUND, linewidth=4.5, zorder=1.1)  # a gap in the grid
        ax.plot(*dots_of_first, color=style.COLOURS[0], linewidth=1.2, zorder=1.2)
    looks = style.compared(style.MARKERS)
    for i, (kind, column, (colour, marker)) in enumerate(zip(kinds, array.T, looks, strict=False)):
        look = {"color": colour} if i == 0 else {"facecolor": style.GROUND, "edgecolor": colour, "linewidth": 2}
        ax.scatter(
            column, places[:, i], **look, marker=marker, s=50, label=style.legend_label(kind), zorder=3 - (i > 0)
        )
    background = {"facecolor": style.GROUND, "linewidth": 0, "pad": 0.5}  # or the path would cross a number
    for row, line in enumerate(array if few or separate else ()):
        first, last = np.nanargmin(line), np.nanargmax(line)
        for i, number in enumerate(line):
            if np.isnan(number):
                continue
            side, across, up = ("left", 9, 0) if i == last or separate else ("right", -9, 0)
            if i not in (first, last) and not separate:
                side, across, up = "center", 0, 11
            written = f"{number:.{decimals}f}".replace("-", "−") if few else ""
            ax.annotate(
                f"{style.drawable(kinds[i], style.LABEL)} {written}" if separate else written, (number, places[row, i]),
                (across, up), textcoords="offset points", ha=side, va="center_baseline", fontsize=style.NOTE_SIZE,
                gid=style.HALO, zorder=1.5, bbox=background if path else None, **style.plain_text(),
            )  # fmt: skip
    names = [textwrap.fill(style.drawable(name, style.LABEL), LETTERS if few else style.LABEL) for name in values]
    ax.set_yticks(rows, names, **style.plain_text())
    ax.set_ylim(len(array) - 0.5, -0.6)
    if log:
        style.label_log_axis(ax.xaxis)
    style.add_grid(ax, "x")
    ax.tick_params(axis="y", length=0)
    if legend := len(kinds) > 1 and not separate:
        style.add_legend(ax, above=True)
    return style.label_axes(ax, title, x_label, pad=style.ABOVE if legend else None)
