"""Static pictures of tensors: each `plot_*` function draws on one matplotlib `Axes` and returns it.

`show(ax, alt=...)` turns a finished picture into a cell's output whose alt text survives wherever the notebook is read.
"""

import base64
import html
import io
import itertools
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, wraps
from itertools import cycle
from math import ceil, isfinite

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager
from matplotlib.ft2font import FT2Font
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, ConnectionPatch, FancyBboxPatch, Rectangle
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator, StrMethodFormatter
from PIL import Image

from encoder_lib import expect

DIVERGING = frozenset({"BrBG", "PRGn", "PiYG", "PuOr", "RdBu", "RdGy", "bwr", "coolwarm", "icefire", "seismic", "vlag"})
# Five of Okabe and Ito's colours and two dark ones: told apart with any colour vision, and none too pale on white
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#000000", "#cc79a7", "#9933ff", "#663311")
GREY = "0.57"  # the palest that still stands out from white, 3 to 1
NOT_FINITE = "#8f8f8f"  # the grey of NaN and infinity, striped: some see the middle of viridis as grey
FURTHEST = 1e300  # no colour tells larger numbers apart
DASHES = ("-", "--", "-.", ":")
# Where a word may stand beside its point: near it first, then higher and lower, to the right and to the left.
LABEL_PLACES = tuple((side, up) for up in (6, -6, 18, -18, 30, -30, 42, -42) for side in (8, -8))
TITLE, LABEL, TICK = 160, 80, 24  # the most characters that each kind of text keeps
# what nobody sees: halves of a character, and orders to write from right to left, which turn all that follows around
UNSEEN = re.compile("[\ud800-\udfff\u202a-\u202e\u2066-\u2069]")

# The first comes with matplotlib; the others serve labels in Chinese, Japanese or Korean where one is installed.
FONTS = ("DejaVu Sans", "Noto Sans CJK SC", "PingFang SC", "Hiragino Sans", "Microsoft YaHei", "Arial Unicode MS")


def _whole_or_nothing(draw: Callable) -> Callable:
    """A picture that cannot be finished leaves no half of it behind, which the notebook would show."""

    @wraps(draw)
    def drawn(*args, **kwargs):
        before = set(plt.get_fignums())
        try:
            return draw(*args, **kwargs)
        except BaseException:
            for number in set(plt.get_fignums()) - before:
                plt.close(number)
            raise

    return drawn


def as_array(values, *, ndim: Sequence[int] = (2,), name: str = "values", finite: bool = False) -> np.ndarray:
    """Return `values` (tensor or array, on any device, of any real dtype) as a new float64 array.

    Raises TypeError for values that are not real numbers, ValueError for another number of axes, rows of different
    lengths, an empty axis, or NaN and infinity where only `finite` numbers can be drawn.
    """
    array = _numpy(name, values)
    if array.dtype.kind not in "biuf":
        kind = f"{type(values).__name__} of dtype {array.dtype}"
        raise TypeError(f"{name}: expected real numbers, got {kind}: pass a tensor or array of numbers")
    if array.ndim not in ndim:
        expected = " or ".join(map(str, ndim))
        raise ValueError(
            f"{name}: expected {expected} axes, got shape {array.shape}: pick one matrix, for example values[0]"
        )
    if 0 in array.shape:
        raise ValueError(
            f"{name}: expected at least one row and one column, got shape {array.shape}: pass at least one token"
        )
    array = np.array(array, dtype=np.float64)
    if finite and not np.isfinite(array).all():
        wrong = array[~np.isfinite(array)][0]
        raise ValueError(f"{name}: expected finite numbers, got {wrong} (NaN or infinity); try leaving it out")
    return array


def _numpy(name: str, values) -> np.ndarray:
    """Whatever came as an array, of whatever dtype."""
    try:
        if isinstance(values, torch.Tensor):
            values = values.detach().cpu()
            values = (values if values.is_complex() else values.double()).numpy()  # numpy has no bfloat16
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name}: expected rows of one length, got {expect.shown(values)}") from error
    except (TypeError, NotImplementedError) as error:  # a tensor without numbers, or a sparse one
        raise TypeError(f"{name}: expected real numbers, got {type(values).__name__}: {error}") from error


def as_labels(labels, size: int, axis: str) -> list[str] | None:
    """Return `labels` as `size` strings fit to draw; None stays None.

    Raises TypeError for what are no labels, ValueError when the number differs.
    """
    if labels is None:
        return None
    expect.kind(axis, labels, Iterable, f"{size} labels")
    labels = [readable(label, TICK) for label in labels]
    if len(labels) != size:
        raise ValueError(f"expected {size} labels for {axis}, got {len(labels)}: give one label for each row or column")
    return labels


def _words(name: str, words, size: int) -> list[str]:
    """As `as_labels`, where none is not an answer."""
    expect.kind(name, words, Iterable, f"{size} words")
    return as_labels(words, size, name)


def colour_limits(values: np.ndarray, limits: tuple[float, float] | None, cmap: str) -> tuple[float, float]:
    """Return the values that the two ends of the colour map stand for.

    `limits` win when given. Otherwise a diverging map runs symmetrically about zero and any other map from the smallest
    to the largest finite value. Raises TypeError for limits that are no two numbers, ValueError for an unknown colour
    map or given limits that are not finite and increasing.
    """
    colour_map(cmap)
    if limits is not None:
        return _two_ends(limits)
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if cmap.removesuffix("_r") in DIVERGING:
        bound = max(-low, high) or 1.0
        return -bound, bound
    if low == high:  # one value everywhere: it takes the middle of the map
        margin = max(abs(low), 1.0) / 2
        return low - margin, high + margin
    return low, high


def colour_map(cmap: str) -> mpl.colors.Colormap:
    """Return matplotlib's colour map of that name. Raises ValueError for a name that is none."""
    if not isinstance(cmap, str) or cmap not in mpl.colormaps:
        name = expect.shown(cmap)
        raise ValueError(f"cmap: expected the name of a matplotlib colour map, got {name}: try 'viridis' or 'coolwarm'")
    return mpl.colormaps[cmap]


def _two_ends(limits) -> tuple[float, float]:
    """Two finite numbers, the second one larger."""
    if isinstance(limits, str | Mapping) or not isinstance(limits, Iterable):
        raise TypeError(
            f"expected limits (low, high) with low < high, got {expect.shown(limits)} ({type(limits).__name__})"
        )
    ends = list(limits)
    wrong = next((end for end in ends if isinstance(end, str | bytes | bool | None)), ...)
    if wrong is not ...:
        raise TypeError(f"expected limits (low, high), two numbers, got {expect.shown(wrong)} among them")
    if len(ends) != 2 or not all(map(isfinite, ends)) or not ends[0] < ends[1]:
        raise ValueError(f"expected limits (low, high) with low < high, got {limits}: leave them out to fit the data")
    return float(ends[0]), float(ends[1])


def readable(text: object, limit: int) -> str:
    """Return `text` as one line of at most `limit` characters, without control characters and those in `UNSEEN`."""
    text = str(text)
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    return UNSEEN.sub("\ufffd", re.sub("[\x00-\x1f\x7f-\x9f\u2028\u2029]", " ", text))


@lru_cache
def _fonts() -> tuple[list[str], frozenset[int]]:
    """Return the names of the fonts of `FONTS` that are installed, and every character that one of them can draw."""
    files = {font.name: font.fname for font in fontManager.ttflist if font.name in FONTS}
    names = [name for name in FONTS if name in files]
    return names, frozenset(code for name in names for code in FT2Font(files[name]).get_charmap())


def _drawable(text: object, limit: int) -> str:
    """Return `text` as `readable` does, with a box in the place of each character that no installed font can draw."""
    _, characters = _fonts()
    return "".join(character if ord(character) in characters else "□" for character in readable(text, limit))


@_whole_or_nothing
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
    ax = _axes(ax)
    style = {"parse_math": False, "fontfamily": _fonts()[0]}  # a label such as `$x^$` is text, not a formula

    colours = colour_map(cmap).with_extremes(bad=(0, 0, 0, 0))  # what is behind shows through
    ax.patch.set(facecolor=NOT_FINITE, hatch="////", hatch_linewidth=1.5, edgecolor="0.8", linewidth=0)
    image = ax.imshow(
        np.ma.masked_invalid(array), cmap=colours, vmin=low, vmax=high, aspect="auto", interpolation="nearest"
    )
    for axis, names in labels.items():
        if names is not None:
            places = range(0, len(names), ceil(len(names) / 24))  # at most 24 labels have room
            shown = [_drawable(names[place], TICK) for place in places]
            slant = 45 if axis == "x" and max(map(len, shown)) * len(shown) > 40 else 0
            ax.set(**{f"{axis}ticks": places})
            getattr(ax, f"set_{axis}ticklabels")(
                shown, rotation=slant, rotation_mode="anchor", ha="right" if slant or axis == "y" else "center", **style
            )
        else:
            getattr(ax, f"{axis}axis").set_major_locator(MaxNLocator(integer=True))  # there is no row 1.5
    if colorbar:
        ax.figure.colorbar(image, ax=ax)
    return _name(ax, title, x_label, y_label)


@_whole_or_nothing
def plot_lines(
    lines: Mapping[str, object],
    *,
    x=None,
    title: str = "",
    x_label: str = "",
    y_label: str = "",
    x_scale: str = "linear",
    y_scale: str = "linear",
    marker: str = "",
    styles: Mapping[str, Mapping[str, object]] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw curves over common places, each named in a legend by its key, told apart by colour and by dash.

    lines: name -> values (N,). x: the places (N,), 0 … N − 1 without it. The scales are "linear" or "log".
    styles: name -> matplotlib's properties of that line, in place of its own colour, dash or marker.
    Raises ValueError for no lines, lines without points, a line that is not as long as x, a style without a line or
    with a property that lines do not have, an unknown scale or marker; TypeError for what are no numbers or no Axes.
    """
    expect.mapping("lines", lines, "line", "{'name': values}")
    expect.choice("x_scale", x_scale, ("linear", "log"))
    expect.choice("y_scale", y_scale, ("linear", "log"))
    if not isinstance(marker, str) or marker not in Line2D.markers:
        raise ValueError(f"marker: expected one of matplotlib's, got {expect.shown(marker)}; try 'o' or ''")
    styles = {} if styles is None else styles
    expect.kind("styles", styles, Mapping, "a dictionary of properties for each name")
    if strangers := styles.keys() - lines.keys():
        raise ValueError(f"styles: expected names out of {list(lines)}, got {sorted(strangers)}: name the lines alike")
    for name, style in styles.items():
        _expect_style(name, style)
    curves = [(name, as_array(values, ndim=(1,), name=f"lines: {name}")) for name, values in lines.items()]
    places = np.arange(len(curves[0][1])) if x is None else as_array(x, ndim=(1,), name="x")
    for name, values in curves:
        if len(values) != len(places):
            raise ValueError(
                f"lines: {name}: expected {len(places)} points, one for each place on the x axis, got {len(values)}"
            )
    ax = _axes(ax)
    for (name, values), colour, dash in zip(curves, cycle(COLOURS), cycle(DASHES), strict=False):
        style = {"color": colour, "linestyle": dash, "marker": marker} | dict(styles.get(name, {}))
        ax.plot(places, values, label=_key(name), **style)
    ax.set(xscale=x_scale, yscale=y_scale)
    if len(curves) > 1:
        _legend(ax)
    return _name(ax, title, x_label, y_label)


@_whole_or_nothing
def plot_bars(
    values: Mapping[str, float], *, title: str = "", x_label: str = "", number: str = ",.0f", ax: Axes | None = None
) -> Axes:
    """Draw named numbers as horizontal bars, the first on top, each with its number written beside it.

    values: name -> number, NaN and infinity excepted. number: how the numbers are written.
    Raises ValueError for no bars, a number that is not finite, or another way to write numbers; TypeError for what are
    no numbers or no Axes.
    """
    expect.mapping("values", values, "finite number", "{'name': number}")
    numbers = _finite("values", values)
    expect.text("number", number)
    try:
        written = [format(value, number) for value in numbers]
    except ValueError as error:
        raise ValueError(f"number: expected how Python writes a number, such as ',.0f', got {number!r}") from error
    ax = _axes(ax)
    names = [_drawable(name, LABEL) for name in values]
    bars = ax.barh(range(len(names)), numbers, color=COLOURS[0])
    ax.bar_label(bars, written, padding=4)
    ax.set_yticks(range(len(names)), names, parse_math=False, fontfamily=_fonts()[0])
    ax.invert_yaxis()
    ax.margins(x=0.15)
    if max(map(abs, numbers)) >= 10_000:  # written out, as beside the bars, and not as 1e7 in a corner
        ax.xaxis.set_major_locator(MaxNLocator(4))
        ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    return _name(ax, title, x_label)


@_whole_or_nothing
def plot_spread(
    values, marks: Mapping[str, float], *, title: str = "", x_label: str = "", y_label: str = "", ax: Axes | None = None
) -> Axes:
    """Draw how numbers are spread, as a histogram with every number as a tick below it, and named marks to compare.

    values: (N,). marks: name -> place on the x axis, drawn as a vertical line.
    Raises ValueError for no numbers, or one that is not finite; TypeError for what are no numbers or no Axes.
    """
    import seaborn as sns  # here, since it takes most of a second that no other picture has to wait for

    array = as_array(values, ndim=(1,), finite=True)  # (N,)
    expect.kind("marks", marks, Mapping, "a dictionary", "; try {'name': place}")
    _finite("marks", marks)
    ax = _axes(ax)
    sns.histplot(array, bins=18, color="0.87", edgecolor="0.4", ax=ax)
    sns.rugplot(array, color="0.3", ax=ax)
    for (name, place), colour, dash in zip(marks.items(), cycle(COLOURS), cycle(DASHES), strict=False):
        ax.axvline(place, color=colour, linestyle=dash, linewidth=2, label=_key(name))
    if marks:
        _legend(ax)
    return _name(ax, title, x_label, y_label)


@_whole_or_nothing
def plot_words(
    vectors,
    words: Sequence[str],
    kinds: Sequence[str],
    *,
    title: str = "",
    limit: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw words whose vectors have two numbers as arrows from the origin; words of one kind share colour and marker.

    vectors: (N, 2). words, kinds: one string for each row. limit: how far both axes reach.
    Raises ValueError for vectors of another width or not finite, strings that do not match them, or a limit that is not
    above 0; TypeError for what are no numbers, no strings or no Axes.
    """
    points = as_array(vectors, name="vectors", finite=True)  # (N, 2)
    if points.shape[1] != 2:
        width = f"{points.shape[1]} in shape {points.shape}"
        raise ValueError(f"vectors: expected a width of 2, got {width}: a plane has room for two numbers a word")
    words, kinds = _words("words", words, len(points)), _words("kinds", kinds, len(points))
    if limit is not None:
        expect.positive("limit", limit)
    ax = _axes(ax)
    names = list(dict.fromkeys(kinds))
    for name, colour, marker in zip(names, cycle(COLOURS), cycle("osD^vP"), strict=False):
        chosen = [i for i, kind in enumerate(kinds) if kind == name]
        ax.quiver(
            *np.zeros((2, len(chosen))),
            *points[chosen].T,
            color=colour,
            angles="xy",
            scale_units="xy",
            scale=1,
            width=0.003,
        )
        ax.scatter(*points[chosen].T, color=[colour], marker=marker, label=_key(name), zorder=3)
    limit = limit or 1.15 * float(np.abs(points).max()) or 1.0
    ax.set(xlim=(-limit, limit), ylim=(-limit, limit), aspect="equal")
    _write_words(ax, points, words, limit)
    _legend(ax)
    return _name(ax, title, "first number", "second number")


def _write_words(ax: Axes, points: np.ndarray, words: Sequence[str], limit: float) -> None:
    """Write each word near its point, clear of other words and points; a thin line leads to one that had to move."""
    inches = ax.bbox.transformed(ax.figure.dpi_scale_trans.inverted())
    places = points * (36 * min(inches.width, inches.height) / limit)  # (N, 2): in the points that type is measured in
    taken = [(x - 4, x + 4, y) for x, y in places]  # left end, right end and height of what stands there
    for i in np.argsort(-points[:, 1], kind="stable"):
        word = _drawable(words[i], TICK)
        boxes = [_word_box(places[i], word, offset) for offset in LABEL_PLACES]
        clashes = [sum(left < b and right > a and abs(y - m) < 9 for a, b, m in taken) for left, right, y in boxes]
        best = clashes.index(min(clashes))
        taken.append(boxes[best])
        side, up = LABEL_PLACES[best]
        ax.annotate(
            word, points[i], xytext=(side, up), textcoords="offset points", fontsize=8, va="center",
            ha="left" if side > 0 else "right", parse_math=False, fontfamily=_fonts()[0],
            arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.6} if abs(up) > 12 else None,
        )  # fmt: skip


def _word_box(place: np.ndarray, word: str, offset: tuple[int, int]) -> tuple[float, float, float]:
    """The left end, right end and height of a word in small type that stands beside a place."""
    x, y, width = place[0] + offset[0], place[1] + offset[1], 5.2 * len(word)
    return (x, x + width, y) if offset[0] > 0 else (x - width, x, y)


@_whole_or_nothing
def plot_mean(values, weights, words: Sequence[str], *, others=None, title: str = "", ax: Axes | None = None) -> Axes:
    """Draw values with two numbers each as points, their weighted mean as a star, and a thick line to a large weight.

    values: (N, 2), with a thin line between every two of them. weights: (N,). words: one string for each value.
    others: (M, 2), other means to compare, as dots.
    Raises ValueError for values of another width or not finite, weights or strings that do not match them, weights
    below 0; TypeError for what are no numbers, no strings or no Axes.
    """
    points, shares = as_array(values, finite=True), as_array(weights, ndim=(1,), name="weights")  # (N, 2), (N,)
    if points.shape != (len(shares), 2):
        raise ValueError(
            f"expected values of shape ({len(shares)}, 2), one for each of the weights {shares.shape}, got "
            f"{points.shape}: a plane is flat"
        )
    if not (np.isfinite(shares).all() and (shares >= 0).all()):
        raise ValueError(f"weights: expected finite numbers of at least 0, got {shares.tolist()}; try a softmax")
    words = _words("words", words, len(points))
    dots = np.empty((0, 2)) if others is None else as_array(others, name="others")  # (M, 2)
    if dots.shape[1] != 2:
        raise ValueError(f"others: expected shape (M, 2), got {dots.shape}: a plane is flat")
    ax = _axes(ax)
    if len(dots):
        ax.scatter(*dots.T, s=6, color=GREY, label="other weights")
    for i in range(len(points)):
        for j in range(i):
            ax.plot(*points[[i, j]].T, color=GREY, linewidth=0.8)
    mean = shares @ points  # (2,)
    for word, share, point in zip(words, shares, points, strict=True):
        ax.plot(*np.stack([mean, point]).T, color=COLOURS[0], linewidth=12 * share, alpha=0.75, solid_capstyle="butt")
        ax.annotate(
            f"{_drawable(word, TICK)}, {100 * share:.0f} %", point, xytext=(9, 5), textcoords="offset points", zorder=5,
            bbox={"facecolor": "white", "alpha": 0.7, "pad": 1, "linewidth": 0}, parse_math=False,
            fontfamily=_fonts()[0],
        )  # fmt: skip
    ax.scatter(*points.T, color=COLOURS[0], s=45, zorder=3, label="values")
    ax.scatter(*mean, color=COLOURS[1], marker="*", s=220, zorder=4, label="their weighted mean")
    ax.margins(0.12)
    _legend(ax)
    return _name(ax, title, "first number", "second number")


@_whole_or_nothing
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
    titles = _titles(titles, 3)
    figure, axes = plt.subplots(1, 3, figsize=(10, 1.6 + 0.35 * len(words)), layout="constrained")
    looks = {"x_label": "looked at", "y_label": "looks", "x_ticks": words, "y_ticks": words}
    plot_heatmap(scores, title=titles[0], cmap="coolwarm", **looks, ax=axes[0])
    plot_heatmap(weights, title=titles[1], limits=(0, 1), **looks, ax=axes[1])
    plot_heatmap(output, title=titles[2], cmap="coolwarm", x_label="dimension", y_ticks=words, ax=axes[2])
    return figure


@_whole_or_nothing
def plot_looks(
    weights,
    words: Sequence[str],
    *,
    chosen: int,
    title: str = "",
    limits: tuple[float, float] = (0.0, 1.0),
    cmap: str = "viridis",
    ax: Axes | None = None,
) -> Axes:
    """Draw a sentence as boxes, each coloured by the weight with which the chosen word looks at it, in per cent.

    weights: (T,), the chosen word's row. words: one string for each weight. limits: the weights at the colours' ends.
    The boxes are the patches of the Axes, one for each word in order, and the chosen one has a thick frame.
    Raises ValueError for words that do not match the weights, weights that are not finite, limits that do not increase
    or an unknown colour map; IndexError for a word that is not there; TypeError for what are no numbers, no words or no
    Axes.
    """
    row = as_array(weights, ndim=(1,), name="weights")  # (T,)
    words, limits = _words("words", words, len(row)), _two_ends(limits)
    if not np.isfinite(row).all():
        raise ValueError("weights: expected finite numbers, got NaN or infinity; try a row of the softmax")
    if isinstance(chosen, bool) or chosen not in range(len(words)):
        raise IndexError(f"chosen: expected a word from 0 to {len(words) - 1}, got {expect.shown(chosen)}")
    colour_map(cmap)
    width = plt.rcParams["figure.figsize"][0]
    ax = _axes(ax, figsize=(width, looks_height(words, width)))
    scale, style = mpl.colors.Normalize(*limits, clip=True), {"parse_math": False, "fontfamily": _fonts()[0]}
    places = _word_places(words, ax.figure.get_figwidth())
    for i, ((line, start, width), word, weight) in enumerate(zip(places, words, row.tolist(), strict=True)):
        colour = mpl.colormaps[cmap](scale(weight))
        frame = {"edgecolor": "black" if i == chosen else "white", "linewidth": 2.5 if i == chosen else 0}
        ax.add_patch(Rectangle((start + 0.3, line + 0.08), width - 0.6, 0.84, facecolor=colour, **frame))
        middle, ink = start + width / 2, "black" if _light(colour) else "white"
        ax.text(middle, line + 0.34, _drawable(word, TICK), color=ink, fontsize=9, ha="center", va="center", **style)
        ax.text(middle, line + 0.7, _in_percent(weight), color=ink, fontsize=7, ha="center", va="center")
    end = max(start + width for _, start, width in places)
    margin = max(0, _line_room(ax.figure.get_figwidth()) - end) / 2  # a short sentence stands in the middle
    ax.set(xlim=(-margin, end + margin), ylim=(places[-1][0] + 1, 0))
    ax.axis("off")
    return _name(ax, title)


def _in_percent(share: float) -> str:
    """A share in whole per cent; one that would be rounded to nothing is said to be little."""
    return "< 1 %" if 0 < share <= 0.005 else f"{100 * share:.0f} %"


def looks_height(words: Sequence[str], width: float) -> float:
    """How high a picture of `plot_looks` has to be, in inches, when it is `width` inches wide.

    Raises TypeError or ValueError for no words, or a width that is not above 0.
    """
    expect.kind("words", words, Sequence, "a list of words")
    if not words:
        raise ValueError("words: expected at least one, got none")
    expect.positive("width", width)
    return 0.4 + 0.45 * (_word_places(words, width)[-1][0] + 1)


def _line_room(width: float) -> float:
    """How many characters of a boxed word fit on a line of `width` inches."""
    return 11 * width


def _word_places(words: Sequence[str], width: float) -> list[tuple[int, int, int]]:
    """Line, start and width of each word, in characters, when a line is `width` inches wide."""
    places, line, start = [], 0, 0
    for word in words:
        room = 2 + max(4, sum(2 if ord(character) > 0x2E7F else 1 for character in word))  # Chinese is twice as wide
        if start and start + room > _line_room(width):
            line, start = line + 1, 0
        places.append((line, start, room))
        start += room
    return places


def _light(colour: Sequence[float]) -> bool:
    """Whether black stands out from a colour better than white does (relative luminance, WCAG 2.2)."""
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in colour[:3]]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722))) > 0.179


@_whole_or_nothing
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
    words = _words("words", words, len(left))
    limits = colour_limits(np.stack([left, right]), None, cmap)
    figure, (a, b) = plt.subplots(1, 2, figsize=(8, 0.9 + 0.5 * len(left)), gridspec_kw={"wspace": 0.5})
    plot_heatmap(left, y_ticks=words, limits=limits, cmap=cmap, colorbar=False, x_label="dimension", ax=a)
    plot_heatmap(right, y_ticks=[words[i] for i in order], limits=limits, cmap=cmap, x_label="dimension", ax=b)
    for row, source in enumerate(order):
        line = ConnectionPatch(
            (1, source), (-0.3, row), a.get_yaxis_transform(), b.get_yaxis_transform(), color="0.4", linewidth=1.2
        )
        figure.add_artist(line)
    _name_all(figure, title, y=1.02)
    return figure


@_whole_or_nothing
def plot_fit(
    x,
    target,
    units,
    constant: float,
    *,
    bends=(),
    unit: int = 0,
    titles: Sequence[str] = ("", ""),
    figure: Figure | None = None,
) -> Figure:
    """Draw a curve with its fit and, beside them, the hidden units that the fit is the sum of, one of them bold.

    x, target: (P,). units: (P, n), each hidden unit's number times its output weight. constant: the output bias.
    bends: (n,), where each unit bends, marked on the fit where in view. unit: the one drawn bold, counted from 0.
    figure: one that this function returned: its artists are updated, and no new one is drawn.
    Raises ValueError for lengths that differ, places that do not increase or numbers that are not finite; IndexError
    for a unit that is not there; TypeError for what are no numbers, no titles or no figure.
    """
    places, curve = (as_array(v, ndim=(1,), name=name) for name, v in (("x", x), ("target", target)))  # (P,) each
    parts = as_array(units, name="units", finite=True)  # (P, n)
    marks = as_array(bends, ndim=(1,), name="bends") if _numpy("bends", bends).size else np.empty(0)  # (n,)
    expect.number("constant", constant)
    if not len(places) == len(curve) == len(parts):
        shapes = f"x {places.shape}, target {curve.shape}, units {parts.shape}"
        raise ValueError(f"expected one length for all, got {shapes}")
    unit = expect.index("unit", unit, parts.shape[1], "one")
    if not (len(places) > 1 and np.isfinite(places).all() and (np.diff(places) > 0).all()):
        raise ValueError(f"x: expected two places or more that increase, got {expect.shown(places.tolist())}")
    if figure is not None:
        expect.kind("figure", figure, Figure, "a figure that plot_fit returned")
    titles, fit = _titles(titles, 2), parts.sum(axis=1) + constant  # (P,)
    marks = marks[(places[0] < marks) & (marks < places[-1])]
    reach = max(np.abs(parts).max(), np.abs(fit).max())
    limit = next((size for size in (1.2, 2.4, 6, 12, 24, 60) if size >= reach), reach)  # few, so that pictures compare
    left, right = (_fit_axes(titles) if figure is None else figure).axes
    drawn = (places, curve), (places, fit), (marks, np.interp(marks, places, fit))
    for line, values in zip(left.lines, drawn, strict=True):
        line.set_data(*values)
    others = np.delete(parts, unit, axis=1).T  # (n − 1, P)
    right.collections[0].set_segments([np.column_stack([places, part]) for part in others])
    right.lines[0].set_data(places, parts[:, unit])
    right.lines[1].set_data(places, fit)
    for ax, top in ((left, 1.2), (right, limit)):
        ax.set(xlim=(places[0], places[-1]), ylim=(-top, top), xticks=np.linspace(places[0], places[-1], 3))
        ax.set_yticks(np.linspace(-top, top, 3))
    return left.figure


def _fit_axes(titles: Sequence[str]) -> Figure:
    """A figure with two Axes that hold the artists of `plot_fit`, without data."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    left.plot([], [], color=GREY, linewidth=6, label="target")
    left.plot([], [], color=COLOURS[0], linewidth=1.8, label="fit: all units and a constant")
    left.plot([], [], color="black", linestyle="", marker="o", markersize=5, label="where a unit bends")
    right.add_collection(LineCollection([], colors=GREY, linewidths=0.9, label="units"))
    right.plot([], [], color=COLOURS[1], linewidth=3.5, label="the chosen unit")
    right.plot([], [], color=COLOURS[0], linewidth=1.8)
    figure.legend(handles=[*left.lines, right.collections[0], right.lines[0]], loc="outside lower center", ncols=5)
    _name(left, titles[0], "x", "y")
    _name(right, titles[1], "x", "output weight · hidden number")
    return figure


@_whole_or_nothing
def plot_dots(
    values: Mapping[str, Mapping[str, float]],
    *,
    title: str = "",
    x_label: str = "",
    limits: tuple[float, float] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw several numbers for each name as dots on one line, the first name on top, and what each kind of dot means.

    values: name -> {kind of dot: number}, the same kinds for every name. limits: the two ends of the x axis.
    Raises ValueError for no names, kinds that differ, a number that is not finite, or limits that do not increase;
    TypeError for what are no numbers or no Axes.
    """
    expect.mapping("values", values, "name", "{'name': {'kind of dot': number}}")
    for name, row in values.items():
        expect.kind(f"values: {name}", row, Mapping, "a dictionary", "; try {'kind of dot': number}")
        _finite(f"values: {name}", row)
    kinds = [list(row) for row in values.values()]
    if not kinds[0] or any(row != kinds[0] for row in kinds):
        raise ValueError(f"values: expected the same kinds of dots for every name, got {expect.shown(kinds)}")
    array = as_array([list(row.values()) for row in values.values()])  # (names, kinds)
    limits = None if limits is None else _two_ends(limits)
    rows = np.arange(len(array))
    ax = _axes(ax)
    ax.hlines(rows, array.min(axis=1), array.max(axis=1), color=GREY, linewidth=1, zorder=1)
    for kind, column, colour, marker in zip(kinds[0], array.T, cycle(COLOURS), cycle("osD^vP"), strict=False):
        ax.scatter(column, rows, color=colour, marker=marker, s=50, label=_key(kind), zorder=2)
    ax.set_yticks(rows, [_drawable(name, LABEL) for name in values], parse_math=False, fontfamily=_fonts()[0])
    ax.invert_yaxis()
    ax.set_xlim(limits)
    _legend(ax)
    return _name(ax, title, x_label)


@_whole_or_nothing
def plot_clocks(before, after, *, title: str = "", ax: Axes | None = None) -> Axes:
    """Draw two rows of a sinusoidal table as the hands of clocks: pair k is a point (sine up, cosine right) of clock k.

    before, after: (D,) each. Line 2k of the Axes is clock k's hand before, line 2k + 1 its hand after.
    Raises ValueError for an odd width, widths that differ, or numbers that are not finite; TypeError for what are no
    numbers or no Axes.
    """
    given = {"before": before, "after": after}
    hands = [as_array(row, ndim=(1,), name=name, finite=True) for name, row in given.items()]
    if hands[0].shape != hands[1].shape or len(hands[0]) % 2:
        shapes = f"{hands[0].shape} and {hands[1].shape}"
        raise ValueError(f"expected before and after, two rows of one even width, got {shapes}")
    ax = _axes(ax, figsize=(8, 2.2))
    n_clocks = len(hands[0]) // 2
    for k in range(n_clocks):
        ax.add_patch(Circle((3 * k, 0), 1, facecolor="none", edgecolor=GREY))
        for row, colour, width, name in zip(hands, ("0.45", COLOURS[0]), (2, 3), ("before", "after"), strict=True):
            sine, cosine = row[2 * k : 2 * k + 2]
            ax.plot(
                [3 * k, 3 * k + cosine], [0, sine], color=colour, linewidth=width, marker="o", markevery=[1],
                linestyle="--" if name == "before" else "-", label=name if k == 0 else None,
            )  # fmt: skip
        ax.annotate(f"clock {k}", (3 * k, -1.35), ha="center", va="top")
    ax.set(xlim=(-1.4, 3 * n_clocks - 1.6), ylim=(-1.7, 1.2), aspect="equal")
    ax.axis("off")
    _legend(ax)
    return _name(ax, title)


BLOCK_PARTS = ("x", "attention", "sum1", "norm1", "feed_forward", "sum2", "norm2", "y")
_BRANCH = 2.1  # how far to the right of the stream the branches run
_POST_NORM = {
    "x": (0, 0), "attention": (_BRANCH, 1.75), "sum1": (0, 2.55), "norm1": (0, 3.5),
    "feed_forward": (_BRANCH, 5.15), "sum2": (0, 5.95), "norm2": (0, 6.9), "y": (0, 7.9),
}  # fmt: skip
_PRE_NORM = {
    "x": (0, 0), "norm1": (_BRANCH, 1.6), "attention": (_BRANCH, 2.7), "sum1": (0, 3.5),
    "norm2": (_BRANCH, 5.0), "feed_forward": (_BRANCH, 6.1), "sum2": (0, 6.9), "y": (0, 7.9),
}  # fmt: skip
_FILLS = {"attention": "#fbe3d0", "feed_forward": "#d5efe6", "norm1": "#e6e6e6", "norm2": "#e6e6e6"}


@_whole_or_nothing
def plot_residual_stream(*, norm_first: bool = False, lit: str = "", title: str = "", ax: Axes | None = None) -> Axes:
    """Draw how the parts of an encoder layer are wired, from the input at the bottom to the output on top.

    The thick line is the residual stream: what enters is still in it at the end, except where a norm stands on the line
    and rescales it (post-norm). With `norm_first` both norms stand on the branches, and the line runs through.
    lit: the part to be shown bright, one of `BLOCK_PARTS`.
    Raises ValueError for any other part; TypeError for a `norm_first` that is neither True nor False, or no Axes.
    """
    expect.flags(norm_first=norm_first)
    expect.choice("lit", lit, ("", *BLOCK_PARTS), ": it names the part to be shown bright")
    ax = _axes(ax, figsize=(3.6, 5.2))
    places = _PRE_NORM if norm_first else _POST_NORM
    stream = {"color": COLOURS[0], "linewidth": 5, "solid_capstyle": "butt", "zorder": 1}
    branch = {"color": "0.35", "linewidth": 1.5, "zorder": 1, "markevery": [-1], "markersize": 8}
    ax.plot([0, 0], [places["x"][1], places["y"][1] - 0.5], marker="^", markevery=[-1], markersize=13, **stream)
    for start, total in ((0.95, "sum1"), (4.35, "sum2")):
        end = places[total][1]
        on_branch = [y for x, y in places.values() if x and start < y < end]
        ax.plot([0, _BRANCH, _BRANCH], [start, start, min(on_branch) - 0.42], marker="^", **branch)
        for low, high in itertools.pairwise(sorted(on_branch)):
            ax.plot([_BRANCH, _BRANCH], [low, high - 0.42], marker="^", **branch)
        ax.plot([_BRANCH, _BRANCH, 0.43], [max(on_branch), end, end], marker="<", **branch)
    for part in BLOCK_PARTS:
        _draw_part(ax, part, *places[part])
    ax.set(xlim=(-1.2, 3.5), ylim=(-0.35, 8.25), aspect="equal")
    ax.axis("off")
    return _name(light_part(ax, lit) if lit else ax, title)


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
    names = [_drawable(word, TICK) for word in words]
    axis.set_ticks(places, labels=names, parse_math=False, fontfamily=_fonts()[0])


def light_part(ax: Axes, lit: str) -> Axes:
    """Show one part of a picture by `plot_residual_stream` bright, and all others as they were.

    Raises ValueError for a part that is none of `BLOCK_PARTS`, TypeError for no Axes.
    """
    expect.kind("ax", ax, Axes, "the Axes that plot_residual_stream returned")
    expect.choice("lit", lit, BLOCK_PARTS, ": it names the part to be shown bright")
    for patch in ax.patches:
        bright = patch.get_gid() == lit
        patch.set(
            facecolor="#ffc20a" if bright else _FILLS.get(patch.get_gid(), "white"),
            edgecolor="black" if bright else "0.35",
            linewidth=2.5 if bright else 1.2,
        )
    return ax


def _draw_part(ax: Axes, part: str, x: float, y: float) -> None:
    """Draw a part as a shape with its name in it; the shape is found again by its `gid`."""
    text = {"feed_forward": "feed-forward", "norm1": "norm 1", "norm2": "norm 2", "sum1": "+", "sum2": "+"}
    if part in ("x", "y", "sum1", "sum2"):
        shape = Circle((x, y), 0.3)
    else:
        wide = 1.15 if part in ("attention", "feed_forward") else 0.75
        shape = FancyBboxPatch((x - wide, y - 0.3), 2 * wide, 0.6, boxstyle="round,pad=0,rounding_size=0.12")
    shape.set(gid=part, facecolor=_FILLS.get(part, "white"), edgecolor="0.35", linewidth=1.2, zorder=2)
    ax.add_patch(shape)
    size, style = ("large", "italic") if part in ("x", "y") else ("x-large" if "sum" in part else "medium", "normal")
    ax.text(x, y, text.get(part, part), ha="center", va="center_baseline", fontsize=size, fontstyle=style, zorder=3)


@_whole_or_nothing
def plot_block(dim, *, shape: tuple[int, int, int] = (3, 4, 6), title: str = "", ax: Axes | None = None) -> Axes:
    """Draw a block (B, T, D) as cubes, those in colour that share one mean: one of the means in `x.mean(dim)`.

    dim: the axis or axes averaged over, as torch takes them. shape: B, T and D, at most 12 each.
    Raises ValueError for no axes, an axis that is not there or comes twice, or sizes outside 1 … 12; TypeError for what
    are no integers, or no Axes.
    """
    dims, shape = _axes_of_block(dim), _shape_of_block(shape)
    ax = _axes(ax)
    averaged, corner = {d % 3 for d in dims}, (0, 0, shape[2] - 1)  # of all cubes, the corner shows three faces
    shades = {True: ("#d55e00", "#f0a05f", "#a34700"), False: ("0.87", "0.95", "0.76")}  # front, top, right
    faces, colours = [], []
    for b in reversed(range(shape[0])):  # from the back to the front, so that near cubes cover far ones
        for t in reversed(range(shape[1])):
            for d in range(shape[2]):
                shared = all(axis in averaged or (b, t, d)[axis] == corner[axis] for axis in range(3))
                faces += [[_oblique(d + x, t + y, b + z) for x, y, z in face] for face in _CUBE]
                colours += shades[shared]
    ax.add_collection(PolyCollection(faces, facecolors=colours, edgecolors="0.35", linewidths=0.5))
    style = {"parse_math": False, "fontfamily": _fonts()[0], "ha": "center", "va": "center"}
    ax.text(*_oblique(shape[2] / 2, shape[1] + 0.45, 0), f"D = {shape[2]} numbers", **style)
    ax.text(*_oblique(-0.45, shape[1] / 2, 0), f"T = {shape[1]} tokens", rotation=90, **style)
    depth = _oblique(shape[2] + 0.3, shape[1] + 0.3, shape[0] / 2)
    ax.text(*depth, f"B = {shape[0]}\nsequences", **style | {"ha": "left"})
    ax.set(aspect="equal")
    ax.autoscale_view()
    ax.axis("off")
    return _name(ax, title)


@_whole_or_nothing
def plot_blocks(dims: Mapping[str, object], *, shape: tuple[int, int, int] = (3, 4, 6)) -> Figure:
    """Draw a block for each way to average, side by side, with the number of means that it takes as title.

    dims: name -> the axis or axes averaged over. Raises ValueError for no blocks, and as `plot_block`.
    """
    expect.mapping("dims", dims, "way to average", "{'Layer norm': 2}")
    for dim in dims.values():
        _axes_of_block(dim)
    shape = _shape_of_block(shape)
    figure, axes = plt.subplots(1, len(dims), figsize=(3.7 * len(dims), 3.2), squeeze=False, layout="constrained")
    for ax, (name, dim) in zip(axes[0], dims.items(), strict=True):
        plot_block(dim, shape=shape, ax=ax)
        _name(ax, f"{name}: {torch.zeros(shape).mean(dim).numel()} means")
    return figure


def _axes_of_block(dim) -> list[int]:
    """The axes of a block (B, T, D) that `dim` names, as torch takes them."""
    whole = isinstance(dim, int) and not isinstance(dim, bool)
    if not whole and (isinstance(dim, str) or not isinstance(dim, Iterable)):
        raise TypeError(f"dim: expected an axis or several, got {expect.shown(dim)} ({type(dim).__name__}); try 2")
    dims = [dim] if whole else list(dim)
    for d in dims:
        expect.kind("dim", d, int, "integers")
    if not dims or not all(-3 <= d < 3 for d in dims) or len({d % 3 for d in dims}) < len(dims):
        raise ValueError(f"dim: expected different axes of (B, T, D), each 0, 1 or 2, got {dim}: 2 stands for D")
    return dims


def _shape_of_block(shape) -> tuple[int, int, int]:
    """Three sizes that can be drawn."""
    expect.kind("shape", shape, tuple | list, "three sizes (B, T, D)")
    for size in shape:
        expect.whole("shape", size)
    if len(shape) != 3 or not all(1 <= size <= 12 for size in shape):
        raise ValueError(f"shape: expected three sizes (B, T, D) from 1 to 12, got {shape}: a few cubes show the idea")
    return tuple(shape)


_CUBE = (  # the three faces of a cube that are seen from the front, above and the right: corners (x, y, z), y down
    ((0.0, 0.0, 0.0), (0.9, 0.0, 0.0), (0.9, 0.9, 0.0), (0.0, 0.9, 0.0)),
    ((0.0, 0.0, 0.0), (0.9, 0.0, 0.0), (0.9, 0.0, 0.9), (0.0, 0.0, 0.9)),
    ((0.9, 0.0, 0.0), (0.9, 0.0, 0.9), (0.9, 0.9, 0.9), (0.9, 0.9, 0.0)),
)


def _oblique(x: float, y: float, z: float) -> tuple[float, float]:
    """Where a point of a box is drawn: x to the right, y down, z away from the reader, up and to the right."""
    return x + 0.5 * z, 0.38 * z - y


@_whole_or_nothing
def plot_panels(
    panels: Mapping[str, Mapping[str, object]],
    *,
    y_label: str = "",
    share_y: bool = True,
    figsize: tuple[float, float] = (10, 3.6),
    **style,
) -> Figure:
    """Draw several sets of curves side by side with one legend, on the right.

    panels: title -> lines, named alike in every panel. share_y: all on one y scale. style: what `plot_lines` takes
    besides.
    Raises ValueError for no panels, panels whose lines have other names, a size that is not above 0, and as
    `plot_lines` does.
    """
    expect.mapping("panels", panels, "panel, all with the same lines", "{'title': {'name': values}}")
    for title, lines in panels.items():
        expect.mapping(f"panels: {title}", lines, "line", "{'name': values}")
    expect.flags(share_y=share_y)
    expect.kind("figsize", figsize, tuple | list, "a width and a height")
    for size in figsize:
        expect.positive("figsize", size)
    if len(figsize) != 2:
        raise ValueError(f"figsize: expected a width and a height, got {figsize}")
    names = [list(lines) for lines in panels.values()]
    if any(other != names[0] for other in names):
        wrong = expect.shown(names)
        raise ValueError(f"panels: expected one or more panels with the same lines, got {wrong}: name the lines alike")
    figure, axes = plt.subplots(1, len(panels), figsize=figsize, sharey=share_y, squeeze=False, layout="constrained")
    for i, (ax, (title, lines)) in enumerate(zip(axes[0], panels.items(), strict=True)):
        plot_lines(lines, title=title, y_label="" if i else y_label, ax=ax, **style)
        for axis in (ax.xaxis, ax.yaxis):
            if axis.get_scale() == "log":
                _plain_log(axis)
        if (legend := ax.get_legend()) and i + 1 < len(panels):
            legend.remove()
    return figure


@_whole_or_nothing
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
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.3), layout="constrained")
    for ax, (quantity, name) in zip(axes, panels.items(), strict=True):
        for (label, profile), colour, dash in zip(profiles.items(), cycle(COLOURS), cycle(DASHES), strict=False):
            values = as_array(getattr(profile, quantity), ndim=(1,))  # (L,) or (L + 1,)
            layers = np.arange(len(values)) + (quantity == "gradient")  # the input has no gradient of its own
            ax.plot(layers, values, color=colour, linestyle=dash, label=_key(label))
        ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        if quantity != "similarity":
            ax.set_yscale("log")
            _plain_log(ax.yaxis)
        _name(ax, name, "layer")
    axes[2].set_ylim(-0.05, 1.05)
    legend = figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(profiles))
    for text in legend.get_texts():
        text.set(parse_math=False, fontfamily=_fonts()[0])
    _name_all(figure, title)
    return figure


def _plain_log(axis: Axis) -> None:
    """Label a logarithmic axis by 1, 2, 5, 10, 20 … in plain numbers, or by 1, 10, 100 … where those have no room."""
    low, high = axis.get_view_interval()
    subs = (1, 2, 5) if axis.axis_name == "y" or high < 100 * low else (1,)
    axis.set(major_locator=LogLocator(subs=subs), minor_locator=NullLocator(), major_formatter="{x:g}")


def _axes(ax: Axes | None, **size) -> Axes:
    """Return `ax`, or the Axes of a new figure."""
    expect.kind("ax", ax, Axes | None, "a matplotlib Axes", "; try plt.subplots()[1]")
    return plt.subplots(layout="constrained", **size)[1] if ax is None else ax


def _drawable_numbers(array: np.ndarray) -> np.ndarray:
    """Numbers whose differences float64 can hold; NaN and infinity stay."""
    return np.where(np.isfinite(array), array.clip(-FURTHEST, FURTHEST), array)


def _finite(name: str, numbers: Mapping[str, float]) -> list[float]:
    """Finite numbers, each with a name."""
    for key, value in numbers.items():
        if isinstance(value, str | bytes) or (not np.isscalar(value) and getattr(value, "ndim", None) != 0):
            raise TypeError(
                f"{name}: {key}: expected a finite number, got {expect.shown(value)} ({type(value).__name__})"
            )
        if not isfinite(value):
            raise ValueError(f"{name}: {key}: expected a finite number, got {value}; try leaving it out")
    return [float(value) if isinstance(value, torch.Tensor) else value for value in numbers.values()]


def _titles(titles, count: int) -> list[str]:
    """So many titles."""
    expect.kind("titles", titles, tuple | list, f"{count} titles")
    if len(titles) != count:
        raise ValueError(f"titles: expected {count}, got {len(titles)}: {expect.shown(titles)}")
    return list(titles)


def _expect_style(name: str, style) -> None:
    """Properties that matplotlib's lines have, with values that they take."""
    expect.kind(f"styles: {name}", style, Mapping, "a dictionary of properties", "; try {'color': 'black'}")
    try:
        Line2D([], [], **style)
    except (AttributeError, TypeError, ValueError) as error:
        wrong = expect.shown(dict(style))
        raise ValueError(f"styles: {name}: expected properties of a line, got {wrong}: {error}") from error


def _key(name: object) -> str:
    """A name for the legend. Matplotlib leaves out those that begin with `_`; a space before it is not seen."""
    text = _drawable(name, LABEL)
    return text if text and not text.startswith("_") else f" {text}"


def _legend(ax: Axes) -> None:
    """Name what is drawn, to the right of the picture, as plain text."""
    for text in ax.legend(loc="center left", bbox_to_anchor=(1, 0.5)).get_texts():
        text.set(parse_math=False, fontfamily=_fonts()[0])


def _name(ax: Axes, title: str, x_label: str = "", y_label: str = "") -> Axes:
    """Write the title and the labels of the axes as plain text: `$x^$` is no formula."""
    style = {"parse_math": False, "fontfamily": _fonts()[0]}
    ax.set_title(textwrap.fill(_drawable(title, TITLE), 60), **style)
    ax.set_xlabel(_drawable(x_label, LABEL), **style)
    ax.set_ylabel(_drawable(y_label, LABEL), **style)
    return ax


def _name_all(figure: Figure, title: str, **place) -> None:
    """Write a title above all Axes of a figure, as plain text."""
    style = {"fontsize": plt.rcParams["axes.titlesize"], "parse_math": False, "fontfamily": _fonts()[0]}
    figure.suptitle(textwrap.fill(_drawable(title, TITLE), 90), **style, **place)


@dataclass(frozen=True)
class Picture:
    """A finished picture: its PNG file and the alt text that says in words what it shows."""

    png: bytes
    alt: str

    def __post_init__(self) -> None:
        expect.kind("png", self.png, bytes, "the bytes of a PNG file")
        expect.text("alt", self.alt)

    def __repr__(self) -> str:
        return f"<picture: {self.alt}>"

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        """Give a notebook the picture as PNG, as HTML with its alt text, and as text."""
        data = base64.b64encode(self.png).decode()
        alt = html.escape(self.alt, quote=True)
        return {
            "image/png": data,
            "text/html": f'<img alt="{alt}" src="data:image/png;base64,{data}" style="max-width:100%">',
            "text/plain": repr(self),
        }


def show(picture: Axes | Figure, *, alt: str) -> Picture:
    """Render a figure, or the figure of an Axes, once, close it, and return it with its alt text as a cell's output.

    Raises ValueError for an empty alt text, TypeError for anything that is neither an Axes nor a Figure.
    """
    kind = type(picture).__name__
    if not isinstance(picture, Axes | Figure):
        raise TypeError(f"picture: expected an Axes or a Figure, got {kind}: pass what plot_heatmap returned")
    expect.text("alt", alt)
    if not alt.strip():
        raise ValueError(
            "alt: expected an alt text, got an empty one: say what the picture shows to someone who cannot see it"
        )
    figure = picture if isinstance(picture, Figure) else picture.get_figure(root=True)
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=100, bbox_inches="tight", facecolor="white")
    plt.close(figure)  # otherwise the notebook would draw it a second time
    return Picture(compact(Image.open(file)), readable(alt, 2000))


def compact(image: Image.Image) -> bytes:
    """Return an image as a small PNG of at most 128 colours. Raises TypeError for what is no image."""
    expect.kind("image", image, Image.Image, "an image of Pillow's")
    file = io.BytesIO()
    image.convert("RGB").quantize(128, dither=Image.Dither.NONE).save(file, "png", optimize=True)
    return file.getvalue()
