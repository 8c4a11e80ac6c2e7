"""The task of the ladder: a row of cards with letters and arrows."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from encoder_lib import expect
from encoder_lib.plots.inputs import as_words
from encoder_lib.plots.style import (
    COLOURS,
    GREY,
    NOTE_SIZE,
    TICK,
    axes_or_new,
    close_on_error,
    drawable,
    label_axes,
    plain_text,
)

ROOM = 0.38  # from a card's middle to its edge; cards stand one apart
ANSWER = "#a34700"  # the second colour, as dark as words need to be
TOP, BELOW = 0.5, -0.72  # where arrows begin and end, and where answers stand


@close_on_error
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

    arrows: the places that the cards point at, counted from 0. answers: a text below each card. only: the card,
    or the cards, whose arrows are drawn dark; the others stay grey.
    Raises ValueError for lists of different lengths or an empty one; IndexError for an arrow or a card that is not
    there; TypeError for what are no texts, no places or no Axes.
    """
    names = as_words("letters", letters, len(expect.texts("letters", letters)))
    expect.kind("arrows", arrows, list | tuple, "a list of places", "; try arrows.tolist()")
    if not names or len(arrows) != len(names):
        raise ValueError(f"arrows: expected one for each of {len(names)} cards, and a card, got {len(arrows)}")
    places = [expect.index("arrows", arrow, len(names), "a card") for arrow in arrows]
    below = [""] * len(names) if answers is None else as_words("answers", answers, len(names))
    names, below = ([drawable(text, TICK) for text in texts] for texts in (names, below))
    some = only if isinstance(only, list | tuple) else [only]
    chosen = range(len(names)) if only is None else [expect.index("only", i, len(names), "a card") for i in some]
    ax = axes_or_new(ax, (7.0, 2.4))
    for place, (letter, target, answer) in enumerate(zip(names, places, below, strict=True)):
        corner = (place - ROOM, -ROOM)
        ax.add_patch(FancyBboxPatch(corner, 2 * ROOM, 2 * ROOM, boxstyle="round,pad=0.04", fc="white", ec="black"))
        ax.text(place, 0.08, letter, ha="center", va="center", fontsize=17, **plain_text())
        ax.text(place, -0.27, f"→ {target}", ha="center", va="center", fontsize=NOTE_SIZE, **plain_text())
        ax.text(place, BELOW, answer, ha="center", va="center", fontsize=12, color=ANSWER, **plain_text())
        dark = place in chosen
        bend = 0.9 / max(1, abs(target - place)) ** 0.55
        ax.add_patch(
            FancyArrowPatch(
                (place, TOP),
                (target, TOP),
                connectionstyle=f"arc3,rad={-bend if target > place else bend}",
                arrowstyle="-|>",
                mutation_scale=12,
                color=COLOURS[0] if dark else GREY,
                linewidth=1.6 if dark else 0.8,
                zorder=2 if dark else 1,
            )
        )
    ax.set(xlim=(-0.7, len(names) - 0.3), ylim=(-1.0, 2.4), aspect="equal", xticks=range(len(names)), yticks=[])
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    return label_axes(ax, title, "place")
