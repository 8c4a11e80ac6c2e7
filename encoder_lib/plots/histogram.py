"""How numbers are spread."""

from collections.abc import Mapping
from itertools import cycle

from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from encoder_lib import expect
from encoder_lib.plots.inputs import as_array, finite_numbers
from encoder_lib.plots.style import COLOURS, DASHES, add_legend, axes_or_new, close_on_error, label_axes, legend_label


@close_on_error
def plot_histogram(
    values: ArrayLike,
    marks: Mapping[str, float],
    *,
    title: str = "",
    x_label: str = "",
    y_label: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw how numbers are spread, as a histogram with every number as a tick below it, and named marks to compare.

    values: (N,). marks: name -> place on the x axis, drawn as a vertical line.
    Raises ValueError for no numbers, or one that is not finite; TypeError for what are no numbers or no Axes.
    """
    import seaborn as sns  # here, since it takes most of a second that no other picture has to wait for

    array = as_array(values, ndim=(1,), finite=True)  # (N,)
    expect.kind("marks", marks, Mapping, "a dictionary", "; try {'name': place}")
    finite_numbers("marks", marks)
    ax = axes_or_new(ax)
    sns.histplot(array, bins=18, color="0.87", edgecolor="0.4", ax=ax)
    sns.rugplot(array, color="0.3", ax=ax)
    for (name, place), colour, dash in zip(marks.items(), cycle(COLOURS), cycle(DASHES), strict=False):
        ax.axvline(place, color=colour, linestyle=dash, linewidth=2, label=legend_label(name))
    if marks:
        add_legend(ax)
    return label_axes(ax, title, x_label, y_label)
