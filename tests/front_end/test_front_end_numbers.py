"""Numbers as text: the front end writes them as Python does."""

import random
from decimal import ROUND_HALF_UP, Decimal
from math import inf, nan, nextafter

import numpy as np
import pytest

from encoder_lib.course.kit.plots.style import percent

pytestmark = pytest.mark.browser
DRAW = random.Random(0)
HALVES = [(n + 0.5) / 100 for n in range(100)]  # the halves between two whole percents, as near as floats come
SHARES = [0.0, 1.0, 0.125, 0.375, 0.625, 0.875, 0.005, 5e-324, 1e-300, 0.285, 1 / 3, 2 / 3]
SHARES += [nextafter(half, end) for half in HALVES for end in (0, 1)] + HALVES
SHARES += [float(np.float32(half)) for half in HALVES]  # what comes from a model
SHARES += [DRAW.random() for _ in range(500)] + [DRAW.random() / 100 for _ in range(500)]
VALUES = [0.0, -0.0, 1.0, -1.5, 1e-3, 1e5, 0.00125, 112500.0, 99999.5, 99994.999, 1e21, -1e300, 5e-324, 12345.5]
VALUES += [sign * DRAW.uniform(1, 10) * 10.0 ** DRAW.randint(-12, 12) for _ in range(500) for sign in (1, -1)]
VALUES += [n / 8 * 10.0**k for n in range(1, 100, 7) for k in range(-3, 5)]  # ties


def rounded(value, digits):
    """A number with so many digits, half rounded away from zero."""
    exact = Decimal(value)
    return exact.quantize(Decimal(1).scaleb(exact.adjusted() - digits + 1), ROUND_HALF_UP)


def in_words(value):
    """Four digits; three and an exponent for what is small or large."""
    if value == 0:
        return "0"
    if abs(value) < 1e-3 or abs(value) >= 1e6:
        number, _, power = f"{rounded(value, 3):.2e}".partition("e")
        return f"{number}e{int(power):+d}".replace("-", "−")
    return f"{rounded(value, 4).normalize():f}".replace("-", "−")


def test_percentage_is_the_same_live_and_stored(modules):
    """In percent, on both sides of every half, for floats of both widths."""
    assert modules.call("format.js", "percent", [[share] for share in SHARES]) == [percent(share) for share in SHARES]


def test_values_have_four_digits(modules):
    assert modules.call("format.js", "formatValue", [[value] for value in VALUES]) == list(map(in_words, VALUES))


def test_non_numbers_have_a_name(modules):
    assert modules.call("format.js", "formatValue", [[nan], [inf], [-inf]]) == ["NaN", "+∞", "−∞"]


def test_decimals_have_a_real_minus_but_not_before_a_zero(modules):
    numbers = [[-0.04, 1], [-0.06, 1], [1.005e3, 0], [-inf, 1]]
    assert modules.call("format.js", "fixed", numbers) == ["0.0", "−0.1", "1005", "−∞"]


@pytest.mark.parametrize(("step", "decimals"), [(1, 0), (5, 0), (0.1, 1), (0.25, 2), (1e-3, 3), (1e-7, 7), (2.5e-7, 8)])
def test_the_step_decides_the_decimals(modules, step, decimals):
    """Every value that steps lead to has as many decimals as the step, and a whole one has none."""
    values = [float(f"{n * step:.12g}") for n in range(-50, 51)]
    said = modules.call("format.js", "formatStep", [[value, step] for value in values])
    assert said == [f"{value + 0.0:.{0 if value % 1 == 0 else decimals}f}".replace("-", "−") for value in values]
    assert modules.call("format.js", "formatStep", [[1 / 3, None], [12345.678, None]]) == ["0.3333", "12350"]
