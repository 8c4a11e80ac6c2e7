"""The explorers of 04_attention show what a computation of their own gives, for any sentence and any setting."""

import itertools
import math
import zlib

import numpy as np
import pytest
import torch
from few import first_few

from encoder_lib import explore
from encoder_lib.explore.attention import DIVISORS, SILENT

SENTENCE = "the dog bites the man"


def frames(explorer):
    """The matrices that the reader sees, in float64."""
    return [torch.tensor(panel.frame(0)).double() for panel in explorer._view.panels]


def drawn(word):
    """What belongs to a word: 520 numbers for its query and value, and as many for the other part of its key."""
    return torch.randn(2, 520, generator=torch.Generator().manual_seed(zlib.crc32(word.encode())), dtype=torch.float64)


def by_hand(sentence, similarity, temperature, d_head, scaled, allowed):
    """Scores, weights and outputs, one pair of words after the other."""
    words = sentence.lower().split()
    scores, outputs = np.zeros((len(words), len(words))), np.zeros((len(words), 8))
    weights = np.zeros_like(scores)
    for i, looks in enumerate(words):
        for j, seen in enumerate(words):
            own, other = drawn(seen)[:, :d_head]
            key = similarity * own + math.sqrt(1 - similarity**2) * other
            product = (drawn(looks)[0, :d_head] * key).sum().item()
            scores[i, j] = product / temperature / (math.sqrt(d_head) if scaled else 1)
        keys = [j for j in range(len(words)) if allowed(i, j)]
        for j in keys:
            weights[i, j] = 1 / sum(math.exp(scores[i, k] - scores[i, j]) for k in keys)
            outputs[i] += weights[i, j] * drawn(words[j])[0, 512:].numpy()
    masked = np.array([[not allowed(i, j) for j in range(len(words))] for i in range(len(words))])
    return torch.tensor(np.where(masked, np.nan, scores)), torch.tensor(weights), torch.tensor(outputs)


@pytest.mark.parametrize(
    ("settings", "allowed"),
    [
        ({}, lambda i, j: True),
        ({"similarity": 0.5, "temperature": 3.0, "d_head": 5}, lambda i, j: True),
        ({"similarity": 1.0, "d_head": 2, "scaled": False}, lambda i, j: True),
        ({"padding": True}, lambda i, j: j < 3),
        ({"causal": True, "d_head": 100}, lambda i, j: j <= i),
        ({"padding": True, "causal": True, "silent": "the second word"}, lambda i, j: j < 3 and j <= i and i != 1),
        ({"silent": "the last word"}, lambda i, j: i != 4),
    ],
)
def test_attend_shows_what_the_formula_gives(settings, allowed):
    explorer = explore.attend(SENTENCE)
    explorer.set(**settings)
    values = {name: explorer.values[name] for name in ("similarity", "temperature", "d_head", "scaled")}
    for got, expected in zip(frames(explorer), by_hand(SENTENCE, allowed=allowed, **values), strict=True):
        torch.testing.assert_close(got, expected, atol=2e-6, rtol=1e-5, equal_nan=True)


def test_a_word_has_the_same_vectors_everywhere():
    alone, (scores, weights, output) = frames(explore.attend("dog")), frames(explore.attend("a Dog Dog dog"))
    torch.testing.assert_close(scores[1:, 1:], alone[0].expand(3, 3))
    assert torch.equal(weights[1], weights[3]) and torch.equal(output[1], output[2])
    torch.testing.assert_close(alone[2][0, :3], torch.tensor([1.3467, -1.2017, -0.6560]).double(), atol=1e-3, rtol=0)


def test_equal_words_find_each_other_when_keys_are_queries():
    explorer = explore.attend(SENTENCE)
    explorer.set(similarity=1.0, d_head=512)
    weights = frames(explorer)[1]
    same = torch.tensor([[a == b for b in SENTENCE.split()] for a in SENTENCE.split()])
    assert (weights[same].min() > 0.49) and (weights[~same].max() < 0.01)


def test_without_the_root_wide_queries_saturate():
    explorer, largest = explore.attend(SENTENCE, similarity=0), {}
    for scaled in (True, False):
        explorer.set(d_head=512, scaled=scaled)
        largest[scaled] = frames(explorer)[1].amax(dim=1).mean().item()
    assert largest[False] > 0.8 > 0.6 > largest[True]


def test_at_the_highest_temperature_all_outputs_are_nearly_the_mean_of_the_values():
    explorer = explore.attend(SENTENCE)
    values = torch.stack([drawn(word)[0, 512:] for word in SENTENCE.split()])
    distance = {}
    for temperature in (1.0, 10.0):
        explorer.temperature = temperature
        distance[temperature] = (frames(explorer)[2] - values.mean(dim=0)).norm(dim=1).max()
    assert distance[10.0] < 0.4 < 4 * distance[10.0] < distance[1.0]


@pytest.mark.parametrize("word", SILENT[1:])
def test_a_word_that_may_look_at_nothing_shows_zeros(word):
    explorer = explore.attend(SENTENCE)
    explorer.silent = word
    scores, weights, output = frames(explorer)
    row = {"the first word": 0, "the second word": 1, "the third word": 2, "the last word": 4}[word]
    assert scores[row].isnan().all() and (weights[row] == 0).all() and (output[row] == 0).all()
    assert torch.allclose(weights.sum(dim=1), (torch.arange(5) != row).double())
    assert f"“{SENTENCE.split()[row]}” may look at nothing: its weights and its output are 0." in explorer.description
    assert explorer._panels[0]["missing"] == "masked"


@pytest.mark.parametrize("sentence", ["", "one", "one two"])
def test_short_sentences_survive_every_mask(sentence):
    explorer = explore.attend(sentence)
    for padding, causal, silent in itertools.product((False, True), (False, True), SILENT):
        explorer.set(padding=padding, causal=causal, silent=silent)
        _, weights, output = frames(explorer)
        assert weights.isfinite().all() and output.isfinite().all() and explorer.description.endswith(".")
    assert explorer._repr_mimebundle_()[0]["image/png"]  # everything masked


def test_a_sentence_has_twelve_words_at_most():
    explorer = explore.attend(" ".join("abcdefghijklmnop"))
    assert explorer._panels[1]["x_ticks"] == list("abcdefghijkl")


HOSTILE = [
    "",
    " ",
    "🙂" * 40,
    "你好 世界 " * 30,
    "<b>$x^$</b> {} %s",
    "\ud800 a",
    "w" * 1_000_000,
    "a " * 500,
    "\x00\n",
]


@pytest.mark.parametrize("sentence", first_few(HOSTILE))
def test_any_text_can_be_typed(sentence):
    explorer = explore.attend()
    explorer.sentence = sentence
    assert not explorer.error and len(explorer.sentence) <= 100
    assert 1 <= explorer._panels[1]["rows"] <= 12
    assert explorer._repr_mimebundle_()[0]["image/png"]


def test_without_masks_their_controls_are_left_out():
    assert list(explore.attend(masks=False).values) == ["sentence", "similarity", "temperature", "d_head", "scaled"]
    assert torch.equal(frames(explore.attend(masks=False))[2], frames(explore.attend())[2])


def test_scores_keep_round_limits_that_hold_them():
    explorer = explore.attend(SENTENCE)
    for d_head, scaled in itertools.product((2, 16, 512), (True, False)):
        explorer.set(d_head=d_head, scaled=scaled)
        low, high = explorer._limits[0]
        largest = frames(explorer)[0].abs().max()
        assert low == -high and largest <= high < 5 * largest
        assert float(f"{high:.0e}") == pytest.approx(high) and f"{high:.0e}"[0] in "125"


@pytest.mark.parametrize(("n_heads", "head"), [*itertools.product(DIVISORS, (1, 2, 12))])
def test_head_slices_lights_one_slice_and_puts_its_output_in_its_place(n_heads, head):
    query, weights, joined = frames(explore.head_slices(n_heads, head))
    whole, _, _ = frames(explore.head_slices(1, 1))  # one head sees all queries
    d_head = 12 // n_heads
    first = (min(head, n_heads) - 1) * d_head
    lit = torch.zeros(12, dtype=torch.bool)
    lit[first : first + d_head] = True
    for panel in (query, joined):
        assert torch.equal(panel.isfinite(), lit.expand(5, 12))
    assert torch.equal(query[:, lit], whole[:, lit])
    assert torch.allclose(weights.sum(dim=1), torch.ones(5).double())
    assert torch.equal(weights[0], weights[3])  # both are "the"


def test_head_slices_names_the_head_and_the_constant_number_of_weights():
    for n_heads in DIVISORS:
        description = explore.head_slices(n_heads, 12).description
        assert description.startswith(f"Head {n_heads} of {n_heads} works on ")
        assert "All heads together hold 624 numbers" in description  # 4 · (12 · 12 + 12)


def test_the_words_of_both_attentions_can_be_pointed_at():
    explorer = explore.attend("one two three")
    assert explorer._tokens["panel"] == 1 and explorer._tokens["chosen"] == 1
    assert explore.attend("")._tokens["chosen"] == 0
