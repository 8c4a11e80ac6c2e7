"""Words on a plane: as arrows from the origin, or as points with their weighted mean."""

from collections.abc import Sequence
from itertools import cycle

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke

from encoder_lib import expect
from encoder_lib.plots.inputs import as_array, as_words
from encoder_lib.plots.style import (
    COLOURS,
    GREY,
    TICK,
    axes_or_new,
    drawable,
    legend_name,
    plain,
    whole_or_nothing,
    write_legend,
    write_names,
)

# Where a word may stand beside its point: near it first, then higher and lower, to the right and to the left.
LABEL_PLACES = tuple((side, up) for up in (6, -6, 18, -18, 30, -30, 42, -42) for side in (8, -8))
HALO = withStroke(linewidth=2.5, foreground="white")  # keeps a word readable where an arrow runs beneath it


@whole_or_nothing
def plot_words(
    vectors,
    words: Sequence[str],
    kinds: Sequence[str],
    *,
    title: str = "",
    limit: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw words whose vectors have two numbers as arrows from the origin; words of one kind share colour and marker.

    vectors: (N, 2). words, kinds: one string for each row. limit: how far both axes reach.
    Raises ValueError for vectors of another width or not finite, strings that do not match them, or a limit that is not
    above 0; TypeError for what are no numbers, no strings or no Axes.
    """
    points = as_array(vectors, name="vectors", finite=True)  # (N, 2)
    if points.shape[1] != 2:
        width = f"{points.shape[1]} in shape {points.shape}"
        raise ValueError(f"vectors: expected a width of 2, got {width}: a plane has room for two numbers a word")
    words, kinds = as_words("words", words, len(points)), as_words("kinds", kinds, len(points))
    if limit is not None:
        expect.positive("limit", limit)
    ax = axes_or_new(ax)
    names = list(dict.fromkeys(kinds))
    for name, colour, marker in zip(names, cycle(COLOURS), cycle("osD^vP"), strict=False):
        chosen = [i for i, kind in enumerate(kinds) if kind == name]
        ax.quiver(
            *np.zeros((2, len(chosen))),
            *points[chosen].T,
            color=colour,
            angles="xy",
            scale_units="xy",
            scale=1,
            width=0.003,
        )
        ax.scatter(*points[chosen].T, color=[colour], marker=marker, label=legend_name(name), zorder=3)
    limit = limit or 1.15 * float(np.abs(points).max()) or 1.0
    ax.set(xlim=(-limit, limit), ylim=(-limit, limit), aspect="equal")
    _write_words(ax, points, words, limit)
    write_legend(ax)
    return write_names(ax, title, "first number", "second number")


def _write_words(ax: Axes, points: np.ndarray, words: Sequence[str], limit: float) -> None:
    """Write each word near its point, clear of other words and points; a thin line leads to one that had to move."""
    inches = ax.bbox.transformed(ax.figure.dpi_scale_trans.inverted())
    places = points * (36 * min(inches.width, inches.height) / limit)  # (N, 2): in the points that type is measured in
    taken = [(x - 4, x + 4, y) for x, y in places]  # left end, right end and height of what stands there
    for i in np.argsort(-points[:, 1], kind="stable"):
        word = drawable(words[i], TICK)
        boxes = [_word_box(places[i], word, offset) for offset in LABEL_PLACES]
        clashes = [sum(left < b and right > a and abs(y - m) < 9 for a, b, m in taken) for left, right, y in boxes]
        best = clashes.index(min(clashes))
        taken.append(boxes[best])
        side, up = LABEL_PLACES[best]
        ax.annotate(
            word, points[i], xytext=(side, up), textcoords="offset points", fontsize=8, va="center",
            ha="left" if side > 0 else "right", path_effects=[HALO], **plain(),
            arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.6} if abs(up) > 12 else None,
        )  # fmt: skip


def _word_box(place: np.ndarray, word: str, offset: tuple[int, int]) -> tuple[float, float, float]:
    """The left end, right end and height of a word in small type that stands beside a place."""
    x, y, width = place[0] + offset[0], place[1] + offset[1], 5.2 * len(word)
    return (x, x + width, y) if offset[0] > 0 else (x - width, x, y)


@whole_or_nothing
def plot_mean(values, weights, words: Sequence[str], *, others=None, title: str = "", ax: Axes | None = None) -> Axes:
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
        ax.scatter(*dots.T, s=6, color=GREY, label="other weights")
    for i in range(len(points)):
        for j in range(i):
            ax.plot(*points[[i, j]].T, color=GREY, linewidth=0.8)
    mean = shares @ points  # (2,)
    for word, share, point in zip(words, shares, points, strict=True):
        ax.plot(*np.stack([mean, point]).T, color=COLOURS[0], linewidth=12 * share, alpha=0.75, solid_capstyle="butt")
        ax.annotate(
            f"{drawable(word, TICK)}, {100 * share:.0f} %", point, xytext=(9, 5), textcoords="offset points", zorder=5,
            bbox={"facecolor": "white", "alpha": 0.7, "pad": 1, "linewidth": 0}, **plain(),
        )  # fmt: skip
    ax.scatter(*points.T, color=COLOURS[0], s=45, zorder=3, label="values")
    ax.scatter(*mean, color=COLOURS[1], marker="*", s=220, zorder=4, label="their weighted mean")
    ax.margins(0.12)
    write_legend(ax)
    return write_names(ax, title, "first number", "second number")
