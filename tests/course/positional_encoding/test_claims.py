"""What 02_positional_encoding says, one test a claim. Trainings stand for themselves on the seeds that they show."""

import math

import pytest
import torch

from encoder_lib import alibi_bias, sinusoidal_table
from encoder_lib.course.positional_encoding import explorers as positional
from encoder_lib.course.positional_encoding.positions import copy_accuracy, reversal_accuracy
from encoder_lib.model.embedding import TokenEmbedding
from encoder_lib.training.tasks import IGNORE_INDEX, copy_back

# Three words, two mornings


def test_every_word_gets_a_mean_with_weights_that_are_positive_and_one_in_total(notebook):
    x = notebook["x"]
    torch.testing.assert_close(notebook["attend"](x), (x @ x.T).softmax(dim=1) @ x)


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


def test_four_bits_flip_from_7_to_8_and_one_from_8_to_9(notebook):
    flips = notebook["bits"].diff(dim=0).abs().sum(dim=1)
    assert flips[7] == 4 and flips[8] == 1


# A wall of clocks


def test_at_position_0_all_hands_point_to_the_right_and_the_table_holds_sine_before_cosine(notebook):
    assert notebook["rows"][0].tolist() == [0, 1] * 4
    t = torch.arange(8).double()
    by_hand = torch.stack([t.sin(), t.cos(), (t / 10).sin(), (t / 10).cos()], dim=1)
    torch.testing.assert_close(sinusoidal_table(8, 4, base=100), by_hand)


def test_in_44_steps_clock_0_makes_seven_turns_and_one_degree_and_the_others_stand_77_252_and_80_further():
    turns = [divmod(math.degrees(44 * 100 ** (-k / 4)), 360) for k in range(4)]
    assert turns[0][0] == 7 and [round(left) for _, left in turns] == [1, 77, 252, 80]


def test_each_speed_is_about_a_third_of_the_one_before_and_a_step_turns_by_57_18_6_and_2_degrees():
    speed = 100 ** (-torch.arange(0, 8, 2) / 8)
    assert ((speed[1:] / speed[:-1] - 1 / 3).abs() < 0.02).all()
    assert speed.rad2deg().round().tolist() == [57, 18, 6, 2]


# One matrix for all starts


def test_the_best_matrix_is_a_rotation_of_each_clock_and_misses_nothing(notebook):
    matrix, speed = notebook["matrix"], 100 ** (-torch.arange(0, 8, 2) / 8)
    turns = [torch.tensor([[a.cos(), -a.sin()], [a.sin(), a.cos()]]) for a in speed]
    torch.testing.assert_close(matrix, torch.block_diag(*turns), atol=1e-10, rtol=0)
    assert (
        [round(x, 2) for x in matrix[:2, 0].tolist()] == [0.54, 0.84] == [round(f(1), 2) for f in (math.cos, math.sin)]
    )


def test_other_steps_are_powers_of_the_matrix_and_rotations_by_their_angles(notebook):
    rows = notebook["rows"]
    for s in (2, 5, 20):
        move = notebook["matrix"].matrix_power(s)
        torch.testing.assert_close(rows[:-s] @ move, rows[s:])
        angles = s * 100 ** (-torch.arange(0, 8, 2) / 8)
        turns = [torch.tensor([[a.cos(), -a.sin()], [a.sin(), a.cos()]]) for a in angles]
        torch.testing.assert_close(move, torch.block_diag(*turns), atol=1e-8, rtol=0)


def test_the_dot_product_depends_on_the_distance_alone(notebook):
    lines = notebook["wide"], notebook["wide"] @ notebook["wide"].T
    torch.testing.assert_close(lines[1][5, 9], lines[1][105, 109])
    distance = torch.arange(80)
    speed = 100 ** (-torch.arange(0, 128, 2) / 128)
    by_formula = (distance[:, None] * speed).cos().sum(dim=1)
    for start in (5, 50, 105):
        torch.testing.assert_close(lines[1][start, start : start + 80], by_formula)


def test_with_the_distance_the_products_of_64_clocks_fall_from_64_to_about_0(notebook):
    line = notebook["wide"][5:85] @ notebook["wide"][5]
    assert abs(line[0] - 64) < 1e-9 and line[6:].max() < 32 and line[40:].abs().max() < 6
    assert (line[::10].diff() < 0).all(), "less and less, on the whole"


# Word plus place


def test_attend_meets_another_dog_when_it_stands_last(notebook):
    x, rows, other = notebook["x"], notebook["rows"][:3], notebook["other"]
    assert ((x[other] + rows)[2] - (x + rows)[0]).abs().max() > 0.5 and notebook["moved"].abs().max() > 0.5


# Turned, not added


def test_turned_words_match_by_the_steps_between_them_and_tell_right_from_left(notebook):
    dog, _, man = notebook["x"]
    turned = {
        name: torch.stack([notebook["turn"](word, t) for t in range(6)]) for name, word in (("dog", dog), ("man", man))
    }
    match = turned["dog"] @ turned["man"].T  # (6, 6)
    for steps in range(-5, 6):
        assert match.diagonal(steps).std(correction=0) < 1e-12
    assert (match - match.T).abs().max() > 0.1


def test_added_another_place_is_another_match_and_turned_another_step_alone(notebook):
    dog, man, rows, turn, pairs = (notebook[name] for name in ("dog", "man", "rows", "turn", "pairs"))
    added = [(dog + rows[p]) @ (man + rows[q]) for p, q in pairs]
    turned = [turn(dog, p) @ turn(man, q) for p, q in pairs]
    assert min(abs(added[0] - added[1]), abs(added[0] - added[2]), abs(turned[0] - turned[2])) > 0.1
    assert abs(turned[0] - turned[1]) < 1e-12


def test_the_hands_of_eight_numbers_keep_their_lengths_and_turn_at_the_speeds_of_their_clocks(notebook):
    dog = notebook["x"][0]
    before, after = (
        torch.view_as_complex(word.view(4, 2).flip(1).contiguous()) for word in (dog, notebook["turn"](dog, 1))
    )
    torch.testing.assert_close(after.abs(), before.abs())
    torch.testing.assert_close((after / before).angle(), 100 ** (-torch.arange(0, 8, 2) / 8))


# Longer than the training


def test_the_game_shown_is_the_one_that_the_model_plays(notebook):
    letters = torch.tensor(["abcdefghij".index(letter) for letter in notebook["letters"]])
    torch.manual_seed(0)
    ids, targets, _ = copy_back(1, 16, 10)
    assert torch.equal(ids[0], letters) and torch.equal(targets[0, 3:], letters[:-3])
    assert (targets[0, :3] == IGNORE_INDEX).all()


def test_rotary_carries_on_and_sinusoids_fall_to_a_fifth(notebook):
    lines = notebook["lines"]
    assert lines["rotary"][3:].min() > 98
    assert lines["sinusoidal"][3:16].min() > 90
    assert 16 < lines["sinusoidal"][16:].mean() < 23
    assert lines["sinusoidal"][54] < 20 < 98 < lines["rotary"][54], "the 55th letter"


@pytest.mark.long
@pytest.mark.parametrize("seed", range(8))
def test_every_training_of_rotary_and_sinusoids_ends_the_same_way_on_64_letters(seed):
    rotary, sinusoidal = (100 * copy_accuracy(kind, seed=seed) for kind in ("rotary", "sinusoidal"))
    assert rotary[3:].nanmean() > 97 and rotary[54] > 95
    assert sinusoidal[3:16].min() > 90 and 14 < sinusoidal[16:].mean() < 25


def test_on_1024_letters_eight_rotary_models_copy_anything_from_a_fifth_to_nearly_all(notebook):
    far = torch.tensor(list(notebook["far"].values()))
    assert far.max() > 94 and 18 < far.min() < 23 and len(far) == 8


def test_the_learned_table_copies_to_its_end_and_stops(notebook):
    learned = notebook["lines"]["learned"]
    assert learned[3:16].min() > 95 and learned[16:].isnan().all()


# Exercises


def look_back(rows, steps):
    return torch.linalg.lstsq(rows[steps:], rows[:-steps]).solution


@pytest.mark.parametrize("width", [6, 8, 64])
@pytest.mark.parametrize("steps", [1, 3, 5])
def test_sixteen_rows_hold_everywhere_with_three_or_four_clocks_and_go_astray_with_64_columns(notebook, width, steps):
    base = 10_000 if width == 64 else 100
    rows = sinusoidal_table(200, width, base=base)
    matrix = look_back(rows[:16], steps)
    right = (rows @ matrix @ rows.T).argmax(dim=1)[steps:] == torch.arange(200 - steps)
    assert right[: 16 - steps].all() and right.all() == (width < 64)
    if (width, steps) == (64, 3):
        assert len(rows[:16][steps:]) == 13, "equations for each column"
        assert not right[: 36 - steps].all(), "astray at position 35, or earlier"
    angles = steps * base ** (-torch.arange(0, width, 2) / width)
    turns = [torch.tensor([[a.cos(), a.sin()], [-a.sin(), a.cos()]]) for a in angles]
    rotation = torch.block_diag(*turns)
    torch.testing.assert_close(rows[steps:] @ rotation, rows[:-steps])
    assert ((matrix - rotation).abs().max() < 1e-6) == (width < 64)


# Going deeper


def test_in_the_mirror_only_alibi_matches_as_before(notebook):
    shown = notebook.prediction("mirror").result.astype(float)
    there, mirrored, neighbours = (shown.loc[order] for order in ("dog bites man", "man bites dog", "dog man bites"))
    assert there["ALiBi"] == mirrored["ALiBi"] and abs(there["ALiBi"] - neighbours["ALiBi"]) > 0.5
    for kind in ("sinusoids", "rotary"):
        assert abs(there[kind] - mirrored[kind]) > 0.5


def test_to_alibi_the_whole_sentence_comes_out_as_before_and_to_the_others_not(notebook):
    rows, turn, apart = notebook["rows"][:3], notebook["turn"], -alibi_bias(1, 3, 3)[0] * 256

    def change(match, x):
        matches = match(x), match(x.flip(0)).flip(0, 1)
        return (matches[1] - matches[0]).abs().max()

    def turned_matches(x):
        turned = torch.stack([turn(word, t) for t, word in enumerate(x)])
        return turned @ turned.T

    torch.manual_seed(1)
    for x in torch.randn(5, 3, 8):
        assert change(lambda x: x @ x.T - apart, x) < 1e-12
        assert change(lambda x: (x + rows) @ (x + rows).T, x) > 1e-3
        assert change(turned_matches, x) > 1e-3


def test_rows_know_no_side_and_the_two_middle_terms_do(notebook):
    rows, dog, man = notebook["rows"], notebook["dog"], notebook["man"]
    torch.testing.assert_close(rows @ rows.T, (rows @ rows.T).T)
    there, mirrored = (dog @ rows[q] + rows[p] @ man for p, q in ((0, 2), (2, 0)))
    assert abs(there - mirrored) > 0.5


def test_numbers_of_an_embedding_have_size_1_and_of_the_sinusoids_0_7():
    torch.manual_seed(0)
    assert abs(TokenEmbedding(1000, 64).weight.square().mean().sqrt() - 1) < 0.05
    assert round(sinusoidal_table(16, 64).square().mean().sqrt().item(), 1) == 0.7


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=[pytest.mark.long] if seed else []) for seed in range(8)])
def test_as_drawn_95_percent_with_loud_words_a_guess_with_quiet_positions_a_quarter(seed):
    assert reversal_accuracy(seed=seed) > 0.95
    assert 0.095 < reversal_accuracy(words=8, seed=seed) < 0.13
    assert reversal_accuracy(positions=1 / 8, seed=seed) == pytest.approx(0.24, abs=0.025)
    assert reversal_accuracy(words=8, scores=1 / 64, seed=seed) == pytest.approx(0.24, abs=0.04)


def test_divided_by_64_loud_words_get_what_quiet_positions_get(notebook):
    shares = notebook["letters_right"]
    assert shares["words × 8"] < 0.13 < 0.2 < shares["words × 8, scores / 64"]
    assert shares["words × 8, scores / 64"] == pytest.approx(shares["positions / 8"], abs=0.04)


def test_a_sum_is_read_as_an_appended_pair_is_with_one_matrix_for_both():
    x, p, one, two = torch.randn(5, 8), torch.randn(5, 8), torch.randn(8, 3), torch.randn(8, 3)
    torch.testing.assert_close(torch.cat([x, p], dim=1) @ torch.cat([one, two]), x @ one + p @ two)
    torch.testing.assert_close(torch.cat([x, p], dim=1) @ torch.cat([one, one]), (x + p) @ one)


def test_near_base_100_products_fall_from_1_to_0_over_64_positions_and_not_with_10_or_100_000():
    def products(base):
        table = sinusoidal_table(64, 128, base=base)
        return (table @ table[0] / 64)[[0, 5, 20, 40, 63]].tolist()

    near, _, middle, far, end = products(100)
    assert near == pytest.approx(1) and near > middle > far > end and abs(end) < 0.01
    small = products(10)
    assert abs(small[1]) < 0.02 and small[3] > small[1], "back above"
    assert [round(x, 2) for x in products(100_000)[2::2]] == [0.68, 0.63]
    assert "change by 0.0000 at most" in positional(base=10).description
