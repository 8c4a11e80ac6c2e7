"""What a learner's class makes is built the same each time, and asked for parameters and gradients."""

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


def test_parameters_and_equal_matrices_are_counted():
    module = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    assert modules.count(module) == 12
    assert modules.equal_matrices(module) == 0
    module[0].weight.data = module[1].weight.data
    assert modules.equal_matrices(module) == 1
