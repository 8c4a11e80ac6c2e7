"""The steps of attention."""

from collections.abc import Sequence
from functools import partial

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from encoder_lib.course.kit.plots import style
from encoder_lib.course.kit.plots.heatmap import plot_heatmap


@style.close_on_error
def plot_attention(
    scores: ArrayLike, weights: ArrayLike, output: ArrayLike, words: Sequence[str], *, titles: Sequence[str]
) -> Figure:
    """Draw the three steps of attention side by side: scores and weights (T, T), output (T, V), a word for each row.

    titles: what each step shows. Masked scores, −∞ or NaN, are grey.
    Raises ValueError for shapes that do not match the words; TypeError for anything that is not numbers.
    """
    figure, axes = plt.subplots(1, 3, figsize=style.figure_size(3, 3.0), layout="constrained")
    square = partial(plot_heatmap, x_label="key", y_label="query", x_ticks=words, y_ticks=words)
    square(scores, title=titles[0], cmap="diverging", ax=axes[0])
    square(weights, title=titles[1], limits=(0, 1), ax=axes[1])
    plot_heatmap(output, title=titles[2], cmap="diverging", x_label="dimension", y_ticks=words, ax=axes[2])
    axes[2].set_box_aspect(1)  # as high as the squares, and as wide
    return figure
