"""What the layers of some stacks do."""

from collections.abc import Mapping
from itertools import cycle

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from encoder_lib import expect
from encoder_lib.plots.inputs import as_array
from encoder_lib.plots.style import (
    COLOURS,
    DASHES,
    add_suptitle,
    close_on_error,
    figure_size,
    label_axes,
    label_log_axis,
    legend_label,
    plain_text,
)


@close_on_error
def plot_profiles(profiles: Mapping[str, object], *, title: str = "") -> Figure:
    """Draw what the layers of some stacks do (see measure.Profile), side by side: gradient, size, token similarity.

    profiles: name -> profile. Line i of each of the three Axes belongs to the i-th profile; layer 0 is the input.
    Raises ValueError for no profiles, TypeError for anything that is none.
    """
    expect.mapping("profiles", profiles, "profile", "{'name': profile}")
    panels = {"gradient": "Gradient", "size": "Size of the vectors", "similarity": "Mean cosine of two tokens"}
    for name, profile in profiles.items():
        if not all(isinstance(getattr(profile, quantity, None), torch.Tensor) for quantity in panels):
            kind = type(profile).__name__
            raise TypeError(f"profiles: {name}: expected a measure.Profile, got {expect.shown(profile)} ({kind})")
    figure, axes = plt.subplots(1, 3, figsize=figure_size(3), layout="constrained")
    for ax, (quantity, name) in zip(axes, panels.items(), strict=True):
        for (label, profile), colour, dash in zip(profiles.items(), cycle(COLOURS), cycle(DASHES), strict=False):
            values = as_array(getattr(profile, quantity), ndim=(1,))  # (L,) or (L + 1,)
            layers = np.arange(len(values)) + (quantity == "gradient")  # the input has no gradient of its own
            ax.plot(layers, values, color=colour, linestyle=dash, label=legend_label(label))
        ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        if quantity != "similarity":
            ax.set_yscale("log")
            label_log_axis(ax.yaxis)
        label_axes(ax, name, "layer")
    axes[2].set_ylim(-0.05, 1.05)
    legend = figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(profiles))
    for text in legend.get_texts():
        text.set(**plain_text())
    add_suptitle(figure, title)
    return figure
