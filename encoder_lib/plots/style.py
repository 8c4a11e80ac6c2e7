"""What all pictures share: colours, fonts, plain text, Axes and legends."""

import re
import textwrap
from collections.abc import Callable
from functools import lru_cache, wraps
from math import floor

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager
from matplotlib.ft2font import FT2Font

from encoder_lib import expect

# Five of Okabe and Ito's colours and two dark ones: told apart with any colour vision, and none too pale on white
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#000000", "#cc79a7", "#9933ff", "#663311")
GREY = "0.57"  # the palest that still stands out from white, 3 to 1
NOT_FINITE = "#8f8f8f"  # the grey of NaN and infinity, striped: some see the middle of viridis as grey
DASHES = ("-", "--", "-.", ":")
TITLE, LABEL, TICK = 160, 80, 24  # the most characters that each kind of text keeps
# what nobody sees: halves of a character, and orders to write from right to left, which turn all that follows around
UNSEEN = re.compile("[\ud800-\udfff\u202a-\u202e\u2066-\u2069]")
# The first comes with matplotlib; the others serve labels in Chinese, Japanese or Korean where one is installed.
FONTS = ("DejaVu Sans", "Noto Sans CJK SC", "PingFang SC", "Hiragino Sans", "Microsoft YaHei", "Arial Unicode MS")


def whole_or_nothing(draw: Callable) -> Callable:
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


def axes_or_new(ax: Axes | None, **size) -> Axes:
    """Return `ax`, or the Axes of a new figure."""
    expect.kind("ax", ax, Axes | None, "a matplotlib Axes", "; try plt.subplots()[1]")
    return plt.subplots(layout="constrained", **size)[1] if ax is None else ax


def readable(text: object, limit: int) -> str:
    """Return `text` as one line of at most `limit` characters, without control characters and those in `UNSEEN`."""
    text = str(text)
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    return UNSEEN.sub("\ufffd", re.sub("[\x00-\x1f\x7f-\x9f\u2028\u2029]", " ", text))


def percent(share: float) -> str:
    """A share as it is read: whole percent, half rounded up, and what is above 0 but rounds to none as < 1 %."""
    share = float(share)  # a float32 would be rounded a second time on its way to percent
    return "< 1 %" if 0 < share < 0.005 else f"{floor(100 * share + 0.5)} %"


@lru_cache
def fonts() -> tuple[list[str], frozenset[int]]:
    """Return the names of the fonts of `FONTS` that are installed, and every character that one of them can draw."""
    files = {font.name: font.fname for font in fontManager.ttflist if font.name in FONTS}
    names = [name for name in FONTS if name in files]
    return names, frozenset(code for name in names for code in FT2Font(files[name]).get_charmap())


def drawable(text: object, limit: int) -> str:
    """Return `text` as `readable` does, with a box in the place of each character that no installed font can draw."""
    _, characters = fonts()
    return "".join(character if ord(character) in characters else "□" for character in readable(text, limit))


def plain(**more) -> dict[str, object]:
    """Matplotlib's properties of a text that is drawn as it stands (`$x^$` is no formula), and `more` of them."""
    return {"parse_math": False, "fontfamily": fonts()[0]} | more


def legend_name(name: object) -> str:
    """A name for the legend. Matplotlib leaves out those that begin with `_`; a space before it is not seen."""
    text = drawable(name, LABEL)
    return text if text and not text.startswith("_") else f" {text}"


def write_legend(ax: Axes) -> None:
    """Name what is drawn, to the right of the picture, as plain text."""
    for text in ax.legend(loc="center left", bbox_to_anchor=(1, 0.5)).get_texts():
        text.set(**plain())


def write_names(ax: Axes, title: str, x_label: str = "", y_label: str = "") -> Axes:
    """Write the title and the labels of the axes as plain text: `$x^$` is no formula."""
    ax.set_title(textwrap.fill(drawable(title, TITLE), 60), **plain())
    ax.set_xlabel(drawable(x_label, LABEL), **plain())
    ax.set_ylabel(drawable(y_label, LABEL), **plain())
    return ax


def write_title(figure: Figure, title: str, **place) -> None:
    """Write a title above all Axes of a figure, as plain text."""
    place["fontsize"] = plt.rcParams["axes.titlesize"]
    figure.suptitle(textwrap.fill(drawable(title, TITLE), 90), **plain(**place))
