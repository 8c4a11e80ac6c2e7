"""The ladder: what each part of the model buys."""

from collections.abc import Sequence
from functools import partial

from matplotlib.axes import Axes

from encoder_lib.course.kit.plots import style
from encoder_lib.course.kit.plots.inputs import as_array


@style.close_on_error
def plot_ladder(rungs: Sequence[tuple], *, title: str = "The ladder so far", ax: Axes | None = None) -> Axes:
    """Draw a bar for each rung, as high as its share of right answers, and a line at the most that is possible there.

    rungs: (name, share of right answers, the most that is possible), and whatever follows these three.
    Raises ValueError for no rungs, or a share that is not finite; TypeError for what are no numbers.
    """
    shares = as_array([rung[1:3] for rung in rungs], name="rungs", finite=True)  # (rungs, 2)
    names = [style.drawable(rung[0], style.TICK) for rung in rungs]
    ax = style.axes_or_new(ax)
    right, most = 100 * shares.T
    bars = ax.bar(range(len(rungs)), right, width=0.6, color=style.COLOURS[0], label="right answers")
    ax.bar_label(bars, [f"{share:.1f} %" for share in right], padding=6)
    ceiling = partial(ax.hlines, colors=style.COLOURS[1], linewidth=2, linestyles="--")
    for place, height in enumerate(most):
        ceiling(height, place - 0.4, place + 0.4)
    ceiling([], 0, 0, label="best guess from what a card then knows")
    ax.set_xticks(range(len(rungs)), names[:2] + [f"+ {name}" for name in names[2:]], **style.plain_text())
    ax.set_ylim(0, 112)
    ax.legend(loc="upper left")
    return style.label_axes(ax, title, "", "right answers (%)")
