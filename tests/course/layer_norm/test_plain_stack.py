"""Plain stacks: what they read, what a layer computes, that everything depends on the seed, and that they learn."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from encoder_lib import LayerNorm, RMSNorm
from encoder_lib.course.kit.texts import wonderland
from encoder_lib.course.layer_norm.plain_stack import N_LETTERS, PlainStack, plain_stack_accuracy, read_text


def test_two_letters_and_the_next_one_are_read_from_the_text():
    letters, following = read_text()
    spelled = "".join(" abcdefghijklmnopqrstuvwxyz"[i] for i in [*letters[0].tolist(), *following.tolist()])
    assert spelled.startswith("alice was beginning to get very tired of sitting by her sister on the bank and of h")
    assert spelled.split() == "".join(c if c.isascii() and c.isalpha() else " " for c in wonderland().lower()).split()
    assert torch.equal(letters[1:, 0], letters[:-1, 1]) and torch.equal(letters[1:, 1], following[:-1])
    assert letters.min() >= 0 and letters.max() < N_LETTERS


@pytest.mark.parametrize(("norm", "kind"), [("no norm", nn.Identity), ("layer norm", LayerNorm), ("RMS norm", RMSNorm)])
def test_a_stack_is_its_layers_one_after_the_other(norm, kind):
    stack, letters = PlainStack(3, norm=norm), torch.tensor([[1, 0], [3, 26], [5, 5]])
    x = stack.read(torch.cat([F.one_hot(letters[:, 0], 27), F.one_hot(letters[:, 1], 27)], dim=1).to(stack.read.weight))
    for layer, after in zip(stack.layers, stack.norms, strict=True):
        assert isinstance(after, kind)
        x = after((layer(x)).clamp(min=0))
    torch.testing.assert_close(stack(letters), stack.answer(x))
    assert len(stack.layers) == len(stack.norms) == 3


def test_the_factor_multiplies_the_layers_and_nothing_else():
    torch.manual_seed(0)
    plain = dict(PlainStack(2).named_parameters())
    torch.manual_seed(0)
    for name, parameter in PlainStack(2, factor=3.0).named_parameters():
        torch.testing.assert_close(parameter, (3 if name.startswith("layers.") else 1) * plain[name])


def test_a_run_depends_on_its_seed_alone(nothing_drawn):
    first = plain_stack_accuracy(n_layers=1, steps=20, seed=1)
    assert plain_stack_accuracy(n_layers=1, steps=20, seed=1) == first != plain_stack_accuracy(n_layers=1, steps=20)


def test_a_shallow_stack_learns_the_next_letter():
    assert plain_stack_accuracy(n_layers=1) > 0.27
    assert plain_stack_accuracy(n_layers=12, steps=1) < 0.21


def test_it_trains_in_float32_on_the_beginning_of_the_text(monkeypatch):
    from encoder_lib.course.layer_norm import plain_stack

    seen = []
    monkeypatch.setattr(plain_stack, "fit", lambda model, draw, *, steps: seen.extend([model, *draw()]))
    torch.set_default_dtype(torch.float64)
    plain_stack_accuracy(norm="layer norm", n_layers=1)
    model, letters, following = seen
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    assert letters.shape == (128, 2) and following.shape == (128,)
    assert triples(letters, following) <= triples(*(each[:2584] for each in read_text())), "four fifths of 3,230"
    assert not triples(*(each[2584:] for each in read_text())) <= triples(*(each[:2584] for each in read_text()))


def triples(letters, following):
    """Two letters and the next one, each three once."""
    return {(*pair, after) for pair, after in zip(letters.tolist(), following.tolist(), strict=True)}
