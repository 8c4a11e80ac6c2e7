"""Boxes: what the front end gets of them, and the stored picture."""

import numpy as np
import pytest
from small_explorers import numbers

from encoder_lib.course.explore import Explorer, Range, View
from encoder_lib.course.kit.plots.style import INK, TITLE_SIZE
from encoder_lib.course.kit.widget.boxes import Boxes
from encoder_lib.course.kit.widget.plane import WORD_COLOURS

CELLS = np.arange(20.0).reshape(2, 2, 5) % 5 / 4


def test_frames_kinds_and_labels_travel_to_the_front_end():
    """A role and a look as they are, other words as their place among the colours of words; texts for each frame."""
    labels = [["a", ""], ["b", "c"]]
    boxes = Boxes(CELLS, ["cat", "value"], size=(2, 1), labels=labels)
    explorer = Explorer(
        lambda n: View(boxes, frames="n", description=["0.", "1."]), Range("n", 0, min=0, max=1), title="B"
    )
    for n in (0, 1):
        np.testing.assert_allclose(numbers(explorer, 0, n), CELLS[n])
    sent = {
        "size": (2, 1),
        "colours": [0, "value"],
        "labels": labels,
        "steps": [],
        "least": 270,
        "large": False,
        "slim": 1.0,
    }
    assert explorer._panels[0]["boxes"] == sent


@pytest.mark.parametrize(
    ("values", "options", "words"),
    [
        (np.zeros((2, 4)), {}, "boxes of five numbers"),
        (CELLS, {"steps": [0]}, "steps: expected one of -1 to 1 for each of 2 boxes"),
        (CELLS, {"steps": [0, 2]}, "steps: expected one of -1 to 1 for each of 2 boxes"),
        (np.zeros(5), {}, "2 or 3"),
        (np.full((2, 5), np.nan), {}, "finite"),
        (np.zeros((3, 5)), {}, "3"),
        (np.zeros((2, 5)), {"labels": ["a"]}, "one for each of 2 boxes, got 1"),
        (np.zeros((3, 2, 5)), {"labels": [["a", "b"]] * 2}, "3 lists of them, one for each frame, got 2"),
    ],
)
def test_other_shapes_kinds_and_labels_are_refused(values, options, words):
    with pytest.raises(ValueError, match=words):
        Boxes(values, ["x", "y"], size=(1, 1), **options)


def test_the_stored_picture_shows_the_boxes_of_its_frame():
    """In their colours, without those that cannot be seen, and with a label that is no formula."""
    places = [[[0, 0, 1, 1, 1], [1, 0, 1, 1, 0]], [[1, 0, 1, 1, 0.5], [0, 0, 1, 1, 1]]]
    boxes = Boxes(places, ["cat", "grey"], size=(2, 1), labels=["$x^$", "y"], title="T")
    for n, seen in enumerate([["$x^$"], ["$x^$", "y"]]):
        figure = View(boxes, frames="n", description="Boxes.").draw(n)
        figure.canvas.draw()
        (ax,) = figure.axes
        assert ax.get_title() == "T" and [text.get_text() for text in ax.texts] == seen
        assert ax.patches[0].get_x() == n and ax.patches[0].get_alpha() == places[n][0][4]
        red, green, blue = (round(255 * part) for part in ax.patches[0].get_facecolor()[:3])
        assert f"#{red:02x}{green:02x}{blue:02x}" == WORD_COLOURS[0]


def test_a_circle_and_arrowheads_are_drawn_in_their_box():
    """The circle in the middle of its box, in the colour of text; an arrowhead points to the right, or down."""
    places, kinds = [[0, 0, 2, 2, 1], [2, 0, 1, 2, 1], [4, 0, 2, 1, 1]], ["round", "right", "down"]
    boxes = Boxes(places, kinds, size=(6, 2), labels=["+", "", ""], large=True)
    figure = View(boxes, description="Boxes.").draw(0)
    (ax,) = figure.axes
    (circle,), (text,) = ax.lines, ax.texts
    assert circle.get_xydata().tolist() == [[1, 1]] and circle.get_markeredgecolor() == text.get_color() == INK
    right, down = (patch.get_xy()[:3].tolist() for patch in ax.patches)
    assert right == [[2, 0], [3, 1], [2, 2]] and down == [[4, 0], [5, 1], [6, 0]]
    assert text.get_fontsize() == TITLE_SIZE


def test_bars_may_be_slimmer_than_the_words_beside_them():
    boxes = Boxes([[0, 1, 2, 2, 1], [2, 1, 2, 2, 1]], ["cat", "cat"], size=(4, 4), labels=["a", ""], slim=0.5)
    labelled, bar = View(boxes, description="Boxes.").draw(0).axes[0].patches
    assert [(patch.get_y(), patch.get_height()) for patch in (labelled, bar)] == [(1, 2), (1.5, 1)]
    assert boxes.to_spec()["boxes"]["slim"] == 0.5
