"""A missing or wrong gradient is reported in words."""

import pytest
import torch
from torch import nn

from encoder_lib.course.kit.checking import gradients, modules
from encoder_lib.course.kit.checking.verdict import Case, problem_on


class Norm(nn.Module):
    """A layer norm with a gain, and a way to cut gradients off."""

    def __init__(self, cut):
        super().__init__()
        self.gain, self.cut = nn.Parameter(torch.ones(3)), cut

    def forward(self, x, mask=None):
        return self.cut(self, x)


def without_gradients(function):
    return torch.no_grad()(function)


MODULES = {  # forward -> what is reported
    "all arrive": (lambda m, x: m.gain * (x - x.mean(-1, keepdim=True)), ""),
    "x detached": (lambda m, x: m.gain * x.detach(), "no gradient reaches x: is it detached on the way"),
    "x taken out as numbers": (lambda m, x: m.gain * torch.tensor(x.tolist()), "no gradient reaches x:"),
    "a parameter's data": (lambda m, x: m.gain.data * x, "no gradient reaches gain:"),
    "a parameter unused": (lambda m, x: 2 * x, "no gradient reaches gain:"),
    "without gradients": (without_gradients(lambda m, x: m.gain * x), "no gradient reaches x, gain: is it detached"),
    "two results": (lambda m, x: (m.gain * 2, [x * 2]), ""),
}


@pytest.mark.parametrize("name", MODULES)
def test_a_module_that_cuts_gradients_off_is_reported(name):
    forward, words = MODULES[name]
    said = modules.without_gradient(Norm(forward), torch.ones(2, 3), torch.ones(2, 1, 1, 3, dtype=torch.bool))
    assert said.startswith(words) and bool(said) == bool(words)


def test_a_zero_gradient_is_one_that_arrives():
    x = torch.ones(3, requires_grad=True)
    assert gradients.missing_gradients(0 * x, {"x": x}) == ""


def test_many_that_are_missing_are_counted():
    tensors = {name: torch.ones(1, requires_grad=True) for name in "abcde"}
    said = gradients.missing_gradients(2 * tensors["a"], tensors)
    assert said.startswith("no gradient reaches b, c, d and 1 more: ")


def test_asking_leaves_no_gradients_behind():
    module, x = Norm(MODULES["all arrive"][0]), torch.randn(2, 3, requires_grad=True)
    modules.without_gradient(module, x)
    assert module.gain.grad is None and x.grad is None


def layer():
    return nn.Linear(2, 2, dtype=torch.float64).requires_grad_(False)


ATTEMPTS = {  # an attempt at `x + layer(x) + rows[0]` -> what is reported
    "right": (lambda layer, x, rows: rows[0] + x + layer(x), ""),
    "right, by hand": (lambda layer, x, rows: x @ layer.weight.T + layer.bias + x + rows[0], ""),
    "right, in float32": (lambda layer, x, rows: layer(x).float() + x + rows[0], ""),
    "a part of x": (lambda layer, x, rows: x.detach() + layer(x) + rows[0], "but the gradient of x is not"),
    "all of x": (
        lambda layer, x, rows: (x + layer(x)).detach() + rows[0],
        "no gradient reaches layer.weight, layer.bi",
    ),
    "an entry of a list": (lambda layer, x, rows: rows[0].data + x + layer(x), "no gradient reaches rows[0]:"),
    "everything": (without_gradients(lambda layer, x, rows: x + layer(x) + rows[0]), "no gradient reaches layer.weigh"),
    "not twice the same": (lambda layer, x, rows: 1 / 0 if x.requires_grad else x + layer(x) + rows[0], "it stopped"),
}


@pytest.mark.parametrize("name", ATTEMPTS)
def test_gradients_of_a_function_are_compared(name):
    attempt, words = ATTEMPTS[name]
    x = torch.tensor([[1.0, 2.0]], dtype=torch.float64)
    case = Case("one", (layer(), x, [2 * x]))
    assert problem_on(attempt, ATTEMPTS["right"][0], case) == ""
    said = problem_on(attempt, ATTEMPTS["right"][0], case, gradients=True)
    assert words in said and bool(said) == bool(words)
    assert "\n" not in said or said.startswith("one: with\n")


def test_inputs_that_need_no_gradient_are_not_asked_for_one():
    def attempt(ids, weights):
        return weights[ids]

    values, tensors = gradients.requiring_gradients((torch.tensor([0]), torch.ones(2)), ["ids", "weights"])
    assert list(tensors) == ["weights"] and not values[0].requires_grad
    case = Case("one", (torch.tensor([1, 1]), torch.ones(3)))
    assert problem_on(attempt, attempt, case, gradients=True) == ""
