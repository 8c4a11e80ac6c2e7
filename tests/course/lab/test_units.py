"""What hidden units answer to: what is heard, and how well a unit tells words apart."""

import math

import pytest
import torch
from explorers import minilm

from encoder_lib import FeedForward, trace
from encoder_lib.course.lab.units import best_unit, collect_activations

TEXTS = ["The cat sat on the mat.", "Unbelievable!", "A dog barked at nothing."]


@pytest.mark.parametrize("layer", [1, 3])
def test_listening_keeps_what_a_whole_pass_computes(layer):
    heard = collect_activations(minilm(), TEXTS, layer=layer)
    encoder, row = minilm().encoder.encoder, 0
    for text in TEXTS:
        with torch.no_grad(), trace(encoder) as t:
            encoder(minilm().encoder.embedding(minilm().ids(text)))
        tokens = minilm().tokens(text)
        rows = slice(row, row + len(tokens) - 2)
        given, sums = (t[f"layers.{layer - 1}.{name}"][0, 1:-1] for name in ("norm1", "feed_forward.linear1"))
        torch.testing.assert_close(heard.inputs[rows], given)
        torch.testing.assert_close(heard.sums[rows], sums)
        assert heard.words[rows] == tokens[1:-1] and heard.previous[rows] == tokens[:-2]
        assert heard.ids[rows].tolist() == minilm().ids(text)[0, 1:-1].tolist()
        row = rows.stop
    assert row == len(heard.words) == len(heard.sums) and not heard.sums.requires_grad


def test_no_word_piece_is_on_both_sides():
    heard = collect_activations(minilm(), ["a dog and a cat and a dog", "the cat saw a dog"])
    sides = [
        {word for word, first in zip(heard.words, heard.searched, strict=True) if first == side}
        for side in (True, False)
    ]
    assert all(sides) and not sides[0] & sides[1]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("ends in -ed", ["barked"]), ("opens the text", ["the", "unbelievable", "a"]), ("follows “the”", ["cat", "mat"]),
     ("ends in -s", []), ("follows “to”", [])],
)  # fmt: skip
def test_a_property_says_which_words_have_it(name, expected):
    heard = collect_activations(minilm(), TEXTS)
    assert [word for word, has in zip(heard.words, heard.has_property(name).tolist(), strict=True) if has] == expected
    assert all(word.startswith("##") for i, word in enumerate(heard.words) if heard.has_property("continues a word")[i])


def test_without_learning_each_unit_keeps_its_weights_in_another_order():
    heard, network = collect_activations(minilm(), TEXTS), minilm().encoder.encoder.layers[0].feed_forward
    shuffled = heard.with_permuted_weights(network)
    assert shuffled.shape == heard.sums.shape and not torch.allclose(shuffled, heard.sums, atol=0.1)
    assert torch.equal(shuffled, heard.with_permuted_weights(network))
    weights = torch.linalg.lstsq(torch.eye(8), torch.eye(8)).solution  # a network whose weights can be read off
    small = FeedForward(8, 4)
    read = type(heard)([], [], torch.arange(8), weights, weights, torch.ones(8, dtype=torch.bool))
    rows = (read.with_permuted_weights(small) - small.linear1.bias).detach().T
    torch.testing.assert_close(rows.sort(1).values, small.linear1.weight.detach().sort(1).values, atol=1e-6, rtol=0)


def test_a_unit_that_tells_is_found_and_scored_on_the_other_half():
    torch.manual_seed(0)
    has, half = torch.arange(400) % 4 == 0, torch.arange(400) % 8 < 4
    sums = torch.randn(400, 30)
    sums[:, 7] += 5 * has
    sums[:, 9] += 50 * (has & half)  # tells in the first half alone
    unit, score = best_unit(sums, has, half)
    assert unit == 9 and 0.3 < score < 0.7
    unit, score = best_unit(sums[:, :9], has, half)
    wins = [(a > b).item() for a in sums[~half & has, 7] for b in sums[~half & ~has, 7]]
    assert unit == 7 and 0.99 < score == pytest.approx(sum(wins) / len(wins))


def test_a_property_that_occurs_in_one_half_alone_has_no_score():
    half = torch.arange(8) < 4
    assert math.isnan(best_unit(torch.randn(8, 30), half, half)[1])


@pytest.mark.parametrize(("texts", "layer", "error"), [("abc", 1, TypeError), (TEXTS, 0, ValueError)])
def test_what_would_be_taken_for_something_else_is_refused(texts, layer, error):
    with pytest.raises(error, match="expected"):
        collect_activations(minilm(), texts, layer=layer)
