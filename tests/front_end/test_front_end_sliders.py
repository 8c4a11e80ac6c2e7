"""A slider's positions and values: what the front end sends is a value that Python takes as it is."""

import random
from math import isclose, log

import pytest

from encoder_lib.course.explore import Range

pytestmark = pytest.mark.browser
DRAW = random.Random(0)
POSITIONS = range(201)
LINEAR = [
    Range("a", 1, min=1, max=9),
    Range("a", -1, min=-3, max=3, step=0.05),
    Range("a", 0, min=0, max=1e-6, step=1e-8),
    Range("a", 0.1, min=0.1, max=100.1, step=1),
]
LOGARITHMIC = [
    Range("a", 10_000, min=2, max=20_000, log=True),
    Range("a", 1e-5, min=1e-12, max=1.0, step=None, log=True),
    Range("a", 1, min=0.5, max=64, step=0.5, log=True),
    Range("a", 3, min=3, max=4, step=None, log=True),
]


@pytest.mark.parametrize("control", LINEAR, ids=lambda control: f"{control.min} to {control.max} by {control.step}")
def test_a_step_is_the_value_that_python_has(modules, control):
    """Also from what a browser makes of the step, some rounding away; and it is as many steps from the least."""
    places = range(control.positions)
    near = [(place, control.min + place * control.step * (1 + DRAW.uniform(-1, 1) * 1e-12)) for place in places]
    values = modules.call("slider.js", "snap", [[control.to_spec(), value] for _, value in near])
    assert values == [control.check(min(max(value, control.min), control.max)) for _, value in near]
    assert values == [control.check(value) for value in values]
    assert modules.call("slider.js", "stepsTo", [[control.to_spec(), value] for value in values]) == list(places)
    assert [control.position(value) for value in values] == list(places)


@pytest.mark.parametrize("control", LOGARITHMIC, ids=lambda control: f"{control.min} to {control.max}")
def test_logarithmic_slider_values_are_accepted_by_python(modules, control):
    """In rising order, from one end to the other, and none changes on its way."""
    values = modules.call("slider.js", "fromPosition", [[control.to_spec(), position] for position in POSITIONS])
    assert values == sorted(values)
    assert values[0] == control.min and values[-1] == control.max
    assert [control.check(value) for value in values] == values


@pytest.mark.parametrize("control", LOGARITHMIC, ids=lambda control: f"{control.min} to {control.max}")
def test_equal_distances_are_equal_factors(modules, control):
    """A value set from Python is at the position of its logarithm, and is read back unchanged to three digits."""
    values = [control.min * (control.max / control.min) ** DRAW.random() for _ in range(50)]
    places = modules.call("slider.js", "toPosition", [[control.to_spec(), value] for value in values])
    whole = log(control.max / control.min)
    assert places == pytest.approx([200 * log(value / control.min) / whole for value in values], abs=1e-9)
    ends = modules.call("slider.js", "toPosition", [[control.to_spec(), end] for end in (control.min, control.max)])
    assert ends == [0, 200]
    back = modules.call("slider.js", "fromPosition", [[control.to_spec(), position] for position in places])
    step = control.step or 0
    assert all(isclose(b, v, rel_tol=5.01e-3, abs_tol=step / 2) for b, v in zip(back, values, strict=True))
