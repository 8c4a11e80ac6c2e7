"""Plain stacks: what is drawn, what a layer computes, that a seed decides, and that a stack learns."""

import pytest
import torch
from torch import nn

from encoder_lib import LayerNorm, RMSNorm
from encoder_lib.course.layer_norm.plain_stack import PlainStack, plain_stack_accuracy


@pytest.mark.parametrize(("norm", "kind"), [("no norm", nn.Identity), ("layer norm", LayerNorm), ("RMS norm", RMSNorm)])
def test_a_stack_is_its_layers_one_after_the_other(norm, kind):
    stack, numbers = PlainStack(3, norm=norm), torch.randn(5, 4)
    x = stack.read(numbers)
    for layer, after in zip(stack.layers, stack.norms, strict=True):
        assert isinstance(after, kind)
        x = after((layer(x)).clamp(min=0))
    torch.testing.assert_close(stack(numbers), stack.answer(x))
    assert len(stack.layers) == len(stack.norms) == 3


def test_the_factor_multiplies_the_layers_and_nothing_else():
    torch.manual_seed(0)
    plain = dict(PlainStack(2).named_parameters())
    torch.manual_seed(0)
    for name, parameter in PlainStack(2, factor=3.0).named_parameters():
        torch.testing.assert_close(parameter, (3 if name.startswith("layers.") else 1) * plain[name])


def test_a_run_comes_from_its_seed(nothing_drawn):
    first = plain_stack_accuracy(n_layers=1, steps=3, seed=1)
    assert plain_stack_accuracy(n_layers=1, steps=3, seed=1) == first != plain_stack_accuracy(n_layers=1, steps=3)


def test_a_shallow_stack_learns_the_largest_number():
    assert plain_stack_accuracy(n_layers=1) > 0.9
    assert plain_stack_accuracy(n_layers=12, steps=1) < 0.5


def test_it_trains_in_float32_whatever_the_default(monkeypatch):
    from encoder_lib.course.layer_norm import plain_stack

    seen = []
    monkeypatch.setattr(plain_stack, "fit", lambda model, draw, *, steps: seen.extend([model, *draw()]))
    torch.set_default_dtype(torch.float64)
    plain_stack_accuracy(norm="layer norm", n_layers=1)
    model, x, largest = seen
    assert {p.dtype for p in model.parameters()} == {torch.float32} == {x.dtype}
    assert torch.equal(x.max(dim=1).values, x.gather(1, largest[:, None])[:, 0]) and x.shape == (64, 4)
