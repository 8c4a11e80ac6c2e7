"""A curve, its fit by a small network, and the hidden units whose sum is the fit."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from encoder_lib.course.kit.palette import LIGHT
from encoder_lib.course.kit.plots import style
from encoder_lib.course.kit.plots.inputs import as_array


@style.close_on_error
def plot_fit(
    x: ArrayLike,
    target: ArrayLike,
    units: ArrayLike,
    constant: float,
    *,
    breakpoints: ArrayLike,
    unit: int,
    titles: Sequence[str],
    figure: Figure | None = None,
) -> Figure:
    """Draw a curve with its fit and, beside them, the hidden units whose sum is the fit, one of them in bold.

    x, target: (P,), with increasing x. units: (P, n), each unit's activation times its output weight. constant: the
    output bias. breakpoints: (n,), the corner of each unit, marked on the fit if in view. unit: the one drawn in bold,
    counted from 0. figure: one that this function returned, whose artists are then updated.
    Raises ValueError for different lengths, or numbers that are not finite; TypeError for anything that is not numbers.
    """
    x_values = as_array(x, ndim=(1,), name="x", finite=True)  # (P,)
    curve = as_array(target, ndim=(1,), name="target")  # (P,)
    parts = as_array(units, name="units", finite=True)  # (P, n)
    marks = as_array(breakpoints, ndim=(1,), name="breakpoints")  # (n,)
    if not len(x_values) == len(curve) == len(parts):
        shapes = f"x {x_values.shape}, target {curve.shape}, units {parts.shape}"
        raise ValueError(f"expected one length for all, got {shapes}")
    fit = parts.sum(axis=1) + constant  # (P,)
    marks = marks[(x_values[0] < marks) & (marks < x_values[-1])]
    reach = max(np.abs(parts).max(), np.abs(fit).max())
    limit = next(
        (size for size in (1.2, 2.4, 6, 14, 24, 60) if size >= reach), reach
    )  # a few fixed limits, so that pictures can be compared
    figure = _fit_axes(titles) if figure is None else figure
    left, right = figure.axes
    drawn = (x_values, curve), (x_values, fit), (marks, np.interp(marks, x_values, fit))
    for line, values in zip(left.lines, drawn, strict=True):
        line.set_data(*values)
    others = np.delete(parts, unit, axis=1).T  # (n − 1, P)
    (thin,) = (lines for lines in right.collections if isinstance(lines, LineCollection))
    thin.set_segments([np.column_stack([x_values, part]) for part in others])
    right.lines[0].set_data(x_values, parts[:, unit])
    right.lines[1].set_data(x_values, fit)
    for ax, top in ((left, 1.2), (right, limit)):
        ax.set(xlim=(x_values[0], x_values[-1]), ylim=(-top, top), xticks=np.linspace(x_values[0], x_values[-1], 3))
        ax.set_yticks(np.linspace(-top, top, 3))
    return figure


def _fit_axes(titles: Sequence[str]) -> Figure:
    """A figure with two Axes and the artists of `plot_fit`, without data."""
    figure, (left, right) = plt.subplots(1, 2, figsize=style.figure_size(2, 3.8), layout="constrained")
    left.plot([], [], color=style.GREY, linewidth=5, label="target")
    left.plot([], [], color=style.COLOURS[0], linewidth=1.8, label="fit: units and bias")
    left.plot([], [], color=style.INK, linestyle="", marker="o", markersize=5, label="corner of a unit")
    right.add_collection(LineCollection([], colors=style.GREY, linewidths=0.9, label="units"))
    right.plot([], [], color=LIGHT["forward"], linewidth=3.5, label="chosen unit")
    right.plot([], [], color=style.COLOURS[0], linewidth=1.8)
    figure.legend(handles=[*left.lines, right.collections[0], right.lines[0]], loc="outside lower center", ncols=5)
    for ax in (left, right):
        style.add_grid(ax)
    style.label_axes(left, titles[0], "x", "y")
    style.label_axes(right, titles[1], "x", "what each unit adds")
    return figure
