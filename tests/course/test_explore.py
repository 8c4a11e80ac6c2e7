"""The course's own explorers: what they show is computed, right, and different at the two ends of every control."""

import itertools

import pytest
import torch
from explorers import EXPLORERS, ends, picture

SLOW = ("depth", "fit_curve")  # they compute much, at many places of their controls
DRAW = ("look_up", "training_card", "training_maps")  # they, or what they are given, mean to draw when they are made
NAMES = [pytest.param(name, marks=pytest.mark.long) if name in SLOW else name for name in EXPLORERS]


@pytest.mark.parametrize("name", NAMES)
def test_every_control_changes_picture_and_description_and_back(name):
    """From one end to the other, which it takes as they are; and the notebook's random numbers stay."""
    random = torch.get_rng_state()
    explorer = EXPLORERS[name]()
    assert name in DRAW or torch.equal(torch.get_rng_state(), random)
    random, start, before = torch.get_rng_state(), explorer.values, (picture(explorer), explorer.description)
    for control, values in ends(explorer).items():
        shown = []
        for value in values:
            explorer.set(**{control: value})
            shown.append((picture(explorer), explorer.description))
            assert isinstance(value, str) or getattr(explorer, control) == value
        (low, low_words), (high, high_words) = shown
        assert low != high and low_words != high_words, control
        explorer.set(**start)
        assert (picture(explorer), explorer.description) == before
    assert torch.equal(torch.get_rng_state(), random)


@pytest.mark.parametrize("name", NAMES)
def test_every_explorer_has_a_static_picture_and_as_many_frames_as_their_control_has_steps(name):
    explorer = EXPLORERS[name]()
    bundle, _ = explorer._repr_mimebundle_()
    assert "<img alt=" in bundle["text/html"] and explorer.description in bundle["text/plain"]
    framed = [panel.frames for panel in explorer._view.panels if panel.framed] if explorer._view else []
    assert bool(framed) == bool(explorer._frames)
    if framed:
        assert {*framed, len(explorer._descriptions)} == {explorer._by_name[explorer._frames].positions}


@pytest.mark.long
@pytest.mark.parametrize("name", EXPLORERS)
def test_every_two_controls_work_at_every_two_ends(name):
    explorer = EXPLORERS[name]()
    start, both = explorer.values, ends(explorer)
    for a, b in itertools.combinations_with_replacement(both, 2):
        for values in itertools.product(both[a], both[b]):
            explorer.set(**start | dict(zip((a, b), values, strict=True)))
            assert not explorer.error and explorer.description.endswith(".")
