"""Numbers as bars: what the front end gets, the stored picture, and what is refused."""

import numpy as np
import pytest

from encoder_lib.course.kit.widget.bars import Bars, decimals
from encoder_lib.course.kit.widget.views import View

NUMBERS = np.array([[1.0, 3.0], [-1.0, 1.0]])  # two frames of two numbers
LOOKS = {"limits": (-2, 2), "titles": ["before", "after, at last"], "outlines": NUMBERS[0]}


def test_bars_are_followed_by_outlines_mean_and_deviation():
    panel = Bars(NUMBERS, ["a", "b"], **LOOKS)
    assert panel.frame(1).tolist() == [[1, -1], [2, 1], [1, 1], [2, 3], [0, 1]]
    spec = panel.to_spec()
    assert spec["bars"] == {"count": 2, "titles": LOOKS["titles"]} and spec["frames"] == 2
    assert spec["title"] == "after, at last", "the longest, for the layout"


def test_the_stored_picture_has_bars_outlines_and_numbers():
    (ax,) = View(Bars(NUMBERS, ["a", "b"], kinds=["x", "y"], **LOOKS), description="Bars.", frames="n").draw(0).axes
    assert [bar.get_height() for bar in ax.patches[-2:]] == [1, 3] and ax.get_title() == "before"
    texts = [text.get_text() for text in ax.texts]
    assert texts == ["1.00", "3.00", "mean\n2.00\n± 1.00"]
    assert ax.texts[1].xy[1] == 2, "a bar beyond the picture has its number at the edge"


def test_a_number_below_its_bar_stays_in_the_picture():
    """And leaves the name of the bar, below the picture, alone."""
    looks = LOOKS | {"titles": ["one"]}
    (ax,) = View(Bars([[-9.0, -1.0]], ["a", "b"], **looks), description="Bars.").draw(0).axes
    assert [(text.get_text(), text.get_va()) for text in ax.texts[:2]] == [("−9.00", "bottom"), ("−1.00", "top")]


@pytest.mark.parametrize("wrong", [{"titles": ["one"]}, {"outlines": [1.0]}, {"kinds": ["x"]}])
def test_what_does_not_match_is_refused(wrong):
    with pytest.raises(ValueError, match="expected"):
        Bars(NUMBERS, ["a", "b"], **LOOKS | wrong)


def test_numbers_have_two_decimals_and_no_minus_before_zero():
    assert [decimals(number) for number in (1.239, -0.001, -2)] == ["1.24", "0.00", "−2.00"]
