"""What a learner's class makes is built the same each time, and asked for parameters and gradients."""

import re

import pytest
import torch
from torch import nn

from encoder_lib.course.checks import modules
from encoder_lib.course.checks.verdict import Told, Unwritten


def test_a_module_is_made_and_run_with_the_same_numbers_each_time():
    one, other = (modules.made(nn.Linear, 2, 3) for _ in range(2))
    assert one.weight.dtype == torch.float64 and torch.equal(one.weight, other.weight)
    x, dropout = torch.ones(4, 9), nn.Dropout()
    assert torch.equal(modules.run(dropout, x), modules.run(dropout, x))


@pytest.mark.parametrize(("name", "words"), [("", "a class of nn.Module"), ("Block", r"try class Block\(nn.Module\)")])
def test_what_makes_no_module_is_told(name, words):
    with pytest.raises(Told, match=words):
        modules.made(int, name=name)
    with pytest.raises(Unwritten):
        modules.made(lambda: ..., name=name)


def test_a_module_that_changes_its_input_is_told():
    x, y = torch.ones(2, 3), torch.zeros(2, 3)
    assert torch.equal(modules.fed(torch.add, x, y), x)
    with pytest.raises(Told, match="changed its own input"):
        modules.fed(lambda a, b: b.add_(a), x, y)
    assert not y.any(), "it was given a copy"


def test_losses_come_back_with_the_loss_afterwards():
    model, before = nn.Linear(1, 1), nn.Linear(1, 1)
    losses = modules.losses_and_after([torch.tensor(3.0), 2], model, before, lambda: torch.tensor(1.0))
    assert losses.tolist() == [3, 2, 1] and losses.dtype == torch.float64


def test_what_is_no_list_of_losses_is_told():
    model, trained = nn.Linear(1, 1), nn.Linear(1, 1)
    for losses in (..., None):
        with pytest.raises(Unwritten):
            modules.losses_and_after(losses, model, model, torch.zeros)
    with pytest.raises(Told, match="returns nothing"):
        modules.losses_and_after(None, trained, model, torch.zeros)
    with pytest.raises(Told, match="expected a list with the loss of each step, got float"):
        modules.losses_and_after(0.5, trained, model, torch.zeros)


def test_a_parameter_is_found_by_its_shape_if_it_is_the_only_one():
    module = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 2))
    assert modules.of_shape(module, 2, 3) is module[0].weight
    for shape, found in (((3, 2), 0), ((2,), 2)):
        with pytest.raises(Told, match=rf"expected one parameter of shape {re.escape(str(shape))} .* found {found}"):
            modules.of_shape(module, *shape)


def test_parameters_and_equal_matrices_are_counted():
    module = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    assert modules.count(module) == 12
    assert modules.equal_matrices(module) == 0
    module[0].weight.data = module[1].weight.data
    assert modules.equal_matrices(module) == 1
