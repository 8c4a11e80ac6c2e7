"""Static pictures of tensors: each `plot_*` function draws on one matplotlib `Axes` and returns it.

`show(ax, alt=...)` turns a finished picture into a cell's output whose alt text survives wherever the notebook is read.
"""

from encoder_lib.course.kit.plots.attention import plot_attention
from encoder_lib.course.kit.plots.attention_lines import plot_attention_lines
from encoder_lib.course.kit.plots.bars import plot_bar_panels, plot_bars
from encoder_lib.course.kit.plots.cards import plot_cards
from encoder_lib.course.kit.plots.dots import plot_dots
from encoder_lib.course.kit.plots.heatmap import label_ticks, plot_heatmap, plot_heatmaps
from encoder_lib.course.kit.plots.histogram import plot_histogram
from encoder_lib.course.kit.plots.inputs import as_array, as_labels, colour_limits
from encoder_lib.course.kit.plots.ladder import plot_ladder, plot_learning_curves
from encoder_lib.course.kit.plots.lines import plot_lines, plot_panels
from encoder_lib.course.kit.plots.mask import plot_mask, plot_masks
from encoder_lib.course.kit.plots.picture import Picture, show
from encoder_lib.course.kit.plots.style import (
    COLOURS,
    DASHES,
    GREY,
    INVISIBLE,
    LABEL,
    MARKERS,
    NOT_FINITE,
    TICK,
    TITLE,
    add_suptitle,
    figure_size,
    percent,
    readable,
)
from encoder_lib.course.kit.plots.token_attention import plot_token_attention, token_attention_height

__all__ = [
    "COLOURS",
    "DASHES",
    "GREY",
    "INVISIBLE",
    "LABEL",
    "MARKERS",
    "NOT_FINITE",
    "TICK",
    "TITLE",
    "Picture",
    "add_suptitle",
    "as_array",
    "as_labels",
    "colour_limits",
    "figure_size",
    "label_ticks",
    "percent",
    "plot_attention",
    "plot_attention_lines",
    "plot_bar_panels",
    "plot_bars",
    "plot_cards",
    "plot_dots",
    "plot_heatmap",
    "plot_heatmaps",
    "plot_histogram",
    "plot_ladder",
    "plot_learning_curves",
    "plot_lines",
    "plot_mask",
    "plot_masks",
    "plot_panels",
    "plot_token_attention",
    "readable",
    "show",
    "token_attention_height",
]  # fmt: skip
