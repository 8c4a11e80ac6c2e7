"""A mask: which query may attend to which key."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.transforms import offset_copy
from numpy.typing import ArrayLike

from encoder_lib.course.kit.palette import LIGHT, VISIBLE
from encoder_lib.course.kit.plots import style
from encoder_lib.course.kit.plots.heatmap import plot_heatmap
from encoder_lib.course.kit.plots.inputs import as_array

TINT = next(iter(VISIBLE))
NAMES = "True: visible", "False: masked out"
SIGNS = 150  # cells; with more of them, none has a ×
TALLEST, BELOW = 4.2, 38  # inches of a picture of several masks, and points from a mask to the legend below its labels


@style.close_on_error
def plot_mask(
    mask: ArrayLike,
    *,
    names: tuple[str, str] | None = NAMES,
    title: str = "",
    ax: Axes | None = None,
    **labels: Any,
) -> Axes:
    """Draw a mask: row 0 at the top, True in a pale hue of attention, False in grey, with a small × if they are few.

    mask: booleans (R, C). names: of True and of False, for a legend, unless None. labels: x_label, y_label, x_ticks and
    y_ticks of `plot_heatmap`, whose errors it raises.
    """
    visible = as_array(mask, name="mask") != 0  # (R, C)
    ax = plot_heatmap(visible, colorbar=False, ax=ax, **labels)
    for artist in (*ax.images, *ax.texts):  # colours that change with the theme take the place of an image
        artist.remove()
    ax.patch.set_facecolor(style.LINE)
    ax.autoscale(False)
    for row, cells in enumerate(visible):
        starts, ends = np.flatnonzero(np.diff(cells, prepend=False, append=False)).reshape(-1, 2).T
        runs = list(zip(starts - 0.5, ends - starts, strict=True))
        ax.broken_barh(runs, (row - 0.5, 1), facecolor=TINT, edgecolor=TINT, linewidth=0.5)
    if visible.size < SIGNS:
        y, x = np.nonzero(~visible)
        ax.plot(x, y, "x", color=style.QUIET, markersize=5, markeredgewidth=1)
    if names is not None:
        _add_squares(ax, names)
        style.add_legend(ax, above=True)
    return style.label_axes(ax, title, ax.get_xlabel(), ax.get_ylabel(), pad=None if names is None else style.ABOVE)


@style.close_on_error
def plot_masks(masks: Mapping[str, ArrayLike], *, ticks: Mapping[str, Sequence[str]], **labels: Any) -> Figure:
    """Draw masks side by side, with one legend, below the first.

    masks: title -> booleans (T, T). ticks: title -> the T tokens, which are the queries and the keys. labels: x_label
    and y_label of `plot_heatmap`, whose errors it raises; KeyError for a title without ticks.
    """
    size = style.figure_size(len(masks), min(TALLEST, 1 + style.WIDTH / len(masks)))
    figure, axes = plt.subplots(1, len(masks), figsize=size, squeeze=False, layout="constrained")
    for ax, (title, mask) in zip(axes[0], masks.items(), strict=True):
        plot_mask(mask, names=None, title=title, x_ticks=ticks[title], y_ticks=ticks[title], ax=ax, **labels)
    first = axes[0, 0]
    below = {"loc": "upper left", "bbox_to_anchor": (0, 0), "borderaxespad": 0, "borderpad": 0}
    below["bbox_transform"] = offset_copy(first.transAxes, figure, -4, -BELOW, units="points")
    first.legend(handles=_add_squares(first, NAMES), ncols=2, handletextpad=0.4, columnspacing=1.4, **below)
    return figure


def _add_squares(ax: Axes, names: tuple[str, str]) -> list[PathCollection]:
    """Add the legend's squares for True and for False, and return them."""
    looks = zip((TINT, style.LINE), (LIGHT["attention"], style.QUIET), names, strict=True)
    return [
        ax.scatter([], [], s=80, marker="s", facecolor=face, edgecolor=edge, label=style.legend_label(name))
        for face, edge, name in looks
    ]
