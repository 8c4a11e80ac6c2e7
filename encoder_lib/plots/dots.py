"""Several numbers for each name, as dots on one line."""

from collections.abc import Mapping
from itertools import cycle

import numpy as np
from matplotlib.axes import Axes

from encoder_lib import expect
from encoder_lib.plots.inputs import as_array, finite_numbers, two_ends
from encoder_lib.plots.style import (
    COLOURS,
    GREY,
    LABEL,
    add_legend,
    axes_or_new,
    close_on_error,
    drawable,
    label_axes,
    legend_label,
    plain_text,
)


@close_on_error
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
        ax.scatter(column, rows, color=colour, marker=marker, s=50, label=legend_label(kind), zorder=2)
    ax.set_yticks(rows, [drawable(name, LABEL) for name in values], **plain_text())
    ax.invert_yaxis()
    ax.set_xlim(limits)
    add_legend(ax)
    return label_axes(ax, title, x_label)
