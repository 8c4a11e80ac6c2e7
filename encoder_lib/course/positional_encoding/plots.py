"""A figure of positional encoding: vectors whose words change their order."""

from collections.abc import Sequence
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import ConnectionPatch
from numpy.typing import ArrayLike

from encoder_lib.course.kit.plots import style
from encoder_lib.course.kit.plots.heatmap import plot_heatmap
from encoder_lib.course.kit.plots.inputs import as_array, as_words, colour_limits


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
    limits = colour_limits(np.stack([left, right]), None, "diverging")
    size, layout = style.figure_size(2, 1.3 + 0.5 * len(left)), ConstrainedLayoutEngine(wspace=0.2)
    figure, (a, b) = plt.subplots(1, 2, figsize=size, layout=layout)
    draw = partial(plot_heatmap, limits=limits, cmap="diverging", x_label="dimension")
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
