"""A training card: where its letters are, and how high its bars."""

import pytest
import torch

from encoder_lib.course.training.card import ROW, SPACE, TALL, card_boxes

STEPS, ACCURACIES = [0, 5, 10], [0.0, 0.2, 0.4]


def card(text):
    """A card whose model is always sure of an "e"."""
    return card_boxes(text, torch.eye(27)[[5] * len(text)].expand(3, -1, -1), ACCURACIES, STEPS)


def test_words_are_not_cut_where_a_row_ends():
    """A word that doesn't fit begins the next row; one that is longer than a row is cut all the same."""
    panel = card("a" * 20 + " " + "b" * (ROW - 20) + " " + "c" * (ROW + 6))
    where = {letter: [] for letter in "abc"}
    for label, (left, top, *_) in zip(panel.labels[0], panel.frame(0).tolist(), strict=True):
        where.get(label, []).append((round(top), round(left)))
    assert where["a"] == [(0, i) for i in range(20)]
    assert where["b"] == [(2, i) for i in range(ROW - 20)]
    assert len(set(where["c"])) == ROW + 6 and max(left for _, left in where["c"]) == ROW - 1


def test_a_row_begins_with_its_word():
    """Where one ends, no sign for a space is shown."""
    panel = card("a" * ROW + " bb c")
    assert panel.labels[0][ROW : ROW + 4] == ["b", "b", SPACE, "c"]
    assert panel.frame(0)[ROW : ROW + 4, 0].round().tolist() == [0, 1, 2, 3]


def test_gaps_are_filled_over_a_line_of_their_probability():
    panel = card("th_")
    gap = panel.kinds.index("gap")
    assert panel.labels[0][gap] == "E" and panel.kinds[gap + 1] == "rule"
    assert panel.frame(0)[gap + 1, 2] == pytest.approx(0.92)


def test_bars_stand_for_accuracies_and_those_to_come_are_pale():
    panel = card("a_")
    bars = [i for i, kind in enumerate(panel.kinds) if kind == "forward"]
    assert panel.frame(1)[bars, 3] == pytest.approx([0, TALL / 2, TALL])
    assert panel.frame(1)[bars, 4] == pytest.approx([1, 1, 0.25])
    assert "20 %" in panel.labels[1] and "5 steps" in panel.labels[1]
