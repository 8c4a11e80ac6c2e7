"""A batch (B, T, D) drawn as cubes: which numbers share one mean."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from encoder_lib.course.kit.plots import style

SHAPE = (3, 4, 6)  # B, T and D of the block that is drawn
_CUBE = (  # the three visible faces of a cube: front, top and right, as corners (x, y, z), y down
    ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)),
    ((0, 0, 0), (1, 0, 0), (1, 0, 1), (0, 0, 1)),
    ((1, 0, 0), (1, 0, 1), (1, 1, 1), (1, 1, 0)),
)
_SHADES = {True: ("#d55e00", "#f0a05f", "#a34700"), False: ("0.87", "0.95", "0.76")}  # front, top, right


@style.close_on_error
def plot_normalisations(dims: Mapping[str, int | tuple[int, ...]]) -> Figure:
    """Draw a batch (B, T, D) as cubes, once for each way to average; the cubes in colour share one mean.

    dims: name -> the axis or axes averaged over, as torch takes them. The titles count the means.
    """
    size = style.figure_size(len(dims), 3.2)
    figure, axes = plt.subplots(1, len(dims), figsize=size, squeeze=False, layout="constrained")
    for ax, (name, dim) in zip(axes[0], dims.items(), strict=True):
        means = torch.zeros(SHAPE).mean(dim).numel()
        _draw_block(ax, {d % 3 for d in ([dim] if isinstance(dim, int) else dim)})
        style.label_axes(ax, f"{name}: {means} mean{'s' * (means > 1)}")
    return figure


def _draw_block(ax: Axes, averaged: set[int]) -> None:
    """Draw one block. averaged: the axes averaged over, 0, 1 or 2."""
    corner = (0, 0, SHAPE[2] - 1)  # the only cube of which all three faces can be seen
    faces: list[list[tuple[float, float]]] = []
    colours: list[str] = []
    for b in range(SHAPE[0]):
        for t in range(SHAPE[1]):
            for d in range(SHAPE[2]):
                shared = all(axis in averaged or (b, t, d)[axis] == corner[axis] for axis in range(3))
                for face, colour, outside in zip(_CUBE, _SHADES[shared], (b, t, d + 1 - SHAPE[2]), strict=True):
                    if outside == 0:  # the others are hidden by cubes
                        faces.append([_oblique(d + x, t + y, b + z) for x, y, z in face])
                        colours.append(colour)
    ax.add_collection(PolyCollection(faces, facecolors=colours, edgecolors="0.35", linewidths=0.5, clip_on=False))
    middle = style.plain_text(ha="center", va="center")
    ax.text(*_oblique(SHAPE[2] / 2, SHAPE[1] + 0.45, 0), f"D = {SHAPE[2]} numbers", **middle)
    ax.text(*_oblique(-0.45, SHAPE[1] / 2, 0), f"T = {SHAPE[1]} tokens", rotation=90, **middle)
    depth = _oblique(SHAPE[2] + 0.3, SHAPE[1] + 0.3, SHAPE[0] / 2)
    ax.text(*depth, f"B = {SHAPE[0]}\nsequences", **middle | {"ha": "left"})
    ax.set(aspect="equal")
    ax.autoscale_view()
    ax.axis("off")


def _oblique(x: float, y: float, z: float) -> tuple[float, float]:
    """Where a point is drawn: x goes to the right, y down, and z away from the reader, up and to the right."""
    return x + 0.5 * z, 0.38 * z - y
