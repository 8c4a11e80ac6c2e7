"""Heatmaps and words on their way to the front end: every number and every label arrives; and the still picture."""

import itertools

import numpy as np
import pytest
import torch
from small_explorers import numbers, still

from encoder_lib.course.explore import Explorer, Heatmap, Range, View
from encoder_lib.course.kit.plots import picture
from encoder_lib.course.kit.widget.boxes import Boxes
from encoder_lib.course.kit.widget.plane import Plane
from encoder_lib.course.kit.widget.views import attention_map, colour_table

WORDS = ["the", "$x^$", "<b>"]
WEIGHTS = np.array([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0], [0.2, 0.3, 0.5]])


def test_a_tensor_converts_and_is_copied():
    values = torch.tensor([[0.5, -1.0]], dtype=torch.bfloat16, requires_grad=True)
    np.testing.assert_array_equal(numbers(still(values)), [[0.5, -1]])
    array = np.ones((2, 2), dtype=np.float32)
    panel = Heatmap(array)
    array[:] = 7
    assert (panel.values == 1).all()


def test_nan_and_infinity_travel():
    values = np.array([[np.nan, np.inf], [-np.inf, 2.0], [1.0, 1.5]])
    np.testing.assert_array_equal(numbers(still(values)), values)


@pytest.mark.parametrize("wrong", [{"x_ticks": ["a"]}, {"y_ticks": list("abc")}, {"window": 1, "y_ticks": ["a"]}])
def test_labels_that_do_not_match_are_refused(wrong):
    with pytest.raises(ValueError, match="expected 2"):
        Heatmap(np.zeros((2, 2)), **wrong)


def test_each_cell_has_its_switch_or_none_has():
    assert still(np.eye(2), toggles=[["a", "b"], ["c", "d"]])._panels[0]["toggles"] == [["a", "b"], ["c", "d"]]
    assert "toggles" not in still(np.eye(2))._panels[0]
    with pytest.raises(ValueError, match="toggles: expected 2 rows of 2 names"):
        Heatmap(np.eye(2), toggles=[["a", "b"]])


def test_tiles_that_are_not_there_cannot_be_picked():
    with pytest.raises(ValueError, match="picks: expected tiles"):
        Heatmap(np.eye(2), picks=("row", "column"))


def test_a_colour_table_holds_256_colours_for_each_theme():
    same = np.frombuffer(colour_table("viridis"), dtype=np.uint8).reshape(2, 256, 3)
    np.testing.assert_array_equal(same[:, [0, -1]], [[[68, 1, 84], [253, 231, 36]]] * 2)
    light, dark = np.frombuffer(colour_table("sequential"), dtype=np.uint8).reshape(2, 256, 3)
    np.testing.assert_array_equal((light[0] > 200) & (dark[0] < 50), [True] * 3)
    assert still([[1.0]], cmap="diverging")._colours == {"diverging": colour_table("diverging")}


# ---- the words above a heatmap ----


def test_front_end_gets_token_panel_and_chosen_word():
    first, second = Heatmap(WEIGHTS), attention_map(WEIGHTS, WORDS, "Who?")
    explorer = Explorer(lambda: View(first, second, tokens=second, description="A look."), title="Looks")
    assert (explorer._tokens["panel"], explorer._tokens["chosen"]) == (1, 1)
    assert explorer._panels[1]["y_ticks"] == explorer._panels[1]["x_ticks"] == WORDS
    assert len(explorer._data) == 2 * WEIGHTS.size * 4  # the weights travel once


def test_words_may_come_and_go():
    def show(k):
        panel = attention_map([[1.0]], ["a"], "Who?")
        return View(panel, description=f"{k}.", tokens=panel if k else None)

    explorer = Explorer(show, Range("k", 0, min=0, max=1), title="Looks")
    assert explorer._tokens == {}
    explorer.k = 1
    assert explorer._tokens["chosen"] == 0
    explorer.k = 0
    assert explorer._tokens == {}


def test_static_picture_shows_the_chosen_words_row():
    panel = attention_map(np.stack([WEIGHTS, WEIGHTS[[0, 2, 1]]]), WORDS, "Head {frame}")
    view = View(panel, Heatmap(WEIGHTS), tokens=panel, description="A look.", frames="head")
    figure = view.draw(1)
    strip, *heatmaps = [ax for ax in figure.axes if ax.get_label() != "<colorbar>"]
    assert heatmaps[0].get_title() == "Head 2"
    assert strip.get_title() == "Attention weights of “$x^$”" and len(heatmaps) == 2
    assert [text.get_text() for text in strip.texts] == ["the", "20 %", "$x^$", "30 %", "<b>", "50 %"]
    assert view.draw(0).axes[0].texts[1].get_text() == "0 %"
    figure.draw_without_rendering()
    assert all(strip.get_position().y0 > ax.get_position().y1 for ax in heatmaps)


SMALL = {
    "square": lambda: Heatmap(np.eye(3)),
    "wide": lambda: Heatmap(np.zeros((3, 12))),
    "plane": lambda: Plane([[4.0, 1.0]], ["a"], x_limits=(-1, 6), y_limits=(0, 2), x_label="x"),
    "boxes": lambda: Boxes([[0, 0, 9, 1, 1]], ["a"], size=(9, 2)),
}


@pytest.mark.parametrize("names", [*itertools.combinations(SMALL, 3)], ids="-".join)
def test_panels_of_a_static_picture_begin_and_end_level(names):
    figure = View(*(SMALL[name]() for name in names), description="1 of 2.").draw(0)
    picture.show(figure, alt="1 of 2.")
    first, *others = [ax.get_position() for ax in figure.axes if ax.get_label() != "<colorbar>"]
    assert len(others) == 2
    for other in others:
        assert (other.y0, other.y1) == pytest.approx((first.y0, first.y1), abs=0.005)


@pytest.mark.parametrize("text", ["$x^$", "<b>", "\ud800", "你好"])
def test_tiles_are_named_by_any_text(text):
    panel = Heatmap(torch.eye(2), x_ticks=[text, "b"], y_ticks=["a", text], tile=1)
    figure = View(panel, description="Two tiles.").draw(0)
    figure.canvas.draw()
    (x, _), (_, y) = figure.axes[0].get_xticklabels(), figure.axes[0].get_yticklabels()
    assert x.get_text() == y.get_text() != "" and not x.get_parse_math() and not y.get_parse_math()
