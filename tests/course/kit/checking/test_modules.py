"""Modules of a learner's class are built and run the same each time, and their parameters are asked for."""

import re

import numpy as np
import pytest
import torch
from torch import nn

from encoder_lib.course.kit.checking import modules
from encoder_lib.course.kit.checking.verdict import Feedback, NotWritten


def test_a_module_is_built_and_run_the_same_each_time():
    one, other = (modules.build(nn.Linear, 2, 3) for _ in range(2))
    assert one.weight.dtype == torch.float64 and torch.equal(one.weight, other.weight)
    x, dropout = torch.ones(4, 9), nn.Dropout()
    assert torch.equal(modules.run(dropout, x), modules.run(dropout, x))


@pytest.mark.parametrize(("name", "words"), [("", "a class of nn.Module"), ("Block", r"try class Block\(nn.Module\)")])
def test_what_makes_no_module_is_reported(name, words):
    with pytest.raises(Feedback, match=words):
        modules.build(int, name=name)
    with pytest.raises(NotWritten):
        modules.build(lambda: ..., name=name)


class NoSizes(nn.Module):
    """A class without an __init__ of its own, since that is misspelt, and whose forward takes two inputs."""

    def __int__(self, d_model):
        pass

    def forward(self, x, mask):
        mask.fill_(True)
        return x


def test_a_class_or_forward_that_takes_other_arguments_is_reported():
    with pytest.raises(Feedback, match=r"Linear takes \(in_features: int, .* and the check passes 1 argument: 3"):
        modules.build(nn.Linear, 3)
    with pytest.raises(Feedback, match=r"forward takes \(x, mask\), and the check passes 1 argument: \[1.0\]"):
        modules.run(NoSizes(), torch.ones(1))
    with pytest.raises(Feedback, match="changed its own input mask"):
        modules.run(NoSizes(), torch.ones(1), torch.zeros(1, dtype=torch.bool))


@pytest.mark.parametrize(
    ("losses", "expected"),
    [
        ([1.0, np.float32(2)], [1, 2, 3]),
        (np.array([1.0, 2.0]), [1, 2, 3]),
        (torch.tensor([1.0, 2.0], requires_grad=True), [1, 2, 3]),
        ((torch.ones(1), nn.Parameter(torch.tensor(2.0))), [1, 2, 3]),
    ],
)
def test_losses_may_come_in_any_form(losses, expected):
    model, other = nn.Linear(1, 1), nn.Linear(1, 1)
    assert modules.losses_and_after(losses, model, other, lambda: torch.tensor(3.0)).tolist() == expected


@pytest.mark.parametrize(
    ("losses", "words"),
    [
        (1.0, "a list with the loss of each step, got a single number"),
        ({}, "a list with the loss of each step, got a dictionary of 0"),
        (["1"], "a number as the loss of each step, got str"),
        ([[1.0]], "a number as the loss of each step, got a list of 1"),
        ([torch.ones(2)], r"a number as the loss of each step, got a tensor of shape \(2,\)"),
        (np.ones((2, 2)), r"a number as the loss of each step, got a tensor of shape \(2,\)"),
        (None, "returns nothing"),
    ],
)
def test_what_is_no_list_of_losses_is_reported(losses, words):
    with pytest.raises(Feedback, match=words):
        modules.losses_and_after(losses, nn.Linear(1, 1), nn.Linear(1, 1), lambda: torch.tensor(3.0))


def test_losses_are_counted_without_the_one_of_the_check():
    model = nn.Linear(1, 1)
    for losses, steps, words in (([1.0], 2, "2 losses, one for each step, got 1"), ([1.0] * 2, 1, "1 loss, .* got 2")):
        with pytest.raises(Feedback, match=f"expected {words}"):
            modules.losses_and_after(losses, model, model, lambda: torch.tensor(3.0), steps)


def test_a_parameter_is_found_by_its_shape_if_it_is_the_only_one():
    module = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 2))
    assert modules.parameter_of_shape(module, 2, 3) is module[0].weight
    for shape, found in (((3, 2), 0), ((2,), 2)):
        with pytest.raises(
            Feedback, match=rf"expected one parameter of shape {re.escape(str(shape))} .* found {found}"
        ):
            modules.parameter_of_shape(module, *shape)


def test_parameters_and_equal_matrices_are_counted():
    module = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    assert modules.count(module) == 12
    assert modules.equal_matrices(module) == 0
    module[0].weight.data = module[1].weight.data
    assert modules.equal_matrices(module) == 1


def test_fed_gives_copies_and_names_a_changed_input():
    x, y = torch.ones(2, 3), torch.zeros(2, 3)
    assert torch.equal(modules.run_on_copies(AddsInPlace(safe=True), x, y), x)
    with pytest.raises(Feedback, match="changed its own input y"):
        modules.run_on_copies(AddsInPlace(safe=False), x, y)
    assert not y.any()


class AddsInPlace(nn.Module):
    def __init__(self, safe):
        super().__init__()
        self.safe = safe

    def forward(self, x, y):
        return y + x if self.safe else y.add_(x)
