"""Static pictures of tensors: each `plot_*` function draws on one matplotlib `Axes` and returns it.

`show(ax, alt=...)` turns a finished picture into a cell's output whose alt text survives wherever the notebook is read.
"""

import base64
import html
import io
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import cycle
from math import ceil, isfinite

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager
from matplotlib.ft2font import FT2Font
from matplotlib.patches import Circle, ConnectionPatch
from matplotlib.ticker import MaxNLocator
from PIL import Image

DIVERGING = frozenset({"BrBG", "PRGn", "PiYG", "PuOr", "RdBu", "RdGy", "bwr", "coolwarm", "icefire", "seismic", "vlag"})
# Okabe and Ito's colours, told apart with any colour vision, without yellow, which is too pale for lines
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#000000", "#cc79a7", "#56b4e9", "#e69f00")
NOT_FINITE = "#8f8f8f"  # the grey of NaN and infinity
DASHES = ("-", "--", "-.", ":")
TITLE, LABEL, TICK = 160, 80, 24  # the most characters that each kind of text keeps

# The first comes with matplotlib; the others serve labels in Chinese, Japanese or Korean where one is installed.
FONTS = ("DejaVu Sans", "Noto Sans CJK SC", "PingFang SC", "Hiragino Sans", "Microsoft YaHei", "Arial Unicode MS")


def as_array(values, *, ndim: Sequence[int] = (2,)) -> np.ndarray:
    """Return `values` (tensor or array, on any device, of any real dtype) as a new float64 array.

    Raises TypeError for values that are not real numbers, ValueError for another number of axes or an empty axis.
    """
    if isinstance(values, torch.Tensor):
        values = values.detach().cpu()
        values = (values if values.is_complex() else values.double()).numpy()  # numpy has no bfloat16
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"expected real numbers, got dtype {array.dtype}: pass a tensor or array of numbers")
    if array.ndim not in ndim:
        expected = " or ".join(map(str, ndim))
        raise ValueError(f"expected {expected} axes, got shape {array.shape}: pick one matrix, for example values[0]")
    if 0 in array.shape:
        raise ValueError(f"expected at least one row and one column, got shape {array.shape}: pass at least one token")
    return np.array(array, dtype=np.float64)


def as_labels(labels, size: int, axis: str) -> list[str] | None:
    """Return `labels` as `size` strings fit to draw; None stays None. Raises ValueError when the number differs."""
    if labels is None:
        return None
    labels = [readable(label, TICK) for label in labels]
    if len(labels) != size:
        raise ValueError(f"expected {size} labels for {axis}, got {len(labels)}: give one label for each row or column")
    return labels


def colour_limits(values: np.ndarray, limits: tuple[float, float] | None, cmap: str) -> tuple[float, float]:
    """Return the values that the two ends of the colour map stand for.

    `limits` win when given. Otherwise a diverging map runs symmetrically about zero and any other map from the smallest
    to the largest finite value. Raises ValueError unless the given limits are finite and increasing.
    """
    if limits is not None:
        low, high = map(float, limits)
        if not (isfinite(low) and isfinite(high) and low < high):
            raise ValueError(
                f"expected limits (low, high) with low < high, got {limits}: leave them out to fit the data"
            )
        return low, high
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if cmap.removesuffix("_r") in DIVERGING:
        bound = max(-low, high) or 1.0
        return -bound, bound
    if low == high:  # one value everywhere: it takes the middle of the map
        margin = max(abs(low), 1.0) / 2
        return low - margin, high + margin
    return low, high


def readable(text: object, limit: int) -> str:
    """Return `text` as one line of at most `limit` characters, without control characters and lone surrogates."""
    text = str(text)
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    return re.sub("[\ud800-\udfff]", "\ufffd", re.sub("[\x00-\x1f\x7f-\x9f]", " ", text))


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
    """Draw a matrix as colours: row 0 at the top, NaN and infinity in grey.

    values: tensor or array (R, C). x_ticks: one label for each of the C columns; y_ticks: one for each of the R rows.
    limits: the values at the two ends of the colours; without it they fit the data (see `colour_limits`).
    Raises ValueError for another shape, labels that do not match it, or limits that do not increase.
    """
    array = as_array(values)  # (R, C)
    low, high = colour_limits(array, limits, cmap)
    labels = {"x": as_labels(x_ticks, array.shape[1], "x_ticks"), "y": as_labels(y_ticks, array.shape[0], "y_ticks")}
    ax = _axes(ax)
    style = {"parse_math": False, "fontfamily": _fonts()[0]}  # a label such as `$x^$` is text, not a formula

    colours = mpl.colormaps[cmap].with_extremes(bad=NOT_FINITE)
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
    ax: Axes | None = None,
) -> Axes:
    """Draw curves over common places, each named in a legend by its key, told apart by colour and by dash.

    lines: name -> values (N,). x: the places (N,), 0 … N − 1 without it. The scales are "linear" or "log".
    Raises ValueError for no lines, lines without points, or a line that is not as long as x.
    """
    if not lines:
        raise ValueError("expected at least one line, got none: pass {'name': values}")
    curves = [(_drawable(name, LABEL), as_array(values, ndim=(1,))) for name, values in lines.items()]
    places = np.arange(len(curves[0][1])) if x is None else as_array(x, ndim=(1,))
    for name, values in curves:
        if len(values) != len(places):
            raise ValueError(
                f"{name}: expected {len(places)} points, one for each place on the x axis, got {len(values)}"
            )
    ax = _axes(ax)
    for (name, values), colour, dash in zip(curves, cycle(COLOURS), cycle(DASHES), strict=False):
        ax.plot(places, values, color=colour, linestyle=dash, marker=marker, label=name)
    ax.set(xscale=x_scale, yscale=y_scale)
    if len(curves) > 1:
        _legend(ax)
    return _name(ax, title, x_label, y_label)


def plot_bars(
    values: Mapping[str, float], *, title: str = "", x_label: str = "", number: str = ",.0f", ax: Axes | None = None
) -> Axes:
    """Draw named numbers as horizontal bars, the first on top, each with its number written beside it.

    values: name -> number, NaN and infinity excepted. number: how the numbers are written.
    Raises ValueError for no bars or a number that is not finite.
    """
    if not values or not all(map(isfinite, values.values())):
        raise ValueError(f"expected at least one finite number, got {dict(values)}: pass {{'name': number}}")
    ax = _axes(ax)
    names = [_drawable(name, LABEL) for name in values]
    bars = ax.barh(range(len(names)), list(values.values()), color=COLOURS[0])
    ax.bar_label(bars, [format(value, number) for value in values.values()], padding=4)
    ax.set_yticks(range(len(names)), names, parse_math=False, fontfamily=_fonts()[0])
    ax.invert_yaxis()
    ax.margins(x=0.15)
    return _name(ax, title, x_label)


def plot_spread(
    values, marks: Mapping[str, float], *, title: str = "", x_label: str = "", y_label: str = "", ax: Axes | None = None
) -> Axes:
    """Draw how numbers are spread, as a histogram with every number as a tick below it, and named marks to compare.

    values: (N,). marks: name -> place on the x axis, drawn as a vertical line.
    Raises ValueError for no numbers.
    """
    import seaborn as sns  # here, since it takes most of a second that no other picture has to wait for

    array = as_array(values, ndim=(1,))  # (N,)
    ax = _axes(ax)
    sns.histplot(array, bins=18, color="0.75", edgecolor="white", ax=ax)
    sns.rugplot(array, color="0.3", ax=ax)
    for (name, place), colour, dash in zip(marks.items(), cycle(COLOURS), cycle(DASHES), strict=False):
        ax.axvline(place, color=colour, linestyle=dash, linewidth=2, label=_drawable(name, LABEL))
    if marks:
        _legend(ax)
    return _name(ax, title, x_label, y_label)


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
    Raises ValueError for vectors of another width or strings that do not match them.
    """
    points = as_array(vectors)  # (N, 2)
    if points.shape[1] != 2:
        raise ValueError(f"expected vectors of width 2, got {points.shape[1]}: a plane has room for two numbers a word")
    words, kinds = as_labels(words, len(points), "words"), as_labels(kinds, len(points), "kinds")
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
        ax.scatter(*points[chosen].T, color=[colour], marker=marker, label=_drawable(name, TICK), zorder=3)
        for i in chosen:
            ax.annotate(
                _drawable(words[i], TICK), points[i], xytext=(5, 4), textcoords="offset points", fontsize=8,
                parse_math=False, fontfamily=_fonts()[0],
            )  # fmt: skip
    limit = limit or 1.15 * float(np.abs(points).max()) or 1.0
    ax.set(xlim=(-limit, limit), ylim=(-limit, limit), aspect="equal")
    _legend(ax)
    return _name(ax, title, "first number", "second number")


def plot_reordering(
    before, after, order: Sequence[int], words: Sequence[str], *, title: str = "", cmap: str = "coolwarm"
) -> Figure:
    """Draw one vector a word before and after a change of word order, each joined by a line to where it went.

    before: (T, D) in the order of `words`. after: (T, D), whose row i stands for the word `order[i]`.
    Raises ValueError for shapes that differ, an order that is not a permutation, or words that do not match.
    """
    left, right = as_array(before), as_array(after)  # (T, D) each
    if left.shape != right.shape or sorted(order) != list(range(len(left))):
        raise ValueError(
            f"expected two matrices of one shape and an order of their rows, got {left.shape}, {right.shape}, {order}"
        )
    words = as_labels(words, len(left), "words")
    limits = colour_limits(np.stack([left, right]), None, cmap)
    figure, (a, b) = plt.subplots(1, 2, figsize=(8, 0.9 + 0.5 * len(left)), gridspec_kw={"wspace": 0.5})
    plot_heatmap(left, y_ticks=words, limits=limits, cmap=cmap, colorbar=False, x_label="dimension", ax=a)
    plot_heatmap(right, y_ticks=[words[i] for i in order], limits=limits, cmap=cmap, x_label="dimension", ax=b)
    for row, source in enumerate(order):
        line = ConnectionPatch(
            (1, source), (-0.3, row), a.get_yaxis_transform(), b.get_yaxis_transform(), color="0.4", linewidth=1.2
        )
        figure.add_artist(line)
    figure.suptitle(textwrap.fill(_drawable(title, TITLE), 90), fontsize=plt.rcParams["axes.titlesize"], y=1.02)
    return figure


def plot_clocks(before, after, *, title: str = "", ax: Axes | None = None) -> Axes:
    """Draw two rows of a sinusoidal table as the hands of clocks: pair k is a point (sine up, cosine right) of clock k.

    before, after: (D,) each. Line 2k of the Axes is clock k's hand before, line 2k + 1 its hand after.
    Raises ValueError for an odd width or widths that differ.
    """
    hands = [as_array(row, ndim=(1,)) for row in (before, after)]
    if hands[0].shape != hands[1].shape or len(hands[0]) % 2:
        raise ValueError(f"expected two rows of one even width, got {hands[0].shape} and {hands[1].shape}")
    ax = _axes(ax, figsize=(8, 2.2))
    n_clocks = len(hands[0]) // 2
    for k in range(n_clocks):
        ax.add_patch(Circle((3 * k, 0), 1, facecolor="none", edgecolor="0.6"))
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


def _axes(ax: Axes | None, **size) -> Axes:
    """Return `ax`, or the Axes of a new figure."""
    return plt.subplots(layout="constrained", **size)[1] if ax is None else ax


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


@dataclass(frozen=True)
class Picture:
    """A finished picture: its PNG file and the alt text that says in words what it shows."""

    png: bytes
    alt: str

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
    if not isinstance(picture, Axes | Figure):
        raise TypeError(f"expected an Axes or a Figure, got {type(picture).__name__}: pass what plot_heatmap returned")
    if not alt.strip():
        raise ValueError(
            "expected an alt text, got an empty one: say what the picture shows to someone who cannot see it"
        )
    figure = picture if isinstance(picture, Figure) else picture.get_figure(root=True)
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=100, bbox_inches="tight", facecolor="white")
    plt.close(figure)  # otherwise the notebook would draw it a second time
    return Picture(compact(Image.open(file)), readable(alt, 2000))


def compact(image: Image.Image) -> bytes:
    """Return an image as a small PNG of at most 128 colours."""
    file = io.BytesIO()
    image.convert("RGB").quantize(128, dither=Image.Dither.NONE).save(file, "png", optimize=True)
    return file.getvalue()
