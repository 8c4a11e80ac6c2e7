"""Curves: one set, or several side by side."""

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from numpy.typing import ArrayLike

from encoder_lib.course.kit.plots import style
from encoder_lib.course.kit.plots.inputs import as_array
from encoder_lib.course.kit.plots.names import name_curves


@style.close_on_error
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
    named: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw curves over common x values, the first blue and the others grey, each named at its end, or in a legend.

    lines: name -> values (N,). x: (N,), 0 … N − 1 by default. The scales are "linear" or "log". named: whether their
    names are written. Raises ValueError for lines without points, or a line that is not as long as x; TypeError for
    anything that is not numbers.
    """
    curves = {name: as_array(values, ndim=(1,), name=f"lines: {name}") for name, values in lines.items()}
    x_values = np.arange(len(next(iter(curves.values())))) if x is None else as_array(x, ndim=(1,), name="x")
    ax = style.axes_or_new(ax)
    for (name, values), (colour, dash) in zip(curves.items(), style.compared(style.DASHES), strict=False):
        ax.plot(x_values, values, color=colour, linestyle=dash, marker=marker, label=style.legend_label(name))
    style.add_grid(ax)
    ax.margins(x=0.02)
    ax.set(xscale=x_scale, yscale=y_scale)
    if x_scale == "log":
        style.label_log_axis(ax.xaxis, x_values.tolist())
    if y_scale == "log":
        style.label_log_axis(ax.yaxis)
    if x_scale == "linear" and np.array_equal(x_values, np.round(x_values)):  # steps, layers, positions
        style.use_whole_ticks(ax.xaxis)
    if named and len(curves) > 1 and not name_curves(ax):
        style.add_legend(ax)
    return style.label_axes(ax, title, x_label, y_label)


@style.close_on_error
def plot_panels(
    panels: Mapping[str, Mapping[str, ArrayLike]], *, y_label: str = "", share_y: bool = True, **settings: Any
) -> Figure:
    """Draw several sets of curves side by side, with their names on the right.

    panels: title -> lines, with the same names in every panel. share_y: whether all panels have the same y axis.
    settings: further arguments of `plot_lines`, whose errors it raises.
    """
    size, layout = style.figure_size(len(panels)), ConstrainedLayoutEngine(wspace=0.05)
    figure, axes = plt.subplots(1, len(panels), figsize=size, sharex=True, sharey=share_y, squeeze=False, layout=layout)
    for i, (ax, (title, lines)) in enumerate(zip(axes[0], panels.items(), strict=True)):
        last = i + 1 == len(panels)
        plot_lines(lines, title=title, y_label="" if i else y_label, named=last, ax=ax, **settings)
    style.level_titles(axes[0])
    return figure
