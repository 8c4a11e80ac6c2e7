"""Stacks, measured layer by layer."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from encoder_lib.course.kit.plots import style
from encoder_lib.course.kit.plots.inputs import as_array

PANELS = {
    "gradient": "Length of the gradient",
    "size": "RMS of the vectors",
    "similarity": "Mean cosine of two tokens",
}


@style.close_on_error
def plot_profiles(profiles: Mapping[str, object]) -> Figure:
    """Draw the layers of some stacks (see measure.Profile) in three panels: gradient, size, token similarity.

    profiles: name -> profile. Line i of each of the three Axes belongs to the i-th profile; layer 0 is the input.
    """
    figure, axes = plt.subplots(1, 3, figsize=style.figure_size(3), layout="constrained")
    for ax, (quantity, name) in zip(axes, PANELS.items(), strict=True):
        for (label, profile), (colour, dash) in zip(profiles.items(), style.compared(style.DASHES), strict=False):
            values = as_array(getattr(profile, quantity), ndim=(1,))  # (L,) or (L + 1,)
            layers = np.arange(len(values)) + (quantity == "gradient")  # the input has no gradient of its own
            ax.plot(layers, values, color=colour, linestyle=dash, label=style.legend_label(label))
        style.add_grid(ax)
        ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        if quantity != "similarity":
            ax.set_yscale("log")
            style.label_log_axis(ax.yaxis)
        style.label_axes(ax, name, "layer")
    axes[2].set_ylim(-0.05, 1.05)
    legend = figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(profiles))
    for text in legend.get_texts():
        text.set(**style.plain_text())
    return figure
