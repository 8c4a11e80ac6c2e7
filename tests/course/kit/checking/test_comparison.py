"""A wrong result is shown beside what was expected, in colours that every theme can carry."""

import math

import pytest
import torch
from notebook_rules import Tags

from encoder_lib.course.kit.checking import results
from encoder_lib.course.kit.checking.comparison import CODE, COLUMNS, ROWS, Comparison
from encoder_lib.course.kit.checking.verdict import Case, Probe, diagnose, difference, examine

TWO = torch.tensor([[1.0, -2.0], [0.0, 4.0]])


def verdict_on(attempt, x=TWO):
    return examine("take", attempt, lambda x: x, [Case("two rows", (x,))])


def parts(html, name):
    return [attributes for tag, attributes in Tags(html).found if tag == name]


def test_a_wrong_tensor_is_shown_with_the_difference():
    html = verdict_on(lambda x: x + 0.5)._repr_html_()
    labels = [table["aria-label"] for table in parts(html, "table")]
    assert labels == [
        "yours: 2 rows of 2 numbers, from −1.50 to 4.50",
        "expected: 2 rows of 2 numbers, from −2.00 to 4.00",
        "difference: 2 rows of 2 numbers, all 0.50",
    ]
    assert len(parts(html, "td")) == 12 and ">−1.50<" in html


def test_text_without_a_page_says_it_in_words_alone():
    verdict = verdict_on(lambda x: x + 0.5)
    assert "4 of 4 positions differ" in repr(verdict) and "yours" not in repr(verdict)


def test_a_problem_is_in_a_fixed_width_font_and_a_hint_is_not():
    font = [CODE in item["style"] for item in parts(verdict_on(lambda x: x + 0.5)._repr_html_(), "li")]
    assert font == [True, False]
    assert CODE not in verdict_on(lambda x: ...)._repr_html_()


@pytest.mark.parametrize("attempt", [lambda x: x, lambda x: x[0], lambda x: None, lambda x: x.bool()])
def test_nothing_is_shown_without_two_tensors_to_compare(attempt):
    assert "<table" not in verdict_on(attempt)._repr_html_()


@pytest.mark.parametrize(
    ("shape", "fits"), [((ROWS, COLUMNS), True), ((ROWS + 1, 2), False), ((2, COLUMNS + 1), False)]
)
def test_only_what_fits_is_shown(shape, fits):
    assert ("<table" in verdict_on(lambda x: x + 1, torch.zeros(shape))._repr_html_()) == fits


def test_wide_rows_are_colours_without_numbers():
    html = Comparison("", torch.ones(2, 9), torch.zeros(2, 9)).to_html()
    assert len(parts(html, "td")) == 54 and ">1.00<" not in html


def test_other_axes_are_listed_from_top_to_bottom():
    html = Comparison("", torch.ones(2, 3, 2), torch.zeros(2, 3, 2)).to_html()
    assert len(parts(html, "tr")) == 18 and "yours: 6 rows of 2 numbers" in html


def test_numbers_that_are_not_finite_are_told_apart():
    html = Comparison("", torch.tensor([math.nan, math.inf, 1.0]), torch.tensor([0.0, -math.inf, 1.0])).to_html()
    assert (
        "repeating" in html and ">NaN<" in html and ">∞<" in html and ">−∞<" in html and "from 1.00 to 1.00" not in html
    )


def test_a_mask_is_shown_as_zeros_and_ones():
    html = Comparison("", torch.tensor([True, False]), torch.tensor([True, True])).to_html()
    assert ">1<" in html and ">−1<" in html and "1.00" not in html


def test_zeros_have_no_colour_and_the_largest_the_strongest():
    grounds = [cell["style"] for cell in parts(Comparison("", TWO, TWO * 0).to_html(), "td")]
    assert "55%" in grounds[3] and " 0%" in grounds[2] and " 0%" in grounds[4]


def test_the_first_wrong_result_of_this_input_is_shown():
    def find_problem(attempt):
        difference("x", torch.zeros(2), torch.ones(2))  # of a mistake that was compared, and is not told
        return difference("x", torch.tensor([5.0, 5.0]), attempt())

    wrong = diagnose("take", lambda: torch.tensor([7.0, 7.0]), [Probe("twice", find_problem)])
    assert "yours: 1 row of 2 numbers, all 7.00" in wrong._repr_html_()
    told = diagnose("take", lambda: 1, [Probe("once", lambda attempt: "it says no")])
    assert told.comparison is None and not results.compared


def test_whole_numbers_are_written_alike_whatever_their_type():
    assert results.difference("x", torch.tensor(16), torch.tensor(64.0)).endswith("expected 16\ngot      64")


def test_numbers_of_both_lines_end_in_the_same_column():
    problem = results.difference("x", torch.tensor([0.25, -1.0, 3.0]), torch.tensor([0.5, 1.0, 3.125]))
    assert problem.endswith("expected [0.25, -1.0,   3.0]\ngot      [ 0.5,  1.0, 3.125]")
