"""Two rows of the sinusoidal table as the hands of clocks."""

from matplotlib.axes import Axes
from matplotlib.patches import Circle
from numpy.typing import ArrayLike

from encoder_lib.course.plots import style
from encoder_lib.course.plots.inputs import as_array


@style.close_on_error
def plot_clocks(before: ArrayLike, after: ArrayLike, *, title: str = "", ax: Axes | None = None) -> Axes:
    """Draw two rows of a sinusoidal table as the hands of clocks: pair k is a point (sine up, cosine right) of clock k.

    before, after: (D,) each. Line 2k of the Axes is clock k's hand before, line 2k + 1 its hand after.
    Raises ValueError for an odd width, widths that differ, or numbers that are not finite; TypeError for what are no
    numbers.
    """
    first, second = (as_array(row, ndim=(1,), finite=True) for row in (before, after))  # (D,) each
    if first.shape != second.shape or len(first) % 2:
        raise ValueError(f"expected before and after, two rows of one even width, got {first.shape}, {second.shape}")
    ax = style.axes_or_new(ax, figsize=style.figure_size(4, 2.2))
    hands = (first, "before", "0.45", "--", 2), (second, "after", style.COLOURS[0], "-", 3)
    n_clocks = len(first) // 2
    for k in range(n_clocks):
        ax.add_patch(Circle((3 * k, 0), 1, facecolor="none", edgecolor=style.GREY))
        for row, name, colour, dash, width in hands:
            sine, cosine = row[2 * k : 2 * k + 2]
            ax.plot(
                [3 * k, 3 * k + cosine], [0, sine], color=colour, linewidth=width, marker="o", markevery=[1],
                linestyle=dash, label=name if k == 0 else None,
            )  # fmt: skip
        ax.annotate(f"clock {k}", (3 * k, -1.35), ha="center", va="top")
    ax.set(xlim=(-1.4, 3 * n_clocks - 1.6), ylim=(-1.7, 1.2), aspect="equal")
    ax.axis("off")
    style.add_legend(ax)
    return style.label_axes(ax, title)
