"""The course's own explorers: what they show is computed, right, and different at the two ends of every control."""

import itertools

import matplotlib.pyplot as plt
import pytest
import torch
from explorers import EXPLORERS, SENTENCE, ends, minilm, picture

from encoder_lib import explore

SLOW = ("depth", "fit_curve", "normalise")  # they compute much, at many places of their controls
NAMES = [pytest.param(name, marks=pytest.mark.long) if name in SLOW else name for name in EXPLORERS]


@pytest.mark.parametrize("name", NAMES)
def test_every_control_changes_picture_and_description(name):
    for control, (low, high) in ends(EXPLORERS[name]()).items():
        explorer = EXPLORERS[name]()
        explorer.set(**{control: low})
        before = picture(explorer), explorer.description
        explorer.set(**{control: high})
        assert picture(explorer) != before[0] and explorer.description != before[1], control


@pytest.mark.long
@pytest.mark.parametrize("name", EXPLORERS)
def test_every_two_controls_work_at_every_two_ends(name):
    explorer = EXPLORERS[name]()
    start, both = explorer.values, ends(explorer)
    for a, b in itertools.combinations_with_replacement(both, 2):
        for values in itertools.product(both[a], both[b]):
            explorer.set(**start | dict(zip((a, b), values, strict=True)))
            assert not explorer.error and explorer.description.endswith(".")


@pytest.mark.parametrize("name", EXPLORERS)
def test_every_explorer_has_a_static_picture_with_its_description(name):
    explorer = EXPLORERS[name]()
    bundle, _ = explorer._repr_mimebundle_()
    assert bundle["image/png"] and "<img alt=" in bundle["text/html"] and explorer.description in bundle["text/plain"]


@pytest.mark.parametrize("name", NAMES)
def test_no_control_touches_the_random_numbers_of_the_notebook(name):
    explorer = EXPLORERS[name]()
    before = torch.get_rng_state()
    for control, values in ends(explorer).items():
        for value in values:
            explorer.set(**{control: value})
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("name", [n for n in EXPLORERS if n not in ("look_up", "training_maps")])  # they mean to draw
def test_making_an_explorer_draws_no_random_numbers(name):
    before = torch.get_rng_state()
    EXPLORERS[name]()
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(
    ("make", "control"),
    [
        (lambda: explore.normalise(mean=100), "mean"),
        (lambda: explore.depth(order="x"), "order"),
        (lambda: explore.depth(99), "depth"),
        (lambda: explore.block_steps(minilm(), SENTENCE, step=99), "step"),
        (lambda: explore.fit_curve(width=0), "width"),
        (lambda: explore.fit_curve(width=33), "width"),
        (lambda: explore.fit_curve(unit=0), "unit"),
        (lambda: explore.fit_curve(curve="x"), "curve"),
    ],
)
def test_what_a_control_does_not_take_is_refused_before_anything_is_drawn(make, control):
    with pytest.raises(ValueError, match=f"^{control}: expected"):
        make()
    assert plt.get_fignums() == []
