"""The way of a word: its stations in order, what comes out there, and whom it looks at."""

import pytest
import torch
from explorers import PAIR, minilm

from encoder_lib.course.kit import way


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


def test_a_word_that_is_no_token_cannot_be_visited():
    with pytest.raises(ValueError, match="money"):
        way.visit(minilm(), PAIR[0], "money")


def test_a_mask_says_who_may_look():
    eye = torch.eye(8, dtype=torch.bool)
    alone, masked = way.visit(minilm(), PAIR[0], "bank", alone=True), way.visit(minilm(), PAIR[0], "bank", may_look=eye)
    assert all(torch.equal(alone.at(s), masked.at(s)) for s in alone.stations)


def by_hand(part, ids):
    """The encoder's last vectors, computed without a part."""
    model = minilm().encoder
    x = model.embedding.token(ids)
    row = model.embedding.position.weight.mean(dim=0)
    x = model.embedding.norm(x + row if part == "position" else model.embedding.position(x))
    for layer in model.encoder.layers:
        for f, norm in ((layer.attention, layer.norm1), (layer.feed_forward, layer.norm2)):
            added = f(x, x, x) if f is layer.attention else f(x) * (part != "feed-forward")
            total = added if part == "+" else x + added
            x = total if part == "norm" else norm(total)
    return x


@pytest.mark.parametrize("part", ["nothing", "position", "feed-forward", "+", "norm"])
@torch.no_grad()
def test_a_part_is_out_for_as_long_as_the_block_lasts(part):
    ids = minilm().ids(PAIR[0])
    whole, expected = minilm().encoder(ids), by_hand(part, ids)
    with pytest.raises(KeyError), way.without(minilm(), part):
        torch.testing.assert_close(minilm().encoder(ids), expected, atol=1e-3, rtol=1e-3)
        raise KeyError  # the part is back whatever happens in the block
    assert torch.equal(minilm().encoder(ids), whole)


def test_what_is_no_part_cannot_be_taken_out():
    with (
        pytest.raises(ValueError, match="part: expected one of 'nothing', 'position'"),
        way.without(minilm(), "x"),
    ):
        pass
