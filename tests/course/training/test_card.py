"""A training card: where its letters are, and how high its bars."""

import pytest
import torch

from encoder_lib.course.training.card import LEFT, ROW, SPACE, TALL, card_boxes

STEPS, ACCURACIES = [0, 5, 10], [0.0, 0.2, 0.4]


def card(text, rival=None):
    """A card whose model is always sure of an "e"."""
    return card_boxes(text, torch.eye(27)[[5] * len(text)].expand(3, -1, -1), ACCURACIES, STEPS, rival)


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
    assert panel.frame(1)[bars, 3] == pytest.approx([0, TALL / 2, TALL], abs=1e-6)
    assert panel.frame(1)[bars, 4] == pytest.approx([1, 1, 0.25])
    assert panel.labels[1].count("20 %") == 2 and panel.labels[2].count("20 %") == 1  # on the axis, and above its bar


def test_axes_have_their_units_and_the_rival_is_a_line_that_they_reach():
    """From 0 to the fifth above the highest, with the steps below; the line is as high as a bar would be."""
    panel = card("a_", rival=("counting", 0.5))
    boxes = list(zip(panel.labels[1], panel.kinds, panel.frame(1).tolist(), strict=True))
    middle = {label: top + height / 2 for label, _, (_, top, _, height, _) in reversed(boxes)}  # the axis comes first
    base = middle["0 %"]
    assert base - middle["60 %"] == pytest.approx(TALL) and "80 %" not in middle
    assert {"0", "5", "10", "training step"} < set(middle)
    lines = [base - top for _, kind, (left, top, *_) in boxes if (kind, round(left, 3)) == ("rule", LEFT)]
    assert min(abs(TALL * 0.5 / 0.6 - line) for line in lines) < 1e-5
    assert base - middle["counting: 50 %"] > TALL * 0.5 / 0.6
