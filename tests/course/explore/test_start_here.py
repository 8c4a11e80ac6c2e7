"""The walk shows what the encoder computes at each station, for any two texts, and says in words whom it follows."""

import math

import pytest
import torch
from explorers import PAIR, minilm

from encoder_lib.course import explore

STATIONS = 27


@pytest.fixture(scope="module")
def explorer():
    return explore.walk(minilm(), *PAIR, "bank")


def by_hand(sentence, word, mask=None):
    """What comes out for the word at each station, part by part."""
    model = minilm().encoder
    ids, place = minilm().ids(sentence), minilm().tokens(sentence).index(word)
    with torch.no_grad():
        x = model.embedding(ids)
        out = [model.embedding.token(ids), x]
        for layer in model.encoder.layers:
            out.append(layer.attention(x, x, x, mask))
            x = layer.norm1(x + out[-1])
            out += [x, layer.feed_forward(x)]
            x = layer.norm2(x + out[-1])
            out.append(x)
    return [vectors[0, place] for vectors in out] + [x[0].mean(dim=0)]


@pytest.mark.parametrize("alone", [False, True])
def test_the_curve_is_what_the_parts_compute(explorer, alone):
    explorer.alone = alone
    sides = [by_hand(text, "bank", torch.eye(len(minilm().tokens(text))).bool() if alone else None) for text in PAIR]
    expected = [torch.cosine_similarity(a.double(), b.double(), dim=0).item() for a, b in zip(*sides, strict=True)]
    assert explorer._way["values"] == pytest.approx(expected, abs=1e-4) and len(expected) == STATIONS
    for station, cosine in enumerate(expected, 1):
        explorer.station = station
        assert f"Station {station} of 27, " in explorer.description
        assert abs(float(explorer.description.removesuffix(".").split()[-1]) - cosine) < 6e-4
        assert explorer.description.startswith("No token may look") == alone
    explorer.set(station=1, alone=False)


def test_the_maps_are_the_looks_of_the_word_in_the_layer_of_the_station(explorer):
    for panel, text in zip(explorer._view.panels, PAIR, strict=True):
        weights = minilm().attention(text)[:, :, minilm().tokens(text).index("bank")]  # (layers, H, T)
        assert all(math.isnan(panel.frame(i)[0, 0]) for i in (0, 1, 26))
        for i in range(2, 26):
            torch.testing.assert_close(torch.tensor(panel.frame(i)), weights[(i - 2) // 4])


def test_stations_say_what_is_done_there_in_numbers_that_are_true(explorer):
    said = explorer._descriptions
    assert "(8, 384) and (10, 384) numbers. The word has row 2924 in both" in said[0]
    assert "place 3 in both, counted from 0" in said[1]
    assert "head 3 gives 100 % to “river” in the first sentence, head 3 gives 100 % to “big”" in said[2]
    assert "384 numbers become 1536, and then 384 again" in said[4]
    outputs = by_hand(PAIR[0], "bank")
    assert f"is {(outputs[2].norm() / outputs[1].norm()).item():.2f} and" in said[3]
    explorer.alone = True
    assert "another word: none in the first sentence, none in the second" in explorer._descriptions[2]
    explorer.alone = False


@pytest.mark.parametrize(
    ("first", "second", "word", "chosen", "said"),
    [
        (*PAIR, "bank", "bank", ""),
        (*PAIR, "Bank", "bank", "The walk follows “bank”, the longest"),
        (*PAIR, "", "bank", "The walk follows “bank”, the longest"),
        (*PAIR, "money", "bank", "The walk follows “bank”, the longest"),
        ("a cat", "the cat", "dog", "cat", ""),
        ("the cat", "the dog and the cat", "the", "the", "It stands there more than once: the walk follows the first."),
        ("Go tokenise", "We tokenise", "tokenise", "token", "It is the first piece of a longer word."),
        ("a b", "c d", "a", "[CLS]", "The sentences share no word: the walk follows [CLS]"),
        ("", " ", "", "[CLS]", "The sentences share no word"),
        ("你好世界", "世", "", "世", ""),
        ("<b>$x^$</b> {} %s", "\ud800 x", "\x00", "x", ""),
    ],
)
def test_whom_it_follows_is_told(first, second, word, chosen, said):
    explorer = explore.walk(minilm(), first, second, word)
    assert f"of “{chosen}”, from station" in explorer._way["title"]
    assert said in explorer.description and bool(said) == (not explorer.description.startswith("Station 1"))
    assert len(explorer._descriptions) == STATIONS and not explorer.error


def test_places_that_differ_are_told_and_part_the_two_at_position():
    explorer = explore.walk(minilm(), "They play chess in the park.", "You may park the car here.")
    assert "places 6 and 3, which differ" in explorer._descriptions[1]
    assert explorer._way["values"][1] < 0.99 < explorer._way["values"][0]
