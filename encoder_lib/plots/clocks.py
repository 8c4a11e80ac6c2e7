"""Two rows of the sinusoidal table as the hands of clocks."""

from matplotlib.axes import Axes
from matplotlib.patches import Circle
from numpy.typing import ArrayLike

from encoder_lib.plots.inputs import as_array
from encoder_lib.plots.style import COLOURS, GREY, add_legend, axes_or_new, close_on_error, figure_size, label_axes


@close_on_error
def plot_clocks(before: ArrayLike, after: ArrayLike, *, title: str = "", ax: Axes | None = None) -> Axes:
    """Draw two rows of a sinusoidal table as the hands of clocks: pair k is a point (sine up, cosine right) of clock k.

    before, after: (D,) each. Line 2k of the Axes is clock k's hand before, line 2k + 1 its hand after.
    Raises ValueError for an odd width, widths that differ, or numbers that are not finite; TypeError for what are no
    numbers or no Axes.
    """
    given = {"before": before, "after": after}
    hands = [as_array(row, ndim=(1,), name=name, finite=True) for name, row in given.items()]
    if hands[0].shape != hands[1].shape or len(hands[0]) % 2:
        shapes = f"{hands[0].shape} and {hands[1].shape}"
        raise ValueError(f"expected before and after, two rows of one even width, got {shapes}")
    ax = axes_or_new(ax, figsize=figure_size(4, 2.2))
    n_clocks = len(hands[0]) // 2
    for k in range(n_clocks):
        ax.add_patch(Circle((3 * k, 0), 1, facecolor="none", edgecolor=GREY))
        for row, colour, width, name in zip(hands, ("0.45", COLOURS[0]), (2, 3), ("before", "after"), strict=True):
            sine, cosine = row[2 * k : 2 * k + 2]
            ax.plot(
                [3 * k, 3 * k + cosine], [0, sine], color=colour, linewidth=width, marker="o", markevery=[1],
                linestyle="--" if name == "before" else "-", label=name if k == 0 else None,
            )  # fmt: skip
        ax.annotate(f"clock {k}", (3 * k, -1.35), ha="center", va="top")
    ax.set(xlim=(-1.4, 3 * n_clocks - 1.6), ylim=(-1.7, 1.2), aspect="equal")
    ax.axis("off")
    add_legend(ax)
    return label_axes(ax, title)
