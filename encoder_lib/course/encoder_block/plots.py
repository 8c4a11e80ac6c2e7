"""The tensors of an encoder layer, each with its shape and its size."""

import itertools
from collections.abc import Mapping

from matplotlib.axes import Axes
from torch import Tensor

from encoder_lib import expect
from encoder_lib.course.kit.palette import LIGHT
from encoder_lib.course.kit.plots import style

ROW = 0.235  # inches
ROLES = {  # what a tensor's name holds -> the role of its bar's colour
    "q_proj": "query", "query": "query", "k_proj": "key", "key": "key", "v_proj": "value", "value": "value",
    "norm": "norm", "attention": "attention", "feed_forward": "forward",
}  # fmt: skip


@style.close_on_error
def plot_shapes(tensors: Mapping[str, Tensor], *, title: str = "", ax: Axes | None = None) -> Axes:
    """Draw how many numbers each tensor holds, the first on top, with its shape beside the bar, in its role's colour.

    tensors: name -> tensor, such as a trace. A part's last step and its output are one tensor, which is drawn once,
    under the part's name.
    Raises TypeError for anything that isn't a dictionary of tensors; ValueError for no tensors.
    """
    expect.instance("tensors", tensors, Mapping, "a dictionary", "; try a trace")
    for name, x in tensors.items():
        expect.instance(str(name), x, Tensor, "a tensor")
    names = list(tensors)
    if not names:
        raise ValueError("tensors: expected at least one, got none; has the model run inside the `with` block?")
    names = [a for a, b in itertools.pairwise(names) if tensors[a] is not tensors[b]] + names[-1:]
    ax = style.axes_or_new(ax, style.figure_size(1, 1.0 + ROW * len(names)))
    sizes = [tensors[name].numel() for name in names]
    bars = ax.barh(range(len(names)), sizes, height=0.62, color=[_colour(name) for name in names])
    shapes = [f"({', '.join(map(str, tensors[name].shape))})" for name in names]
    ax.bar_label(bars, shapes, padding=5, fontsize=style.NOTE_SIZE, **style.plain_text())
    ax.set_yticks(range(len(names)), [style.drawable(name, style.LABEL) for name in names], **style.plain_text())
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.margins(x=0.14)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    style.add_grid(ax, "x")
    return style.label_axes(ax, title, "numbers in the tensor")


def _colour(name: str) -> str:
    return LIGHT[next((role for part, role in ROLES.items() if part in name), "stream")]
