"""Numbers with names, as bars."""

import textwrap
from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from encoder_lib.course.kit.plots import style
from encoder_lib.course.kit.plots.inputs import as_array

LETTERS = 24  # on a line of a name


@style.close_on_error
def plot_bars(values: Mapping[str, float], *, title: str = "", x_label: str = "", ax: Axes | None = None) -> Axes:
    """Draw named numbers as horizontal bars, the first on top, each with its rounded number beside it.

    Raises ValueError for no bars, or a number that is not finite; TypeError for anything that is not numbers.
    """
    numbers = as_array(list(values.values()), ndim=(1,), finite=True)
    ax = style.axes_or_new(ax, style.figure_size(1, min(style.HEIGHT, 1.1 + 0.4 * len(numbers))))
    bars = ax.barh(range(len(numbers)), numbers, height=0.6, color=style.COLOURS[1])
    ax.bar_label(bars, [f"{number:,.0f}" for number in numbers], padding=4)
    names = [textwrap.fill(style.drawable(name, style.LABEL), LETTERS) for name in values]
    ax.set_yticks(range(len(numbers)), names, **style.plain_text())
    ax.invert_yaxis()
    ax.margins(x=0.15)
    ax.spines[:].set_visible(False)
    style.add_grid(ax, "x")
    ax.tick_params(length=0)
    if abs(numbers).max() >= 10_000:  # written out, as beside the bars, and not as 1e7 in a corner
        ax.xaxis.set_major_locator(MaxNLocator(4))
        ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    return style.label_axes(ax, title, x_label)
