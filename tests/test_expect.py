"""What the layers ask of their arguments: the values that are hard to write, and what is handed back.

The wrong values themselves, and their words, are in the tables of bad input.
"""

import math

import numpy as np
import pytest
import torch

from encoder_lib import expect


class Mute:
    """An object that cannot say what it is."""

    def __repr__(self):
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", "'a'"),
        (10**5000, f"one of {(10**5000).bit_length()} bits"),
        (Mute(), "one without a repr"),
        ("x" * 98, repr("x" * 98)),
        ("x" * 99, "'" + "x" * 98 + "…"),
    ],
    ids=["a text", "a huge integer", "a mute object", "a hundred characters", "one more"],
)
def test_any_value_is_shown_in_a_hundred_characters(value, text):
    assert expect.short_repr(value) == text and len(text) <= expect.MAX_CHARS


def test_what_is_right_passes_at_the_very_bounds():
    for value in (0, 1, 0.5, np.float32(1)):
        expect.probability("p", value)
    expect.positive("x", 1e-300)
    expect.not_negative("x", 0)
    expect.float_dtype(None)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 10**400, np.float32("nan")], ids=range(5))
def test_what_is_beyond_a_float_is_no_number(value):
    for ask in (expect.number, expect.positive, expect.not_negative, expect.probability):
        with pytest.raises(ValueError, match=r"x: expected a .*, got "):
            ask("x", value)


def test_what_is_handed_back_is_in_pythons_own_form():
    assert type(expect.integer("n", np.int32(3), least=3)) is int
    assert expect.seed(2**64 - 1) == 2**64 - 1
    assert expect.texts("texts", (t for t in "ab")) == ["a", "b"]
    assert expect.device(None) == torch.device("cpu")
    assert expect.lengths(torch.tensor([2, 5]), None) == 5
    assert expect.lengths(torch.tensor([], dtype=torch.long), None) == 0
