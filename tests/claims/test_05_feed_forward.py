"""What 05_feed_forward says, tested: each number, and each "so"."""

import pytest
import torch

from encoder_lib import FeedForward, load_pretrained
from encoder_lib.course.lab import ladder
from encoder_lib.course.lab.curves import (
    CURVES,
    breakpoints,
    dead_units,
    grid,
    kinks,
    orthogonal_least_squares,
    rmse,
    train,
)
from encoder_lib.course.lab.texts import library_sentences
from encoder_lib.course.lab.units import collect_activations, most_selective_units

pytestmark = pytest.mark.long  # the notebook takes most of a minute

SEEDS = (0, 1, 2)


def numbers(table):
    """A table of texts as numbers."""
    return table.astype(float)


# Three tokens, by hand


def test_unit_3_adds_up_1_for_dog_and_both_dogs_get_the_same(notebook):
    sums = notebook["sums"]
    assert sums[0, 2] == 1 * 2 + 1 * 1 - 2 == 1
    assert torch.equal(sums[0], sums[2]) and torch.equal(notebook["output"][0], notebook["output"][2])


def test_units_1_and_3_speak_up_for_dog_and_unit_2_for_eats(notebook):
    assert (notebook["hidden"] > 0).tolist() == [[True, False, True], [False, True, False], [True, False, True]]


def test_the_formula_is_the_librarys_network(notebook):
    network = FeedForward(2, 3)
    parts = [notebook[name] for name in ("W1", "b1", "W2", "b2")]
    network.load_state_dict(dict(zip(network.state_dict(), parts, strict=True)))
    torch.testing.assert_close(network(notebook["x"]), notebook["output"])


def test_the_news_of_another_token_stays_with_it_and_attention_passes_it_on(notebook):
    alone, together = notebook["alone"], notebook["together"]
    assert (alone > 0).tolist() == [False, True, False, False, False, False]
    assert (together > 0.05).all()
    assert numbers(notebook.table("feed-forward"))["attention"].min() > 0


# The bend


def test_without_its_bend_the_network_draws_the_best_line_there_is(notebook):
    x, y, fit = grid(), CURVES["wave"](grid()), notebook["unbent"](grid())
    basis = torch.cat([x, torch.ones_like(x)], dim=1)
    line = basis @ torch.linalg.lstsq(basis, y).solution
    assert (fit - line).abs().max() < 0.01 and round(rmse(notebook["unbent"], "wave"), 2) == 0.56
    drawn = notebook.prediction("no_bend").result.lines
    assert len(drawn) == 3 and torch.as_tensor(drawn[2].get_ydata()).diff().diff().abs().max() < 1e-9


def test_with_its_bend_it_follows_the_wave(notebook):
    assert rmse(notebook["bent"], "wave") < 0.06 < 0.5 < rmse(notebook["unbent"], "wave")


def test_2128_numbers_do_the_work_of_272(notebook):
    x, first, second = torch.randn(50, 16), notebook["first"], notebook["network"].linear2
    torch.testing.assert_close(second(first(x)), notebook["merged"](x))


# Hinges


def test_three_hinges_make_a_peak_that_is_flat_on_both_sides(notebook):
    x = notebook["line"]
    total = notebook["first_hinge"] + notebook["second_hinge"] + notebook["third_hinge"]
    torch.testing.assert_close(total, (1 - x.abs()).clamp(min=0))


def test_a_hinge_turns_where_its_sum_is_zero_and_its_column_says_by_how_much():
    network = FeedForward(1, 1)
    for p, value in zip(network.parameters(), (2.0, 0.5, -3.0, 1.0), strict=True):
        p.data.fill_(value)
    assert breakpoints(network).tolist() == [-0.5 / 2]
    (corner,) = kinks(network)
    assert corner.item() == pytest.approx(-0.25, abs=1e-3)
    left, right = network(torch.tensor([[-0.5], [-0.3], [0.0], [0.2]]))[:, 0].detach().diff()[[0, 2]] / 0.2
    assert (right - left).item() == pytest.approx(2 * -3.0)


def test_two_units_decide_an_exclusive_or_which_is_the_case_of_the_answer(notebook):
    for own in range(8):
        for fetched in range(8):
            capital = (own % 2) ^ (fetched % 2)
            assert ladder._answer(own, fetched) % 2 == capital


def test_seven_hinges_meet_the_zigzag_and_climb_far_above_and_below_it(notebook):
    ramps, target = notebook["ramps"], notebook["target"]
    torch.testing.assert_close(ramps.sum(dim=1) - 0.6, target)
    assert ramps.shape[1] == 7 and ramps.max() > 8 and ramps.min() < -8 and target.abs().max() <= 0.8


def test_training_puts_two_corners_side_by_side_and_leaves_units_that_add_nothing(notebook):
    bent = notebook["bent"]
    corners = kinks(bent).sort().values
    assert corners.diff().min() < 0.05 and corners[-1] < 0.8  # none in the last valley of the wave, at 0.86
    assert dead_units(bent)[1] and dead_units(bent).sum() > 1


def test_what_the_explorer_finds():
    zigzag, steps = (orthogonal_least_squares(name, 32) for name in ("zigzag", "steps"))
    assert rmse(zigzag[13 - 1], "zigzag") > 1e-3 > rmse(zigzag[14 - 1], "zigzag")
    assert rmse(steps[31], "steps") > 0.04
    errors = {
        (name, bend): rmse(orthogonal_least_squares(name, 16, activation=bend)[15], name)
        for name in ("wave", "zigzag")
        for bend in ("relu", "gelu")
    }
    assert [round(error, 3) for error in errors.values()] == [0.008, 0.001, 0.0, 0.02]


# GELU, and units that never speak


def test_gelu_dips_to_minus_0_17_and_agrees_with_relu_far_from_zero(notebook):
    gelu, relu = notebook["values"]["GELU"], notebook["values"]["ReLU"]
    assert gelu.min().item() == pytest.approx(-0.17, abs=0.001)
    assert (gelu - relu)[[0, -1]].abs().max() < 1e-3
    z = notebook["z"]
    torch.testing.assert_close(gelu, z * (1 + torch.erf(z / 2**0.5)) / 2)


def test_left_of_zero_the_slope_of_relu_is_0_and_that_of_gelu_is_not(notebook):
    left = notebook["z"] < 0
    assert not notebook["gradients"]["ReLU"][left].any() and (notebook["gradients"]["GELU"][left] != 0).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_silent_relu_unit_keeps_its_parameters_to_the_last_bit_and_its_gelu_twin_does_not(notebook, seed):
    for activation, stays in (("relu", True), ("gelu", False)):
        before, after = (notebook["silenced"](activation, seed) for _ in range(2))
        train(after, "wave", steps=100)
        pairs = [(m.linear1.weight[0].item(), m.linear1.bias[0].item()) for m in (before, after)]
        assert (pairs[0] == pairs[1]) == stays


def test_with_gelu_the_unit_speaks_again_once_and_has_sunk_deeper_once(notebook):
    shown = numbers(notebook.table("after, GELU"))
    assert (shown["before"] == shown["after, ReLU"]).all() and (shown["before"] < -2).all()
    sunk, near, speaks = shown["after, GELU"]
    assert sunk < shown["before"].iloc[0] and -0.5 < near < 0 < speaks


def test_three_to_six_are_silent_at_first_and_gelu_wakes_some_each_time(notebook):
    shown = numbers(notebook.table("silent at first"))
    fresh, relu, gelu = (shown[name] for name in ("silent at first", "silent, ReLU", "silent, GELU"))
    assert fresh.between(3, 6).all() and (relu - fresh).isin([0, 1]).all() and (gelu < fresh).all()


def test_neither_bend_is_ahead_with_every_seed_and_the_failure_is_relus(notebook):
    shown = numbers(notebook.table("silent at first"))
    relu, gelu = shown["error, ReLU"], shown["error, GELU"]
    assert set(relu < gelu) == {True, False} and relu.iloc[2] > 0.4 and gelu.max() < 0.1
    assert relu.iloc[2] > 0.8 * CURVES["wave"](grid()).std().item()


# Dropout


def test_dropout_doubles_what_survives_and_keeps_the_mean(notebook):
    shown = numbers(notebook.table("training"))
    assert set(shown["training"]) == set(shown["training again"]) == {0, 2}
    assert (shown["training"] != shown["training again"]).any()
    assert ((shown["mean of 20,000"] - 1).abs() < 0.03).all() and (shown["in use"] == 1).all()


# MiniLM


def test_the_network_holds_two_thirds_of_a_layer(notebook):
    shown = numbers(notebook.table("% of the layer"))
    assert shown["% of the layer"].iloc[1] == pytest.approx(66.6, abs=0.1)
    assert shown["parameters"].tolist() == [4 * 384**2 + 4 * 384, 2 * 384 * 1536 + 1536 + 384, 4 * 384]


def test_six_columns_point_at_words_of_one_kind(notebook):
    writes = notebook.table("writes")["writes"]
    assert all(word in writes.iloc[0] for word in ("he", "his", "she"))
    assert all(word in writes.iloc[3] for word in ("singer", "sings", "musical"))
    assert "not" in writes.iloc[5].split() and all(word.isdigit() for word in writes.iloc[4].split())
    assert "singer" in notebook.table("writes")["reads"].iloc[3].split()
    assert notebook["pieces"].shape[0] == 30_522


def test_fewer_than_60_columns_point_closer_at_a_word_than_shuffled_ones(notebook):
    assert 30 < (notebook["largest"] > notebook["by_chance"].max()).sum() < 60
    assert abs(notebook["largest"].median() - notebook["by_chance"].median()) < 0.01


def test_the_six_units_are_among_those(notebook):
    assert (notebook["largest"][notebook["units"]] > notebook["by_chance"].max()).all()


# The ladder


def test_about_50_percent_at_least_twice_and_never_95(notebook):
    shown = sorted(notebook["right"])
    assert 45 < shown[0] <= shown[1] < 55 and 60 < shown[2] < 95
    top = notebook["rungs"][-1]
    assert top.at_most == 1.0 and top.model.layers[0].feed_forward.linear1.weight.shape == (128, 64)


def test_the_cards_own_case_hardly_moves_what_it_has_fetched(notebook):
    shown = numbers(notebook.table("moved by its own case"))
    own, target = shown["moved by its own case"], shown["by the case pointed at"]
    stuck = torch.tensor(notebook["right"]).numpy() < 60
    assert stuck.sum() >= 2 and (own[stuck] < target[stuck] / 10).all()
    assert (own[~stuck] > target[~stuck] / 4).all()


def test_swapping_a_case_changes_the_letter_to_its_capital_and_back():
    for card in range(64):
        (one, where), (other, there) = (
            (letters[0], arrows[0]) for letters, arrows in map(ladder.read_cards, torch.tensor([[card], [card ^ 8]]))
        )
        assert one.swapcase() == other and where == there


def right_after_800_steps(seed):
    build = lambda: ladder.CardModel(positions="learned", attention=True, feed_forward=True)  # noqa: E731
    return ladder.train(build, seed=seed, steps=800)[1]


@pytest.mark.parametrize("seed", SEEDS)
def test_after_800_steps_these_three_are_above_90_percent(seed):
    assert right_after_800_steps(seed) > 0.9


@pytest.mark.long
def test_some_other_seed_stays_at_one_half():
    assert min(map(right_after_800_steps, (3, 4))) < 0.6


# Going deeper: what a unit answers to


def test_a_unit_found_by_ed_answers_to_past_forms_that_do_not_end_so(notebook):
    top = sorted(notebook["new_words"], key=notebook["new_words"].get, reverse=True)[:12]
    assert {"found", "was", "given"} <= set(top) and sum(word.endswith("ed") for word in top) > 6


def test_no_word_of_the_search_is_among_the_new_ones(notebook):
    seen = notebook["seen"]
    searched = {word for word, first in zip(seen.words, seen.train.tolist(), strict=True) if first}
    assert not searched & set(notebook["new_words"])


def test_each_property_has_a_trained_unit_far_ahead_of_the_shuffled_ones(notebook):
    scores = notebook["scores"]
    assert len(scores) == 7
    for score in scores.values():
        assert score["as trained"] > 0.88 and 0.5 < score["shuffled"] < 0.8
        assert score["as trained"] - score["shuffled"] > 0.15


def test_so_it_is_with_the_halves_exchanged():
    minilm = load_pretrained()
    seen = collect_activations(minilm, list(library_sentences())[::4], layer=1)
    shuffled = seen.with_permuted_weights(minilm.encoder.encoder.layers[0].feed_forward)
    for name in ("ends in -ed", "ends in -ing", "follows “to”"):
        has = seen.has_property(name)
        trained, chance = (
            most_selective_units(sums, has, ~seen.train)[1][0] for sums in (seen.preactivations, shuffled)
        )
        assert trained > 0.9 and chance < 0.8
