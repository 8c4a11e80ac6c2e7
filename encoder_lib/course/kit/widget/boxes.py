"""Boxes as a panel of a view: cells that are laid out anew, bars that grow and shrink, and notes beside them."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch, Patch, Polygon, Rectangle
from numpy.typing import ArrayLike

from encoder_lib.course.kit import palette
from encoder_lib.course.kit.plots import GREY, LABEL, as_array, as_labels, readable
from encoder_lib.course.kit.plots.style import GROUND, INK, NOTE_SIZE, TITLE_SIZE, label_axes, plain_text
from encoder_lib.course.kit.widget.plane import PANEL_FIELDS, WORD_COLOURS

LOOKS = (
    "note",
    "heading",
    "ghost",
    "rule",
    "grey",
    "round",
    "right",
    "down",
)  # text alone, in the middle or at the left; a dashed outline, a line, what doesn't count, a circle, two arrowheads
ROUND = 20  # points of a circle's diameter
TINT = 0.14  # how much of its colour the ground of a labelled box of a role has, as in `boxes.js`

Box = tuple[str, str, tuple[float, float, float, float, float]]  # kind, label, and place with opacity


class Boxes:
    """Boxes (P, 5), or N frames of them (N, P, 5), between which the front end glides.

    values: for each box its left and upper edge, its width, its height and its opacity from 0 to 1.
    size: width and height of the picture in the same unit; the origin is its upper left corner.
    kinds: one string for each box: a role of the palette, one of `LOOKS`, or any other word. The boxes of one such word
        have one colour.
    labels: a text for each box, or N lists of them; "" for none.
    steps: for each box the frame that a click on it leads to, or -1.
    least: the least width in pixels, at which the labels still have room; where there is less, panels are stacked.
    large: whether the labels are as large as the words of a drawing.
    slim: how much of its height a box without a label takes, in the middle: bars beside words are slimmer than a line.
    Raises ValueError for other shapes, and for kinds or labels that do not match.
    """

    cmap, missing, tile = "", "", None
    x_ticks = y_ticks = None
    x_label = y_label = ""

    def __init__(
        self,
        values: ArrayLike,
        kinds: Sequence[str],
        *,
        size: tuple[float, float],
        labels: Sequence[str] | Sequence[Sequence[str]] | None = None,
        title: str = "",
        steps: Sequence[int] = (),
        least: int = 270,
        large: bool = False,
        slim: float = 1.0,
    ) -> None:
        self.values = as_array(values, ndim=(2, 3), finite=True).astype(np.float32)
        if self.values.shape[-1] != 5:
            raise ValueError(f"values: expected boxes of five numbers, got shape {self.values.shape}")
        self.rows, self.columns = self.values.shape[-2:]
        self.framed = self.values.ndim == 3
        self.frames = len(self.values) if self.framed else 1
        self.size, self.title, self.limits, self.least, self.large = size, title, (0.0, 1.0), least, large
        self.slim = slim
        self.kinds = as_labels(kinds, self.rows, "kinds") or []
        given = list(labels if labels is not None else [""] * self.rows)
        several = bool(given) and not isinstance(given[0], str)
        if several and len(given) != self.frames:
            raise ValueError(f"labels: expected {self.frames} lists of them, one for each frame, got {len(given)}")
        self.labels = [[readable(text, LABEL) for text in texts] for texts in (given if several else [given])]
        if wrong := [len(texts) for texts in self.labels if len(texts) != self.rows]:
            raise ValueError(f"labels: expected one for each of {self.rows} boxes, got {wrong[0]}")
        if steps and (len(steps) != self.rows or not -1 <= min(steps) <= max(steps) < self.frames):
            raise ValueError(
                f"steps: expected one of -1 to {self.frames - 1} for each of {self.rows} boxes, got {list(steps)}"
            )
        self.steps = list(steps)
        words = list(dict.fromkeys(kind for kind in self.kinds if kind not in (*LOOKS, *palette.LIGHT)))
        self.colours = [words.index(k) % len(WORD_COLOURS) if k in words else k for k in self.kinds]

    def frame(self, index: int) -> np.ndarray:
        """Return the boxes (P, 5) of frame `index`; without frames, the boxes."""
        return self.values[index] if self.framed else self.values

    def to_spec(self) -> dict:
        """Return what the front end needs to draw the panel, apart from the boxes."""
        spec = {name: getattr(self, name) for name in PANEL_FIELDS}
        boxes = {
            "size": self.size,
            "colours": self.colours,
            "labels": self.labels,
            "steps": self.steps,
            "least": self.least,
            "large": self.large,
            "slim": self.slim,
        }
        return spec | {"stride": 5 * self.rows, "shift_rows": False, "boxes": boxes}

    def room_for_long_words(self) -> float:
        """Extra space, in inches: labels are inside the picture."""
        return 0.0

    def draw(self, index: int, ax: Axes) -> None:
        """Draw frame `index` on a matplotlib Axes."""
        ax.set(xlim=(0, self.size[0]), ylim=(self.size[1], 0))
        ax.axis("off")
        size = TITLE_SIZE if self.large else NOTE_SIZE
        for box, colour, label in zip(
            self.frame(index), self.colours, self.labels[index % len(self.labels)], strict=True
        ):
            left, top, width, height, strength = map(float, box)
            if not strength:
                continue
            if not label:
                top, height = top + height * (1 - self.slim) / 2, height * self.slim
            patch: Patch = Rectangle((left, top), width, height)
            patch.set(alpha=strength, facecolor=_paint(colour), edgecolor="none")
            tinted = bool(label) and colour in palette.LIGHT  # what is written on it stays in the colour of text
            if colour == "ghost":
                patch.set(fill=False, linestyle="--", edgecolor=GREY)
            if tinted:
                style = f"round,pad=0,rounding_size={min(0.006 * self.size[0], width / 2, height / 2)}"
                ax.add_patch(FancyBboxPatch((left, top), width, height, style, alpha=strength, facecolor=GROUND, lw=0))
                patch = FancyBboxPatch((left, top), width, height, style)
                patch.set(alpha=None, facecolor=(_paint(colour), TINT * strength), edgecolor=(_paint(colour), strength))
            if colour == "round":  # also where the units of width and height differ
                middle = [left + width / 2], [top + height / 2]
                ax.plot(*middle, "o", ms=ROUND, mfc=GROUND, mec=INK, mew=1, alpha=strength)
            if colour in ("right", "down"):
                far = (left + width, top + height / 2) if colour == "right" else (left + width / 2, top + height)
                near = (left, top + height) if colour == "right" else (left + width, top)
                patch = Polygon([(left, top), far, near], alpha=strength, facecolor=_paint("stream"), lw=0)
            if colour not in ("note", "heading", "round"):
                ax.add_patch(patch)
            if label:
                ink = INK if colour in LOOKS or tinted else "white"
                side, across = ("left", 0) if colour == "heading" else ("center", width / 2)
                place = left + across, top + height / 2
                ax.text(*place, label, ha=side, va="center", fontsize=size, color=ink, **plain_text())
        label_axes(ax, self.title)


def _paint(colour: str | int) -> str:
    """The colour of a box on white."""
    if isinstance(colour, int):
        return WORD_COLOURS[colour]
    return {"grey": palette.LIGHT["line"], "rule": "black"}.get(colour) or palette.LIGHT.get(colour, "white")


def framed(
    frames: Sequence[Sequence[Box]],
    title: str,
    size: tuple[float, float],
    steps: Sequence[int] = (),
    large: bool = False,
) -> Boxes:
    """Boxes of N frames, each given as a list of the same boxes in the same order."""
    places = np.array([[place for *_, place in frame] for frame in frames])  # (N, P, 5)
    labels = [[label for _, label, _ in frame] for frame in frames]
    kinds = [kind for kind, *_ in frames[0]]
    return Boxes(places, kinds, size=size, labels=labels, title=title, steps=steps, large=large)
