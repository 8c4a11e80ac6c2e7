"""The explorers of 04_attention show what an independent computation gives, for any sentence and any setting."""

import itertools
import math
import zlib

import pytest
import torch

from encoder_lib.course import explore
from encoder_lib.course.attention.explorers import DIVISORS, SILENT, _convex_hull

SENTENCE = "the dog bites the man"


def frames(explorer):
    """The matrices that the reader sees, in float64."""
    return [torch.tensor(panel.frame(0)).double() for panel in explorer._view.panels]


def drawn(word):
    """The random numbers of a word: 520 for its query and value, and as many for the other part of its key."""
    return torch.randn(2, 520, generator=torch.Generator().manual_seed(zlib.crc32(word.encode())), dtype=torch.float64)


def by_hand(similarity, temperature, d_head, scaled, allowed):
    """Scores, weights and outputs of the sentence, for a mask given as a function of row and column."""
    own, other = torch.stack([drawn(word) for word in SENTENCE.split()], dim=1)  # (5, 520) each
    key = similarity * own + math.sqrt(1 - similarity**2) * other
    scores = own[:, :d_head] @ key[:, :d_head].T / temperature / (math.sqrt(d_head) if scaled else 1)
    masked = torch.tensor([[not allowed(i, j) for j in range(5)] for i in range(5)])
    weights = scores.masked_fill(masked, -math.inf).softmax(dim=-1).nan_to_num()
    return scores.masked_fill(masked, math.nan), weights, weights @ own[:, 512:]


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
    for got, expected in zip(frames(explorer), by_hand(**values, allowed=allowed), strict=True):
        torch.testing.assert_close(got, expected, atol=2e-6, rtol=1e-5, equal_nan=True)


def test_a_word_has_the_same_vectors_at_every_position():
    alone, (scores, weights, output) = frames(explore.attend("dog")), frames(explore.attend("a Dog Dog dog"))
    torch.testing.assert_close(scores[1:, 1:], alone[0].expand(3, 3))
    assert torch.equal(weights[1], weights[3]) and torch.equal(output[1], output[2])
    torch.testing.assert_close(alone[2][0, :3], torch.tensor([1.3467, -1.2017, -0.6560]).double(), atol=1e-3, rtol=0)


@pytest.mark.parametrize(("word", "row"), list(zip(SILENT[1:], (0, 1, 2, 4), strict=True)))
def test_a_word_that_may_attend_to_nothing_is_named(word, row):
    explorer = explore.attend(SENTENCE)
    explorer.silent = word
    assert [bool(weights.any()) for weights in frames(explorer)[1]] == [i != row for i in range(5)]
    assert f"“{SENTENCE.split()[row]}” may attend to nothing: its weights and its output are 0." in explorer.description
    assert explorer._panels[0]["missing"] == "masked" and explorer._tokens["panel"] == 1


@pytest.mark.parametrize("sentence", ["", "one", "one two", "a b c d e f g h i j k l m"])
def test_sentences_of_any_length_survive_every_mask(sentence):
    explorer = explore.attend(sentence)
    for padding, causal, silent in itertools.product((False, True), (False, True), SILENT):
        explorer.set(padding=padding, causal=causal, silent=silent)
        _, weights, output = frames(explorer)
        assert weights.isfinite().all() and output.isfinite().all() and explorer.description.endswith(".")
        assert len(weights) == min(12, max(1, len(sentence.split())))
    assert "<img alt=" in explorer._repr_mimebundle_()[0]["text/html"]  # everything masked


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


ROW = {
    "words": ["money", "river", "bank"],
    "query": [1.0, 2.0],
    "keys": [[2.0, 0.0], [0.0, 2.0], [1.0, 0.0]],
    "values": [[4.0, 0.0], [0.0, 3.0], [1.0, 1.0]],
}


def test_one_query_follows_its_arrows():
    """Weights and output are those of the formula, before and after an arrow has been moved."""
    explorer = explore.one_query(**ROW)
    for moved in ({}, {"query_x": -1.5, "key_3_y": 2.5}):
        explorer.set(**moved)
        places = list(explorer.values.values())
        query, keys = places[:2], torch.tensor(places[2:], dtype=torch.float64).view(3, 2)
        scores = keys @ torch.tensor(query, dtype=torch.float64) / math.sqrt(2)
        weights = scores.softmax(dim=0)
        arrows, bars, mean = frames(explorer)
        torch.testing.assert_close(arrows, torch.cat([keys, torch.tensor([query]).double()]), atol=1e-6, rtol=0)
        torch.testing.assert_close(bars[5::5, 2] / bars[1, 2], weights, atol=1e-6, rtol=0)
        torch.testing.assert_close(mean[3], weights @ torch.tensor(ROW["values"]).double(), atol=1e-6, rtol=0)
        assert f"river the score {scores[1]:.2f}".replace("-", "−") in explorer.description


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"query": [1.0]}, r"query: expected shape \(2,\), got \(1,\)"),
        ({"keys": [[1.0, 2.0]]}, r"keys: expected shape \(3, 2\)"),
        ({"values": [[1.0, float("nan")]] * 3}, "values: .* finite"),
        ({"query": [4.0, 0.0]}, "query_x: expected a number from -1.5 to 3.0"),
    ],
)
def test_one_query_refuses_other_shapes_and_long_arrows(wrong, message):
    with pytest.raises(ValueError, match=message):
        explore.one_query(**ROW | wrong)


PAINTED = {name: ROW[name] for name in ("words", "keys", "values")} | {"queries": [[2.0, 0.0], [0.0, 2.0], [1.0, 2.0]]}


def test_a_painted_mask_leaves_the_other_weights():
    """Under the causal mask money keeps its own value, and bank's output stays; without a key it is zero."""
    explorer = explore.paint_mask(**PAINTED)
    before = frames(explorer)
    explorer.set(**{"1_2": False, "1_3": False, "2_3": False})
    weights, points = frames(explorer)
    assert weights.isnan().tolist() == [[False, True, True], [False, False, True], [False, False, False]]
    torch.testing.assert_close(weights.nansum(dim=-1), torch.ones(3).double())
    assert (
        points[3].tolist() == [4, 0] and torch.equal(points[5], before[1][5]) and "money 100 %" in explorer.description
    )
    explorer.set(**{f"3_{key}": False for key in (1, 2, 3)})
    assert frames(explorer)[1][5].tolist() == [0, 0]
    assert "bank attends to nothing, and its output is (0.00, 0.00)" in explorer.description


@pytest.mark.parametrize(("name", "shape"), [("queries", (1, 2)), ("keys", (3, 3)), ("values", (2, 2))])
def test_a_mask_is_painted_on_one_row_for_each_word(name, shape):
    with pytest.raises(ValueError, match=rf"{name}: expected shape \(3, 2\)"):
        explore.paint_mask(**PAINTED | {name: torch.zeros(shape)})


@pytest.mark.parametrize("n_heads", DIVISORS)
def test_head_slices_highlights_one_head(n_heads):
    explorer, d_head = explore.head_slices(n_heads), 12 // n_heads
    whole, _, _ = frames(explore.head_slices(1, 1))  # one head sees all queries
    for head in (1, 2, 12):
        explorer.head = head
        query, weights, joined = frames(explorer)
        first = (min(head, n_heads) - 1) * d_head
        lit = torch.zeros(12, dtype=torch.bool)
        lit[first : first + d_head] = True
        for panel in (query, joined):
            assert torch.equal(panel.isfinite(), lit.expand(5, 12))
        assert torch.equal(query[:, lit], whole[:, lit])
        assert torch.allclose(weights.sum(dim=1), torch.ones(5).double())
        assert torch.equal(weights[0], weights[3])  # both are "the"
    assert explorer.description.startswith(f"Head {n_heads} of {n_heads} works on ")
    assert "The layer has 624 parameters" in explorer.description  # 4 · (12 · 12 + 12)


def test_the_tinted_area_holds_every_mean():
    """It is the convex hull of the values; a value inside it, or on one of its edges, is no corner."""
    corners = [[4.0, 0.0], [0.0, 3.0], [1.0, 1.0]]
    for values, expected in [(corners, [1, 2, 0]), ([*corners, [1.2, 1.2], [2.0, 1.5]], [1, 2, 0])]:
        hull = _convex_hull(values)
        start = hull.index(expected[0])
        assert hull[start:] + hull[:start] == expected
