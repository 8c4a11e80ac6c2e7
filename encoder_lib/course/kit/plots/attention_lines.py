"""Attention as lines between words."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from encoder_lib.course.kit.palette import COMPARED, FOLLOWED, LIGHT
from encoder_lib.course.kit.plots import style
from encoder_lib.course.kit.plots.inputs import as_array, as_words

FAINTEST = 0.05  # a weight below it is not drawn
LONGEST = 16  # characters of a word that fit beside the lines
THICKEST, THICKEST_GREY = 4.5, 2.2  # in points, for a weight of 1
MOST = 0.5  # a key with at least this weight from a lit word gets a frame
QUIET = [*COMPARED][-1]


@style.close_on_error
def plot_attention_lines(
    weights: ArrayLike,
    words: Sequence[str],
    *,
    only: Sequence[int] | None = None,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw the words twice, and a line from each query on the left to each key on the right, thicker if it weighs more.

    weights: (T, T), row i belongs to word i, numbers from 0 to 1; those below 0.05 are left out. only: the words whose
    lines are lit, and they themselves as queries, and the keys that get most of their weight; the lines of the others
    are grey and thinner.
    Raises ValueError for weights that are not square or not finite, or words that don't match; TypeError for
    anything that is not numbers.
    """
    array = as_array(weights, name="weights", finite=True)  # (T, T)
    if array.shape[0] != array.shape[1]:
        raise ValueError(f"weights: expected (T, T), got {array.shape}")
    names = as_words(words, len(array), "words")
    ax = style.axes_or_new(ax, (4.6, 1.0 + 0.3 * len(array)))
    lit = [] if only is None else list(only)
    reached = {int(key) for row in lit for key in np.flatnonzero(array[row] >= MOST)}
    for row, column in np.argwhere(array >= FAINTEST).tolist():
        colour = LIGHT["attention"] if only is None else LIGHT[FOLLOWED] if row in lit else QUIET
        thickest = THICKEST_GREY if colour == QUIET else THICKEST
        ax.plot([0, 1], [row, column], color=colour, linewidth=thickest * array[row, column], zorder=2 + (row in lit))
    card = {"boxstyle": "round,pad=0.3", "facecolor": style.GROUND, "edgecolor": LIGHT[FOLLOWED], "linewidth": 1.6}
    for place, name in enumerate(style.drawable(name, LONGEST) for name in names):
        text = ax.text(-0.06, place, name, ha="right", va="center", **style.plain_text())
        text.set_bbox(card if place in lit else None)
        text = ax.text(1.06, place, name, ha="left", va="center", **style.plain_text())
        text.set_bbox(card if place in reached else None)
    ax.set(xlim=(-0.6, 1.6), ylim=(len(array) - 0.5, -0.5), xticks=[0, 1], yticks=[])
    ax.set_xticklabels(["query", "key"])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return style.label_axes(ax, title)
