"""The argument checks: what each refuses and with which message, what it accepts, and what it returns."""

import math
from functools import partial

import numpy as np
import pytest
import torch
from bad_values import HUGE, LONG, complete, numbers, types

from encoder_lib import expect

NO_INTEGER = types("1", None, True, np.True_, 8.0, torch.tensor(1))
NO_NUMBER = types("0.1", True, None) + numbers(math.nan, math.inf, -math.inf, HUGE, np.float32("nan"))
X, IDS = torch.zeros(2, 3, 8), torch.zeros(2, 3, dtype=torch.long)
MASK = torch.ones(3, 3, dtype=torch.bool)
CHECKS = {
    "integer": (lambda x: expect.integer("x", x, least=1, most=9), NO_INTEGER + numbers(0, 10, -LONG)),
    "seed": (expect.seed, NO_INTEGER + numbers(-1, 2**64, LONG)),
    "sizes": (lambda x: expect.sizes(x=x), NO_INTEGER[:1] + numbers(0)),
    "even": (partial(expect.even, "x"), NO_INTEGER[:1] + numbers(0, 7)),
    "flags": (lambda x: expect.flags(x=x), types(1, None, "yes", np.True_)),
    "number": (partial(expect.number, "x"), NO_NUMBER),
    "positive": (partial(expect.positive, "x"), NO_NUMBER + numbers(0, -1.0)),
    "not_negative": (partial(expect.not_negative, "x"), NO_NUMBER + numbers(-1e-300)),
    "probability": (partial(expect.probability, "x"), NO_NUMBER + numbers(-0.1, 1.5)),
    "choice": (lambda x: expect.choice("x", x, ["a"]), numbers("b", None, ["a"])),
    "texts": (partial(expect.texts, "x"), types(None, 3, "a", b"a", {1: "a"}, {"a"}, torch.zeros(1), ["a", b"b"])),
    "float_dtype": (expect.float_dtype, types(torch.complex64, torch.int64, "float32", float)),
    "device": (expect.device, numbers("tpu", "cuda:77") + types(1.5)),
    "vectors": (expect.vectors, types(IDS, [[0.0]], X.bool()) + numbers(torch.zeros(8), X[..., :0])),
    "vectors (B, T, D)": (partial(expect.vectors, batched=True), numbers(X[0], X[None])),
    "vectors of a width": (partial(expect.vectors, like=X), types(X.double()) + numbers(torch.zeros(2, 3, 9))),
    "token_ids": (expect.token_ids, types(X, IDS.bool(), [[1, 2]]) + numbers(torch.tensor(3))),
    "token_ids (B, T)": (partial(expect.token_ids, batched=True), numbers(IDS[0], IDS[None])),
    "lengths": (
        lambda x: expect.lengths(x, 4),
        types(torch.tensor([1.0]), [1, 2]) + numbers(IDS, torch.tensor([2, -1]), torch.tensor([2, 5])),
    ),
    "scores": (expect.scores, types(IDS, torch.tensor(1.0), [[0.0]])),
    "boolean_mask": (
        lambda x: expect.boolean_mask(x, (2, 3, 3)),
        types(MASK.byte(), MASK.float(), MASK.tolist()) + numbers(MASK[:, :2], MASK.expand(4, 3, 3), MASK[None, None]),
    ),
    "layer_mask": (
        lambda x: expect.layer_mask(x, 2, 4, 3, 3),
        types(MASK.tolist()) + numbers(MASK[0, 0], MASK[0], MASK[None], MASK.expand(2, 4, 1, 3, 3), MASK[:2]),
    ),
}
NAMES = ("x", "seed", "dtype", "device", "ids", "lengths", "scores", "mask")  # of the arguments above


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_refuses_wrong_values_with_a_complete_message(name):
    check, wrong = CHECKS[name]
    for value, exception in wrong:
        with pytest.raises(exception) as error:
            check(value)
        assert type(error.value) is exception and not (lacks := complete(error.value, value, *NAMES)), lacks


class Mute:
    """An object whose repr fails."""

    def __repr__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    ("value", "start", "length"),
    [
        ("a", "'a'", 3),
        (LONG, "<int object at 0x", None),
        (Mute(), "<", None),
        ("x" * 98, "'x", 100),
        ("x" * 99, "'x", 100),
    ],
    ids=["a text", "a huge integer", "a mute object", "a hundred characters", "one more"],
)
def test_short_repr_has_at_most_a_hundred_characters(value, start, length):
    text = expect.short_repr(value)
    assert text.startswith(start) and len(text) == (length or len(text)) <= expect.MAX_CHARS
    assert text.endswith("…") == (value == "x" * 99)


def test_values_at_the_bounds_are_accepted():
    for value in (0, 1, 0.5, np.float32(1)):
        expect.probability("p", value)
    expect.positive("x", 5e-324)
    expect.not_negative("x", 0)
    expect.float_dtype(None)
    expect.vectors(X.bfloat16())


def test_values_are_returned_in_the_form_that_the_model_uses():
    assert type(expect.integer("n", np.int32(3), least=3)) is int
    assert expect.seed(2**64 - 1) == 2**64 - 1
    assert expect.texts("texts", (t for t in "ab")) == ["a", "b"]
    assert expect.device(None) == torch.device("cpu")
    assert expect.lengths(torch.tensor([2, 5]), None) == 5
    assert expect.lengths(torch.tensor([], dtype=torch.long), None) == 0
