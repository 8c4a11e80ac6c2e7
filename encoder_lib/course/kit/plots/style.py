"""Common to all plots: colours, sizes, fonts, plain text, Axes and legends."""

import math
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, wraps
from itertools import count
from typing import Any, Literal, ParamSpec, TypeVar

import matplotlib.pyplot as plt
import numpy as np
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.axis import Axis, YAxis
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager
from matplotlib.ft2font import FT2Font
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator, NullLocator
from matplotlib.transforms import Transform, offset_copy
from matplotlib.typing import ColorType

from encoder_lib.course.kit.palette import COMPARED, LIGHT
from encoder_lib.course.kit.plots.colour_maps import DIVERGING, SEQUENTIAL, light_to_dark
from encoder_lib.course.kit.plots.fonts import FAMILY

COLOURS = tuple(COMPARED)  # of curves, dots and bars, which have no role
INK, QUIET, GROUND = LIGHT["ink"], LIGHT["quiet"], LIGHT["ground"]
LINE, LINE_STRONG = LIGHT["line"], LIGHT["line-strong"]
GREY = LIGHT["norm"]
WHITE, BLACK = "#ffffff", "#000000"
INKS = {  # of words on a colour, by what has contrast in the light and in the dark; each is distinct in an SVG
    (BLACK, BLACK): "#000001",
    (WHITE, WHITE): "#fffffe",
    (BLACK, WHITE): "#010000",
    (WHITE, BLACK): "#feffff",
}
NOT_FINITE = "#8f8f8f"  # the grey of NaN and infinity; striped, because a cell with a number may be as dark
HALO = "halo"  # as the `gid` of a text, keeps it readable where a line runs beneath it
IN_THE_DARK = light_to_dark(DIVERGING) | light_to_dark(SEQUENTIAL)  # the colours of both maps
DASHES, MARKERS = ("-", "--", "-.", ":"), "osD^vPX"
FEW = 8  # values of a logarithmic axis that are all written beside it
# A picture is 7.8 inches, or 749 pixels, wide, with one plot or with several. A notebook shows it without scaling, so
# its text has the same size everywhere. Font sizes are in points, of which three are four pixels.
WIDTH, HEIGHT, SEVERAL_HIGH, MARGIN = 7.8, 4.0, 3.5, 0.06
TITLE_SIZE, TEXT_SIZE, TICK_SIZE, NOTE_SIZE = 11.5, 10, 9.5, 9
ABOVE = 26  # points from a plot to its title, with a legend between
STYLE: dict[str, Any] = {  # of every picture in a notebook; `setup` applies it
    "figure.figsize": (WIDTH, HEIGHT),
    "figure.dpi": 100,
    "font.family": [FAMILY, "DejaVu Sans"],
    "mathtext.fontset": "custom",
    **{f"mathtext.{face}": FAMILY for face in ("rm", "it", "sf", "bf", "bfit", "cal", "tt")},
    "axes.prop_cycle": cycler(color=COLOURS),
    "axes.facecolor": "none",
    "axes.edgecolor": LINE_STRONG,
    "axes.labelcolor": QUIET,
    "axes.titlecolor": INK,
    "axes.titleweight": "bold",
    "axes.titlepad": 9,
    "axes.axisbelow": True,
    "grid.color": LINE,
    "grid.linewidth": 0.8,
    "text.color": INK,
    "xtick.color": LINE_STRONG,
    "ytick.color": LINE_STRONG,
    "xtick.labelcolor": QUIET,
    "ytick.labelcolor": QUIET,
    "figure.titleweight": "bold",
    "savefig.pad_inches": MARGIN,
    "figure.constrained_layout.w_pad": MARGIN / 2,
    "figure.constrained_layout.h_pad": MARGIN / 2,
    "font.size": TEXT_SIZE,
    "axes.titlesize": TITLE_SIZE,
    "figure.titlesize": TITLE_SIZE,
    "figure.labelsize": TEXT_SIZE,
    "xtick.labelsize": TICK_SIZE,
    "ytick.labelsize": TICK_SIZE,
    "legend.fontsize": TICK_SIZE,
    "axes.spines.left": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.major.size": 3,
    "ytick.major.size": 0,
    "legend.frameon": False,
    "lines.linewidth": 2,
    "path.simplify_threshold": 0.3,  # pixels; a curve of many points takes less room in a page
}
TITLE, LABEL, TICK = 160, 80, 24  # the largest number of characters of each kind of text
# invisible: halves of a character, and marks for right-to-left writing, which would reverse the text after them
INVISIBLE = re.compile("[\ud800-\udfff\u202a-\u202e\u2066-\u2069]")
# The first is bundled, and the second comes with matplotlib. The others serve labels in Chinese, Japanese or Korean, if
# one of them is installed.
ASIAN = ("Noto Sans CJK SC", "PingFang SC", "Hiragino Sans", "Microsoft YaHei", "Arial Unicode MS")
FONTS = (FAMILY, "DejaVu Sans", *ASIAN)

Given = ParamSpec("Given")  # the arguments of a plot
Drawn = TypeVar("Drawn")  # and its result


def close_on_error(draw: Callable[Given, Drawn]) -> Callable[Given, Drawn]:
    """Close the figures of a plot that raises an error; otherwise the notebook would show them half finished."""

    @wraps(draw)
    def drawn(*args: Given.args, **kwargs: Given.kwargs) -> Drawn:
        before = set(plt.get_fignums())
        try:
            return draw(*args, **kwargs)
        except BaseException:
            for number in set(plt.get_fignums()) - before:
                plt.close(number)
            raise

    return drawn


def compared(forms: Sequence[str]) -> Iterator[tuple[str, str]]:
    """A colour and a form for each of what is compared: blue for the first, and greys for all others.

    forms: dashes or markers. No grey repeats a form before it has had all of them.
    """
    yield COLOURS[0], forms[0]
    greys = COLOURS[1:]
    for i in count():
        shift = i // math.lcm(len(greys), len(forms))
        yield greys[i % len(greys)], forms[(i + 1 + shift) % len(forms)]


def axes_or_new(ax: Axes | None, figsize: tuple[float, float] | None = None) -> Axes:
    """Return `ax`, or the Axes of a new figure."""
    return plt.subplots(layout="constrained", figsize=figsize)[1] if ax is None else ax


def figure_size(plots: int, height: float | None = None) -> tuple[float, float]:
    """Width and height, in inches, of a picture with this many plots side by side; several are less high by default."""
    return WIDTH, height or (HEIGHT if plots == 1 else SEVERAL_HIGH)


def percent(fraction: float) -> str:
    """A fraction as whole percent, with half rounded up; a positive one that would round to 0 becomes "< 1 %"."""
    fraction = float(fraction)  # a float32 would be rounded twice
    if 0 < fraction < 0.005:
        return "< 1 %"
    whole = math.floor(100 * fraction)
    return f"{whole + (100 * fraction - whole >= 0.5)} %"


def ink_on(colour: ColorType) -> str:
    """Black or white, whichever has more contrast with a colour, and with that colour in the dark: an ink of `INKS`."""
    light = to_hex(colour)
    return INKS[_black_or_white(light), _black_or_white(IN_THE_DARK.get(light, light))]


def _black_or_white(colour: str) -> str:
    """The one that has more contrast with a colour: at least 4.5 to 1 (relative luminance, WCAG 2.2)."""
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in to_rgb(colour)]
    return BLACK if float(np.dot(linear, (0.2126, 0.7152, 0.0722))) > 0.179 else WHITE


def readable(text: object, limit: int) -> str:
    """Return `text` as one line of at most `limit` characters, without control characters and those in `INVISIBLE`."""
    text = str(text)
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    return INVISIBLE.sub("\ufffd", re.sub("[\x00-\x1f\x7f-\x9f\u2028\u2029]", " ", text))


@lru_cache
def fonts() -> tuple[list[str], frozenset[int]]:
    """Return the names of the fonts of `FONTS` that are installed, and every character that one of them can draw."""
    installed = {font.name for font in fontManager.ttflist}
    names = [name for name in FONTS if name in installed]
    files = [fontManager.findfont(name) for name in names]  # the face of the family that is used for drawing
    return names, frozenset(code for file in files for code in FT2Font(file).get_charmap())


def drawable(text: object, limit: int) -> str:
    """Return `text` as `readable` does, with a box for each character that no installed font can draw."""
    _, characters = fonts()
    return "".join(character if ord(character) in characters else "□" for character in readable(text, limit))


def plain_text(**more: object) -> dict[str, Any]:
    """Matplotlib's properties for text that is drawn literally (`$x^$` is not a formula), and `more` of them."""
    return {"parse_math": False, "fontfamily": fonts()[0]} | more


def legend_label(name: object) -> str:
    """A name for the legend. Matplotlib leaves out names that begin with `_`, so those get a space in front."""
    text = drawable(name, LABEL)
    return text if text and not text.startswith("_") else f" {text}"


def add_legend(ax: Axes, *, above: bool = False) -> None:
    """Add a legend as plain text: to the right of the picture, or above it, `ABOVE` points below its title."""
    place: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1, 0.5)}
    if above:
        place = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": 9, "borderaxespad": 0, "borderpad": 0.3}
        place |= {"handletextpad": 0.4, "columnspacing": 1.4}
    for text in ax.legend(**place).get_texts():
        text.set(**plain_text())


def label_axes(ax: Axes, title: str, x_label: str = "", y_label: str = "", pad: float | None = None) -> Axes:
    """Write the title, `pad` points above the plot, and the labels of the axes as plain text: `$x^$` is no formula."""
    letters = max(10, min(60, int(12.5 * room_of(ax)[0])))  # that fit on a line of the title
    ax.set_title(textwrap.fill(drawable(title, TITLE), letters), x=0, pad=pad, **plain_text(ha="left"))
    ax.set_xlabel(drawable(x_label, LABEL), **plain_text())
    ax.set_ylabel(drawable(y_label, LABEL), **plain_text())
    return ax


def level_titles(axes: Sequence[Axes]) -> None:
    """Let titles side by side begin at one height, however many lines they have."""
    titles = [ax.get_title() for ax in axes]
    most = max(title.count("\n") for title in titles)
    for ax, title in zip(axes, titles, strict=True):
        ax.title.set_text(title + "\n" * (most - title.count("\n")))


def room_of(ax: Axes) -> tuple[float, float]:
    """Width and height, in inches, of the part of the figure that an Axes takes up with its labels."""
    place, figure = ax.get_subplotspec(), ax.figure.get_figure(root=True)
    if place is None:
        return ax.get_position().width * figure.get_figwidth(), ax.get_position().height * figure.get_figheight()
    place = place.get_topmost_subplotspec()
    grid = place.get_gridspec()
    widths, heights = np.asarray(grid.get_width_ratios()), np.asarray(grid.get_height_ratios())
    width = sum(widths[i] for i in place.colspan) / sum(widths) * figure.get_figwidth()
    return width, sum(heights[i] for i in place.rowspan) / sum(heights) * figure.get_figheight()


def moved_data(ax: Axes, right: float, up: float) -> Transform:
    """The transform of an Axes' data, shifted to the right and up by some typographic points."""
    return offset_copy(ax.transData, ax.figure.get_figure(root=True), right, up, units="points")


def use_whole_ticks(axis: Axis) -> None:
    """Put ticks at whole numbers only, on an axis that counts layers or heads."""
    axis.set_major_locator(MaxNLocator("auto", steps=(1, 2, 2.5, 5, 10), integer=True))


def label_log_axis(axis: Axis, values: Sequence[float] = ()) -> None:
    """Label a logarithmic axis in plain numbers: by its values if they are few, by 1, 2, 5, 10 … or by 1, 10, 100 …"""
    low, high = axis.get_view_interval()
    subs = (1, 2, 5) if high < (1e5 if isinstance(axis, YAxis) else 300) * low else (1,)
    locator = FixedLocator(values) if 0 < len(values) <= FEW else LogLocator(subs=subs)
    axis.set(major_locator=locator, minor_locator=NullLocator(), major_formatter=_plain)


def _plain(number: float, _: object = None) -> str:
    """A number on a logarithmic axis: 0.01, 2,000, 10⁹."""
    if number < 1e6:
        return f"{number:,g}"
    power = math.floor(math.log10(number))
    factor = f"{number / 10**power:g}"
    return f"{factor} · " * (factor != "1") + "10" + str(power).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def add_grid(ax: Axes, axis: Literal["both", "x", "y"] = "y") -> None:
    """Draw thin lines across the plot, along which numbers are read off."""
    ax.grid(axis=axis)
    ax.set_axisbelow(True)


def add_suptitle(figure: Figure, title: str) -> None:
    """Write a title above all Axes of a figure, as plain text, with some room between it and their own titles."""
    engine = figure.get_layout_engine()
    if isinstance(engine, ConstrainedLayoutEngine):
        engine.set(h_pad=0.09)  # in inches
    left = MARGIN / 2 / figure.get_figwidth()  # where plots begin that have nothing written beside them
    figure.suptitle(textwrap.fill(drawable(title, TITLE), 90), x=left, **plain_text(ha="left"))
