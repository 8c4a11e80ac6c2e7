"""The ladder: accuracy of the growing model, rung by rung, and its learning curves."""

from collections.abc import Sequence
from functools import partial
from math import ceil
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FixedLocator, NullLocator

from encoder_lib.course.kit.plots import style
from encoder_lib.course.kit.plots.inputs import as_array

if TYPE_CHECKING:
    import pandas as pd

GAP = 8  # per cent between the ends of two groups of learning curves
FIRST_STEP = 50  # of a logarithmic axis


@style.close_on_error
def plot_ladder(
    rungs: Sequence[tuple], *, title: str = "The ladder so far: accuracy on the card task", ax: Axes | None = None
) -> Axes:
    """Draw the accuracy of each rung as a bar, the last one in blue, and its upper bound as a dashed line.

    rungs: (name, accuracy, upper bound), both from 0 to 1; further items are left alone.
    Raises ValueError for an empty list or a number that is not finite; TypeError for anything that is not a number.
    """
    numbers = as_array([rung[1:3] for rung in rungs], name="rungs", finite=True)  # (rungs, 2)
    names = [style.drawable(rung[0], style.TICK) for rung in rungs]
    ax = style.axes_or_new(ax)
    accuracies, bounds = 100 * numbers.T
    new, old = style.COLOURS[0], style.COLOURS[2]
    bars = ax.bar(range(len(rungs)), accuracies, width=0.6, color=[old] * (len(rungs) - 1) + [new])
    ax.bar_label(bars, [f"{accuracy:.1f} %" for accuracy in accuracies], padding=6)
    bound = partial(ax.hlines, colors=style.INK, linewidth=2, linestyles=(0, (3, 1.5)))
    for position, height in enumerate(bounds):
        bound(height, position - 0.4, position + 0.4, label="_" if position else "upper bound of such a model")
    ax.set_xticks(range(len(rungs)), names[:2] + [f"+ {name}" for name in names[2:]], **style.plain_text())
    ax.set(xlim=(-0.5, len(rungs) - 0.5), ylim=(0, 112), yticks=range(0, 101, 25))
    ax.tick_params(axis="x", length=0)
    style.add_grid(ax)
    style.add_legend(ax, above=True)
    return style.label_axes(ax, title, "", "accuracy (%)", pad=style.ABOVE)


@style.close_on_error
def plot_learning_curves(curves: "pd.DataFrame", *, level: float | None = 50, title: str = "") -> Figure:
    """Draw accuracy against training steps: a panel for each model, with a thin line for each seed and their median.

    Where the lines end, it says how many of them are there.

    curves: a table with the columns model, seed, step and accuracy, in per cent, as `learning_curve` and
    `stored_curves` give it; the panels are in the order of its models, four of them in a square. level: an accuracy
    drawn as a dashed line: that of a model which finds the letter and guesses its case.
    Raises ValueError for a table without rows or without one of these columns.
    """
    missing = {"model", "seed", "step", "accuracy"} - set(curves)
    if missing or curves.empty:
        got = f"no column {', '.join(sorted(missing))}" if missing else "no rows"
        raise ValueError(f"curves: expected a table of model, seed, step and accuracy, got {got}")
    models = list(curves["model"].unique())
    columns = 2 if len(models) == 4 else len(models)
    rows = ceil(len(models) / columns)
    size = style.figure_size(len(models), 4 if rows == 1 else 5)
    layout = ConstrainedLayoutEngine(wspace=0.05, hspace=0.06)
    figure, axes = plt.subplots(rows, columns, figsize=size, sharex=True, sharey=True, squeeze=False, layout=layout)
    shown = curves[curves["step"] >= FIRST_STEP]
    (blue, _, grey), last = style.COLOURS, shown["step"].max()
    for ax, model in zip(axes.flat, models, strict=True):
        of_model = [name == model for name in shown["model"]]
        table = shown[of_model].pivot(index="step", columns="seed", values="accuracy")
        if level is not None:
            ax.axhline(level, color=style.GREY, linestyle="--", label="letter right, case guessed")
        ax.plot(table, color=grey, linewidth=0.8)[0].set_label("each seed")
        ax.plot(table.median(axis=1), color=blue, label="median of the seeds")
        _count_ends(ax, table)
        ax.set(xscale="log", xlim=(0.9 * FIRST_STEP, last), ylim=(0, 103), yticks=range(0, 101, 25))
        style.add_grid(ax)
        style.label_axes(ax, model if len(models) > 1 else title)
    ticks = [step for step in (100, 1000) if step <= last / 2] + [last]
    axes[0, 0].xaxis.set(major_locator=FixedLocator(ticks), minor_locator=NullLocator(), major_formatter="{x:,.0f}")
    for ax in axes[-1]:
        ax.set_xlabel("step")
    for ax in axes[:, 0]:
        ax.set_ylabel("accuracy (%)")
    style.level_titles(axes[0])
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower left", ncols=3)
    if len(models) > 1:
        style.add_suptitle(figure, title)
    return figure


def _count_ends(ax: Axes, table: "pd.DataFrame") -> None:
    """Write beside the ends of the lines how many of them are there: seeds less than `GAP` apart are one group."""
    ends = table.iloc[-1].sort_values().tolist()
    starts = [i for i, end in enumerate(ends) if i == 0 or end - ends[i - 1] > GAP]
    for start, stop in zip(starts, [*starts[1:], len(ends)], strict=True):
        group = ends[start:stop]
        reached = " to ".join(dict.fromkeys(f"{end:.0f}" for end in (group[0], group[-1])))
        place = table.index[-1], sum(group) / len(group)
        ax.annotate(
            f"{len(group)} seed{'s'[: len(group) > 1]}: {reached} %", place, (6, 0), textcoords="offset points",
            va="center", fontsize=style.NOTE_SIZE, annotation_clip=False, **style.plain_text(),
        )  # fmt: skip
