"""Values with two numbers each, and their weighted mean."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from encoder_lib.plots.inputs import as_array, as_words
from encoder_lib.plots.style import (
    COLOURS,
    GREY,
    TICK,
    add_legend,
    axes_or_new,
    close_on_error,
    drawable,
    label_axes,
    percent,
    plain_text,
)


@close_on_error
def plot_weighted_mean(
    values: ArrayLike,
    weights: ArrayLike,
    words: Sequence[str],
    *,
    others: ArrayLike | None = None,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw values with two numbers each as points, their weighted mean as a star, and a thick line to a large weight.

    values: (N, 2), with a thin line between every two of them. weights: (N,). words: one string for each value.
    others: (M, 2), other means to compare, as dots.
    Raises ValueError for values of another width or not finite, weights or strings that do not match them, weights
    below 0; TypeError for what are no numbers, no strings or no Axes.
    """
    points, shares = as_array(values, finite=True), as_array(weights, ndim=(1,), name="weights")  # (N, 2), (N,)
    if points.shape != (len(shares), 2):
        raise ValueError(
            f"expected values of shape ({len(shares)}, 2), one for each of the weights {shares.shape}, got "
            f"{points.shape}: a plane is flat"
        )
    if not (np.isfinite(shares).all() and (shares >= 0).all()):
        raise ValueError(f"weights: expected finite numbers of at least 0, got {shares.tolist()}; try a softmax")
    words = as_words("words", words, len(points))
    dots = np.empty((0, 2)) if others is None else as_array(others, name="others")  # (M, 2)
    if dots.shape[1] != 2:
        raise ValueError(f"others: expected shape (M, 2), got {dots.shape}: a plane is flat")
    ax = axes_or_new(ax)
    if len(dots):
        ax.scatter(dots[:, 0], dots[:, 1], s=6, color=GREY, label="other weights")
    for i in range(len(points)):
        for j in range(i):
            ax.plot(*points[[i, j]].T, color=GREY, linewidth=0.8)
    mean = shares @ points  # (2,)
    for word, share, point in zip(words, shares, points, strict=True):
        ax.plot(*np.stack([mean, point]).T, color=COLOURS[0], linewidth=12 * share, alpha=0.75, solid_capstyle="butt")
        ax.annotate(
            f"{drawable(word, TICK)}, {percent(share)}", point, xytext=(9, 5), textcoords="offset points", zorder=5,
            bbox={"facecolor": "white", "alpha": 0.7, "pad": 1, "linewidth": 0}, **plain_text(),
        )  # fmt: skip
    ax.scatter(points[:, 0], points[:, 1], color=COLOURS[0], s=45, zorder=3, label="values")
    ax.scatter(mean[0], mean[1], color=COLOURS[1], marker="*", s=220, zorder=4, label="their weighted mean")
    ax.margins(0.12)
    add_legend(ax)
    return label_axes(ax, title, "first number", "second number")
