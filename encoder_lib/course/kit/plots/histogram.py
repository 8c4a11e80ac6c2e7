"""The distribution of numbers."""

from collections.abc import Mapping
from itertools import cycle

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
    sns.histplot(array, **bars, color="0.87", edgecolor="0.4", ax=ax)
    style.use_whole_ticks(ax.yaxis)  # counts
    if discrete:
        style.use_whole_ticks(ax.xaxis)
    else:
        sns.rugplot(array, color="0.3", ax=ax)
    for (name, position), colour, dash in zip(marks.items(), cycle(style.COLOURS), cycle(style.DASHES), strict=False):
        ax.axvline(position, color=colour, linestyle=dash, linewidth=2, label=style.legend_label(name))
    if marks:
        style.add_legend(ax)
    return style.label_axes(ax, title, x_label, y_label)
