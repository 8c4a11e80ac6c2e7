"""The encoder of the workshop as a drawing, with the reader's parts lit."""

from collections.abc import Collection
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patches import FancyBboxPatch

from encoder_lib.course.kit.palette import LIGHT
from encoder_lib.course.kit.plots import style

HIGH = 0.46  # the height of a box; all lengths here are in inches
# part -> its role in the palette, and its boxes: left edge, width, lower edge, height. First those that hold others.
BOXES: dict[str, tuple[str, list[tuple[float, float, float, float]]]] = {
    "Encoder": ("shared", [(0.42, 6.04, 0.62, 1.72)]),
    "Block": ("shared", [(2.84, 3.54, 0.72, 1.3)]),
    "Embedding": ("embedding", [(0.52, 0.86, 0.9, HIGH)]),
    "Positions": ("position", [(1.48, 0.72, 0.9, HIGH)]),
    "Norm": ("norm", [(2.3, 0.46, 0.9, HIGH), (4.06, 0.46, 0.9, HIGH), (5.84, 0.46, 0.9, HIGH)]),
    "Attention": ("attention", [(2.94, 0.78, 0.9, HIGH)]),
    "FeedForward": ("forward", [(4.62, 0.9, 0.9, HIGH)]),
    "vectors_of": ("sentence-1", [(6.66, 0.86, 0.9, HIGH)]),
    "learn": ("key", [(0.52, 7.0, 0, HIGH)]),
}
SUMS = ((2.9, 3.89), (4.57, 5.68))  # where what is added leaves the stream, and where it comes back


def draw(own: Collection[str], broken: Collection[str] = ()) -> Axes:
    """Draw the parts in the order in which data passes through them, those that are the reader's `own` in colour.

    broken: parts with a dashed frame.
    """
    ax = style.axes_or_new(None, figsize=(style.WIDTH, 2.7))
    middle = 0.9 + HIGH / 2
    ax.plot([0.3, 7.7], [middle, middle], color=LIGHT["stream"], linewidth=2, zorder=2)
    ax.text(0.14, middle, "ids", ha="center", va="center", color=style.QUIET)
    for start, end in SUMS:
        ax.plot([start, start, end, end], [middle, 1.56, 1.56, middle], color=LIGHT["stream"], linewidth=1.4, zorder=2)
        ax.text(end, middle, "+", ha="center", va="center", size=13, zorder=4, bbox=_round())
    for part, (role, places) in BOXES.items():
        lit, dashed = part in own, part in broken
        holds = places[0][3] > HIGH
        edge = LIGHT[role] if lit or dashed else style.LINE_STRONG
        tint = to_rgba(LIGHT[role], 0.12 if holds else 0.4) if lit else "none"
        for left, wide, low, high in places:
            look: dict[str, Any] = {"boxstyle": "round,pad=0,rounding_size=0.07", "edgecolor": edge}
            look |= {"linestyle": "--" if dashed else "-", "linewidth": 2.2 if lit or dashed else 1}
            look |= {"zorder": 1 if holds else 3}
            for fill in (style.GROUND, tint):  # the tint lets what lies beneath it shine through
                ax.add_patch(FancyBboxPatch((left, low), wide, high, facecolor=fill, **look))
            place = (left + 0.08, low + high - 0.08) if holds else (left + wide / 2, low + high / 2)
            across, along = ("left", "top") if holds else ("center", "center")
            weight, colour = ("bold", style.INK) if lit else ("normal", style.QUIET)
            ax.text(*place, part, ha=across, va=along, size=style.NOTE_SIZE, color=colour, weight=weight, zorder=4)
    ax.set(xlim=(0, 7.7), ylim=(-0.05, 2.4), aspect="equal")
    ax.axis("off")
    return ax


def _round() -> dict:
    """The circle around a plus sign."""
    return {"boxstyle": "circle,pad=0.12", "facecolor": style.GROUND, "edgecolor": LIGHT["stream"], "linewidth": 1.2}
