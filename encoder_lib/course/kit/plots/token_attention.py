"""A sentence whose words are shaded by the attention weight that one of them gives to each."""

from collections.abc import Sequence
from math import ceil

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike

from encoder_lib.course.kit.plots import style
from encoder_lib.course.kit.plots.colour_maps import SEQUENTIAL, colour_map
from encoder_lib.course.kit.plots.inputs import as_array, as_words

GAP = 0.3  # at either side of a box, in characters


@style.close_on_error
def plot_token_attention(
    weights: ArrayLike,
    words: Sequence[str],
    *,
    chosen: int,
    title: str = "",
    limits: tuple[float, float] = (0.0, 1.0),
    cmap: str = SEQUENTIAL,
    ax: Axes | None = None,
) -> Axes:
    """Draw a sentence as boxes, each coloured by the attention weight of the chosen word on it, in per cent.

    weights: (T,), the chosen word's row. words: one string for each weight. limits: the weights at the two ends of the
    colour map. The boxes are the patches of the Axes, one for each word in order, and the chosen one has a thick frame.
    Raises ValueError for words that do not match the weights, or weights that are not finite; TypeError for anything
    that is not numbers.
    """
    row = as_array(weights, ndim=(1,), name="weights", finite=True)  # (T,)
    words = as_words(words, len(row), "words")
    width = plt.rcParams["figure.figsize"][0]
    ax = style.axes_or_new(ax, figsize=(width, token_attention_height(words, width)))
    scale = mpl.colors.Normalize(*limits, clip=True)
    room = ax.figure.bbox.width / ax.figure.dpi  # inches
    positions = _word_positions(words, room)
    for i, ((line, start, width), word, weight) in enumerate(zip(positions, words, row.tolist(), strict=True)):
        colour = colour_map(cmap)(scale(weight))
        box = Rectangle((start + GAP, line + 0.08), width - 2 * GAP, 0.84, facecolor=colour, clip_on=False)
        box.set(edgecolor=style.INK if i == chosen else style.GROUND, linewidth=2.5 if i == chosen else 0)
        ax.add_patch(box)
        middle = style.plain_text(ha="center", va="center", color=style.ink_on(colour))
        place = start + width / 2
        ax.text(place, line + 0.34, style.drawable(word, style.TICK), fontsize=style.TICK_SIZE, **middle)
        ax.text(place, line + 0.7, style.percent(weight), fontsize=style.NOTE_SIZE, **middle)
    end = max(start + width for _, start, width in positions)
    width = max(_line_room(room), end)
    ax.set(xlim=(GAP, width + GAP), ylim=(positions[-1][0] + 1, 0))  # the first box begins below the title
    ax.axis("off")
    return style.label_axes(ax, title)


def token_attention_height(words: Sequence[str], width: float) -> float:
    """The height in inches that `plot_token_attention` needs at a width of `width` inches."""
    return 0.4 + 0.45 * (_word_positions(words, width)[-1][0] + 1)


def _line_room(width: float) -> float:
    """The number of characters, boxes included, that fit on a line of `width` inches."""
    return 11 * width


def _word_positions(words: Sequence[str], width: float) -> list[tuple[int, int, int]]:
    """Line, start and width of each word, in characters, for lines of at most `width` inches, about equally long."""
    longest = _line_room(width)
    rooms = [2 + max(4, sum(2 if ord(letter) > 0x2E7F else 1 for letter in word)) for word in words]  # Chinese is wide
    positions = _broken(rooms, longest)
    even = sum(rooms) / (positions[-1][0] + 1)
    shorter = (_broken(rooms, room) for room in range(ceil(even), ceil(longest)))
    return next((lines for lines in shorter if lines[-1][0] == positions[-1][0]), positions)


def _broken(rooms: Sequence[int], longest: float) -> list[tuple[int, int, int]]:
    """Line, start and width of each word: one that does not fit begins the next line."""
    positions, line, start = [], 0, 0
    for room in rooms:
        if start and start + room > longest:
            line, start = line + 1, 0
        positions.append((line, start, room))
        start += room
    return positions
