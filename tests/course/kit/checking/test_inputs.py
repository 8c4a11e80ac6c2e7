"""A learner's code works on copies of its inputs, and every change to them is noticed."""

from collections import namedtuple

import numpy as np
import pytest
import torch
from torch import nn

from encoder_lib.course.kit.checking import inputs
from encoder_lib.course.kit.checking.results import Feedback

Pair = namedtuple("Pair", ["first", "second"])


class Normalised(nn.Module):
    """A module with a parameter and a buffer."""

    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(2))
        self.register_buffer("mask", torch.ones(2, dtype=torch.bool))

    def forward(self, x, mask=None):
        return x * self.gain


def data(change):
    """A function that changes the inputs without asking autograd."""

    @torch.no_grad()
    def changed(*arguments):
        change(*arguments)
        return 1

    return changed


CHANGES = {  # inputs, what a learner's function does with them, and what the verdict calls it
    "a tensor": (torch.ones(2), lambda x: x.fill_(3), "x"),
    "a mask": (torch.zeros(2, 2, dtype=torch.bool), lambda x: x.fill_diagonal_(True), "x"),
    "a little": (torch.ones(2).double(), lambda x: x.add_(1e-9), "x"),
    "to NaN": (torch.ones(2), lambda x: x.fill_(torch.nan), "x"),
    "a shape": (torch.ones(2), lambda x: x.unsqueeze_(0), "x"),
    "an array": (np.ones(2), lambda x: x.fill(3), "x"),
    "in a list": ([torch.ones(2), torch.ones(3)], lambda x: x[1].clamp_(max=0), "x[1]"),
    "in a tuple": ((torch.ones(2), torch.ones(3)), lambda x: x[0].zero_(), "x[0]"),
    "in a named tuple": (Pair(torch.ones(2), torch.ones(3)), lambda x: x.second.zero_(), "x[1]"),
    "in a dictionary": ({"w": torch.ones(2)}, lambda x: x["w"].zero_(), "x['w']"),
    "deeper": ([{"w": [torch.ones(2)]}], lambda x: x[0]["w"][0].zero_(), "x[0]['w'][0]"),
    "one entry more": ([1], lambda x: x.append(2), "x"),
    "another entry": ([1, 2], lambda x: x.reverse(), "x[0]"),
    "a key less": ({"w": 1}, lambda x: x.clear(), "x"),
    "another object": ([torch.ones(2)], lambda x: x.__setitem__(0, None), "x[0]"),
    "a parameter": (Normalised(), lambda x: x.gain.mul_(2), "x.gain"),
    "a buffer": (Normalised(), lambda x: x.mask.zero_(), "x.mask"),
    "a parameter in a list": ([nn.Sequential(Normalised())], lambda x: x[0][0].gain.mul_(2), "x[0].0.gain"),
    "another parameter": (Normalised(), lambda x: setattr(x, "gain", nn.Parameter(torch.zeros(2))), "x.gain"),
    "a parameter more": (Normalised(), lambda x: setattr(x, "bias", nn.Parameter(torch.zeros(2))), "x"),
}
KEPT = {  # what looks like a change and is none
    "NaN": torch.full((2,), torch.nan),
    "no tensor": None,
    "a function": len,
    "a number that is NaN": float("nan"),
    "an empty list": [],
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_input_is_named_and_the_original_kept(name):
    value, change, where = CHANGES[name]
    before = inputs.deep_copy(value)
    with pytest.raises(Feedback) as told:
        inputs.call(data(lambda x: change(x)), value)
    assert "changed its own input" in str(told.value)
    assert inputs.changed_part(before, value) is None
    after = inputs.deep_copy(value)
    data(change)(after)
    assert inputs.changed_part(value, after, "x") == where


@pytest.mark.parametrize("name", KEPT)
def test_what_stays_as_it_was_is_no_change(name):
    assert inputs.call(lambda x: 1, KEPT[name]) == 1


def test_the_message_uses_the_learners_own_name_for_an_input():
    def forward_with(encoder, rows):
        rows[1].clamp_(max=5)

    with pytest.raises(Feedback, match=r"changed its own input rows\[1\]; make a new one"):
        inputs.call(forward_with, None, [torch.ones(1), 9 * torch.ones(1)])


def test_what_occurs_twice_occurs_twice_in_the_copy():
    layer, x = nn.Linear(1, 1), torch.ones(1)
    first, second, one, other = inputs.deep_copy((layer, [layer], x, [x]))
    assert first is second[0] is not layer and one is other[0] is not x


def test_gradients_reach_the_original_through_the_copy():
    x = torch.ones(2, requires_grad=True)
    inputs.call(lambda x: (3 * x).sum(), x).backward()
    inputs.call(lambda x: (3 * x[0]).sum(), [2 * x]).backward()  # no leaf of the graph
    assert x.grad.tolist() == [9, 9]


@pytest.mark.parametrize(
    ("function", "arguments", "words"),
    [
        (lambda T, word: 1, (3, 0, 1), r"<lambda> takes \(T, word\), and the check passes 3 arguments: 3, 0, 1"),
        (lambda a, b, c: 1, (torch.ones(1),), r"passes 1 argument: \[1.0\]"),
        (lambda x: 1, (), "passes 0 arguments$"),
        (Normalised(), (torch.ones(2), None, 5), r"takes \(x, mask=None\), and the check passes 3"),
        (Normalised, (4,), "Normalised takes"),
    ],
)
def test_a_function_that_takes_other_arguments_is_reported(function, arguments, words):
    with pytest.raises(Feedback, match=words):
        inputs.call(function, *arguments)
    with pytest.raises(Feedback, match=r"^the class Block takes"):
        inputs.require_signature(getattr(function, "forward", function), arguments, "the class Block")


@pytest.mark.parametrize("function", [lambda *_: 1, lambda x, y=2: 1, lambda x, *, y=2: 1, lambda x, **_: 1, max])
def test_a_function_that_takes_the_arguments_is_called(function):
    assert inputs.call(function, [1]) == 1


def test_names_of_arguments_are_those_of_the_function():
    assert inputs.argument_names(lambda ids, padding_idx, more=0: 1, 2) == ["ids", "padding_idx"]
    assert inputs.argument_names(lambda ids, *more: 1, 2) == inputs.argument_names(lambda *_: 1, 1) == []
