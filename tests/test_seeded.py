"""A seed inside a block leaves the random numbers outside alone, on every device."""

import pytest
import torch

from encoder_lib.seeded import seeded


def draw(device):
    return torch.rand(3, device=device)


def test_a_seed_in_a_block_repeats_and_does_not_reach_outside(device):
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


@pytest.fixture(params=["cuda", "mps", "xpu"])
def accelerators(request, monkeypatch):
    """The generators of two accelerators of one kind, which torch takes to be there."""
    kind, generators = request.param, [torch.Generator().manual_seed(i) for i in range(2)]
    module = torch.get_device_module(kind)

    def seed_all(seed):
        for generator in generators:
            generator.manual_seed(seed)

    fakes = {
        "is_available": lambda: True,
        "device_count": lambda: len(generators),
        "get_rng_state": lambda device: generators[device].get_state(),
        "set_rng_state": lambda state, device: generators[device].set_state(state),
        "manual_seed" if kind == "mps" else "manual_seed_all": seed_all,
    }
    for name, fake in fakes.items():
        monkeypatch.setattr(module, name, fake)
    monkeypatch.setattr(torch._C, "_accelerator_getAccelerator", lambda: torch.device(kind))
    return generators


def test_every_accelerator_is_seeded_and_restored(accelerators):
    before = [generator.get_state() for generator in accelerators]
    with seeded(1):
        first = [torch.rand(3, generator=generator) for generator in accelerators]
    with pytest.raises(KeyError), seeded(1):
        assert all(torch.equal(torch.rand(3, generator=g), x) for g, x in zip(accelerators, first, strict=True))
        raise KeyError
    assert all(torch.equal(g.get_state(), state) for g, state in zip(accelerators, before, strict=True))
