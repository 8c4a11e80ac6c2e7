"""A query and keys in the plane."""

from collections.abc import Sequence
from itertools import cycle, islice
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from encoder_lib.course.kit.palette import WORDS
from encoder_lib.course.kit.plots import style
from encoder_lib.course.kit.plots.inputs import as_array, as_words

LETTERS = 40  # of a name


@style.close_on_error
def plot_query(
    query: ArrayLike, keys: ArrayLike, names: Sequence[str], *, title: str = "", ax: Axes | None = None
) -> Axes:
    """Draw a query (2,) and keys (N, 2) as arrows from the origin, each in a colour of its own.

    names: that of the query, and one for each key, written at the tips, and below an arrow that a longer one covers.
    Raises ValueError for other shapes or numbers that are not finite; TypeError for anything that is not numbers.
    """
    first = as_array(query, ndim=(1,), name="query", finite=True)  # (2,)
    others = as_array(keys, name="keys", finite=True)  # (N, 2)
    if first.shape != (2,) or others.shape[1] != 2:
        raise ValueError(f"expected a query (2,) and keys (N, 2), got {first.shape}, {others.shape}")
    tips = np.vstack([others, first])
    names = [*as_words(names[1:], len(others), "keys", LETTERS), style.readable(names[0], LETTERS)]
    ax = style.axes_or_new(ax, (6.4, 3.4))
    *first_colours, last_colour = WORDS  # as the explorers draw words
    colours = [*islice(cycle(first_colours), len(others)), last_colour]
    lengths = np.linalg.norm(tips, axis=1)
    for tip, length, name, colour in zip(tips, lengths, names, colours, strict=True):
        ax.annotate(
            "", tip, (0, 0), arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 2.2, "shrinkA": 0,
            "shrinkB": 0, "mutation_scale": 16},
        )  # fmt: skip
        covered = (np.isclose(tips @ tip, length * lengths) & (lengths > length)).any()
        place: dict[str, Any] = {"xytext": (8, 0), "va": "center"}
        if covered:
            place = {"xytext": (0, -8), "ha": "center", "va": "top"}
        elif abs(tip[0]) < 0.1 * tip[1]:  # above an arrow that points straight up
            place = {"xytext": (-6, 7), "va": "bottom"}
        text = style.plain_text(color=colour, gid=style.HALO)
        ax.annotate(style.drawable(name, LETTERS), tip, textcoords="offset points", **place, **text)
    reach = max(1.0, np.abs(tips).max())
    low, high = np.minimum(tips.min(axis=0), 0) - 0.2 * reach, np.maximum(tips.max(axis=0), 0) + 0.2 * reach
    ax.set(xlim=(low[0], high[0] + 0.6 * reach), ylim=(low[1], high[1]), aspect="equal")
    style.use_whole_ticks(ax.xaxis)
    style.use_whole_ticks(ax.yaxis)
    style.add_grid(ax, "both")
    return style.label_axes(ax, title, "first number", "second number")
