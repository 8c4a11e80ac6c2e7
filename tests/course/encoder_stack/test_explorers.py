"""The explorers of 07: depth draws what was measured, for the order chosen and, in grey, for the other one.

The picture of the hops draws what attention brings to each card."""

import itertools
from functools import cache

import pytest
import torch

from encoder_lib.course import explore
from encoder_lib.course.encoder_stack.explorers import QUANTITIES
from encoder_lib.course.kit import ladder
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


ARROWS = [1, 5, 7, 2, 2, 3, 1, 5]  # card 0 leads to 1, 5 and 3
CARDS = torch.tensor([8 * letter + arrow for letter, arrow in enumerate(ARROWS)])


def model():
    """One of two layers, untrained."""
    return ladder.CardModel(positions="learned", attention=True, residual=True, n_layers=2)


@pytest.fixture
def followed(monkeypatch):
    """An explorer whose cards attend to their arrow in layer 1, and to the next stop in layer 2."""
    rows = torch.eye(8)[ARROWS]  # (T, T)
    looks = [0.9 * rows, 0.9 * rows @ rows]
    monkeypatch.setattr(ladder, "weights", lambda model, cards, layer: looks[layer][None, None])
    return explore.hops(model(), CARDS)


def test_chips_are_where_attention_brings_them(followed):
    """Card 0 has its own, then also that of stop 1, then also those of stops 2 and 3; others come by other ways."""
    boxes = followed._view.panels[0]
    for layer, known in enumerate([{0}, {0, 1}, {0, 1, 5, 3}]):
        followed.layer = layer
        shown = [
            (label, round(float(top), 2))
            for label, (left, top, width, height, strength) in zip(boxes.labels[0], boxes.frame(layer), strict=True)
            if "→" in label and strength and left < 5  # in the column of card 0
        ]
        highest = sorted(shown, key=lambda chip: chip[1])[: len(known)]
        assert {label for label, _ in highest} == {ladder.name_cards(CARDS)[k] for k in known}
        assert len(shown) == sum([1, 2, 4][: layer + 1])
    assert "card 0 gives 90 % of its attention weight to card 5, which holds" in followed.description


def test_the_way_to_the_followed_card_is_in_colour(followed):
    """One colour for each of its four cards; two lines from layer 1 and one from layer 2, each in three pieces."""
    kinds = followed._view.panels[0].kinds
    assert {kind for kind in kinds if kind.startswith("card")} == {"card 0", "card 1", "card 3", "card 5"}
    assert kinds.count("rule") == 9
    followed.card = 3
    kinds = followed._view.panels[0].kinds
    assert {kind for kind in kinds if kind.startswith("card")} == {"card 3", "card 2", "card 7", "card 5"}


def test_without_half_the_weight_nothing_arrives():
    explorer = explore.hops(model(), CARDS, card=2)
    explorer.layer = 1
    assert "no card gets half of the attention weight of card 2" in explorer.description
    assert "rule" not in explorer._view.panels[0].kinds


def test_the_hops_need_one_row_of_cards_and_a_card_model():
    with pytest.raises(ValueError, match=r"cards: expected one row of shape \(T,\), got \(1, 8\)"):
        explore.hops(model(), CARDS[None])
    with pytest.raises(TypeError, match="card_model: expected a CardModel"):
        explore.hops(torch.nn.Linear(1, 1), CARDS)
