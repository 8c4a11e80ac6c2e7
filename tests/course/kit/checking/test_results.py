"""Results may be tensors, arrays or numbers; a difference from the expected result is reported in words."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from torch import nn

from encoder_lib.course.kit.checking import results
from encoder_lib.course.kit.checking.results import Feedback

NUMBERS = {
    "float": 1.5,
    "float32": np.float32(1.5),
    "float64": np.float64(1.5),
    "an array": np.array(1.5),
    "a tensor": torch.tensor(1.5),
    "float16": torch.tensor(1.5).half(),
    "with gradients": torch.tensor(1.5, requires_grad=True),
    "a parameter": nn.Parameter(torch.tensor(1.5)),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_may_come_in_any_form(name):
    got = NUMBERS[name]
    assert results.as_number(got) == 1.5
    assert results.difference("x", torch.tensor(1.5), got) == ""
    assert "expected 2.5\ngot      1.5" in results.difference("x", torch.tensor(2.5), got)


@pytest.mark.parametrize("got", [np.ones(2), np.ones(4)[::-2], np.ones(2, np.float32), nn.Parameter(torch.ones(2))])
def test_an_array_or_a_parameter_is_as_good_as_a_tensor(got):
    assert results.difference("x", torch.ones(2).double(), got) == ""


def test_a_python_number_keeps_its_digits():
    assert results.as_tensor(0.1).dtype == torch.float64 and results.as_tensor(0.1).item() == 0.1
    assert results.as_tensor(True).dtype == torch.bool and results.as_tensor(3).dtype == torch.int64


def test_a_tensor_stays_the_same_with_its_graph():
    x = torch.ones(1, requires_grad=True)
    assert results.as_tensor(x) is x


OTHERS = {
    "a tuple": ((torch.ones(1), 2), "got a tuple of 2"),
    "a list": ([torch.ones(1)] * 3, "got a list of 3"),
    "a dictionary": ({"a": 1}, "got a dictionary of 1"),
    "text": ("1", "got str"),
    "NumPy's text": (np.array(["a"]), "got a NumPy array"),
    "objects": (np.array([None]), "got a NumPy array"),
    "a huge number": (10**5000, "got int"),
    "a fraction": (Fraction(1, 3), "got Fraction"),
    "nothing": (None, "the function returns nothing"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_number_or_tensor_is_reported_by_its_kind(name):
    got, words = OTHERS[name]
    for ask in (results.as_tensor, results.as_number):
        with pytest.raises(Feedback, match=words):
            ask(got)
    said = results.difference("x", torch.ones(2), got)
    assert (
        words in said
        and "mode" not in said
        and "expected a tensor" in said.replace(results.NOTHING, "expected a tensor")
    )


def test_one_number_is_neither_several_nor_complex():
    for got, words in ((torch.ones(2), r"got a tensor of shape \(2,\)"), (1j * torch.ones(()), "complex")):
        with pytest.raises(Feedback, match=words):
            results.as_number(got)
    assert "got a single number" in results.difference("x", torch.ones(2), 1.0)
    assert "expected shape (), got (2,)" in results.difference("x", torch.ones(()), torch.ones(2))
    assert "expected shape (2, 3), got (3, 2)" in results.difference("x", torch.ones(2, 3), torch.ones(3, 2))


@pytest.mark.parametrize(
    ("expected", "got", "words"),
    [
        (
            torch.ones(2, 3),
            torch.tensor([[1.0, 1, math.nan], [1, 1, 1]]),
            "with x: the result has NaN at (0, 2), expect",
        ),
        (torch.ones(2), torch.full((2,), math.nan), "has NaN at (0,) and 1 more position, expected [1.0, 1.0]"),
        (torch.ones(()), math.nan, "the result is NaN, expected 1.0"),
        (torch.ones(2), torch.tensor([1.0, math.inf]), "got      [1.0, inf]"),
        (torch.ones(2, dtype=torch.bool), torch.ones(2), "expected each element to be boolean, got torch.float32"),
        (torch.ones(2), torch.ones(2).bool(), "expected each element to be a number, got torch.bool"),
        (torch.ones(2), 1j * torch.ones(2), "expected real numbers"),
        (
            torch.eye(4).bool(),
            torch.zeros(4, 4).bool(),
            "4 of 16 positions differ, most at (0, 0): expected True, got Fals",
        ),
    ],
)
def test_a_difference_is_reported_by_its_kind(expected, got, words):
    assert words in results.difference("x", expected, got)


def test_expected_nan_and_infinity_are_no_difference():
    x = torch.tensor([math.nan, math.inf, -math.inf])
    assert results.difference("x", x, x.clone()) == ""


def test_masks_are_shown_as_rows_of_a_bounded_size():
    assert results.show(torch.tensor([True, False])) == "[True, False]"
    grid = results.show(torch.ones(4, 4).tril().bool())
    assert grid == "a mask of shape (4, 4), 1 for True:\n1 0 0 0\n1 1 0 0\n1 1 1 0\n1 1 1 1"
    large = results.show(torch.ones(2, 1, 50, 50, dtype=torch.bool)).split("\n")
    assert large[0].startswith("a mask of shape (2, 1, 50, 50)") and len(large) == 10 and large[-1] == "…"
    assert large[1] == "1 " * 16 + "…"


def test_lists_of_tensors_are_shown_in_words():
    assert results.show([torch.ones(2), torch.ones(5, 5)]) == "[[1.0, 1.0], a tensor of shape (5, 5)]"
    masks = results.show([torch.ones(4, 4).bool()] * 2)
    assert "tensor(" not in masks and masks.count("a mask of shape (4, 4)") == 2
    assert results.show([torch.ones(1)] * 100).count("1.0") == 8
    assert results.show(nn.Linear(1, 1)) == "the module Linear"
