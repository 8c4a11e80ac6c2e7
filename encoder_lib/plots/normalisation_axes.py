"""A block (B, T, D) as cubes: which numbers share one mean."""

from collections.abc import Iterable, Mapping, Sequence

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from encoder_lib import expect
from encoder_lib.plots.style import axes_or_new, close_on_error, figure_size, label_axes, plain_text

_CUBE = (  # the three faces of a cube that are seen from the front, above and the right: corners (x, y, z), y down
    ((0.0, 0.0, 0.0), (0.9, 0.0, 0.0), (0.9, 0.9, 0.0), (0.0, 0.9, 0.0)),
    ((0.0, 0.0, 0.0), (0.9, 0.0, 0.0), (0.9, 0.0, 0.9), (0.0, 0.0, 0.9)),
    ((0.9, 0.0, 0.0), (0.9, 0.0, 0.9), (0.9, 0.9, 0.9), (0.9, 0.9, 0.0)),
)


@close_on_error
def plot_normalisation_axes(
    dim: int | Sequence[int], *, shape: tuple[int, int, int] = (3, 4, 6), title: str = "", ax: Axes | None = None
) -> Axes:
    """Draw a block (B, T, D) as cubes, those in colour that share one mean: one of the means in `x.mean(dim)`.

    dim: the axis or axes averaged over, as torch takes them. shape: B, T and D, at most 12 each.
    Raises ValueError for no axes, an axis that is not there or comes twice, or sizes outside 1 … 12; TypeError for what
    are no integers, or no Axes.
    """
    dims, shape = _axes_of_block(dim), _shape_of_block(shape)
    ax = axes_or_new(ax)
    averaged, corner = {d % 3 for d in dims}, (0, 0, shape[2] - 1)  # of all cubes, the corner shows three faces
    shades = {True: ("#d55e00", "#f0a05f", "#a34700"), False: ("0.87", "0.95", "0.76")}  # front, top, right
    faces: list[list[tuple[float, float]]] = []
    colours: list[str] = []
    for b in reversed(range(shape[0])):  # from the back to the front, so that near cubes cover far ones
        for t in reversed(range(shape[1])):
            for d in range(shape[2]):
                shared = all(axis in averaged or (b, t, d)[axis] == corner[axis] for axis in range(3))
                faces += [[_oblique(d + x, t + y, b + z) for x, y, z in face] for face in _CUBE]
                colours += shades[shared]
    ax.add_collection(PolyCollection(faces, facecolors=colours, edgecolors="0.35", linewidths=0.5))
    style = plain_text(ha="center", va="center")
    ax.text(*_oblique(shape[2] / 2, shape[1] + 0.45, 0), f"D = {shape[2]} numbers", **style)
    ax.text(*_oblique(-0.45, shape[1] / 2, 0), f"T = {shape[1]} tokens", rotation=90, **style)
    depth = _oblique(shape[2] + 0.3, shape[1] + 0.3, shape[0] / 2)
    ax.text(*depth, f"B = {shape[0]}\nsequences", **style | {"ha": "left"})
    ax.set(aspect="equal")
    ax.autoscale_view()
    ax.axis("off")
    return label_axes(ax, title)


@close_on_error
def plot_normalisations(
    dims: Mapping[str, int | tuple[int, ...]], *, shape: tuple[int, int, int] = (3, 4, 6)
) -> Figure:
    """Draw a block for each way to average, side by side, with the number of means that it takes as title.

    dims: name -> the axis or axes averaged over. Raises ValueError for no blocks, and as `plot_normalisation_axes`.
    """
    expect.mapping("dims", dims, "way to average", "{'Layer norm': 2}")
    for dim in dims.values():
        _axes_of_block(dim)
    shape = _shape_of_block(shape)
    figure, axes = plt.subplots(1, len(dims), figsize=figure_size(len(dims), 3.2), squeeze=False, layout="constrained")
    for ax, (name, dim) in zip(axes[0], dims.items(), strict=True):
        plot_normalisation_axes(dim, shape=shape, ax=ax)
        label_axes(ax, f"{name}: {torch.zeros(shape).mean(dim).numel()} means")
    return figure


def _axes_of_block(dim: int | Sequence[int]) -> list[int]:
    """The axes of a block (B, T, D) that `dim` names, as torch takes them."""
    if isinstance(dim, bool | str) or not isinstance(dim, int | Iterable):
        raise TypeError(f"dim: expected an axis or several, got {expect.shown(dim)} ({type(dim).__name__}); try 2")
    dims = [dim] if isinstance(dim, int) else list(dim)
    for d in dims:
        expect.kind("dim", d, int, "integers")
    if not dims or not all(-3 <= d < 3 for d in dims) or len({d % 3 for d in dims}) < len(dims):
        raise ValueError(f"dim: expected different axes of (B, T, D), each 0, 1 or 2, got {dim}: 2 stands for D")
    return dims


def _shape_of_block(shape: Sequence[int]) -> tuple[int, int, int]:
    """Three sizes that can be drawn."""
    expect.kind("shape", shape, tuple | list, "three sizes (B, T, D)")
    for size in shape:
        expect.whole("shape", size)
    if len(shape) != 3 or not all(1 <= size <= 12 for size in shape):
        raise ValueError(f"shape: expected three sizes (B, T, D) from 1 to 12, got {shape}: a few cubes show the idea")
    return shape[0], shape[1], shape[2]


def _oblique(x: float, y: float, z: float) -> tuple[float, float]:
    """Where a point of a box is drawn: x to the right, y down, z away from the reader, up and to the right."""
    return x + 0.5 * z, 0.38 * z - y
