"""Attention as lines between words."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from encoder_lib.course.kit.palette import LIGHT
from encoder_lib.course.kit.plots import style
from encoder_lib.course.kit.plots.inputs import as_array, as_words

FAINTEST = 0.05  # a weight below it is not drawn
LONGEST = 16  # characters of a word that fit beside the lines
THICKEST = 4  # in points, for a weight of 1


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

    weights: (T, T), row i belongs to word i, numbers from 0 to 1; those below 0.05 are left out. only: the rows whose
    lines are drawn; all of them when None.
    Raises ValueError for weights that are not square or not finite, or words that don't match; TypeError for
    anything that is not numbers.
    """
    array = as_array(weights, name="weights", finite=True)  # (T, T)
    if array.shape[0] != array.shape[1]:
        raise ValueError(f"weights: expected (T, T), got {array.shape}")
    names = as_words(words, len(array), "words")
    ax = style.axes_or_new(ax, (4.6, 1.0 + 0.3 * len(array)))
    for row in range(len(array)) if only is None else only:
        for column, weight in enumerate(array[row]):
            if weight >= FAINTEST:
                ax.plot([0, 1], [row, column], color=LIGHT["attention"], linewidth=THICKEST * weight)
    for place, name in enumerate(style.drawable(name, LONGEST) for name in names):
        ax.text(-0.04, place, name, ha="right", va="center", **style.plain_text())
        ax.text(1.04, place, name, ha="left", va="center", **style.plain_text())
    ax.set(xlim=(-0.6, 1.6), ylim=(len(array) - 0.5, -0.5), xticks=[0, 1], yticks=[])
    ax.set_xticklabels(["query", "key"])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return style.label_axes(ax, title)
