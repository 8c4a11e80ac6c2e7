"""A drawing of an encoder layer: the residual stream, and the branches that read from it and add to it."""

import itertools
from functools import partial

from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyBboxPatch, Patch

from encoder_lib.course.kit.palette import LIGHT
from encoder_lib.course.kit.plots import style

BLOCK_PARTS = ("x", "attention", "sum1", "norm1", "feed_forward", "sum2", "norm2", "y")
_BRANCH = 2.1  # how far the branches are to the right of the stream
_POST_NORM = {
    "x": (0, 0), "attention": (_BRANCH, 1.75), "sum1": (0, 2.55), "norm1": (0, 3.5),
    "feed_forward": (_BRANCH, 5.15), "sum2": (0, 5.95), "norm2": (0, 6.9), "y": (0, 7.9),
}  # fmt: skip
_PRE_NORM = {
    "x": (0, 0), "norm1": (_BRANCH, 1.6), "attention": (_BRANCH, 2.7), "sum1": (0, 3.5),
    "norm2": (_BRANCH, 5.0), "feed_forward": (_BRANCH, 6.1), "sum2": (0, 6.9), "y": (0, 7.9),
}  # fmt: skip
_ROLES = {"attention": "attention", "feed_forward": "forward", "norm1": "norm", "norm2": "norm"}


@style.close_on_error
def plot_residual_stream(*, norm_first: bool = False, title: str = "", ax: Axes | None = None) -> Axes:
    """Draw how the parts of an encoder layer are connected, from the input at the bottom to the output at the top.

    The thick line is the residual stream. What enters it is still in it at the end, though in post-norm order two norms
    on the line rescale it. With `norm_first`, both norms are on the branches, and nothing interrupts the line.
    """
    ax = style.axes_or_new(ax, figsize=(3.6, 5.2))
    places = _PRE_NORM if norm_first else _POST_NORM
    stream = partial(ax.plot, color=LIGHT["stream"], linewidth=5, solid_capstyle="butt", zorder=1)
    branch = partial(ax.plot, color=style.QUIET, linewidth=1.5, zorder=1, markevery=[-1], markersize=8)
    stream([0, 0], [places["x"][1], places["y"][1] - 0.5], marker="^", markevery=[-1], markersize=13)
    for start, total in ((0.95, "sum1"), (4.35, "sum2")):
        end = places[total][1]
        on_branch = [y for x, y in places.values() if x and start < y < end]
        branch([0, _BRANCH, _BRANCH], [start, start, min(on_branch) - 0.42], marker="^")
        for low, high in itertools.pairwise(sorted(on_branch)):
            branch([_BRANCH, _BRANCH], [low, high - 0.42], marker="^")
        branch([_BRANCH, _BRANCH, 0.43], [max(on_branch), end, end], marker="<")
    for part in BLOCK_PARTS:
        _draw_part(ax, part, *places[part])
    ax.set(xlim=(-1.2, 3.5), ylim=(-0.35, 8.25), aspect="equal")
    ax.axis("off")
    return style.label_axes(ax, title)


def _draw_part(ax: Axes, part: str, x: float, y: float) -> None:
    """Draw a part as a shape with its name inside; its `gid` identifies the shape later."""
    text = {"feed_forward": "feed-forward", "norm1": "norm 1", "norm2": "norm 2", "sum1": "+", "sum2": "+"}
    if part in ("x", "y", "sum1", "sum2"):
        shape: Patch = Circle((x, y), 0.3)
    else:
        wide = 1.15 if part in ("attention", "feed_forward") else 0.75
        shape = FancyBboxPatch((x - wide, y - 0.3), 2 * wide, 0.6, boxstyle="round,pad=0,rounding_size=0.12")
    edge = LIGHT[_ROLES.get(part, "quiet")]
    shape.set(gid=part, facecolor=style.GROUND, edgecolor=edge, linewidth=1.6, zorder=2)
    ax.add_patch(shape)
    size, slant = ("large", "italic") if part in ("x", "y") else ("x-large" if "sum" in part else "medium", "normal")
    ax.text(
        x,
        y,
        text.get(part, part),
        ha="center",
        va="center_baseline",
        fontsize=size,
        fontstyle=slant,
        zorder=3,
        color=style.INK,
    )
