"""A seed inside leaves the random numbers outside alone, on every device."""

import pytest
import torch

from encoder_lib.seeded import seeded


def draw(device):
    return torch.rand(3, device=device)


def test_a_seed_gives_the_same_numbers_and_is_not_felt_outside_even_after_an_error(device):
    torch.manual_seed(7)
    expected = [draw(device), draw(device)]
    torch.manual_seed(7)
    before = draw(device)
    with seeded(1):
        first = draw(device)
    with pytest.raises(KeyError), seeded(1):
        assert torch.equal(draw(device), first)
        raise KeyError
    assert torch.equal(before, expected[0]) and torch.equal(draw(device), expected[1])
