"""The way of a word: its stations in order, what comes out there, and whom it looks at."""

import pytest
import torch
from explorers import PAIR, minilm

from encoder_lib.course.lab import way


def test_stations_stand_in_the_order_in_which_they_are_computed():
    first = way.visit(minilm(), PAIR[0], "bank")
    order = list(first.outputs)
    places = [order.index(station.key) for station in first.stations[:-1]]
    assert places == sorted(places) and len(first.stations) == len(way.stations(6)) == 27
    assert [s.short for s in way.stations(1)] == [
        "table", "position", "attention", "+ norm", "feed-forward", "+ norm", "mean"
    ]  # fmt: skip
    assert len({s.name for s in first.stations}) == 27


def test_what_is_joined_is_what_the_next_sum_is_made_of():
    """Joined plus added is what the norm is given, at every sum."""
    visit = way.visit(minilm(), PAIR[1], "bank")
    before = None
    for station, after in zip(visit.stations, visit.stations[1:], strict=False):
        if station.joined:
            before = visit.at(station)
        elif after.joined:
            total = visit.outputs[f"{after.key}.input"][0, visit.place].double()
            torch.testing.assert_close(before + visit.at(station), total, atol=1e-5, rtol=0)


def test_a_visitor_alone_looks_at_itself_and_sees_nobody():
    together, alone = (way.visit(minilm(), PAIR[0], "bank", alone=alone) for alone in (False, True))
    assert torch.equal(alone.looks(6), torch.eye(8)[3].expand(12, 8))
    assert (together.looks(6) > 0).all()
    one_word = way.visit(minilm(), "cat", "cat", alone=True)
    other = way.visit(minilm(), "a", "a", alone=True)
    cls = one_word.stations[-2].key
    torch.testing.assert_close(one_word.outputs[cls][0, 0], other.outputs[cls][0, 0])


def test_two_equal_sentences_are_equal_all_along():
    visit = way.visit(minilm(), PAIR[0], "river")
    assert all(cosine == pytest.approx(1) for cosine in way.along(visit, visit).values())


def test_a_word_that_is_no_token_cannot_be_visited():
    with pytest.raises(ValueError, match="money"):
        way.visit(minilm(), PAIR[0], "money")
