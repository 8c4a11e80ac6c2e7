"""The distribution of numbers."""

from collections.abc import Mapping

from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from encoder_lib.course.kit.plots import style
from encoder_lib.course.kit.plots.inputs import as_array


@style.close_on_error
def plot_histogram(
    values: ArrayLike,
    marks: Mapping[str, float],
    *,
    title: str = "",
    x_label: str = "",
    y_label: str = "",
    discrete: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw the distribution of numbers as a histogram, with each number as a tick below it and named marks to compare.

    values: (N,). marks: name -> position on the x axis, drawn as a vertical line. discrete: a bar for each whole
    number, and no ticks. Raises ValueError for no numbers, or one that is not finite; TypeError for anything that is
    not numbers.
    """
    import seaborn as sns  # here, because it takes most of a second, which no other plot should wait for

    array = as_array(values, ndim=(1,), finite=True)  # (N,)
    ax = style.axes_or_new(ax)
    bars = {"discrete": True} if discrete else {"bins": 18}
    sns.histplot(array, **bars, color=style.LINE, edgecolor=style.GREY, alpha=1, ax=ax)
    style.use_whole_ticks(ax.yaxis)  # counts
    if discrete:
        style.use_whole_ticks(ax.xaxis)
    else:
        sns.rugplot(array, color=style.INK, ax=ax)
    for (name, position), (colour, dash) in zip(marks.items(), style.compared(style.DASHES), strict=False):
        ax.axvline(position, color=colour, linestyle=dash, linewidth=2, label=style.legend_label(name))
    _name_marks(ax, marks)
    return style.label_axes(ax, title, x_label, y_label)


def _name_marks(ax: Axes, marks: Mapping[str, float]) -> None:
    """Write the name of each mark beside its line, on the side with more room, each lower than the one before."""
    low, high = ax.get_xlim()
    ax.set_ylim(0, ax.get_ylim()[1] * (1 + 0.1 * len(marks)))  # room for the names above the bars
    for row, (name, position) in enumerate(marks.items()):
        left = position > (low + high) / 2
        ax.annotate(
            style.drawable(name, style.LABEL), (position, 1), (-5 if left else 5, -2 - 1.35 * style.TICK_SIZE * row),
            ax.get_xaxis_transform(), "offset points", ha="right" if left else "left", va="top",
            fontsize=style.TICK_SIZE, gid=style.HALO, **style.plain_text(color=style.INK),
        )  # fmt: skip
