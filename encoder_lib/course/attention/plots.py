"""Values with two numbers each, and their weighted mean."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from encoder_lib.course.kit.plots import style
from encoder_lib.course.kit.plots.inputs import as_array, as_words

MEAN = "their weighted mean"


@style.close_on_error
def plot_weighted_mean(
    values: ArrayLike, weights: ArrayLike, words: Sequence[str], *, title: str = "", ax: Axes | None = None
) -> Axes:
    """Draw values with two numbers each as points, their weighted mean as a star, and a thick line to a large weight.

    values: (N, 2), with a thin line between every two of them. weights: (N,). words: one string for each value.
    Raises ValueError for values of another width, numbers that are not finite, or weights or strings that do not match
    the values; TypeError for anything that is not a number.
    """
    points = as_array(values, finite=True)  # (N, 2)
    weights = as_array(weights, ndim=(1,), name="weights", finite=True)  # (N,)
    if points.shape != (len(weights), 2):
        raise ValueError(f"values: expected shape ({len(weights)}, 2), one row for each weight, got {points.shape}")
    words = as_words(words, len(points), "words")
    ax = style.axes_or_new(ax)
    for pair in combinations(points, 2):
        ax.plot(*np.stack(pair).T, color=style.GREY, linewidth=0.8)
    mean = weights @ points  # (2,)
    blue, box = style.COLOURS[0], {"facecolor": style.GROUND, "alpha": 0.7, "pad": 1, "linewidth": 0}
    for word, weight, point in zip(words, weights, points, strict=True):
        ax.plot(*np.stack([mean, point]).T, color=blue, linewidth=12 * weight, alpha=0.75, solid_capstyle="butt")
        text = f"{style.drawable(word, style.TICK)}, {style.percent(weight)}"
        look = style.plain_text(zorder=5, bbox=box)
        ax.annotate(text, point, xytext=(9, 5), textcoords="offset points", **look)
    ax.scatter(points[:, 0], points[:, 1], color=blue, s=45, zorder=3)
    ax.scatter(mean[0], mean[1], color=style.COLOURS[1], marker="*", s=220, zorder=4)
    ax.annotate(
        MEAN, mean, xytext=(11, -4), textcoords="offset points", va="top", **style.plain_text(zorder=5, bbox=box)
    )
    ax.margins(0.12)
    style.add_grid(ax, "both")
    return style.label_axes(ax, title, "first number", "second number")
