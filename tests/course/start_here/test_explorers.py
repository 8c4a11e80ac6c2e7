"""The explorer shows what the encoder computes at each step, for any two texts, and names the word that it follows."""

import math

import pytest
import torch
from explorers import PAIR, minilm

from encoder_lib.course import explore

STEPS = 27


@pytest.fixture(scope="module")
def explorer():
    return explore.walk(minilm(), *PAIR)


def by_hand(sentence, word):
    """The word's vector after each step, part by part."""
    model = minilm().encoder
    ids, position = minilm().ids(sentence), minilm().tokens(sentence).index(word)
    with torch.no_grad():
        x = model.embedding(ids)
        out = [model.embedding.token(ids), x]
        for layer in model.encoder.layers:
            out.append(layer.attention(x, x, x))
            x = layer.norm1(x + out[-1])
            out += [x, layer.feed_forward(x)]
            x = layer.norm2(x + out[-1])
            out.append(x)
    return [vectors[0, position] for vectors in out] + [x[0].mean(dim=0)]


def test_the_curve_is_what_the_parts_compute(explorer):
    sides = [by_hand(text, "bank") for text in PAIR]
    expected = [torch.cosine_similarity(a.double(), b.double(), dim=0).item() for a, b in zip(*sides, strict=True)]
    assert explorer._timeline["values"] == pytest.approx(expected, abs=1e-4) and len(expected) == STEPS
    for step, cosine in enumerate(expected, 1):
        explorer.station = step
        assert f"Step {step} of 27, " in explorer.description
        assert abs(float(explorer.description.removesuffix(".").split()[-1]) - cosine) < 6e-4
    explorer.station = 1


def test_maps_are_the_attention_of_the_sites_layer(explorer):
    for panel, text in zip(explorer._view.panels, PAIR, strict=True):
        weights = minilm().attention(text)[:, :, minilm().tokens(text).index("bank")]  # (layers, H, T)
        assert all(math.isnan(panel.frame(i)[0, 0]) for i in (0, 1, 26))
        for i in range(2, 26):
            torch.testing.assert_close(torch.tensor(panel.frame(i)), weights[(i - 2) // 4])


def test_the_description_says_what_a_step_does(explorer):
    said = explorer._descriptions
    assert said[0].endswith("table. 8 and 10 tokens get their rows of the table. Two vectors: cosine 1.000.")
    assert "position. The rows of positions 3 and 3, counted from 0" in said[1]
    assert "head 3 gives 100 % to “river” in the first sentence, head 3 gives 100 % to “big”" in said[2]
    assert (
        "layer 1: + norm after attention. The part's output is added" in said[3] and "adds. It works on each" in said[4]
    )


@pytest.mark.parametrize(
    ("first", "second", "word"),
    [
        (*PAIR, "bank"),
        ("a cat", "the Cat", "cat"),
        ("a b", "c d", "[CLS]"),
        ("", " ", "[CLS]"),
        ("你好世界", "世", "世"),
        ("<b>$x^$</b> {} %s", "\ud800 x", "x"),
    ],
)
def test_it_follows_the_longest_word_of_both(first, second, word):
    explorer = explore.walk(minilm(), first, second)
    assert f"of the two vectors of “{word}”" in explorer._timeline["title"]
    assert explorer.description.startswith("The sentences have no word in common: " if word == "[CLS]" else "Step 1")
    assert len(explorer._descriptions) == STEPS and not explorer.error


def test_different_positions_separate_the_vectors():
    explorer = explore.walk(minilm(), "They play chess in the park.", "You may park the car here.")
    assert "positions 6 and 3, counted" in explorer._descriptions[1]
    assert explorer._timeline["values"][1] < 0.99 < explorer._timeline["values"][0]
