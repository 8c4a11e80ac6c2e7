"""Numbers are compared in all cases before gradients are."""

import torch

from encoder_lib.course.kit.checking.trained import examine_trained
from encoder_lib.course.kit.checking.verdict import Case

CASES = [Case("zero", (torch.zeros(1),)), Case("two", (torch.tensor([2.0]),))]


def problem(attempt):
    return examine_trained("join", attempt, torch.square, CASES).problem


def test_a_right_number_and_gradient_pass():
    assert not problem(lambda x: x * x)


def test_a_wrong_formula_is_no_wrong_gradient_in_a_case():
    assert "two: with [2.0]" in problem(lambda x: 3 * x) and "gradient" not in problem(lambda x: 3 * x)


def test_a_wrong_gradient_is_reported_once_all_numbers_are_right():
    assert "gradient" in problem(lambda x: x * x.detach()) and "two" in problem(lambda x: x * x.detach())
