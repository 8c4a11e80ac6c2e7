"""Curves: one set, several side by side, and what the layers of some stacks do."""

from collections.abc import Mapping
from itertools import cycle
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from encoder_lib import expect
from encoder_lib.plots.inputs import as_array
from encoder_lib.plots.style import (
    COLOURS,
    DASHES,
    HEIGHT,
    SEVERAL_PLOTS,
    add_legend,
    axes_or_new,
    close_on_error,
    label_axes,
    label_log_axis,
    legend_label,
)


@close_on_error
def plot_lines(
    lines: Mapping[str, ArrayLike],
    *,
    x: ArrayLike | None = None,
    title: str = "",
    x_label: str = "",
    y_label: str = "",
    x_scale: str = "linear",
    y_scale: str = "linear",
    marker: str = "",
    styles: Mapping[str, Mapping[str, Any]] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw curves over common places, each named in a legend by its key, told apart by colour and by dash.

    lines: name -> values (N,). x: the places (N,), 0 … N − 1 without it. The scales are "linear" or "log".
    styles: name -> matplotlib's properties of that line, in place of its own colour, dash or marker.
    Raises ValueError for no lines, lines without points, a line that is not as long as x, a style without a line or
    with a property that lines do not have, an unknown scale or marker; TypeError for what are no numbers or no Axes.
    """
    expect.mapping("lines", lines, "line", "{'name': values}")
    expect.choice("x_scale", x_scale, ("linear", "log"))
    expect.choice("y_scale", y_scale, ("linear", "log"))
    if not isinstance(marker, str) or marker not in Line2D.markers:
        raise ValueError(f"marker: expected one of matplotlib's, got {expect.shown(marker)}; try 'o' or ''")
    styles = {} if styles is None else styles
    expect.kind("styles", styles, Mapping, "a dictionary of properties for each name")
    if strangers := styles.keys() - lines.keys():
        raise ValueError(f"styles: expected names out of {list(lines)}, got {sorted(strangers)}: name the lines alike")
    for name, style in styles.items():
        _expect_style(name, style)
    curves = [(name, as_array(values, ndim=(1,), name=f"lines: {name}")) for name, values in lines.items()]
    places = np.arange(len(curves[0][1])) if x is None else as_array(x, ndim=(1,), name="x")
    for name, values in curves:
        if len(values) != len(places):
            raise ValueError(
                f"lines: {name}: expected {len(places)} points, one for each place on the x axis, got {len(values)}"
            )
    ax = axes_or_new(ax)
    for (name, values), colour, dash in zip(curves, cycle(COLOURS), cycle(DASHES), strict=False):
        look: dict[str, Any] = {"color": colour, "linestyle": dash, "marker": marker, **styles.get(name, {})}
        ax.plot(places, values, label=legend_label(name), **look)
    ax.set(xscale=x_scale, yscale=y_scale)
    if len(curves) > 1:
        add_legend(ax)
    return label_axes(ax, title, x_label, y_label)


def _expect_style(name: str, style: Mapping[str, Any]) -> None:
    """Properties that matplotlib's lines have, with values that they take."""
    expect.kind(f"styles: {name}", style, Mapping, "a dictionary of properties", "; try {'color': 'black'}")
    try:
        Line2D([], [], **style)
    except (AttributeError, TypeError, ValueError) as error:
        wrong = expect.shown(dict(style))
        raise ValueError(f"styles: {name}: expected properties of a line, got {wrong}: {error}") from error


@close_on_error
def plot_panels(
    panels: Mapping[str, Mapping[str, ArrayLike]],
    *,
    y_label: str = "",
    share_y: bool = True,
    figsize: tuple[float, float] = (SEVERAL_PLOTS, HEIGHT),
    **style: Any,
) -> Figure:
    """Draw several sets of curves side by side with one legend, on the right.

    panels: title -> lines, named alike in every panel. share_y: all on one y scale. style: what `plot_lines` takes
    besides.
    Raises ValueError for no panels, panels whose lines have other names, a size that is not above 0, and as
    `plot_lines` does.
    """
    expect.mapping("panels", panels, "panel, all with the same lines", "{'title': {'name': values}}")
    for title, lines in panels.items():
        expect.mapping(f"panels: {title}", lines, "line", "{'name': values}")
    expect.flags(share_y=share_y)
    expect.kind("figsize", figsize, tuple | list, "a width and a height")
    for size in figsize:
        expect.positive("figsize", size)
    if len(figsize) != 2:
        raise ValueError(f"figsize: expected a width and a height, got {figsize}")
    names = [list(lines) for lines in panels.values()]
    if any(other != names[0] for other in names):
        wrong = expect.shown(names)
        raise ValueError(f"panels: expected one or more panels with the same lines, got {wrong}: name the lines alike")
    figure, axes = plt.subplots(1, len(panels), figsize=figsize, sharey=share_y, squeeze=False, layout="constrained")
    for i, (ax, (title, lines)) in enumerate(zip(axes[0], panels.items(), strict=True)):
        plot_lines(lines, title=title, y_label="" if i else y_label, ax=ax, **style)
        for axis in (ax.xaxis, ax.yaxis):
            if axis.get_scale() == "log":
                label_log_axis(axis)
        if (legend := ax.get_legend()) and i + 1 < len(panels):
            legend.remove()
    return figure
