"""The ladder: what each part of the model buys."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from encoder_lib import expect
from encoder_lib.plots.inputs import as_words, finite_numbers
from encoder_lib.plots.style import COLOURS, TICK, axes_or_new, close_on_error, drawable, label_axes, plain_text


@close_on_error
def plot_ladder(rungs: Sequence[tuple], *, title: str = "The ladder so far", ax: Axes | None = None) -> Axes:
    """Draw a bar for each rung, as high as its share of right answers, and a line at the most that is possible there.

    rungs: (name, share of right answers, the most that is possible), and whatever stands behind these three.
    Raises ValueError for no rungs, or a share that is not from 0 to 1; TypeError for what are no rungs or no Axes.
    """
    expect.kind("rungs", rungs, list | tuple, "a list of rungs", "; try ladder.climb('embedding')")
    for rung in rungs:
        expect.kind("rungs", rung, tuple, "(name, right, at most)")
        if len(rung) < 3:
            raise ValueError(f"rungs: expected (name, right, at most), got {expect.shown(rung)}")
    if not rungs:
        raise ValueError("rungs: expected at least one, got none")
    names = as_words("names", [rung[0] for rung in rungs], len(rungs))
    for rung in rungs:
        finite_numbers(f"rungs: {rung[0]}", {"right": rung[1], "at most": rung[2]})
        for share in rung[1:3]:
            expect.probability(f"rungs: {rung[0]}", share)
    ax = axes_or_new(ax)
    right = [100 * rung[1] for rung in rungs]
    bars = ax.bar(range(len(rungs)), right, width=0.6, color=COLOURS[0], label="right answers")
    ax.bar_label(bars, [f"{share:.1f} %" for share in right], padding=6)
    for place, rung in enumerate(rungs):
        most = 100 * rung[2]
        ax.hlines(most, place - 0.4, place + 0.4, colors=COLOURS[1], linewidth=2, linestyles="--")
    ax.hlines([], 0, 0, colors=COLOURS[1], linewidth=2, linestyles="--", label="best guess from what a card then knows")
    written = [drawable(name, TICK) if place < 2 else f"+ {drawable(name, TICK)}" for place, name in enumerate(names)]
    ax.set_xticks(range(len(rungs)), written, **plain_text())
    ax.set_ylim(0, 112)
    ax.legend(loc="upper left")
    return label_axes(ax, title, "", "right answers (%)")
