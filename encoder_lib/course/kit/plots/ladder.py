"""The ladder: accuracy of the growing model, rung by rung, and its learning curves."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from encoder_lib.course.kit.plots import style
from encoder_lib.course.kit.plots.inputs import as_array

if TYPE_CHECKING:
    import pandas as pd


@style.close_on_error
def plot_ladder(rungs: Sequence[tuple], *, title: str = "The ladder so far", ax: Axes | None = None) -> Axes:
    """Draw the accuracy of each rung as a bar, and its upper bound as a dashed line.

    rungs: (name, accuracy, upper bound), both from 0 to 1; further items are left alone.
    Raises ValueError for an empty list or a number that is not finite; TypeError for anything that is not a number.
    """
    numbers = as_array([rung[1:3] for rung in rungs], name="rungs", finite=True)  # (rungs, 2)
    names = [style.drawable(rung[0], style.TICK) for rung in rungs]
    ax = style.axes_or_new(ax)
    accuracies, bounds = 100 * numbers.T
    bars = ax.bar(range(len(rungs)), accuracies, width=0.6, color=style.COLOURS[0])
    ax.bar_label(bars, [f"{accuracy:.1f} %" for accuracy in accuracies], padding=6)
    bound = partial(ax.hlines, colors=style.COLOURS[1], linewidth=2, linestyles="--")
    for position, height in enumerate(bounds):
        bound(height, position - 0.4, position + 0.4, label="_" if position else "upper bound of such a model")
    ax.set_xticks(range(len(rungs)), names[:2] + [f"+ {name}" for name in names[2:]], **style.plain_text())
    ax.set(xlim=(-0.5, len(rungs) - 0.5), ylim=(0, 112), yticks=range(0, 101, 25))
    ax.tick_params(axis="x", length=0)
    style.add_grid(ax)
    style.add_legend(ax, above=True)
    return style.label_axes(ax, title, "", "accuracy (%)", pad=style.ABOVE)


@style.close_on_error
def plot_learning_curves(
    curves: "pd.DataFrame", *, level: float | None = 50, title: str = "", first_step: int = 50
) -> Figure:
    """Draw accuracy against training steps, one panel for each model and one line for each seed.

    curves: a table with the columns model, seed, step and accuracy, in per cent, as `learning_curve` and
    `stored_curves` give it; the panels are in the order of its models, and a single one has `title` above it. level: an
    accuracy drawn as a dashed line: that of a model which finds the letter and guesses its case.
    first_step: the step with which the axis, which is logarithmic, begins.
    Raises ValueError for a table without rows or without one of these columns.
    """
    missing = {"model", "seed", "step", "accuracy"} - set(curves)
    if missing or curves.empty:
        got = f"no column {', '.join(sorted(missing))}" if missing else "no rows"
        raise ValueError(f"curves: expected a table of model, seed, step and accuracy, got {got}")
    models = list(curves["model"].unique())
    size = style.figure_size(len(models))
    figure, axes = plt.subplots(
        1, len(models), figsize=size, sharex=True, sharey=True, squeeze=False, layout="constrained"
    )
    shown = curves[curves["step"] >= first_step]
    for ax, model in zip(axes[0], models, strict=True):
        if level is not None:
            ax.axhline(level, color=style.GREY, linestyle="--")
        for _, curve in shown[shown["model"] == model].groupby("seed"):
            ax.plot(curve["step"], curve["accuracy"], color=style.COLOURS[0], linewidth=1.2)
            ax.scatter(*curve.iloc[-1][["step", "accuracy"]], color=style.COLOURS[0], s=16, zorder=3, clip_on=False)
        ax.set(xscale="log", ylim=(0, 103))
        style.add_grid(ax)
        style.label_log_axis(ax.xaxis)
        style.label_axes(ax, model if len(models) > 1 else title, "step")
    if level is not None:
        axes[0, 0].annotate(
            "case guessed", (0, level), (3, 3), axes[0, 0].get_yaxis_transform(),
            "offset points", fontsize=style.NOTE_SIZE, gid=style.HALO, **style.plain_text(color=style.QUIET),
        )  # fmt: skip
    axes[0, 0].set_ylabel("accuracy (%)")
    style.level_titles(axes[0])
    if len(models) > 1:
        style.add_suptitle(figure, title)
    return figure
