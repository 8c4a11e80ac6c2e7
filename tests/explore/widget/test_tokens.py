"""The words above a heatmap: what the front end is told of them, the still picture, and what is refused."""

import numpy as np
import pytest

from encoder_lib.explore import Explorer, Heatmap, Range, Tokens, View

WORDS = ["the", "$x^$", "<b>"]
WEIGHTS = np.array([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0], [0.2, 0.3, 0.5]])


def looks(values=WEIGHTS, **options):
    return Heatmap(values, **{"x_ticks": WORDS, "y_ticks": WORDS, "limits": (0, 1)} | options)


def explorer_of(*panels, tokens, **options):
    return Explorer(lambda: View(*panels, tokens=tokens, description="A look.", **options), title="Looks")


def test_the_front_end_learns_which_panel_looks_and_who_is_chosen():
    first, second = Heatmap(WEIGHTS), looks()
    explorer = explorer_of(first, second, tokens=Tokens(second, title="Who?", chosen=2))
    assert explorer._tokens == {"panel": 1, "title": "Who?", "chosen": 2}
    assert explorer._panels[1]["y_ticks"] == WORDS
    assert len(explorer._data) == 2 * WEIGHTS.size * 4  # the weights travel once


def test_a_view_without_words_says_so():
    assert Explorer(lambda: View(looks(), description="A look."), title="Looks")._tokens == {}


def test_words_may_come_and_go():
    def show(k):
        panel = looks()
        return View(panel, description=f"{k}.", tokens=Tokens(panel) if k else None)

    explorer = Explorer(show, Range("k", 0, min=0, max=1), title="Looks")
    explorer.k = 1
    assert explorer._tokens["chosen"] == 0
    explorer.k = 0
    assert explorer._tokens == {}


def test_the_still_picture_shows_the_chosen_words_row_above_the_heatmaps():
    panel = looks()
    figure = View(panel, Heatmap(WEIGHTS), tokens=Tokens(panel, chosen=2), description="A look.").draw(0)
    strip, *heatmaps = [ax for ax in figure.axes if ax.get_label() != "<colorbar>"]
    assert strip.get_title() == "Where “<b>” looks"
    assert [text.get_text() for text in strip.texts] == ["the", "20 %", "$x^$", "30 %", "<b>", "50 %"]
    assert len(heatmaps) == 2
    figure.draw_without_rendering()
    assert all(strip.get_position().y0 > ax.get_position().y1 for ax in heatmaps)


def test_the_still_picture_follows_the_frame():
    panel = looks(np.stack([WEIGHTS, WEIGHTS[::-1]]))
    view = View(panel, tokens=Tokens(panel), description="A look.", frames="head")
    assert [view.draw(frame).axes[0].texts[1].get_text() for frame in (0, 1)] == ["50 %", "20 %"]


@pytest.mark.parametrize(
    ("panel", "chosen", "error"),
    [
        (Heatmap(WEIGHTS), 0, ValueError),
        (Heatmap(WEIGHTS, y_ticks=WORDS), 0, ValueError),
        (Heatmap(WEIGHTS, y_ticks=WORDS, x_ticks="abc"), 0, ValueError),
        (looks(tile=1), 0, ValueError),
        (looks(np.where(WEIGHTS > 0.9, np.nan, WEIGHTS)), 0, ValueError),
        (looks(), 3, IndexError),
        (looks(), -1, IndexError),
    ],
)
def test_what_cannot_look_is_refused(panel, chosen, error):
    with pytest.raises(error, match="expected"):
        Tokens(panel, chosen=chosen)


def test_the_words_belong_to_a_panel_of_the_view():
    with pytest.raises(ValueError, match="expected the words of one of the panels"):
        View(looks(), tokens=Tokens(looks()), description="A look.")
