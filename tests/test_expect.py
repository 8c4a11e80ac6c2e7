"""What the layers ask of their arguments: what is right passes, and each wrong value is told in words."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from encoder_lib import expect

X = torch.zeros(2, 3, 8)
IDS = torch.tensor([[1, 2, 3]])


class Mute:
    """An object that cannot say what it is."""

    def __repr__(self):
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", "'a'"),
        (10**5000, f"one of {(10**5000).bit_length()} bits"),
        (Mute(), "one that cannot be written"),
        ("x" * 98, repr("x" * 98)),
        ("x" * 99, "'" + "x" * 98 + "…"),
    ],
    ids=["a text", "a huge integer", "a mute object", "a hundred characters", "one more"],
)
def test_any_value_is_shown_in_a_hundred_characters(value, text):
    assert expect.shown(value) == text and len(text) <= expect.MOST


def test_what_is_right_passes():
    expect.sizes(n=1, m=np.int64(3))
    expect.counts(n=0)
    expect.flags(a=True, b=False)
    expect.text("name", "")
    expect.function("f", len)
    expect.module("m", nn.Linear(1, 1))
    expect.mapping("m", {"a": 1}, "thing", "{'a': 1}")
    expect.choice("c", "a", ("a", "b"))
    expect.even("n", 2)
    expect.float_dtype(None)
    expect.float_dtype(torch.bfloat16)
    expect.matrix("x", X[0], rows=3)
    expect.booleans("b", torch.ones(3).bool(), 3)
    expect.vectors(X, 8, like=X, batched=True)
    expect.token_ids(IDS, 4, batched=True)
    for value in (0, 1, 0.5, np.float32(1)):
        expect.probability("p", value)
    expect.positive("x", 1e-300)
    expect.not_negative("x", 0)


def test_what_is_handed_back_is_in_pythons_own_form():
    assert type(expect.integer("n", np.int32(3), least=3)) is int
    assert type(expect.number("x", np.float32(0.5))) is float
    assert expect.seed(2**64 - 1) == 2**64 - 1
    assert expect.index("i", -3, 3, "a place", from_end=True) == -3
    assert expect.texts("texts", (t for t in "ab")) == ["a", "b"]
    assert expect.path("a").name == "a"
    assert expect.device(None) == torch.device("cpu")
    assert expect.real_numbers("x", [[1, 2]]).dtype == torch.float64
    assert expect.lengths(torch.tensor([2, 5]), None) == 5
    assert expect.lengths(torch.tensor([], dtype=torch.long), None) == 0


WRONG = {
    "a size of 0": (lambda: expect.sizes(a=1, b=0), ValueError, "b: expected an integer of at least 1, got 0"),
    "a size as float": (lambda: expect.sizes(n=1.0), TypeError, "n: expected an integer, got 1.0 (float)"),
    "a size as flag": (lambda: expect.counts(n=True), TypeError, "n: expected an integer, got True (bool)"),
    "a count below 0": (lambda: expect.counts(n=-1), ValueError, "n: expected an integer of at least 0, got -1"),
    "a flag as number": (lambda: expect.flags(f=1), TypeError, "f: expected True or False, got 1 (int)"),
    "a seed beyond": (lambda: expect.seed(5, seeds=5), ValueError, "seed: expected an integer below 5, got 5; try 0"),
    "a seed below": (lambda: expect.seed(-1), ValueError, "seed: expected an integer of at least 0, got -1"),
    "an index": (lambda: expect.index("i", 3, 3, "a place"), IndexError, "i: expected a place from 0 to 2, got 3"),
    "an index from the end": (lambda: expect.index("i", -1, 3, "a place"), IndexError, "from 0 to 2, got -1"),
    "a kind": (lambda: expect.kind("x", 3, str, "a word", "; try 'a'"), TypeError, "x: expected a word, got 3 (int)"),
    "a text": (lambda: expect.text("x", b"a"), TypeError, "x: expected a text, got b'a' (bytes)"),
    "one text": (lambda: expect.texts("x", "ab"), TypeError, "x: expected a list of texts, got one; try [text]"),
    "no texts": (lambda: expect.texts("x", [3]), TypeError, "x: for each text expected a str, got int"),
    "a function": (lambda: expect.function("f", 3), TypeError, "f: expected a function, got 3 (int)"),
    "a zero byte": (lambda: expect.path("a\0"), ValueError, "which has a zero byte; leave it out"),
    "a module": (lambda: expect.module("m", nn.Linear), TypeError, "m: expected a torch module, got"),
    "nothing in it": (lambda: expect.mapping("m", {}, "line", "{}"), ValueError, "m: expected at least one line"),
    "a number": (lambda: expect.number("x", "1"), TypeError, "x: expected a number, got '1' (str)"),
    "NaN": (lambda: expect.number("x", math.nan), ValueError, "x: expected a finite number, got nan"),
    "beyond float": (lambda: expect.number("x", 10**400), ValueError, "x: expected a finite number, got 1000"),
    "a probability": (lambda: expect.probability("p", 1.5), ValueError, "p: expected a probability from 0 to 1"),
    "not positive": (lambda: expect.positive("x", 0), ValueError, "x: expected a number above 0, got 0"),
    "negative": (lambda: expect.not_negative("x", -1), ValueError, "x: expected a number of at least 0, got -1"),
    "a choice": (lambda: expect.choice("c", "z", ("a", "b")), ValueError, "c: expected one of 'a', 'b', got 'z'"),
    "odd": (lambda: expect.even("n", 3), ValueError, "n: expected an even number"),
    "a dtype": (lambda: expect.float_dtype(torch.int64), TypeError, "dtype: expected a floating-point dtype"),
    "a device": (lambda: expect.device("nowhere"), ValueError, "device: expected one that this machine has"),
    "no device": (lambda: expect.device(1.5), TypeError, "device: expected one that this machine has"),
    "a tensor": (lambda: expect.tensor("x", [1]), TypeError, "x: expected a tensor, got list; try torch.tensor(...)"),
    "rows": (lambda: expect.matrix("x", X[0], rows=4), ValueError, "x: expected shape (4, width), got (3, 8)"),
    "booleans": (lambda: expect.booleans("b", torch.ones(3), 3), TypeError, "b: expected booleans, got torch.float32"),
    "width": (lambda: expect.vectors(X, 9), ValueError, "x: expected vectors in shape (…, T, 9), got (2, 3, 8)"),
    "dtype of vectors": (lambda: expect.vectors(X, like=X.double()), TypeError, "x: expected torch.float64 like the"),
    "an id": (lambda: expect.token_ids(IDS, 3), IndexError, "token id 3 is not in the table: vocab_size=3 takes"),
    "a length": (lambda: expect.lengths(torch.tensor([4]), 3), ValueError, "lengths: expected 0 … 3, got 4"),
    "complex": (lambda: expect.real_numbers("x", torch.ones(1) * 1j), TypeError, "x: expected real numbers, got"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "error", "words"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_told_with_what_was_expected_and_what_came(call, error, words):
    with pytest.raises(error) as raised:
        call()
    assert type(raised.value) is error and words in str(raised.value)
