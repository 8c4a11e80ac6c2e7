"""Figures of positional encoding: rows of the table as the hands of clocks, and rows that change their order."""

from collections.abc import Sequence
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import Circle, ConnectionPatch
from numpy.typing import ArrayLike

from encoder_lib.course.kit.palette import LIGHT
from encoder_lib.course.kit.plots import style
from encoder_lib.course.kit.plots.heatmap import plot_heatmap
from encoder_lib.course.kit.plots.inputs import as_array, as_words, colour_limits


@style.close_on_error
def plot_clocks(before: ArrayLike, after: ArrayLike, *, title: str = "", ax: Axes | None = None) -> Axes:
    """Draw two rows of a sinusoidal table as the hands of clocks: pair k is clock k, sine up and cosine right.

    before, after: (D,) each. Line 2k of the Axes is the hand of clock k before, line 2k + 1 its hand after.
    Raises ValueError for an odd width, two different widths, or numbers that are not finite; TypeError for anything
    that isn't numbers.
    """
    first, second = (as_array(row, ndim=(1,), finite=True) for row in (before, after))  # (D,) each
    if first.shape != second.shape or len(first) % 2:
        raise ValueError(f"expected before and after, two rows of one even width, got {first.shape}, {second.shape}")
    ax = style.axes_or_new(ax, figsize=style.figure_size(4, 2.2))
    hands = (first, "before", style.GREY, "--", 2), (second, "after", LIGHT["position"], "-", 3)
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


@style.close_on_error
def plot_reordering(
    before: ArrayLike, after: ArrayLike, order: Sequence[int], words: Sequence[str], *, title: str = ""
) -> Figure:
    """Draw the vectors of the words before and after a change of word order, with a line from each to where it went.

    before: (T, D) in the order of `words`. after: (T, D), whose row i belongs to the word `order[i]`.
    Raises ValueError for two different shapes, or a wrong number of words; TypeError for anything that isn't numbers.
    """
    left, right = as_array(before, name="before"), as_array(after, name="after")  # (T, D) each
    if left.shape != right.shape:
        raise ValueError(f"expected before and after of one shape, got {left.shape}, {right.shape}")
    words = as_words(words, len(left), "words")
    limits = colour_limits(np.stack([left, right]), None, "coolwarm")
    size, layout = style.figure_size(2, 1.3 + 0.5 * len(left)), ConstrainedLayoutEngine(wspace=0.2)
    figure, (a, b) = plt.subplots(1, 2, figsize=size, layout=layout)
    draw = partial(plot_heatmap, limits=limits, cmap="coolwarm", x_label="dimension")
    draw(left, y_ticks=words, colorbar=False, ax=a)
    draw(right, y_ticks=[words[i] for i in order], ax=b)
    reach = 0.03 + 0.03 * max(map(len, words))  # to the left of the second heatmap, past its words
    for row, source in enumerate(order):
        line = ConnectionPatch(
            (1, source),
            (-reach, row),
            a.get_yaxis_transform(),
            b.get_yaxis_transform(),
            color=style.GREY,
            linewidth=1.2,
        )
        figure.add_artist(line)
    style.add_suptitle(figure, title)
    return figure
