"""The depth explorer draws what was measured, for the order chosen and, in grey, for the other one."""

import itertools
from functools import cache

import pytest
import torch

from encoder_lib.course import explore
from encoder_lib.course.encoder_stack.explorers import QUANTITIES
from encoder_lib.course.kit.measure import INITS, ORDERS, depth_profiles

DEPTHS = (2, 32)


@pytest.fixture(scope="module")
def explorer():
    torch.manual_seed(1)  # what it shows does not depend on it
    return explore.depth()


def lines(explorer, quantity):
    """The two lines of a panel: layers and values."""
    ax = explorer._figure.axes[QUANTITIES.index(quantity)]
    return [(list(line.get_xdata()), torch.as_tensor(line.get_ydata())) for line in ax.lines]


@cache
def measured(order, init):
    """The same stacks, cut at a few depths."""
    return depth_profiles(DEPTHS, norm_first=ORDERS[order], init=init)


@pytest.mark.parametrize(("depth", "order", "init"), list(itertools.product(DEPTHS, ORDERS, INITS)))
def test_both_orders_are_drawn_as_they_were_measured(explorer, depth, order, init):
    explorer.set(depth=depth, order=order, init=init)
    other = next(name for name in ORDERS if name != order)
    (legend,) = explorer._figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [order, other]
    for i, name in enumerate((order, other)):
        profile = measured(name, init)[depth]
        for quantity in QUANTITIES:
            places, values = lines(explorer, quantity)[i]
            assert places == list(range(quantity == "gradient", depth + 1))
            torch.testing.assert_close(values, getattr(profile, quantity))
        ratio, size = profile.gradient[-1] / profile.gradient[0], profile.size[-1]
        words = f"{name.capitalize()}: the last layer's gradient is {ratio:.2f} times the first one's. "
        assert words in explorer.description
        assert (
            f"vectors is {size:.2f}, and the mean cosine between two tokens {profile.similarity[-1]:.2f}."
            in explorer.description
        )


def test_limits_stay_and_hold_every_point(explorer):
    limits = [(ax.get_xlim(), ax.get_ylim()) for ax in explorer._figure.axes]
    for order, init in itertools.product(ORDERS, INITS):
        explorer.set(depth=32, order=order, init=init)
        assert [(ax.get_xlim(), ax.get_ylim()) for ax in explorer._figure.axes] == limits
        for quantity, (_, (low, high)) in zip(QUANTITIES, limits, strict=True):
            assert all(low <= values.min() and values.max() <= high for _, values in lines(explorer, quantity))
