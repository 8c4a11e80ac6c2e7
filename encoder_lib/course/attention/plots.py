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
HIGH, LETTER = 3.1, 0.075  # inches: how high the plot is, and how wide a letter of a name
LEFT_AND_RIGHT, ABOVE_AND_BELOW = 0.75, 0.8  # inches around the plot, for its labels and its title
BESIDE = 7  # points between an arrow and one that covers it
LOOK = {"arrowstyle": "-|>", "linewidth": 2.2, "mutation_scale": 15, "shrinkA": 0, "shrinkB": 0}  # of arrows


@style.close_on_error
def plot_query(
    query: ArrayLike, keys: ArrayLike, names: Sequence[str], *, title: str = "", ax: Axes | None = None
) -> Axes:
    """Draw a query (2,) and keys (N, 2) as arrows from the origin, each in a colour of its own.

    names: that of the query, and one for each key, written at the tips. An arrow along a longer one is drawn a few
    points to the right of it, so that both are seen.
    Raises ValueError for other shapes or numbers that are not finite; TypeError for anything that is not numbers.
    """
    first = as_array(query, ndim=(1,), name="query", finite=True)  # (2,)
    others = as_array(keys, name="keys", finite=True)  # (N, 2)
    if first.shape != (2,) or others.shape[1] != 2:
        raise ValueError(f"expected a query (2,) and keys (N, 2), got {first.shape}, {others.shape}")
    tips = np.vstack([others, first])
    names = [*as_words(names[1:], len(others), "keys", LETTERS), style.readable(names[0], LETTERS)]
    reach = max(1.0, np.abs(tips).max())
    low, high = np.minimum(tips.min(axis=0), 0) - 0.15 * reach, np.maximum(tips.max(axis=0), 0) + 0.15 * reach
    unit = HIGH / (high[1] - low[1])  # inches
    sides = [_side(tip) for tip in tips]
    for tip, name, side in zip(tips, names, sides, strict=True):
        room = (LETTER * len(name) + 0.1) / unit
        low[0] = min(low[0], tip[0] - room * (side in ("left", "level")))
        high[0] = max(high[0], tip[0] + room * (side not in ("left", "level")))
    size = min(style.WIDTH, unit * (high[0] - low[0]) + LEFT_AND_RIGHT), HIGH + ABOVE_AND_BELOW
    ax = style.axes_or_new(ax, size)
    *first_colours, last_colour = WORDS  # as the explorers draw words
    colours = [*islice(cycle(first_colours), len(others)), last_colour]
    lengths = np.linalg.norm(tips, axis=1)
    for i, (tip, length, name, colour, side) in enumerate(zip(tips, lengths, names, colours, sides, strict=True)):
        along = np.isclose(tips @ tip, length * lengths) & (length > 0)
        longer = (along & ((lengths > length) | (lengths == length) & (np.arange(len(tips)) < i))).sum()
        right, up = longer * BESIDE * np.array([tip[1], -tip[0]]) / (length or 1)  # in points
        moved = style.moved_data(ax, right, up)
        arrow = LOOK | {"color": colour}
        ax.annotate("", tip, (0, 0), xycoords=moved, textcoords=moved, arrowprops=arrow, zorder=3)
        ax.annotate(
            style.drawable(name, LETTERS), tip, xycoords=moved, textcoords="offset points",
            **_place(side, covered=longer > 0), **style.plain_text(color=colour, gid=style.HALO),
        )  # fmt: skip
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
    style.use_whole_ticks(ax.xaxis)
    style.use_whole_ticks(ax.yaxis)
    style.add_grid(ax, "both")
    return style.label_axes(ax, title, "first number", "second number")


def _side(tip: np.ndarray) -> str:
    """Where the name of an arrow is: above it if it is level or upright, and otherwise beside its tip."""
    if abs(tip[1]) < 0.1 * abs(tip[0]):
        return "level" if tip[0] > 0 else "level, to the left"
    if abs(tip[0]) < 0.1 * tip[1]:
        return "upright"
    return "right" if tip[0] >= 0 else "left"


def _place(side: str, *, covered: bool) -> dict[str, Any]:
    """How a name is put there, relative to the tip; below it, where the arrow is below another."""
    if covered and side in ("level", "right"):
        return {"xytext": (0, -6), "ha": "right" if side == "level" else "left", "va": "top"}
    return {
        "level": {"xytext": (0, 7), "ha": "right", "va": "bottom"},
        "level, to the left": {"xytext": (0, 7), "va": "bottom"},
        "upright": {"xytext": (-6, 7), "va": "bottom"},
        "right": {"xytext": (8, 0), "va": "center"},
        "left": {"xytext": (-8, 0), "ha": "right", "va": "center"},
    }[side]
