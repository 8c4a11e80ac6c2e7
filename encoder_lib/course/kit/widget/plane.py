"""Points in a plane as a panel of a view: the arrows of words, the hands of clocks, a grid that is folded."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle
from numpy.typing import ArrayLike

from encoder_lib.course.kit.palette import WORDS
from encoder_lib.course.kit.plots import GREY, as_array, as_labels
from encoder_lib.course.kit.plots.style import (
    GROUND,
    HALO,
    INK,
    NOTE_SIZE,
    TEXT_SIZE,
    label_axes,
    moved_data,
    plain_text,
)

WORD_COLOURS = (*WORDS, "#000000")
PATHS = {"thin": ("-", 0.6, GREY), "thick": ("-", 2.5, GREY), "dashed": ("--", 2.0, INK)}
PANEL_FIELDS = (
    "title",
    "x_label",
    "y_label",
    "x_ticks",
    "y_ticks",
    "cmap",
    "rows",
    "columns",
    "frames",
    "missing",
    "tile",
)  # what the front end gets of every panel
LABEL = 11.0  # height of a name, in typographic points
RING, TINT = 7.5, 0.1  # typographic points of a ring's diameter, and how opaque an area is
ONE_WAY, BESIDE_LONGER = 0.02, 7.0  # radians between arrows in one direction, and the pixels between them
ASIDE, OVER, LABEL_HIGH = 14.0, 19.0, 15.0  # pixels from a tip to a name beside it or above it, and a name's height
NARROW_ANGLE, BESIDE = 0.7, 0.4  # radians; between the arrows of a narrower angle there is no room for its number


class Plane:
    """Points (P, 2) with their names, or N frames of them (N, P, 2), between which the front end glides.

    names: one for each point; a point without a name, "", is seen only as part of a path, or as a dot.
    kinds: one string for each point; those of one kind have one colour.
    x_limits, y_limits: what has to be seen. wide: how much wider than high the picture is, where there is room.
    arrows: whether the named points are the tips of arrows from the origin. turns: whether they glide around it.
    circle: the radius of a circle around the origin, 0 for none.
    angle: two points; the angle from the arrow of the first to that of the second is drawn.
    paths: points that are joined by a thin line; `curve` and `cut` are one path more each, thick, and `cut` is dashed.
    dots: whether points without a name are small dots in the colour of their kind.
    rings: the points that are open rings, with a name or without. area: the points around a tinted area.
    drags: for each point that can be dragged, the names of the two `Range` controls that have its numbers.
    Raises ValueError for other shapes, and for names or kinds that do not match.
    """

    cmap, missing, tile = "", "", None
    x_ticks = y_ticks = None

    def __init__(
        self,
        values: ArrayLike,
        names: Sequence[str],
        *,
        kinds: Sequence[str] | None = None,
        x_limits: tuple[float, float],
        y_limits: tuple[float, float],
        title: str = "",
        x_label: str = "",
        y_label: str = "",
        wide: float = 1.0,
        arrows: bool = False,
        turns: bool = False,
        circle: float = 0.0,
        angle: tuple[int, int] | None = None,
        paths: Sequence[Sequence[int]] = (),
        curve: Sequence[int] = (),
        cut: Sequence[int] = (),
        dots: bool = False,
        rings: Sequence[int] = (),
        area: Sequence[int] = (),
        drags: Mapping[int, tuple[str, str]] | None = None,
    ) -> None:
        self.values = as_array(values, ndim=(2, 3), finite=True).astype(np.float32)
        if self.values.shape[-1] != 2:
            raise ValueError(f"values: expected points of two numbers, got shape {self.values.shape}")
        self.title, self.x_label, self.y_label = title, x_label, y_label
        self.rows, self.columns = self.values.shape[-2:]
        self.framed = self.values.ndim == 3
        self.frames = len(self.values) if self.framed else 1
        self.names = as_labels(names, self.rows, "names") or []
        kinds = as_labels(kinds, self.rows, "kinds") or [""] * self.rows
        found = list(dict.fromkeys(kinds))
        self.colours = [found.index(kind) % len(WORD_COLOURS) for kind in kinds]
        self.x_limits, self.y_limits, self.limits = x_limits, y_limits, y_limits
        self.wide, self.arrows, self.turns, self.circle, self.angle = wide, arrows, turns, circle, angle
        lines = [(path, "thin") for path in paths] + [(curve, "thick"), (cut, "dashed")]
        self.paths = [(list(path), look) for path, look in lines if path]
        self.dots, self.rings, self.area = dots, list(rings), list(area)
        self.drags = [[point, *controls] for point, controls in (drags or {}).items()]
        if wrong := [point for point in drags or {} if not 0 <= point < self.rows]:
            raise ValueError(f"drags: expected points from 0 to {self.rows - 1}, got {wrong[0]}")

    def frame(self, index: int) -> np.ndarray:
        """Return the points (P, 2) of frame `index`; without frames, the points."""
        return self.values[index] if self.framed else self.values

    def to_spec(self) -> dict:
        """Return what the front end needs to draw the panel, apart from the points."""
        own = (
            "names",
            "colours",
            "x_limits",
            "y_limits",
            "wide",
            "arrows",
            "turns",
            "circle",
            "angle",
            "paths",
            "dots",
            "rings",
            "area",
        )
        spec = {name: getattr(self, name) for name in PANEL_FIELDS} | {"stride": 2 * self.rows, "shift_rows": False}
        drags = {"drags": self.drags} if self.drags else {}
        return spec | {"plane": {name: getattr(self, name) for name in own} | drags}

    def room_for_long_words(self) -> float:
        """Extra space, in inches: names are inside the picture."""
        return 0.0

    def draw(self, index: int, ax: Axes) -> None:
        """Draw frame `index` on a matplotlib Axes."""
        points, (left, right), (bottom, top) = self.frame(index), self.x_limits, self.y_limits
        height = max(top - bottom, (right - left) / self.wide)
        across, up = (self.wide * height - right + left) / 2, (height - top + bottom) / 2
        ax.set(xlim=(left - across, right + across), ylim=(bottom - up, top + up), aspect="equal")
        ax.axhline(0, color=GREY, linewidth=0.7, zorder=0)
        ax.axvline(0, color=GREY, linewidth=0.7, zorder=0)
        if self.circle:
            ax.add_patch(Circle((0, 0), self.circle, fill=False, edgecolor=GREY))
            ax.axis("off")
        if self.area:
            ax.fill(*points[self.area].T, color=GREY, alpha=TINT, linewidth=0)
        for path, look in self.paths:
            dashes, width, colour = PATHS[look]
            ax.plot(*points[path].T, dashes, linewidth=width, color=colour)
        self._draw_angle(points, ax)
        named = [i for i, name in enumerate(self.names) if name]
        for i in self.rings:
            ax.plot(*points[i], "o", ms=RING, mfc=GROUND, mec=WORD_COLOURS[self.colours[i]], mew=1.6)
        if self.dots:
            nameless = [i for i, name in enumerate(self.names) if not name]
            colours = [WORD_COLOURS[self.colours[i]] for i in nameless]
            ax.scatter(points[nameless, 0], points[nameless, 1], s=9, c=colours, alpha=0.6, linewidths=0)
        beside = self._beside(points)
        for i in named:
            colour = WORD_COLOURS[self.colours[i]]
            if self.arrows:
                moved = moved_data(ax, 0.75 * beside[i, 0], -0.75 * beside[i, 1])
                ax.annotate(
                    "",
                    points[i],
                    (0, 0),
                    xycoords=moved,
                    textcoords=moved,
                    arrowprops={
                        "arrowstyle": "-|>",
                        "color": colour,
                        "shrinkA": 0,
                        "shrinkB": 0,
                        "linewidth": 2 if self.circle or self.drags else 1,
                    },
                )
            elif i not in self.rings:
                ax.plot(*points[i], "o", color=colour)
        self._write_names(points, named, ax)
        label_axes(ax, self.title, self.x_label, self.y_label)

    def _draw_angle(self, points: np.ndarray, ax: Axes) -> None:
        if self.angle is None:
            return
        first, second = np.degrees(np.arctan2(*points[list(self.angle)].T[::-1]))
        turn = (second - first + 180) % 360 - 180
        way, radius = np.radians(np.linspace(first, first + turn, 40)), 0.25 * self.y_limits[1]
        ax.plot(radius * np.cos(way), radius * np.sin(way), color="black", linewidth=1.5)
        narrow, text = abs(np.radians(turn)) < NARROW_ANGLE, f"{turn:.0f}°".replace("-", "−")
        middle = way[0] - np.copysign(BESIDE, turn) if narrow else way[len(way) // 2]
        ax.text(
            1.7 * radius * np.cos(middle), 1.7 * radius * np.sin(middle), text, ha="center", va="center", weight="bold"
        )

    def _write_names(self, points: np.ndarray, named: list[int], ax: Axes) -> None:
        """Write each name beside its point, away from the origin, and apart from the others."""
        ax.apply_aspect()
        box = ax.bbox.transformed(ax.figure.dpi_scale_trans.inverted())  # in inches
        width, height = np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim())
        unit = 72 * min(box.width / width, box.height / height)  # typographic points
        if self.drags:
            self._write_names_of_arrows(points, named, unit / 0.75, ax)
            return
        labels = []
        for i in named:
            x, y, long = unit * points[i, 0], -unit * points[i, 1], 5.6 * len(self.names[i])
            labels.append((x - 6 - long, x - 6, y) if x < -1 else (x + 6, x + 6 + long, y))
        for i, (*_, y), place in zip(named, labels, spread(labels), strict=True):
            side = -1 if points[i, 0] * unit < -1 else 1
            ax.annotate(
                self.names[i], points[i], xytext=(6 * side, y - place), textcoords="offset points", va="center",
                ha="left" if side > 0 else "right", fontsize=NOTE_SIZE, color=WORD_COLOURS[self.colours[i]],
                arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.6} if abs(y - place) > LABEL else None,
                gid=HALO, **plain_text(),
            )  # fmt: skip

    def _beside(self, points: np.ndarray) -> np.ndarray:
        """How far each arrow is drawn beside its place, in pixels, y downwards (P, 2)."""
        if not self.drags:
            return np.zeros((len(points), 2))
        return np.array(beside_longer([(float(x), float(y)) for x, y in points]))

    def _write_names_of_arrows(self, points: np.ndarray, named: list[int], unit: float, ax: Axes) -> None:
        """Write each name near the tip of its arrow, where it is on no arrow. unit: its pixels."""
        beside = self._beside(points)
        tips = points[named] * (unit, -unit) + beside[named]  # pixels from the origin, y downwards
        arrows = [(*beside[i], *tip) for i, tip in zip(named, tips, strict=True)]
        (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
        box = tuple(float(unit * edge) for edge in (left, -top, right, -bottom))
        widths = [6.4 * len(self.names[i]) for i in named]
        for i, tip, (x, y), width in zip(named, tips, names_near_tips(arrows, widths, box), widths, strict=True):
            right, down = x + width / 2 - tip[0] + beside[i, 0], y - tip[1] + beside[i, 1]  # from the point
            ax.annotate(
                self.names[i], points[i], xytext=(0.75 * right, -0.75 * down), textcoords="offset points", ha="center",
                va="center", fontsize=TEXT_SIZE, color=WORD_COLOURS[self.colours[i]], gid=HALO, **plain_text(),
            )  # fmt: skip


def beside_longer(tips: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """How far each arrow from the origin is moved, in pixels, so that a longer one in its direction doesn't cover it.

    It is moved to its own right, with y downwards, as in plane.js.
    """
    lengths = [math.hypot(x, y) for x, y in tips]
    moves = []
    for i, (x, y) in enumerate(tips):
        covered = 0
        for j, (other_x, other_y) in enumerate(tips):
            apart = abs(math.atan2(x * other_y - y * other_x, x * other_x + y * other_y))
            longer = lengths[j] > lengths[i] or (lengths[j] == lengths[i] and j < i)
            covered += bool(lengths[i]) and longer and apart < ONE_WAY
        moves.append((BESIDE_LONGER * covered * y / (lengths[i] or 1), BESIDE_LONGER * covered * x / (lengths[i] or 1)))
    return moves


def names_near_tips(
    arrows: Sequence[Sequence[float]], widths: Sequence[float], box: Sequence[float]
) -> list[tuple[float, float]]:
    """The left end and the middle height of each arrow's name, where it meets the least, as plane.js places it.

    arrows: (from x, from y, tip x, tip y) in pixels from the origin, y downwards. widths: of the names. box: the left,
    upper, right and lower edge of the plot. A name is beside its tip, above, below or at its other side, in this
    order, or farther away, but an arrow that was moved has it on the side to which it was moved.
    """
    placed: list[tuple[float, float]] = []
    for (from_x, from_y, x, y), width in zip(arrows, widths, strict=True):
        away = -1 if x < -1 else 1
        sides = [x + ASIDE if side > 0 else x - ASIDE - width for side in (away, -away)]
        over = min(max(x - width / 2, box[0]), box[2] - width)
        places = [(sides[0], y), (over, y - OVER), (over, y + OVER), (sides[1], y)]
        places += [(over, y - 2 * OVER), (over, y + 2 * OVER)]
        if from_x or from_y:
            places.insert(0, places.pop(2 if from_y > 0 else 1))
        costs = []
        for left, middle in places:
            edges = (left - 2, middle - LABEL_HIGH / 2, left + width + 2, middle + LABEL_HIGH / 2)
            out = left < box[0] or left + width > box[2] or edges[1] < box[1] or edges[3] > box[3]
            cost = 8 * out + (edges[1] < 0 < edges[3]) + (edges[0] < 0 < edges[2])  # an axis is met
            cost += sum(3 * _crosses(arrow, edges) for arrow in arrows)
            for (other, height), wide in zip(placed, widths, strict=False):
                apart = left + width < other or other + wide < left or abs(middle - height) >= LABEL_HIGH
                cost += 0 if apart else 5
            costs.append(cost)
        placed.append(places[costs.index(min(costs))])
    return placed


def _crosses(arrow: Sequence[float], edges: Sequence[float]) -> bool:
    """Whether an arrow leads through a rectangle."""
    from_x, from_y, x, y = arrow
    way = [((from_x + n * (x - from_x) / 40), (from_y + n * (y - from_y) / 40)) for n in range(41)]
    return any(edges[0] < right < edges[2] and edges[1] < down < edges[3] for right, down in way)


def spread(labels: Sequence[tuple[float, float, float]], height: float = LABEL) -> list[float]:
    """Move labels up and down until none overlaps another, as plane.js does. Each is (left, right, y), y downwards."""
    places = [y for *_, y in labels]
    order = sorted(range(len(labels)), key=places.__getitem__)
    for _ in range(60):
        moved = False
        for i, upper in enumerate(order):
            for lower in order[i + 1 :]:
                apart = places[lower] - places[upper]
                beside = labels[upper][1] <= labels[lower][0] or labels[lower][1] <= labels[upper][0]
                if not beside and apart < height - 0.01:
                    places[upper] -= (height - apart) / 2
                    places[lower] += (height - apart) / 2
                    moved = True
        if not moved:
            break
    return places
