"""The card task: a row of cards with letters and arrows."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from encoder_lib.course.kit.palette import FOLLOWED, LIGHT
from encoder_lib.course.kit.plots import style
from encoder_lib.course.kit.plots.inputs import as_words

ROOM = 0.38  # from a card's centre to its edge; the distance between two centres is 1
BEND = 0.9  # how far an arrow to the next card bends
TOP, BELOW = 0.5, -0.72  # heights at which arrows begin and end, and of the answers


@style.close_on_error
def plot_cards(
    letters: Sequence[str],
    arrows: Sequence[int],
    answers: Sequence[str] | None = None,
    *,
    only: int | Sequence[int] | None = None,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw a row of cards, each with its letter and an arrow to the card that it points at, and answers below.

    arrows: the positions that the cards point at, counted from 0. answers: a text below each card. only: the card,
    or the cards, whose arrows are drawn dark; the others are grey.
    Raises ValueError for lists of different lengths.
    """
    names, below = (as_words(words, len(arrows), "cards") for words in (letters, answers or [""] * len(arrows)))
    names, below = ([style.drawable(text, style.TICK) for text in texts] for texts in (names, below))
    chosen = range(len(names)) if only is None else [only] if isinstance(only, int) else only
    ax = style.axes_or_new(ax, (7.0, 2.4))
    middle = style.plain_text(ha="center", va="center", color=style.INK)
    for place, (letter, target, answer) in enumerate(zip(names, arrows, below, strict=True)):
        corner = (place - ROOM, -ROOM)
        ax.add_patch(
            FancyBboxPatch(corner, 2 * ROOM, 2 * ROOM, boxstyle="round,pad=0.04", fc=style.GROUND, ec=style.LINE_STRONG)
        )
        ax.text(place, 0.08, letter, fontsize=17, **middle)
        ax.text(place, -0.27, f"→ {target}", fontsize=style.NOTE_SIZE, **middle)
        ax.text(place, BELOW, answer, fontsize=12, weight="bold", **middle)
        dark = place in chosen
        bend = BEND / max(1, abs(target - place)) ** 0.55
        ax.add_patch(
            FancyArrowPatch(
                (place, TOP),
                (target, TOP),
                connectionstyle=f"arc3,rad={-bend if target > place else bend}",
                arrowstyle="-|>",
                mutation_scale=12,
                color=LIGHT[FOLLOWED] if dark else style.GREY,
                linewidth=1.6 if dark else 0.8,
                zorder=2 if dark else 1,
            )
        )
    farthest = max((abs(target - place) for place, target in enumerate(arrows)), default=0)
    ax.set(
        xlim=(-0.7, len(names) - 0.3),
        ylim=(BELOW - 0.25 if answers else -ROOM - 0.15, TOP + BEND / 2 * max(1, farthest) ** 0.45 + 0.15),
        aspect="equal",
        xticks=range(len(names)),
        yticks=[],
    )
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    return style.label_axes(ax, title, "position")
