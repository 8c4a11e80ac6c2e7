"""Attention as lines between words."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from encoder_lib import expect
from encoder_lib.plots.inputs import as_array, as_words
from encoder_lib.plots.style import COLOURS, axes_or_new, close_on_error, drawable, label_axes, plain_text

FAINTEST = 0.05  # a weight below it is not drawn
LONGEST = 16  # letters of a word that have room beside the lines
THICKEST = 5  # points, of a weight of 1


@close_on_error
def plot_attention_lines(
    weights: ArrayLike,
    words: Sequence[str],
    *,
    only: Sequence[int] | None = None,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw the words twice, and a line from each word on the left to each that it looks at, the thicker the more.

    weights: (T, T), row i belongs to word i, numbers from 0 to 1; those below 0.05 are left out. only: the rows whose
    lines are drawn, all when None.
    Raises ValueError for weights that are not square or not from 0 to 1, words that don't match; IndexError for a row
    that is not there; TypeError for what are no numbers, words or Axes.
    """
    array = as_array(weights, name="weights", finite=True)  # (T, T)
    if array.shape[0] != array.shape[1]:
        raise ValueError(f"weights: expected (T, T), got {array.shape}")
    if array.min() < 0 or array.max() > 1 + 1e-6:
        raise ValueError(f"weights: expected numbers from 0 to 1, got {array.min():.4g} to {array.max():.4g}")
    names = as_words("words", words, len(array))
    expect.kind("only", only, list | tuple | None, "a list of rows", "; try only=[2]")
    rows = range(len(array)) if only is None else [expect.index("only", row, len(array), "a row") for row in only]
    ax = axes_or_new(ax, (4.6, 1.0 + 0.3 * len(array)))
    for row in rows:
        for column, weight in enumerate(array[row]):
            if weight >= FAINTEST:
                ax.plot([0, 1], [row, column], color=COLOURS[0], linewidth=THICKEST * weight)
    for place, name in enumerate(drawable(name, LONGEST) for name in names):
        ax.text(-0.04, place, name, ha="right", va="center", **plain_text())
        ax.text(1.04, place, name, ha="left", va="center", **plain_text())
    ax.set(xlim=(-0.6, 1.6), ylim=(len(array) - 0.5, -0.5), xticks=[0, 1], yticks=[])
    ax.set_xticklabels(["looks", "looked at"])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return label_axes(ax, title)
