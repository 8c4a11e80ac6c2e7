"""What 05_feed_forward says, tested: each number, and each "so"."""

import copy

import pytest
import torch
import torch.nn.functional as F
from fits import kinks, rmse

from encoder_lib import FeedForward
from encoder_lib.course.feed_forward.curves import CURVES, KNOTS, breakpoints, orthogonal_least_squares, train
from encoder_lib.course.kit import ladder

pytestmark = pytest.mark.long  # the notebook takes most of a minute

SEEDS = (0, 1, 2)


def numbers(table):
    """A table of texts as numbers."""
    return table.astype(float)


# The decision


def test_no_linear_map_has_a_smaller_mean_squared_error_than_a_half_for_all_four(notebook):
    x = torch.cat([notebook["x"], torch.ones(4, 1)], dim=1)
    best = x @ torch.linalg.lstsq(x, notebook["wanted"][:, None]).solution
    torch.testing.assert_close(best, torch.full((4, 1), 0.5))
    errors = [
        F.mse_loss(torch.tensor(answers), notebook["wanted"]).item() for answers in (4 * [0.5], [0.0, 0.5, 0.5, 1.0])
    ]
    assert errors == [0.25, 0.375]
    both = torch.tensor([0.0, 0.0, 0.0, 1.0])[:, None]
    assert (x @ torch.linalg.lstsq(x, both).solution - both).abs().max() > 0.2, "no linear map says both"
    shown = numbers(notebook.prediction("no_bend").result)
    assert (shown["a linear map"] == 0.5).all() and shown["wanted"].tolist() == [0, 1, 1, 0]


def test_what_is_wanted_is_the_case_of_the_answer(notebook):
    wanted = notebook["wanted"].reshape(2, 2)  # own, fetched
    for own in range(8):
        for fetched in range(8):
            assert ladder._answer(own, fetched) % 2 == wanted[own % 2, fetched % 2]


def test_unit_3_speaks_up_for_both_alone_and_three_units_decide(notebook):
    assert notebook["sums"][3, 2] == 1 * 1 + 1 * 1 - 1 == 1
    assert (notebook["hidden"][:, 2] > 0).tolist() == [False, False, False, True]
    assert torch.equal(notebook["output"][:, 0], notebook["wanted"]) and not notebook["output"][:, 1].any()


def test_the_formula_is_the_librarys_network(notebook):
    network = FeedForward(2, 3)
    parts = [notebook["W1"].T, notebook["b1"], notebook["W2"].T, notebook["b2"]]
    network.load_state_dict(dict(zip(network.state_dict(), parts, strict=True)))
    torch.testing.assert_close(network(notebook["x"]), notebook["output"])


def test_two_linear_maps_in_a_row_are_one(notebook):
    x, W1, b1, W2, b2 = (notebook[name] for name in ("x", "W1", "b1", "W2", "b2"))
    torch.testing.assert_close((x @ W1 + b1) @ W2 + b2, x @ (W1 @ W2) + (b1 @ W2 + b2))


def test_with_16_units_all_eight_seeds_learn_the_decision_and_with_3_some_do_not(notebook):
    shown = numbers(notebook.table("16 units"))
    assert len(shown) == 8 and shown["16 units"].max() < 0.1
    assert (shown["3 units"] > 0.4).sum() >= 2 and (shown["3 units"] < 0.1).any()
    assert notebook["decider"].linear1.out_features == 16


def test_another_token_moves_its_own_row_of_the_network_and_all_rows_of_attention(notebook):
    shown = numbers(notebook.prediction("one_token").result)
    assert (shown["attention"] > 0.1).all() and shown["network"].tolist() == pytest.approx([0, 1, 0, 0], abs=0.1)
    assert (notebook["moved_by"]["network"] > 1e-4).tolist() == [False, True, False, False]
    assert (notebook["changed"] != notebook["x"]).any(dim=1).tolist() == [False, True, False, False]


# Hinges


def test_three_hinges_make_a_peak_that_is_flat_on_both_sides(notebook):
    x, y = notebook["line"][:, 0], notebook["hinges"]["all three, added"]
    torch.testing.assert_close(y, (1 - x.abs()).clamp(min=0))
    sums = torch.tensor([[0.5], [2.0]]) @ notebook["hinge_W1"] + notebook["hinge_b1"]
    assert sums[0].tolist() == [1.5, 0.5, -0.5] and (sums[1] > 0).all()
    assert (sums.clamp(min=0) @ notebook["hinge_W2"])[:, 0].tolist() == [1.5 - 0.5 * 2, 3 - 4 + 1] == [0.5, 0]


def test_a_hinge_turns_where_its_sum_is_zero_and_its_column_says_by_how_much():
    network = FeedForward(1, 1)
    for p, value in zip(network.parameters(), (2.0, 0.5, -3.0, 1.0), strict=True):
        p.data.fill_(value)
    assert breakpoints(network).tolist() == [-0.5 / 2]
    (corner,) = kinks(network)
    assert corner.item() == pytest.approx(-0.25, abs=1e-3)
    left, right = network(torch.tensor([[-0.5], [-0.3], [0.0], [0.2]]))[:, 0].detach().diff()[[0, 2]] / 0.2
    assert (right - left).item() == pytest.approx(2 * -3.0)


def test_three_hinges_draw_the_curve_of_the_exercise():
    corners = torch.tensor([[-2.0, 0.0], [-1.5, 0.0], [-0.5, 2.0], [1.0, 2.0], [2.0, 1.0]])
    hinges = (corners[:, :1] + torch.tensor([1.5, 0.5, -1.0])).clamp(min=0)
    torch.testing.assert_close(hinges @ torch.tensor([2.0, -2.0, -1.0]), corners[:, 1])


def test_a_unit_at_the_beginning_of_each_of_its_seven_pieces_makes_the_zigzag(notebook):
    ends, heights = torch.tensor(KNOTS, dtype=torch.float64).T
    changes = (heights.diff() / ends.diff()).diff(prepend=torch.zeros(1))
    ramps = (notebook["places"] - ends[:-1]).clamp(min=0) * changes
    assert ramps.shape[1] == 7
    torch.testing.assert_close(ramps.sum(dim=1) + heights[0], CURVES["zigzag"](notebook["places"])[:, 0])


def test_what_the_explorer_finds():
    zigzag, steps = (orthogonal_least_squares(name, 32) for name in ("zigzag", "steps"))
    assert rmse(zigzag[13 - 1], "zigzag") > 1e-3 > rmse(zigzag[14 - 1], "zigzag")
    assert rmse(steps[31], "steps") > 0.04


# GELU, and units that never speak


def test_gelu_dips_left_of_zero_and_agrees_with_relu_far_from_it(notebook):
    gelu, relu = notebook["values"]["GELU"], notebook["values"]["ReLU"]
    assert gelu[notebook["s"] < 0].max() < 0
    assert (gelu - relu)[[0, -1]].abs().max() < 1e-3
    s = notebook["s"]
    torch.testing.assert_close(gelu, s * (1 + torch.erf(s / 2**0.5)) / 2)


def test_the_slope_of_gelu_dips_below_0_climbs_past_1_and_comes_back(notebook):
    slope = notebook["slopes"]["GELU"]
    assert slope.argmin() < (notebook["s"] < 0).sum() < slope.argmax() and slope.min() < -0.1 and slope.max() > 1.1
    assert slope[-1].item() == pytest.approx(1, abs=1e-2) and abs(slope[0]) < 1e-2


def test_left_of_zero_the_slope_of_relu_is_0_and_that_of_gelu_is_not(notebook):
    left = notebook["s"] < -0.001  # the corner itself has half a slope
    assert not notebook["slopes"]["ReLU"][left].any() and (notebook["slopes"]["GELU"][left] != 0).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_silent_relu_unit_keeps_its_parameters_to_the_last_bit_and_its_gelu_twin_does_not(notebook, seed):
    for activation, stays in (("relu", True), ("gelu", False)):
        torch.manual_seed(seed)
        before = FeedForward(1, 16, activation=activation)
        before.linear1.bias.data[0] = -3
        after = train(copy.deepcopy(before), notebook["places"], notebook["wave"], steps=100)
        pairs = [(m.linear1.weight[0].item(), m.linear1.bias[0].item()) for m in (before, after)]
        assert (pairs[0] == pairs[1]) == stays


def test_with_gelu_the_unit_speaks_again_once_and_has_sunk_deeper_once(notebook):
    shown = numbers(notebook.table("gelu, seed 2"))
    for seed in SEEDS:
        relu, gelu = shown[f"relu, seed {seed}"], shown[f"gelu, seed {seed}"]
        assert relu["before"] == relu["after"] == gelu["before"] < -2
    sunk, near, speaks = (shown[f"gelu, seed {seed}"]["after"] for seed in SEEDS)
    assert sunk < shown["gelu, seed 0"]["before"] and -0.5 < near < 0 < speaks


# Dropout


def test_dropout_doubles_what_survives_and_keeps_the_mean(notebook):
    shown = numbers(notebook.table("training"))
    assert set(shown["training"]) == set(shown["training again"]) == {0, 2}
    assert (shown["training"] != shown["training again"]).any()
    assert ((shown["mean of 20,000"] - 1).abs() < 0.03).all() and (shown["in use"] == 1).all()


# MiniLM


def test_with_f_4d_the_network_holds_two_thirds_of_a_layer(notebook):
    layer = notebook["minilm"].encoder.encoder.layers[3]
    parts = (layer.attention, layer.feed_forward, layer)
    attention, network, both = (sum(p.numel() for p in part.parameters()) for part in parts)
    assert attention == 4 * 384**2 + 4 * 384 and network == 2 * 384 * 1536 + 1536 + 384
    assert network / both == pytest.approx(2 / 3, abs=0.001)


def test_six_columns_point_at_words_of_one_kind(notebook):
    writes = notebook.table("writes")["writes"]
    assert all(word in writes.iloc[0] for word in ("he", "his", "she"))
    assert all(word in writes.iloc[3] for word in ("singer", "sings", "musical"))
    assert "not" in writes.iloc[5].split() and all(word.isdigit() for word in writes.iloc[4].split())
    assert "singer" in notebook.table("writes")["reads"].iloc[3].split()
    assert notebook["pieces"].shape[0] == 30_522


def largest_by_chance(notebook, layer, seed):
    """How close a word lies to what each unit of a layer writes, and the same with its numbers shuffled."""
    written = notebook["minilm"].encoder.encoder.layers[layer].feed_forward.linear2.weight.detach().T
    torch.manual_seed(seed)
    shuffled = written.gather(1, torch.rand(written.shape).argsort(dim=1).to(written.device))
    return notebook["largest_cosines"](written), notebook["largest_cosines"](shuffled)


@pytest.mark.parametrize("seed", SEEDS)
def test_about_a_hundred_units_of_the_fourth_layer_point_at_a_word_piece_and_the_six_are_among_them(notebook, seed):
    largest, by_chance = largest_by_chance(notebook, 3, seed)
    near = largest > by_chance.quantile(0.99)
    assert 80 < near.sum() < 135 and near[notebook["units"]].all() and len(near) == 1536


@pytest.mark.parametrize("seed", SEEDS)
def test_in_the_first_layer_half_of_them_do_and_in_the_last_hardly_any(notebook, seed):
    counts = [
        (largest > by_chance.quantile(0.99)).sum()
        for largest, by_chance in (largest_by_chance(notebook, layer, seed) for layer in (0, 5))
    ]
    assert 700 < counts[0] < 850 and counts[1] < 60


# The ladder


def test_nearly_all_seeds_end_near_50_percent_and_none_above_95(notebook):
    shown = sorted(notebook["right"].values())
    assert len(shown) == 8 and all(45 < share < 55 for share in shown[:6]) and shown[-1] < 95
    assert notebook["right"]["seed 0"] > 60, "68, 79 and 81 on processors of three kinds"
    assert notebook["models"][0].layers[0].feed_forward.linear1.weight.shape == (128, 64)
    assert ladder.PARTS["feed-forward"].at_most == 1.0


def test_the_cards_own_case_hardly_moves_what_it_has_fetched(notebook):
    own, fetched = torch.tensor([list(kinds.values()) for kinds in notebook["moves"].values()]).T
    stuck = torch.tensor(list(notebook["right"].values())) < 60
    assert stuck.sum() >= 6 and (own[stuck] < fetched[stuck] / 5).all()
    assert (own[~stuck] > fetched[~stuck] / 10).all()


def test_a_swap_changes_one_letter_to_its_capital_or_back(notebook):
    cards = notebook["cards"]
    for row, own, fetched in zip(cards, notebook["own_swapped"], notebook["fetched_swapped"], strict=True):
        letters, arrows = ladder.read_cards(row)
        for place, swapped in ((0, own), (arrows[0], fetched)):
            wanted = [letter.swapcase() if i == place else letter for i, letter in enumerate(letters)]
            assert ladder.read_cards(swapped) == (wanted, arrows)


# Going deeper: what a unit answers to


def test_a_unit_found_by_ed_answers_to_past_forms_that_do_not_end_so(notebook):
    top = list(notebook["new_words"])[:12]
    assert {"found", "was", "given"} <= set(top) and sum(word.endswith("ed") for word in top) > 6
