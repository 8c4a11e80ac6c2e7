"""Rows of a matrix before and after a change of their order."""

from collections.abc import Iterable, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import ConnectionPatch
from numpy.typing import ArrayLike

from encoder_lib import expect
from encoder_lib.plots.heatmap import plot_heatmap
from encoder_lib.plots.inputs import as_array, as_words, colour_limits
from encoder_lib.plots.style import add_suptitle, close_on_error, figure_size


@close_on_error
def plot_reordering(
    before: ArrayLike,
    after: ArrayLike,
    order: Sequence[int],
    words: Sequence[str],
    *,
    title: str = "",
    cmap: str = "coolwarm",
) -> Figure:
    """Draw one vector a word before and after a change of word order, each joined by a line to where it went.

    before: (T, D) in the order of `words`. after: (T, D), whose row i stands for the word `order[i]`.
    Raises ValueError for shapes that differ, an order that is not a permutation, words that do not match or an unknown
    colour map; TypeError for what are no numbers, no order or no words.
    """
    left, right = as_array(before, name="before"), as_array(after, name="after")  # (T, D) each
    expect.kind("order", order, Iterable, "an order of the rows", "; try [1, 0, 2]")
    order = [expect.whole("order", place) for place in order]
    if left.shape != right.shape or sorted(order) != list(range(len(left))):
        raise ValueError(
            f"expected before and after of one shape and an order of their rows, got {left.shape}, {right.shape}, "
            f"{expect.shown(order)}"
        )
    words = as_words("words", words, len(left))
    limits = colour_limits(np.stack([left, right]), None, cmap)
    figure, (a, b) = plt.subplots(
        1, 2, figsize=figure_size(2, 1.3 + 0.5 * len(left)), layout=ConstrainedLayoutEngine(wspace=0.2)
    )
    plot_heatmap(left, y_ticks=words, limits=limits, cmap=cmap, colorbar=False, x_label="dimension", ax=a)
    plot_heatmap(right, y_ticks=[words[i] for i in order], limits=limits, cmap=cmap, x_label="dimension", ax=b)
    reach = 0.03 + 0.03 * max(map(len, words))  # to the left of the second map, past its words
    for row, source in enumerate(order):
        line = ConnectionPatch(
            (1, source), (-reach, row), a.get_yaxis_transform(), b.get_yaxis_transform(), color="0.4", linewidth=1.2
        )
        figure.add_artist(line)
    add_suptitle(figure, title)
    return figure
