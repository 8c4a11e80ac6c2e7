"""Static pictures of tensors: each `plot_*` function draws on one matplotlib `Axes` and returns it.

`show(ax, alt=...)` turns a finished picture into a cell's output whose alt text survives wherever the notebook is read.
"""

import matplotlib.pyplot as plt

from encoder_lib.plots.amounts import plot_bars, plot_dots, plot_spread
from encoder_lib.plots.clocks import plot_clocks
from encoder_lib.plots.cubes import plot_block, plot_blocks
from encoder_lib.plots.fits import plot_fit
from encoder_lib.plots.inputs import DIVERGING, as_array, as_labels, colour_limits, colour_map
from encoder_lib.plots.lines import plot_lines, plot_panels, plot_profiles
from encoder_lib.plots.looks import looks_height, plot_looks
from encoder_lib.plots.matrices import label_ticks, plot_attention, plot_heatmap, plot_reordering
from encoder_lib.plots.picture import Picture, compact, show
from encoder_lib.plots.plane import plot_mean, plot_words
from encoder_lib.plots.style import COLOURS, DASHES, GREY, LABEL, NOT_FINITE, TICK, TITLE, UNSEEN, readable
from encoder_lib.plots.wiring import BLOCK_PARTS, light_part, plot_residual_stream

__all__ = [
    "BLOCK_PARTS", "COLOURS", "DASHES", "DIVERGING", "GREY", "LABEL", "NOT_FINITE", "TICK", "TITLE", "UNSEEN",
    "Picture", "as_array", "as_labels", "colour_limits", "colour_map", "compact", "label_ticks", "light_part",
    "looks_height", "plot_attention", "plot_bars", "plot_block", "plot_blocks", "plot_clocks", "plot_dots",
    "plot_fit", "plot_heatmap", "plot_lines", "plot_looks", "plot_mean", "plot_panels", "plot_profiles",
    "plot_reordering", "plot_residual_stream", "plot_spread", "plot_words", "plt", "readable", "show",
]  # fmt: skip
