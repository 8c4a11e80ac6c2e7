"""The tensors of an encoder layer, each with its shape and its size."""

import itertools
from collections.abc import Mapping

from matplotlib.axes import Axes
from torch import Tensor

from encoder_lib import expect
from encoder_lib.course.kit.palette import LIGHT
from encoder_lib.course.kit.plots import style

ROW = 0.19  # inches
BETWEEN = 0.7  # rows of air above the name of a part
PARTS = {  # what a tensor's name holds -> the name of the part, and the role of its colour
    "norm": ("Norm", "norm"),
    "attention.q": ("Attention", "query"),
    "attention.k": ("Attention", "key"),
    "attention.scores": ("Attention", "stream"),  # they aren't weights yet
    "attention": ("Attention", "attention"),
    "feed_forward": ("Feed-forward", "forward"),
    "": ("", "stream"),
}


@style.close_on_error
def plot_shapes(tensors: Mapping[str, Tensor], *, title: str = "", ax: Axes | None = None) -> Axes:
    """Draw how many numbers each tensor holds, the first on top, with its shape beside the bar, part by part.

    tensors: name -> tensor, such as a trace. The bars of a part have its colour, and its name above them; queries and
    keys have theirs. A part's last step and its output are one tensor, which is drawn once, under the part's name.
    Raises TypeError for anything that isn't a dictionary of tensors; ValueError for no tensors.
    """
    expect.instance("tensors", tensors, Mapping, "a dictionary", "; try a trace")
    for name, x in tensors.items():
        expect.instance(str(name), x, Tensor, "a tensor")
    names = list(tensors)
    if not names:
        raise ValueError("tensors: expected at least one, got none; has the model run inside the `with` block?")
    names = [a for a, b in itertools.pairwise(names) if tensors[a] is not tensors[b]] + names[-1:]
    lines: list[str | None] = []  # from the top; None for the heading of the part that follows
    for part, steps in itertools.groupby(names, lambda name: _part(name)[0]):
        lines += [None] * bool(part) + [*steps]
    places = [*itertools.accumulate(1 + BETWEEN * (line is None) for line in lines)]
    rows = [place for place, line in zip(places, lines, strict=True) if line is not None]
    ax = style.axes_or_new(ax, style.figure_size(1, 1.0 + ROW * (places[-1] - places[0] + 1)))
    sizes = [tensors[name].numel() for name in names]
    bars = ax.barh(rows, sizes, height=0.55, color=[LIGHT[_part(name)[1]] for name in names])
    for place, (line, after) in zip(places, itertools.pairwise(lines), strict=False):
        if line is None and after is not None:
            ax.text(0, place + 0.1, _part(after)[0], weight="bold", va="center", color=style.INK)
    shapes = [f"({', '.join(map(str, tensors[name].shape))})" for name in names]
    ax.bar_label(bars, shapes, padding=5, fontsize=style.NOTE_SIZE, **style.plain_text())
    ax.set_yticks(rows, [style.drawable(name, style.LABEL) for name in names], **style.plain_text())
    ax.set_ylim(places[-1] + 0.6, places[0] - 0.6)
    ax.margins(x=0.14)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    style.add_grid(ax, "x")
    return style.label_axes(ax, title, "numbers in the tensor")


def _part(name: str) -> tuple[str, str]:
    """The name and the role of the part that a tensor belongs to."""
    return next(part for words, part in PARTS.items() if words in name)
