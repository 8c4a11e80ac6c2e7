"""Matrices as colours: one, the steps of attention, and rows before and after a change of their order."""

from collections.abc import Iterable, Sequence
from math import ceil

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.patches import ConnectionPatch
from matplotlib.ticker import MaxNLocator

from encoder_lib import expect
from encoder_lib.plots.inputs import as_array, as_labels, as_titles, as_words, colour_limits, colour_map
from encoder_lib.plots.style import (
    NOT_FINITE,
    TICK,
    axes_or_new,
    drawable,
    plain,
    whole_or_nothing,
    write_names,
    write_title,
)

FURTHEST = 1e300  # no colour tells larger numbers apart


@whole_or_nothing
def plot_heatmap(
    values,
    *,
    title: str = "",
    x_label: str = "",
    y_label: str = "",
    x_ticks: Sequence | None = None,
    y_ticks: Sequence | None = None,
    limits: tuple[float, float] | None = None,
    cmap: str = "viridis",
    colorbar: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw a matrix as colours: row 0 at the top, NaN and infinity in grey stripes.

    values: tensor or array (R, C). x_ticks: one label for each of the C columns; y_ticks: one for each of the R rows.
    limits: the values at the two ends of the colours; without it they fit the data (see `colour_limits`).
    Raises ValueError for another shape, labels that do not match it, limits that do not increase, or an unknown colour
    map; TypeError for what are no numbers, no labels or no Axes.
    """
    expect.flags(colorbar=colorbar)
    array = _drawable_numbers(as_array(values))  # (R, C)
    low, high = _drawable_numbers(np.array(colour_limits(array, limits, cmap))).tolist()
    labels = {"x": as_labels(x_ticks, array.shape[1], "x_ticks"), "y": as_labels(y_ticks, array.shape[0], "y_ticks")}
    ax = axes_or_new(ax)

    colours = colour_map(cmap).with_extremes(bad=(0, 0, 0, 0))  # what is behind shows through
    ax.patch.set(facecolor=NOT_FINITE, hatch="////", hatch_linewidth=1.5, edgecolor="0.8", linewidth=0)
    image = ax.imshow(
        np.ma.masked_invalid(array), cmap=colours, vmin=low, vmax=high, aspect="auto", interpolation="nearest"
    )
    for axis, names in labels.items():
        if names is not None:
            places = range(0, len(names), ceil(len(names) / 24))  # at most 24 labels have room
            shown = [drawable(names[place], TICK) for place in places]
            slant = 45 if axis == "x" and max(map(len, shown)) * len(shown) > 40 else 0
            ax.set(**{f"{axis}ticks": places})
            side = "right" if slant or axis == "y" else "center"
            getattr(ax, f"set_{axis}ticklabels")(shown, rotation=slant, rotation_mode="anchor", ha=side, **plain())
        else:
            getattr(ax, f"{axis}axis").set_major_locator(MaxNLocator(integer=True))  # there is no row 1.5
    if colorbar:
        ax.figure.colorbar(image, ax=ax)
    return write_names(ax, title, x_label, y_label)


def _drawable_numbers(array: np.ndarray) -> np.ndarray:
    """Numbers whose differences float64 can hold; NaN and infinity stay."""
    return np.where(np.isfinite(array), array.clip(-FURTHEST, FURTHEST), array)


@whole_or_nothing
def plot_attention(
    scores, weights, output, words: Sequence[str], *, titles: Sequence[str] = ("Scores", "Weights", "Output")
) -> Figure:
    """Draw the three steps of attention side by side: scores and weights (T, T), output (T, V), a word for each row.

    titles: what each step shows. Masked scores, −∞ or NaN, are grey.
    Raises ValueError for shapes that do not match the words, or other than three titles; TypeError for what are no
    numbers or no words.
    """
    expect.kind("words", words, Iterable, "a word for each row")
    words, matrices = list(words), {"scores": scores, "weights": weights, "output": output}
    for name, values in matrices.items():
        shape = as_array(values, name=name).shape
        if shape[0] != len(words) or (name != "output" and shape[1] != len(words)):
            raise ValueError(f"{name}: expected a row for each of {len(words)} words, got shape {shape}")
    titles = as_titles(titles, 3)
    figure, axes = plt.subplots(1, 3, figsize=(10, 1.6 + 0.35 * len(words)), layout="constrained")
    looks = {"x_label": "looked at", "y_label": "looks", "x_ticks": words, "y_ticks": words}
    plot_heatmap(scores, title=titles[0], cmap="coolwarm", **looks, ax=axes[0])
    plot_heatmap(weights, title=titles[1], limits=(0, 1), **looks, ax=axes[1])
    plot_heatmap(output, title=titles[2], cmap="coolwarm", x_label="dimension", y_ticks=words, ax=axes[2])
    return figure


@whole_or_nothing
def plot_reordering(
    before, after, order: Sequence[int], words: Sequence[str], *, title: str = "", cmap: str = "coolwarm"
) -> Figure:
    """Draw one vector a word before and after a change of word order, each joined by a line to where it went.

    before: (T, D) in the order of `words`. after: (T, D), whose row i stands for the word `order[i]`.
    Raises ValueError for shapes that differ, an order that is not a permutation, words that do not match or an unknown
    colour map; TypeError for what are no numbers, no order or no words.
    """
    left, right = as_array(before, name="before"), as_array(after, name="after")  # (T, D) each
    expect.kind("order", order, Iterable, "an order of the rows", "; try [1, 0, 2]")
    order = [expect.whole("order", place) for place in order]
    if left.shape != right.shape or sorted(order) != list(range(len(left))):
        raise ValueError(
            f"expected before and after of one shape and an order of their rows, got {left.shape}, {right.shape}, "
            f"{expect.shown(order)}"
        )
    words = as_words("words", words, len(left))
    limits = colour_limits(np.stack([left, right]), None, cmap)
    figure, (a, b) = plt.subplots(1, 2, figsize=(8, 0.9 + 0.5 * len(left)), gridspec_kw={"wspace": 0.5})
    plot_heatmap(left, y_ticks=words, limits=limits, cmap=cmap, colorbar=False, x_label="dimension", ax=a)
    plot_heatmap(right, y_ticks=[words[i] for i in order], limits=limits, cmap=cmap, x_label="dimension", ax=b)
    for row, source in enumerate(order):
        line = ConnectionPatch(
            (1, source), (-0.3, row), a.get_yaxis_transform(), b.get_yaxis_transform(), color="0.4", linewidth=1.2
        )
        figure.add_artist(line)
    write_title(figure, title, y=1.02)
    return figure


def label_ticks(axis: Axis, places: Sequence[float], words: Sequence[str]) -> None:
    """Put ticks at these places of an axis (`ax.xaxis` or `ax.yaxis`), each named by a word as plain text.

    Raises TypeError for what is no axis, no numbers or no words; ValueError for numbers that are not finite, or words
    that do not match them.
    """
    expect.kind("axis", axis, Axis, "an axis", "; try ax.xaxis")
    places = as_array(places, ndim=(1,), name="places", finite=True)
    expect.kind("words", words, Iterable, "a word for each of the places")
    words = list(words)
    if len(words) != len(places):
        raise ValueError(f"words: expected one for each of {len(places)} places, got {len(words)}")
    names = [drawable(word, TICK) for word in words]
    axis.set_ticks(places, labels=names, **plain())
