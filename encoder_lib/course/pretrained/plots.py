"""The names of a file's tensors beside ours, with a strand from each to its partner."""

import re
from collections.abc import Mapping
from itertools import groupby

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from torch import Tensor

from encoder_lib.course.kit.palette import LIGHT
from encoder_lib.course.kit.plots import style

ROLES = {  # part of one of our names -> its hue, in the order in which an encoder uses the parts
    "embedding.token": "embedding",
    "embedding.position": "position",
    "embedding.norm": "norm",
    "q_proj": "query",
    "k_proj": "key",
    "v_proj": "value",
    "out_proj": "attention",
    "norm1": "norm",
    "linear1": "forward",
    "linear2": "forward",
    "norm2": "norm",
    "": "quiet",  # any other
}
ROW, INDENT = 0.26, 0.14  # inches from row to row, and of a name below the name of its group
SHAPES, LEFT, RIGHT = 3.1, 3.2, 5.9  # inches from the left: the ends of the shapes and both ends of the strands
STUB = 0.18  # inches of a strand without a partner
THICKEST, THINNEST, BUNDLED = 12.0, 1.2, 2.0  # points of a strand, and from strand to strand of a bundle


@style.close_on_error
def plot_names(tensors: Mapping[str, Tensor], ours: Mapping[str, str], *, title: str = "") -> Axes:
    """Draw the names of tensors on the left, ours on the right, and a strand in the hue of its part between partners.

    A weight and its bias share a strand, which is the thicker the more numbers they have. The layers after layer 0 are
    one bundle. A tensor whose name stays the same has no partner.
    tensors: in the order of the file. ours: their name -> our name.
    """
    partner = {name: ours[name] for name in tensors if ours[name] != name}
    by_use = sorted(partner, key=lambda name: (_layer(name), _part(partner[name])))
    sides = _rows({name: name for name in tensors}), _rows({name: partner[name] for name in by_use})
    high = ROW * max(map(len, sides))
    figure = plt.figure(figsize=style.figure_size(1, high + ROW))
    ax = figure.add_axes((0, 0, 1, 1), xlim=(0, style.WIDTH), ylim=(-high - ROW / 2, ROW / 2))
    ax.axis("off")
    name_look = style.plain_text(va="center_baseline", fontsize=style.TICK_SIZE)
    note = name_look | {"fontsize": style.NOTE_SIZE, "color": style.QUIET}
    places: list[dict[tuple[str, ...], float]] = [{}, {}]  # the tensors of a row -> how high it is
    for rows, place, x, heading in zip(sides, places, (0, RIGHT + 0.1), ("in the file", "in our encoder"), strict=True):
        ax.text(x, 0, heading, **note)
        for i, (words, names) in enumerate(rows):
            y = -ROW - (high - ROW * len(rows)) / 2 - i * ROW
            ax.text(x + INDENT * words.startswith(" "), y, style.drawable(words.strip(), style.LABEL), **name_look)
            place |= {names: y} if names else {}
    ax.text(SHAPES, 0, "shapes: weight, bias", **note, ha="right")
    most = max(tensor.numel() for tensor in tensors.values())
    ends = {name: y for names, y in places[1].items() for name in names}
    for names, y in places[0].items():
        shapes = [" × ".join(map(str, tensors[name].shape)) for name in sorted(names, reverse=True)]
        ax.text(SHAPES, y, ", ".join(shapes) if len(shapes) < 3 else f"{len(shapes)} tensors", **note, ha="right")
        if names[0] not in partner:
            ax.plot([LEFT, LEFT + STUB], [y, y], color=style.QUIET, linewidth=THINNEST)
            ax.plot(LEFT + STUB, y, "x", color=style.QUIET, markersize=5)
            ax.text(LEFT + STUB + 0.12, y, "no partner", **note)
            continue
        parts = sorted({_part(partner[name]) for name in names})
        numbers = sum(tensors[name].numel() for name in names) / most
        width = max(THINNEST, THICKEST * numbers ** (1 / 3)) if len(parts) == 1 else THINNEST
        for i, part in enumerate(parts):
            shift = ((len(parts) - 1) / 2 - i) * BUNDLED / 72
            _strand(ax, y + shift, ends[names[0]] + shift, width, LIGHT[[*ROLES.values()][part]])
    return style.label_axes(ax, title)


def _strand(ax: Axes, left: float, right: float, width: float, colour: str) -> None:
    """A curve that leaves and arrives level."""
    middle = (LEFT + RIGHT) / 2
    path = Path([(LEFT, left), (middle, left), (middle, right), (RIGHT, right)], [Path.MOVETO, *[Path.CURVE4] * 3])
    ax.add_patch(PathPatch(path, fill=False, edgecolor=colour, linewidth=width, capstyle="butt", alpha=0.9))


def _rows(names: Mapping[str, str]) -> list[tuple[str, tuple[str, ...]]]:
    """What is written in each row of a side, and the tensors that it stands for; later rows of a group are indented.

    names: tensor -> its name on this side.
    """
    rows: list[tuple[str, tuple[str, ...]]] = []
    later = [name for name in names if _layer(name) > 0]
    for group, found in groupby((name for name in names if name not in later), lambda name: _group(names[name])):
        stems: dict[str, tuple[str, ...]] = {}
        for name in found:
            stem = re.sub(r"\.(weight|bias)$", "", names[name])
            stems[stem] = (*stems.get(stem, ()), name)
        if len(stems) == 1:
            rows += stems.items()
            continue
        rows += [(group, ()), *((f" {stem.removeprefix(group)}", tensors) for stem, tensors in stems.items())]
        if later and _layer(stems.popitem()[1][0]) == 0:
            rows.append((f"{_group(names[later[0]])} … {_layer(later[-1])}.", tuple(later)))
    return rows


def _layer(name: str) -> int:
    """The number of its layer, −1 for what is in no layer."""
    number = re.search(r"\.(\d+)\.", name)
    return int(number[1]) if number else -1


def _group(name: str) -> str:
    """The beginning of a name: up to the number of its layer, or else up to the first full stop."""
    begins = re.match(r".*?\.\d+\.|[^.]*\.", name)
    return begins[0] if begins else ""


def _part(ours: str) -> int:
    """Which of `ROLES` one of our names belongs to."""
    return next(i for i, part in enumerate(ROLES) if part in ours)
