"""Numbers with names, as bars or dots, and how many numbers are spread."""

from collections.abc import Mapping
from itertools import cycle

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from encoder_lib import expect
from encoder_lib.plots.inputs import as_array, finite_numbers, two_ends
from encoder_lib.plots.style import (
    COLOURS,
    DASHES,
    GREY,
    LABEL,
    axes_or_new,
    drawable,
    legend_name,
    plain,
    whole_or_nothing,
    write_legend,
    write_names,
)


@whole_or_nothing
def plot_bars(
    values: Mapping[str, float], *, title: str = "", x_label: str = "", number: str = ",.0f", ax: Axes | None = None
) -> Axes:
    """Draw named numbers as horizontal bars, the first on top, each with its number written beside it.

    values: name -> number, NaN and infinity excepted. number: how the numbers are written.
    Raises ValueError for no bars, a number that is not finite, or another way to write numbers; TypeError for what are
    no numbers or no Axes.
    """
    expect.mapping("values", values, "finite number", "{'name': number}")
    numbers = finite_numbers("values", values)
    expect.text("number", number)
    try:
        written = [format(value, number) for value in numbers]
    except ValueError as error:
        raise ValueError(f"number: expected how Python writes a number, such as ',.0f', got {number!r}") from error
    ax = axes_or_new(ax)
    names = [drawable(name, LABEL) for name in values]
    bars = ax.barh(range(len(names)), numbers, color=COLOURS[0])
    ax.bar_label(bars, written, padding=4)
    ax.set_yticks(range(len(names)), names, **plain())
    ax.invert_yaxis()
    ax.margins(x=0.15)
    if max(map(abs, numbers)) >= 10_000:  # written out, as beside the bars, and not as 1e7 in a corner
        ax.xaxis.set_major_locator(MaxNLocator(4))
        ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    return write_names(ax, title, x_label)


@whole_or_nothing
def plot_spread(
    values, marks: Mapping[str, float], *, title: str = "", x_label: str = "", y_label: str = "", ax: Axes | None = None
) -> Axes:
    """Draw how numbers are spread, as a histogram with every number as a tick below it, and named marks to compare.

    values: (N,). marks: name -> place on the x axis, drawn as a vertical line.
    Raises ValueError for no numbers, or one that is not finite; TypeError for what are no numbers or no Axes.
    """
    import seaborn as sns  # here, since it takes most of a second that no other picture has to wait for

    array = as_array(values, ndim=(1,), finite=True)  # (N,)
    expect.kind("marks", marks, Mapping, "a dictionary", "; try {'name': place}")
    finite_numbers("marks", marks)
    ax = axes_or_new(ax)
    sns.histplot(array, bins=18, color="0.87", edgecolor="0.4", ax=ax)
    sns.rugplot(array, color="0.3", ax=ax)
    for (name, place), colour, dash in zip(marks.items(), cycle(COLOURS), cycle(DASHES), strict=False):
        ax.axvline(place, color=colour, linestyle=dash, linewidth=2, label=legend_name(name))
    if marks:
        write_legend(ax)
    return write_names(ax, title, x_label, y_label)


@whole_or_nothing
def plot_dots(
    values: Mapping[str, Mapping[str, float]],
    *,
    title: str = "",
    x_label: str = "",
    limits: tuple[float, float] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw several numbers for each name as dots on one line, the first name on top, and what each kind of dot means.

    values: name -> {kind of dot: number}, the same kinds for every name. limits: the two ends of the x axis.
    Raises ValueError for no names, kinds that differ, a number that is not finite, or limits that do not increase;
    TypeError for what are no numbers or no Axes.
    """
    expect.mapping("values", values, "name", "{'name': {'kind of dot': number}}")
    for name, row in values.items():
        expect.kind(f"values: {name}", row, Mapping, "a dictionary", "; try {'kind of dot': number}")
        finite_numbers(f"values: {name}", row)
    kinds = [list(row) for row in values.values()]
    if not kinds[0] or any(row != kinds[0] for row in kinds):
        raise ValueError(f"values: expected the same kinds of dots for every name, got {expect.shown(kinds)}")
    array = as_array([list(row.values()) for row in values.values()])  # (names, kinds)
    limits = None if limits is None else two_ends(limits)
    rows = np.arange(len(array))
    ax = axes_or_new(ax)
    ax.hlines(rows, array.min(axis=1), array.max(axis=1), color=GREY, linewidth=1, zorder=1)
    for kind, column, colour, marker in zip(kinds[0], array.T, cycle(COLOURS), cycle("osD^vP"), strict=False):
        ax.scatter(column, rows, color=colour, marker=marker, s=50, label=legend_name(kind), zorder=2)
    ax.set_yticks(rows, [drawable(name, LABEL) for name in values], **plain())
    ax.invert_yaxis()
    ax.set_xlim(limits)
    write_legend(ax)
    return write_names(ax, title, x_label)
