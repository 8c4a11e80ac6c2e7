"""Numbers with names, as bars."""

import textwrap
from collections.abc import Mapping, Sequence
from itertools import cycle, islice

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from numpy.typing import ArrayLike

from encoder_lib.course.kit.plots import style
from encoder_lib.course.kit.plots.inputs import as_array, as_words

LETTERS = 24  # on a line of a name


@style.close_on_error
def plot_bars(values: Mapping[str, float], *, title: str = "", x_label: str = "", ax: Axes | None = None) -> Axes:
    """Draw named numbers as horizontal bars, the first on top, each with its rounded number beside it.

    Raises ValueError for no bars, or a number that is not finite; TypeError for anything that is not numbers.
    """
    numbers = as_array(list(values.values()), ndim=(1,), finite=True)
    ax = style.axes_or_new(ax, style.figure_size(1, min(style.HEIGHT, 0.9 + 0.4 * len(numbers))))
    bars = ax.barh(range(len(numbers)), numbers, height=0.5, color=style.COLOURS[0])
    ax.bar_label(bars, [f"{number:,.0f}".replace("-", "−") for number in numbers], padding=4)
    _name_bars(ax, [textwrap.fill(style.drawable(name, style.LABEL), LETTERS) for name in values])
    ax.axvline(0, color=style.LINE_STRONG, linewidth=0.8)
    ax.set_xticks([])  # the numbers stand beside the bars
    ax.margins(x=0.15)
    style.label_axes(ax, title, x_label)
    ax.xaxis.label.set(x=0, ha="left")
    return ax


@style.close_on_error
def plot_bar_panels(
    panels: Mapping[str, ArrayLike],
    names: Sequence[str],
    *,
    title: str = "",
    colors: Sequence[str] = ("C0",),
) -> Figure:
    """Draw several numbers of each name as bars side by side, a panel for each kind of number, with two decimals.

    panels: title -> numbers (N,). names: one for each row, the first on top. colors: of the rows; where there are
    fewer, they begin again.
    Raises ValueError for no bars, names that do not match them, or a number that is not finite; TypeError for anything
    that is not numbers.
    """
    arrays = [as_array(values, ndim=(1,), name=name, finite=True) for name, values in panels.items()]
    if not arrays or {len(numbers) for numbers in arrays} != {len(names)}:
        got = [len(numbers) for numbers in arrays]
        raise ValueError(f"panels: expected at least one, each with {len(names)} numbers, one for each name, got {got}")
    rows = [style.drawable(name, style.TICK) for name in as_words(names, len(names), "names")]
    size, layout = style.figure_size(len(panels), 0.7 + 0.3 * len(rows)), ConstrainedLayoutEngine(wspace=0.05)
    figure, axes = plt.subplots(1, len(panels), figsize=size, sharey=True, squeeze=False, layout=layout)
    for ax, name, numbers in zip(axes[0], panels, arrays, strict=True):
        bars = ax.barh(range(len(rows)), numbers, height=0.6, color=[*islice(cycle(colors), len(rows))])
        ax.bar_label(bars, [f"{number:.2f}".replace("-", "−") for number in numbers], padding=4)
        ax.axvline(0, color=style.LINE_STRONG, linewidth=0.8)
        ax.set_xticks([])
        ax.margins(x=0.35)
        style.label_axes(ax, name)
        _name_bars(ax, rows)
    style.level_titles(axes[0])
    if title:
        style.add_suptitle(figure, title)
    return figure


def _name_bars(ax: Axes, names: Sequence[str]) -> None:
    """Write the names beside the bars, the first on top, and draw nothing else around them."""
    ax.set_yticks(range(len(names)), names, **style.plain_text())
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
