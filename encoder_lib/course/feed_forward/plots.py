"""A curve, its fit by a small network, and the hidden units that the fit is the sum of."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

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
    """Draw a curve with its fit and, beside them, the hidden units that the fit is the sum of, one of them bold.

    x, target: (P,), x increases. units: (P, n), each hidden unit's number times its output weight. constant: the output
    bias. breakpoints: (n,), where each unit bends, marked on the fit where in view. unit: the one drawn bold, counted
    from 0. figure: one that this function returned: its artists are updated, and no new one is drawn.
    Raises ValueError for lengths that differ, or numbers that are not finite; TypeError for what are no numbers.
    """
    places = as_array(x, ndim=(1,), name="x", finite=True)  # (P,)
    curve = as_array(target, ndim=(1,), name="target")  # (P,)
    parts = as_array(units, name="units", finite=True)  # (P, n)
    marks = as_array(breakpoints, ndim=(1,), name="breakpoints")  # (n,)
    if not len(places) == len(curve) == len(parts):
        shapes = f"x {places.shape}, target {curve.shape}, units {parts.shape}"
        raise ValueError(f"expected one length for all, got {shapes}")
    fit = parts.sum(axis=1) + constant  # (P,)
    marks = marks[(places[0] < marks) & (marks < places[-1])]
    reach = max(np.abs(parts).max(), np.abs(fit).max())
    limit = next((size for size in (1.2, 2.4, 6, 14, 24, 60) if size >= reach), reach)  # few, so that pictures compare
    figure = _fit_axes(titles) if figure is None else figure
    left, right = figure.axes
    drawn = (places, curve), (places, fit), (marks, np.interp(marks, places, fit))
    for line, values in zip(left.lines, drawn, strict=True):
        line.set_data(*values)
    others = np.delete(parts, unit, axis=1).T  # (n − 1, P)
    (thin,) = (lines for lines in right.collections if isinstance(lines, LineCollection))
    thin.set_segments([np.column_stack([places, part]) for part in others])
    right.lines[0].set_data(places, parts[:, unit])
    right.lines[1].set_data(places, fit)
    for ax, top in ((left, 1.2), (right, limit)):
        ax.set(xlim=(places[0], places[-1]), ylim=(-top, top), xticks=np.linspace(places[0], places[-1], 3))
        ax.set_yticks(np.linspace(-top, top, 3))
    return figure


def _fit_axes(titles: Sequence[str]) -> Figure:
    """A figure with two Axes that hold the artists of `plot_fit`, without data."""
    figure, (left, right) = plt.subplots(1, 2, figsize=style.figure_size(2, 3.8), layout="constrained")
    left.plot([], [], color=style.GREY, linewidth=6, label="target")
    left.plot([], [], color=style.COLOURS[0], linewidth=1.8, label="fit: all units and a constant")
    left.plot([], [], color="black", linestyle="", marker="o", markersize=5, label="where a unit bends")
    right.add_collection(LineCollection([], colors=style.GREY, linewidths=0.9, label="units"))
    right.plot([], [], color=style.COLOURS[1], linewidth=3.5, label="one of them")
    right.plot([], [], color=style.COLOURS[0], linewidth=1.8)
    figure.legend(handles=[*left.lines, right.collections[0], right.lines[0]], loc="outside lower center", ncols=5)
    style.label_axes(left, titles[0], "x", "y")
    style.label_axes(right, titles[1], "x", "what each unit adds")
    return figure
