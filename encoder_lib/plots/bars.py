"""Numbers with names, as bars."""

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from encoder_lib import expect
from encoder_lib.plots.inputs import finite_numbers
from encoder_lib.plots.style import COLOURS, LABEL, axes_or_new, close_on_error, drawable, label_axes, plain_text


@close_on_error
def plot_bars(
    values: Mapping[str, float], *, title: str = "", x_label: str = "", number: str = ",.0f", ax: Axes | None = None
) -> Axes:
    """Draw named numbers as horizontal bars, the first on top, each with its number written beside it.

    values: name -> number, NaN and infinity excepted. number: how the numbers are written.
    Raises ValueError for no bars, a number that is not finite, or another way to write numbers; TypeError for what are
    no numbers or no Axes.
    """
    expect.mapping("values", values, "finite number", "{'name': number}")
    numbers = finite_numbers("values", values)
    expect.text("number", number)
    try:
        written = [format(value, number) for value in numbers]
    except ValueError as error:
        raise ValueError(f"number: expected how Python writes a number, such as ',.0f', got {number!r}") from error
    ax = axes_or_new(ax)
    names = [drawable(name, LABEL) for name in values]
    bars = ax.barh(range(len(names)), numbers, color=COLOURS[0])
    ax.bar_label(bars, written, padding=4)
    ax.set_yticks(range(len(names)), names, **plain_text())
    ax.invert_yaxis()
    ax.margins(x=0.15)
    if max(map(abs, numbers)) >= 10_000:  # written out, as beside the bars, and not as 1e7 in a corner
        ax.xaxis.set_major_locator(MaxNLocator(4))
        ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    return label_axes(ax, title, x_label)
