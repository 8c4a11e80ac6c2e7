"""Words whose vectors have two numbers, as arrows from the origin."""

from collections.abc import Sequence
from itertools import cycle

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from encoder_lib.course.kit.palette import WORDS
from encoder_lib.course.kit.plots import style
from encoder_lib.course.kit.plots.inputs import as_array, as_words

# Offsets of a word from its point: close to it first, then higher and lower, on the right and on the left.
LABEL_OFFSETS = tuple((side, up) for up in (6, -6, 18, -18, 30, -30, 42, -42) for side in (8, -8))


@style.close_on_error
def plot_word_vectors(
    vectors: ArrayLike,
    words: Sequence[str],
    kinds: Sequence[str],
    *,
    title: str = "",
    limit: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw words whose vectors have two numbers as arrows from the origin; words of one kind share colour and marker.

    vectors: (N, 2). words, kinds: one string for each row. limit: the end of both axes.
    Raises ValueError for vectors of another width or not finite, or strings that do not match them; TypeError for
    anything that is not numbers.
    """
    points = as_array(vectors, name="vectors", finite=True)  # (N, 2)
    if points.shape[1] != 2:
        width = f"{points.shape[1]} in shape {points.shape}"
        raise ValueError(f"vectors: expected a width of 2, got {width}: in a plane each word has two numbers")
    words, kinds = as_words(words, len(points), "words"), as_words(kinds, len(points), "kinds")
    ax = style.axes_or_new(ax)
    names = list(dict.fromkeys(kinds))
    for name, colour, marker in zip(names, cycle(WORDS), cycle(style.MARKERS), strict=False):
        chosen = [i for i, kind in enumerate(kinds) if kind == name]
        ends = *np.zeros((2, len(chosen))), *points[chosen].T
        ax.quiver(*ends, color=colour, angles="xy", scale_units="xy", scale=1, width=0.003)
        ax.scatter(*points[chosen].T, color=[colour], marker=marker, label=style.legend_label(name), zorder=3)
    limit = limit or 1.15 * float(np.abs(points).max()) or 1.0
    ax.set(xlim=(-limit, limit), ylim=(-limit, limit), aspect="equal")
    style.add_grid(ax, "both")
    _write_words(ax, points, words, limit)
    style.add_legend(ax)
    return style.label_axes(ax, title, "first number", "second number")


def _write_words(ax: Axes, points: np.ndarray, words: Sequence[str], limit: float) -> None:
    """Write each word near its point, away from other words and points; a thin line leads to distant words."""
    inches = ax.bbox.transformed(ax.figure.dpi_scale_trans.inverted())
    positions = points * (36 * min(inches.width, inches.height) / limit)  # (N, 2), in typographic points
    taken = [(x - 4, x + 4, y) for x, y in positions]  # left end, right end and height of everything drawn there
    for i in np.argsort(-points[:, 1], kind="stable"):
        word = style.drawable(words[i], style.TICK)
        boxes = [_word_box(positions[i], word, offset) for offset in LABEL_OFFSETS]
        clashes = [sum(left < b and right > a and abs(y - m) < 9 for a, b, m in taken) for left, right, y in boxes]
        best = clashes.index(min(clashes))
        taken.append(boxes[best])
        side, up = LABEL_OFFSETS[best]
        ax.annotate(
            word, points[i], xytext=(side, up), textcoords="offset points", fontsize=style.NOTE_SIZE, va="center",
            ha="left" if side > 0 else "right", gid=style.HALO, **style.plain_text(),
            arrowprops={"arrowstyle": "-", "color": style.GREY, "linewidth": 0.6} if abs(up) > 12 else None,
        )  # fmt: skip


def _word_box(position: np.ndarray, word: str, offset: tuple[int, int]) -> tuple[float, float, float]:
    """The left end, right end and height of a word in small type at an offset from a position."""
    x, y, width = position[0] + offset[0], position[1] + offset[1], 5.2 * len(word)
    return (x, x + width, y) if offset[0] > 0 else (x - width, x, y)
