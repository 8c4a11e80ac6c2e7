"""The card task follows its rule, upper bounds are counted, a model has its parts, trainings repeat."""

from collections import Counter
from functools import partial
from itertools import pairwise, product

import pytest
import torch
from torch import nn

from encoder_lib import FeedForward, LayerNorm, MultiHeadAttention, trace
from encoder_lib.course.kit import ladder
from encoder_lib.course.kit.ladder import (
    PARTS,
    CardModel,
    Rung,
    climb,
    deal,
    deal_two_questions,
    read_cards,
    spell,
    train,
)

# ---- the task ----


def answers_by_the_rule(letters, arrows, hops=1, swap=True):
    """The answers by the rule of the task, card by card."""
    answers = []
    for own, arrow in zip(letters, arrows, strict=True):
        for _ in range(hops - 1):
            arrow = arrows[arrow]
        fetched = letters[arrow] if hops else own
        answers.append(fetched.swapcase() if own.isupper() and swap else fetched)
    return answers


@pytest.mark.parametrize("swap", [True, False])
@pytest.mark.parametrize("hops", [0, 1, 2, 3])
def test_answer_is_the_target_letter_swapped_if_uppercase(hops, swap):
    cards, answers = deal(200, hops=hops, swap=swap)
    for row, right in zip(cards, answers, strict=True):
        letters, arrows = read_cards(row)
        assert spell(right) == answers_by_the_rule(letters, arrows, hops, swap)


def test_answers_of_a_row_written_by_hand():
    letters, arrows = "aBcDAbCd", [1, 0, 3, 2, 7, 6, 5, 4]
    assert "".join(answers_by_the_rule(letters, arrows)) == "BADCDCBA"
    cards = torch.tensor([8 * "aAbBcCdD".index(a) + b for a, b in zip(letters, arrows, strict=True)])
    assert read_cards(cards) == (list(letters), arrows)
    assert ladder.name_cards(cards) == [f"{a} → {b}" for a, b in zip(letters, arrows, strict=True)]
    assert ladder.name_cards(cards)[0] == "a → 1"
    assert spell(torch.arange(8)) == list("aAbBcCdD") and spell(torch.tensor([]).long()) == []


def test_arrows_point_at_other_cards_uniformly():
    cards, answers = deal(4000)
    assert cards.shape == answers.shape == (4000, 8) and cards.dtype == answers.dtype == torch.int64
    letters, arrows = cards // 8, cards % 8
    assert (arrows != torch.arange(8)).all()
    for place in range(8):
        shares = arrows[:, place].bincount(minlength=8) / 4000
        assert shares[place] == 0 and shares.sort().values[1:] == pytest.approx(1 / 7, abs=0.03)
        assert letters[:, place].bincount(minlength=8) / 4000 == pytest.approx(1 / 8, abs=0.03)
        assert answers[:, place].bincount(minlength=8) / 4000 == pytest.approx(1 / 8, abs=0.03)


def test_two_questions_are_target_and_left_neighbour():
    cards, answers = deal_two_questions(200)
    assert answers.shape == (200, 8, 2)
    for row, right in zip(cards, answers, strict=True):
        letters, arrows = read_cards(row)
        assert spell(right[:, 0]) == [letters[arrow] for arrow in arrows]
        assert spell(right[:, 1]) == [letters[place - 1] for place in range(8)]


# ---- what is possible ----


def test_upper_bounds_are_counted_over_all_pairs_of_letters():
    """Among the pairs that a clue does not distinguish, the best answer is the most frequent one."""
    clues = {"nothing": lambda own, fetched: None, "its own": lambda own, fetched: own}
    clues |= {"the other": lambda own, fetched: fetched, "both": lambda own, fetched: (own, fetched)}
    for (name, clue), share in zip(clues.items(), (0.125, 0.125, 0.5, 1.0), strict=True):
        seen = {}
        for own, fetched in product("aAbBcCdD", repeat=2):
            seen.setdefault(clue(own, fetched), []).append(fetched.swapcase() if own.isupper() else fetched)
        right = sum(max(answers.count(guess) for guess in "aAbBcCdD") for answers in seen.values())
        assert ladder.upper_bound(clue) == right / 64 == share, name
    bounds = {"chance": 0.125, "embedding": 0.125, "positions": 0.125}
    bounds |= {"attention": 1.0, "feed-forward": 1.0, "residual": 1.0}
    assert {name: part.at_most for name, part in PARTS.items()} == bounds


@pytest.mark.parametrize("name", ["embedding", "positions", "attention", "feed-forward", "residual"])
def test_output_of_a_card_depends_on_what_its_rung_says(name):
    """A bound below 100 % needs a model in which no other card reaches a card's output."""
    settings = {}
    for part in list(PARTS)[: list(PARTS).index(name) + 1]:
        settings |= PARTS[part].settings
    other = CARDS.clone()
    other[:, 3] += 40
    model = CardModel(**settings)
    changed = (model(CARDS) != model(other)).any(-1).any(0)  # (8,)
    if PARTS[name].depends_on == "all cards":
        assert changed.all()
    else:
        assert changed.tolist() == [position == 3 for position in range(8)]


# ---- the model ----

CARDS = torch.arange(16).view(2, 8)


def kinds(model):
    """How many parts of each kind a model has in its layers."""
    return dict(Counter(type(m).__name__ for m in model.layers.modules() if isinstance(m, PART)))


PART = MultiHeadAttention | FeedForward | LayerNorm


@pytest.mark.parametrize(
    ("settings", "parts"),
    [
        ({}, {}),
        ({"positions": "learned", "attention": True}, {"MultiHeadAttention": 1}),
        ({"attention": True, "norm": True}, {"MultiHeadAttention": 1, "LayerNorm": 1}),
        ({"feed_forward": True, "norm": True}, {"FeedForward": 1, "LayerNorm": 1}),
        ({"attention": True, "root": False}, {"UnscaledAttention": 1}),
        (
            {"attention": True, "feed_forward": True, "norm": True, "n_layers": 3},
            {"MultiHeadAttention": 3, "FeedForward": 3, "LayerNorm": 6},
        ),
    ],
)
def test_a_model_has_the_parts_asked_for(settings, parts):
    model = CardModel(**settings)
    assert kinds(model) == parts and model(CARDS).shape == (2, 8, 8)
    outside = {name.partition(".")[0] for name, _ in model.named_parameters()} - {"layers"}
    assert outside == {"embedding", "answer"}
    learned = any(name.startswith("embedding.position") for name, _ in model.named_parameters())
    assert learned == (settings.get("positions") == "learned")


def test_a_layer_with_residual_adds_what_a_part_made():
    x = torch.randn(2, 8, 64)
    for norm, residual in product((False, True), (False, True)):
        (layer,) = CardModel(attention=True, feed_forward=True, norm=norm, residual=residual).layers
        fetched = layer.attention(x, x, x)
        assert isinstance(layer.norm1, LayerNorm) == isinstance(layer.norm2, LayerNorm) == norm
        y = layer.norm1(x + fetched if residual else fetched)
        made = layer.feed_forward(y)
        assert torch.equal(layer(x), layer.norm2(y + made if residual else made))


def test_a_mask_reaches_the_attention_of_every_layer():
    model = CardModel(attention=True, residual=True, n_layers=2)
    mask = ~torch.eye(8, dtype=torch.bool)
    with trace(model) as t:
        model(CARDS, mask)
    for layer in range(2):
        weights = t[f"layers.{layer}.attention.weights"]
        assert (weights[:, :, ~mask] == 0).all() and (weights[:, :, mask] > 0).all()
    assert not torch.allclose(model(CARDS, mask), model(CARDS))


def test_heads_questions_and_loudness():
    with trace(model := CardModel(attention=True, n_heads=4, n_questions=2)) as t:
        assert model(CARDS).shape == (2, 8, 2, 8)
    assert t["layers.0.attention.weights"].shape == (2, 4, 8, 8)
    quiet, loud = CardModel(), CardModel(loudness=10.0)
    loud.load_state_dict(quiet.state_dict())
    vectors = quiet.embedding(CARDS)
    torch.testing.assert_close(loud(CARDS), loud.answer(10 * vectors))
    torch.testing.assert_close(quiet(CARDS), quiet.answer(vectors))


def test_weight_at_the_arrow_is_that_of_the_target():
    torch.manual_seed(0)
    weights = torch.rand(2, 3, 8, 8)
    at_the_arrow = ladder.at_the_arrow(weights, CARDS)
    assert at_the_arrow.shape == (2, 3, 8)
    for row, cards in enumerate(CARDS.tolist()):
        for place, card in enumerate(cards):
            assert torch.equal(at_the_arrow[row, :, place], weights[row, :, place, card % 8])


# ---- trainings ----

SMALL = partial(CardModel, positions="learned", attention=True, feed_forward=True, residual=True, norm=True)


def weights(model):
    """All weights in one vector."""
    return nn.utils.parameters_to_vector(model.parameters())


def test_a_training_repeats_whatever_was_drawn_before(nothing_drawn):
    model, right = train(SMALL, steps=2, seed=3)
    with torch.random.fork_rng([]):
        torch.rand(7)
        again, as_right = train(SMALL, steps=2, seed=3)
        other, _ = train(SMALL, steps=2, seed=4)
    assert torch.equal(weights(model), weights(again)) and right == as_right
    assert not torch.equal(weights(model), weights(other))
    assert right.shape == () and 0 <= right <= 1 and not model.training


def test_the_default_dtype_changes_nothing():
    found = []
    for dtype in (torch.float32, torch.float64):
        torch.set_default_dtype(dtype)
        found.append(train(SMALL, steps=3))
        assert torch.get_default_dtype() == dtype
    (a, right), (b, as_right) = found
    assert weights(a).dtype == weights(b).dtype == torch.float32
    assert torch.equal(weights(a), weights(b)) and right == as_right


def test_training_draws_new_cards_each_step():
    """And its accuracy is measured on cards drawn after those of the training."""
    hands = []

    def watched(n_rows):
        cards, answers = deal(n_rows)
        hands.append(cards)
        return cards, answers

    moved = []
    model, right = train(SMALL, deal=watched, steps=5, callback=lambda: moved.append(len(hands)))
    assert [len(cards) for cards in hands] == [128] * 5 + [4000] and moved == list(range(6))
    assert not any(torch.equal(a, b) for a, b in pairwise(hands))
    first, _ = train(SMALL, steps=1)
    assert not torch.equal(weights(model), weights(first))
    answers = torch.tensor([["aAbBcCdD".index(a) for a in answers_by_the_rule(*read_cards(row))] for row in hands[-1]])
    assert right == (model(hands[-1]).argmax(-1) == answers).double().mean()


def test_interrupted_training_raises(capsys):
    def stop():
        raise KeyboardInterrupt

    dtype = torch.get_default_dtype()
    with pytest.raises(KeyboardInterrupt):
        train(SMALL, steps=3, callback=stop)
    assert "interrupted after 0 of 3" in capsys.readouterr().out and torch.get_default_dtype() == dtype


@pytest.fixture(scope="module")
def rungs():
    """All rungs, hardly trained."""
    return climb("residual", steps=2, progress=False)


def test_climb_has_a_rung_for_each_part_in_order(rungs):
    assert [rung.name for rung in rungs] == list(PARTS)
    assert [(rung.depends_on, rung.at_most) for rung in rungs] == [
        (part.depends_on, part.at_most) for part in PARTS.values()
    ]
    assert all(type(rung.accuracy) is float and 0.05 < rung.accuracy < 0.25 for rung in rungs)
    assert rungs[0].model is None and rungs[0].accuracy == pytest.approx(0.125, abs=0.01)
    assert [kinds(rung.model) for rung in rungs[1:]] == [
        {},
        {},
        {"MultiHeadAttention": 1},
        {"MultiHeadAttention": 1, "FeedForward": 1},
        {"MultiHeadAttention": 1, "FeedForward": 1},
    ]
    learned = ["embedding.position.weight" in rung.model.state_dict() for rung in rungs[1:]]
    assert learned == [False, True, True, True, True]
    assert [layer.residual for rung in rungs[3:] for layer in rung.model.layers] == [False, False, True]


def test_climb_ends_at_top_and_repeats(rungs, nothing_drawn):
    assert [rung.name for rung in climb("chance", progress=False)] == ["chance"]
    again = climb("attention", steps=2, progress=False)
    assert [rung.accuracy for rung in again] == [rung.accuracy for rung in rungs[:4]]
    assert torch.equal(weights(again[-1].model), weights(rungs[3].model))
    other = climb("embedding", steps=2, seed=1, progress=False)
    assert [rung.accuracy for rung in other] != [rung.accuracy for rung in rungs[:2]]


@pytest.mark.parametrize("progress", [True, False])
def test_climb_shows_its_progress_if_asked(progress, capsys):
    climb("positions", steps=2, progress=progress)
    printed, moving = capsys.readouterr()
    assert printed == "" and bool(moving) == progress
    assert ("Climbing: 100%" in moving and "6/6" in moving) == progress


def test_table_lists_rungs_accuracy_and_bounds():
    rungs = [
        Rung("chance", 0.12495, 0.125, "nothing", None),
        Rung("embedding", 0.1251, 0.125, "its own card", None),
        Rung("attention", 1 / 3, 1.0, "all cards", None),
        Rung("residual", 1.0, 1.0, "all cards", None),
    ]
    frame = ladder.table(rungs)
    assert list(frame.index) == ["chance", "embedding", "+ attention", "+ residual"]
    assert frame.to_dict("list") == {
        "depends on": ["nothing", "its own card", "all cards", "all cards"],
        "accuracy": ["12.5 %", "12.5 %", "33.3 %", "100.0 %"],
        "upper bound": ["12.5 %", "12.5 %", "100.0 %", "100.0 %"],
    }


def test_weights_are_those_of_the_given_layer():
    model, (cards, _) = ladder.CardModel(positions="learned", attention=True, n_heads=2, n_layers=2), deal(3)
    with trace(model) as t:
        model(cards)
    assert torch.equal(ladder.weights(model, cards, layer=1), t["layers.1.attention.weights"])
    weights = ladder.weights(model, cards)
    assert torch.equal(weights, t["layers.0.attention.weights"])
    assert weights.shape == (3, 2, 8, 8) and not weights.requires_grad
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(3, 2, 8))
