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
WIDE = 1.93  # at least as many times as wide as high, as the picture is
THIN = {"arrowstyle": "-|>", "linewidth": 2.2, "mutation_scale": 16}  # looks of arrows
BROAD = {"arrowstyle": "simple, tail_width=0.4, head_width=1", "linewidth": 0, "mutation_scale": 22, "alpha": 0.5}


@style.close_on_error
def plot_query(
    query: ArrayLike, keys: ArrayLike, names: Sequence[str], *, title: str = "", ax: Axes | None = None
) -> Axes:
    """Draw a query (2,) and keys (N, 2) as arrows from the origin, each in a colour of its own.

    names: that of the query, and one for each key, written at the tips. An arrow along a longer one is broad and pale,
    so that both are seen, and its name is below it.
    Raises ValueError for other shapes or numbers that are not finite; TypeError for anything that is not numbers.
    """
    first = as_array(query, ndim=(1,), name="query", finite=True)  # (2,)
    others = as_array(keys, name="keys", finite=True)  # (N, 2)
    if first.shape != (2,) or others.shape[1] != 2:
        raise ValueError(f"expected a query (2,) and keys (N, 2), got {first.shape}, {others.shape}")
    tips = np.vstack([others, first])
    names = [*as_words(names[1:], len(others), "keys", LETTERS), style.readable(names[0], LETTERS)]
    ax = style.axes_or_new(ax, (style.WIDTH, 4.6))
    *first_colours, last_colour = WORDS  # as the explorers draw words
    colours = [*islice(cycle(first_colours), len(others)), last_colour]
    lengths = np.linalg.norm(tips, axis=1)
    for tip, length, name, colour in zip(tips, lengths, names, colours, strict=True):
        covered = (np.isclose(tips @ tip, length * lengths) & (lengths > length)).any()
        look = BROAD if covered else THIN
        ax.annotate(
            "", tip, (0, 0), arrowprops={"color": colour, "shrinkA": 0, "shrinkB": 0} | look, zorder=2 if covered else 3
        )
        place: dict[str, Any] = {"xytext": (8, 0), "va": "center"}
        if covered:
            place = {"xytext": (0, -14), "ha": "center", "va": "top"}
        elif abs(tip[0]) < 0.1 * tip[1]:  # above an arrow that points straight up
            place = {"xytext": (-6, 7), "va": "bottom"}
        text = style.plain_text(color=colour, gid=style.HALO)
        ax.annotate(style.drawable(name, LETTERS), tip, textcoords="offset points", **place, **text)
    reach = max(1.0, np.abs(tips).max())
    low, high = np.minimum(tips.min(axis=0), 0) - 0.16 * reach, np.maximum(tips.max(axis=0), 0) + 0.16 * reach
    high[0] += 0.6 * reach  # for names
    beside = max(0.0, WIDE * (high[1] - low[1]) - (high[0] - low[0])) / 2
    ax.set(xlim=(low[0] - beside, high[0] + beside), ylim=(low[1], high[1]), aspect="equal")
    style.use_whole_ticks(ax.xaxis)
    style.use_whole_ticks(ax.yaxis)
    style.add_grid(ax, "both")
    return style.label_axes(ax, title, "first number", "second number")
