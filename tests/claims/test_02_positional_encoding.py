"""What 02_positional_encoding says, one test a claim. Trainings stand for themselves on the seeds that they show."""

import math
import re

import pytest
import torch

from encoder_lib import RotaryPositionalEncoding, alibi_bias, sinusoidal_table
from encoder_lib.course import explore
from encoder_lib.course.lab.clocks import principal_coordinates
from encoder_lib.course.lab.ladder import deal
from encoder_lib.course.lab.positions import copy_accuracy, reversal_accuracy
from encoder_lib.model.embedding import TokenEmbedding


def cell(frame, row, column):
    """A number of a table that the notebook shows."""
    return float(frame.loc[row, column])


# Three words, two mornings


def test_the_weights_of_each_word_are_positive_and_one_in_total(notebook):
    x = notebook["x"]
    ones = torch.ones(3, 1)
    torch.testing.assert_close(notebook["mix"](x @ x.T, ones), ones)


def test_every_word_gets_the_same_numbers_in_either_order(notebook):
    before, after = notebook["before"], notebook["after"]
    assert (after[2] - before[0]).abs().max() < 1e-12
    assert (after[notebook["other"]] - before).abs().max() < 1e-12


def test_shuffled_vectors_come_out_shuffled_whatever_they_are(notebook):
    torch.manual_seed(1)
    for _ in range(20):
        x, order = torch.randn(7, 5).double(), torch.randperm(7)
        torch.testing.assert_close(notebook["attend"](x[order]), notebook["attend"](x)[order])


# Borrow from counting


def test_bits_repeat_after_2_4_8_and_16(notebook):
    bits = notebook["bits"]
    for column, period in enumerate([2, 4, 8, 16]):
        repeats = [p for p in range(1, 17) if torch.equal(bits[p:, column], bits[:-p, column])]
        assert repeats[0] == period


def test_sines_repeat_after_6_3_and_12_6_and_25_1_and_50_3(notebook):
    periods = [2 * math.pi * 2**k for k in range(4)]
    assert [round(period, 1) for period in periods] == [6.3, 12.6, 25.1, 50.3]
    position = torch.arange(32).double()
    for wave, period in zip(notebook["waves"].T, periods, strict=True):
        torch.testing.assert_close(wave, (2 * math.pi * position / period).sin())


def test_four_bits_flip_from_7_to_8_and_one_from_8_to_9(notebook):
    flips = notebook["bits"].diff(dim=0).abs().sum(dim=1)
    assert flips[7] == 4 and flips[8] == 1


# A wall of clocks


def test_the_first_rows_of_two_clocks(notebook):
    rows = sinusoidal_table(8, 4)
    assert rows[0].tolist() == [0, 1, 0, 1]
    t = torch.arange(8).double()
    torch.testing.assert_close(rows, torch.stack([t.sin(), t.cos(), (t / 100).sin(), (t / 100).cos()], dim=1))
    assert rows[:, 2].max() < 0.08, "clock 1 has hardly moved"
    assert 6 < 2 * math.pi < 7


def test_of_the_shifts_to_50_44_brings_clock_0_home_best_by_seven_turns_and_one_degree(notebook):
    off = {k: abs((math.degrees(k) + 180) % 360 - 180) for k in range(1, 51)}
    assert min(off, key=off.get) == 44 and round(off[44]) == 1 and 44 // (2 * math.pi) == 7


# One matrix for all starts


def test_the_best_matrix_is_a_rotation_of_each_clock(notebook):
    shift, speed = notebook["shift"], 100 ** (-torch.arange(0, 6, 2) / 6)
    turns = [torch.tensor([[a.cos(), a.sin()], [-a.sin(), a.cos()]]) for a in 5 * speed]
    torch.testing.assert_close(shift, torch.block_diag(*turns), atol=1e-10, rtol=0)
    assert (
        [round(x, 2) for x in shift[0, :2].tolist()] == [0.28, -0.96] == [round(math.cos(5), 2), round(math.sin(5), 2)]
    )


def test_nothing_is_left_of_the_sines_and_of_random_numbers_more_than_everything(notebook):
    assert notebook["unexplained"](sinusoidal_table(200, 6, base=100)) < 1e-20
    for seed in range(3):
        torch.manual_seed(seed)
        assert notebook["unexplained"](torch.randn(200, 6)) > 1


def test_the_dot_product_depends_on_the_distance_alone(notebook):
    lines = notebook["wide"], notebook["wide"] @ notebook["wide"].T
    torch.testing.assert_close(lines[1][5, 9], lines[1][105, 109])
    distance = torch.arange(80)
    speed = 10_000 ** (-torch.arange(0, 128, 2) / 128)
    by_formula = (distance[:, None] * speed).cos().sum(dim=1)
    for start in (5, 50, 105):
        torch.testing.assert_close(lines[1][start, start : start + 80], by_formula)


# A table without a formula


def test_256_positions_are_half_of_the_table_and_texts_begin_with_cls(notebook):
    assert notebook["model"].tokens("any text")[0] == "[CLS]"
    assert notebook["model"].encoder.embedding.position.weight.shape == (512, 384)


def test_with_more_columns_than_rows_many_matrices_fit_the_first_half():
    torch.manual_seed(0)
    rows = torch.randn(128, 384).double()
    move = torch.linalg.lstsq(rows[:-5], rows[5:], driver="gelsd").solution
    free = torch.linalg.svd(rows[:-5]).Vh[-1]  # a direction that no row has
    for matrix in (move, move + torch.outer(free, torch.randn(384))):
        torch.testing.assert_close(rows[:-5] @ matrix, rows[5:])


def test_the_directions_do_not_depend_on_the_order(notebook):
    learned = notebook["learned"]
    order = torch.randperm(256)
    shuffled = principal_coordinates(learned[order], 8)
    torch.testing.assert_close(shuffled.abs(), notebook["main"][order].abs())


def test_one_matrix_explains_94_percent_of_minilm_less_of_walks_and_nothing_of_minilm_shuffled(notebook):
    result = notebook.prediction("learned_table").result
    assert cell(result, "MiniLM's rows", "left unexplained") == 0.06
    assert cell(result, "the best of 20 walks", "left unexplained") > 0.06
    assert abs(cell(result, "their median", "left unexplained") - 1 / 3) < 0.05
    assert cell(result, "MiniLM's rows, shuffled", "left unexplained") > 1
    for seed in range(3):
        torch.manual_seed(seed)
        assert notebook["unexplained"](notebook["main"][torch.randperm(256)]) > 1


def test_in_twenty_walks_nothing_turns_in_fewer_than_60_steps_and_all_hands_keep_their_length(notebook):
    for walk in notebook["walks"]:
        steps, kept = notebook["turns"](walk)
        assert steps.min() > 60 and (kept > 0.99).all()
    assert notebook["quickest"] > 60


def test_the_block_of_five_steps_has_two_eigenvalues_of_size_1_that_turn_by_5_radians(notebook):
    values = notebook["values"]
    assert sorted(round(x, 2) for x in values.angle().tolist()) == [-1.28, 1.28]
    torch.testing.assert_close(values.abs(), torch.ones(2))
    assert round(5 - 2 * math.pi, 2) == -1.28


def test_from_row_128_on_the_first_hand_is_longer(notebook):
    length = notebook["clocks"][0].hand.norm(dim=1)  # positions 1 to 256
    assert length[127:].mean() > 1.2 * length[:127].mean()


def test_the_eigenvalues_of_minilm_are_the_clocks_that_are_drawn(notebook):
    assert [round(x, 1) for x in notebook["of_minilm"].tolist()] == [5.7, 16.9, 53.6, 265.5]
    torch.testing.assert_close(notebook["of_minilm"], torch.tensor([c.wavelength for c in notebook["clocks"]]))
    assert (notebook["kept_by_minilm"] > 0.9955).all() and (notebook["kept_by_walk"] > 0.99).all()
    assert notebook["of_walk"].min() > 60


def test_three_hands_go_round_and_the_fourth_does_not_come_round(notebook):
    turns = []
    for clock in notebook["clocks"]:
        angle = torch.atan2(clock.hand[:, 1], clock.hand[:, 0])
        turned = (angle.diff() + math.pi) % (2 * math.pi) - math.pi
        turns.append(abs(turned.sum().item()) / (2 * math.pi))
    assert turns[0] > 40 and turns[1] > 14 and turns[2] > 4 and turns[3] < 1
    spread = [(clock.hand.norm(dim=1).std()).item() for clock in notebook["clocks"]]
    assert spread[3] == max(spread), "the fourth is the worst ring"


def test_row_127_stands_furthest_from_its_neighbours(notebook):
    learned = notebook["learned"]  # positions 1 to 256
    steps = learned.diff(dim=0).norm(dim=1)  # entry i: from position i + 1 to i + 2
    assert sorted((steps.topk(2).indices + 1).tolist()) == [126, 127]


def test_a_base_of_147_makes_the_slowest_of_four_clocks_take_265_steps_and_10000_makes_it_6283(notebook):
    slowest = round(notebook["clocks"][-1].wavelength)
    words = explore.positional(length=64, d_model=8, base=147).description
    longest = float(re.search(r"from 6.3 to ([\d,.]+) positions", words).group(1).replace(",", ""))
    assert slowest == 265 == round(longest)
    assert "to 6,283.2 positions" in explore.positional(length=64, d_model=8, base=10_000).description


# How loud should a position be?


def test_numbers_of_an_embedding_have_size_1_and_of_the_sinusoids_0_7():
    torch.manual_seed(0)
    assert abs(TokenEmbedding(1000, 64).weight.square().mean().sqrt() - 1) < 0.05
    assert round(sinusoidal_table(16, 64).square().mean().sqrt().item(), 1) == 0.7


def test_as_drawn_98_percent_with_loud_words_a_guess_with_quiet_positions_a_quarter(notebook):
    shares = notebook["letters_right"]
    assert shares["as drawn"] == pytest.approx(0.98, abs=0.01)
    assert shares["words × 8"] < 0.15
    assert shares["positions / 8"] == pytest.approx(0.25, abs=0.03)


@pytest.mark.long
def test_another_random_start_gives_nearly_the_same():
    assert reversal_accuracy(seed=1) == pytest.approx(0.98, abs=0.015)
    assert reversal_accuracy(words=8, seed=1) < 0.15
    assert reversal_accuracy(positions=1 / 8, seed=1) == pytest.approx(0.25, abs=0.03)
    assert reversal_accuracy(words=8, positions=8, scores=1 / 64, seed=1) > 0.96
    assert reversal_accuracy(words=8, scores=1 / 64, seed=1) < 0.3
    assert reversal_accuracy(words=8, positions=8, seed=1) < 0.15


def test_tied_rows_are_drawn_small_and_multiplied_back():
    torch.manual_seed(0)
    tied = TokenEmbedding(1000, 64, scale=True)
    assert abs(tied.weight.square().mean().sqrt() * 8 - 1) < 0.05
    assert abs(tied(torch.arange(1000)).square().mean().sqrt() - 1) < 0.05


# Turned, or penalised


def test_turned_words_match_by_the_steps_between_them_and_tell_right_from_left(notebook):
    match = notebook["match"]  # (6, 6)
    for steps in range(-5, 6):
        assert match.diagonal(steps).std(correction=0) < 1e-12
    assert (match - match.T).abs().max() > 0.1


def test_the_block_follows_from_the_addition_formulas(notebook):
    a, b = torch.tensor(0.7), torch.tensor(5.0)
    block = notebook["shift"][:2, :2]
    torch.testing.assert_close(block @ torch.stack([a.sin(), a.cos()]), torch.stack([(a + b).sin(), (a + b).cos()]))


def test_the_turning_by_hand_matches_as_the_librarys(notebook):
    x = torch.randn(5, 4)
    ours, theirs = notebook["turn"](x), RotaryPositionalEncoding(4)(x)
    torch.testing.assert_close(ours @ ours.T, theirs @ theirs.T)


def test_base_16_and_a_width_of_8_make_each_clock_half_as_quick():
    assert 16 ** (-2 / 8) == 1 / 2


def test_only_alibi_notices_a_swap_and_not_the_mirror(notebook):
    shown = notebook.prediction("mirror").result
    for kind in ("sinusoids, added", "rotary"):
        assert cell(shown, kind, "two words swapped") > 0.1 and cell(shown, kind, "read backwards") > 0.1
    assert cell(shown, "ALiBi", "two words swapped") > 0.1 and cell(shown, "ALiBi", "read backwards") == 0
    assert cell(shown, "no positions", "two words swapped") == cell(shown, "no positions", "read backwards") == 0


def test_alibi_fails_the_mirror_exactly_and_whatever_the_words(notebook):
    torch.manual_seed(1)
    for _ in range(5):
        x = torch.randn(3, 4).double()
        assert (notebook["alibi"](x.flip(0)) - notebook["alibi"](x).flip(0)).abs().max() < 1e-12
        assert (notebook["rotary"](x.flip(0)) - notebook["rotary"](x).flip(0)).abs().max() > 1e-3


def test_rotary_carries_on_and_sinusoids_fall_to_a_fifth(notebook):
    lines = notebook["lines"]
    assert lines["rotary"][3:].min() > 98
    assert lines["sinusoidal"][3:16].min() > 90
    assert 16 < lines["sinusoidal"][16:].mean() < 23
    assert lines["sinusoidal"][54] < 20 < 98 < lines["rotary"][54], "the 55th letter"


@pytest.mark.long
def test_another_training_of_rotary_and_sinusoids_ends_the_same_way():
    rotary, sinusoidal = (100 * copy_accuracy(kind, seed=1) for kind in ("rotary", "sinusoidal"))
    assert rotary[3:].min() > 98 and sinusoidal[3:16].min() > 90
    assert 16 < sinusoidal[16:].mean() < 23 and sinusoidal[54] < 25


def test_the_learned_table_copies_to_its_end_and_stops(notebook):
    learned = notebook["lines"]["learned"]
    assert learned[3:16].min() > 95 and learned[16:].isnan().all()


def test_a_distance_alone_does_not_tell_three_back_from_three_ahead():
    bias = alibi_bias(1, 10, 10)[0]
    assert bias[5, 2] == bias[5, 8]


def test_one_word_against_itself_is_turned_the_same_on_both_sides(notebook):
    dogs = notebook["turn"](notebook["x"][0].expand(6, 4))
    torch.testing.assert_close(dogs @ dogs.T, (dogs @ dogs.T).T)


# The ladder


def test_positions_alone_buy_nothing(notebook):
    guess, embedding, positions = notebook["rungs"]
    for rung in (guess, embedding, positions):
        assert abs(rung.right - 0.125) < 0.01 and rung.at_most == 0.125


def test_the_place_of_a_card_says_nothing_about_its_answer():
    torch.manual_seed(0)
    _, answers = deal(20_000)
    shares = torch.stack([torch.bincount(answers[:, place], minlength=8) for place in range(8)]) / 20_000
    assert (shares - 0.125).abs().max() < 0.01


# Going deeper


def test_divided_by_64_only_the_proportion_counts_and_undivided_the_model_guesses(notebook):
    shares = notebook["letters_right"]
    drowned, both = shares["words × 8, scores / 64"], shares["both × 8, scores / 64"]
    assert min(both, shares["positions × 8, scores / 64"]) > 0.96
    assert both == pytest.approx(shares["as drawn"], abs=0.01)
    assert drowned == pytest.approx(shares["positions / 8"], abs=0.03)
    assert shares["both × 8"] < 0.15


def test_read_literally_the_formula_fails_the_test(notebook):
    assert notebook["unexplained"](notebook["literal"]) > 0.3
    assert notebook["unexplained"](sinusoidal_table(200, 4)) < 1e-20


def test_no_two_of_2000_rows_collide_and_all_have_length_8(notebook):
    assert round(notebook["apart"].min().item(), 2) == 1.95
    torch.testing.assert_close(notebook["length"], torch.full((2000,), 8.0).double())


def test_rotary_and_alibi_draw_even_stripes_and_the_others_do_not(notebook):
    turned, word, sines, random = (notebook[name] for name in ("turned", "word", "sines", "random"))
    even = [turned @ turned.T, word @ word.T / 8 + alibi_bias(1, 48, 48)[0]]
    uneven = [sines @ sines.T, random @ random.T]
    for scores in even:
        torch.testing.assert_close(scores[1:, 1:], scores[:-1, :-1])
    for scores in uneven:
        assert (scores[1:, 1:] - scores[:-1, :-1]).abs().max() > 1
    assert alibi_bias(1, 2, 2)[0, 0, 1] == -1 / 256
