"""Static pictures of tensors: each `plot_*` function draws on one matplotlib `Axes` and returns it.

`show(ax, alt=...)` turns a finished picture into a cell's output whose alt text survives wherever the notebook is read.
"""

from encoder_lib.course.plots.attention import plot_attention
from encoder_lib.course.plots.attention_lines import plot_attention_lines
from encoder_lib.course.plots.bars import plot_bars
from encoder_lib.course.plots.cards import plot_cards
from encoder_lib.course.plots.clocks import plot_clocks
from encoder_lib.course.plots.curve_fit import plot_fit
from encoder_lib.course.plots.dots import plot_dots
from encoder_lib.course.plots.heatmap import label_ticks, plot_heatmap
from encoder_lib.course.plots.histogram import plot_histogram
from encoder_lib.course.plots.inputs import DIVERGING, as_array, as_labels, colour_limits
from encoder_lib.course.plots.ladder import plot_ladder
from encoder_lib.course.plots.lines import plot_lines, plot_panels
from encoder_lib.course.plots.normalisation_axes import plot_normalisations
from encoder_lib.course.plots.picture import Picture, compact, show
from encoder_lib.course.plots.profiles import plot_profiles
from encoder_lib.course.plots.reordering import plot_reordering
from encoder_lib.course.plots.residual_stream import BLOCK_PARTS, plot_residual_stream
from encoder_lib.course.plots.style import (
    COLOURS,
    DASHES,
    GREY,
    LABEL,
    NOT_FINITE,
    TICK,
    TITLE,
    UNSEEN,
    figure_size,
    percent,
    readable,
)
from encoder_lib.course.plots.token_attention import plot_token_attention, token_attention_height
from encoder_lib.course.plots.weighted_mean import plot_weighted_mean
from encoder_lib.course.plots.word_vectors import plot_word_vectors

__all__ = [
    "BLOCK_PARTS", "COLOURS", "DASHES", "DIVERGING", "GREY", "LABEL", "NOT_FINITE", "TICK", "TITLE",
    "UNSEEN", "Picture", "as_array", "as_labels", "colour_limits", "compact", "figure_size",
    "label_ticks", "percent", "plot_attention", "plot_attention_lines", "plot_bars", "plot_cards",
    "plot_clocks", "plot_dots", "plot_fit", "plot_heatmap", "plot_histogram", "plot_ladder", "plot_lines",
    "plot_normalisations", "plot_panels", "plot_profiles", "plot_reordering", "plot_residual_stream",
    "plot_token_attention", "plot_weighted_mean", "plot_word_vectors", "readable", "show", "token_attention_height",
]  # fmt: skip
