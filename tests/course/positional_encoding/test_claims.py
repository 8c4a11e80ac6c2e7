"""What 02_positional_encoding says, one test a claim. Trainings stand for themselves on the seeds that they show."""

import math

import pytest
import torch
from claims import seeds

from encoder_lib import sinusoidal_table
from encoder_lib.course import explore
from encoder_lib.course.positional_encoding.positions import copy_accuracy, reversal_accuracy
from encoder_lib.model.embedding import TokenEmbedding
from encoder_lib.training.tasks import copy_back


def rotation(angles):
    """The matrix that turns each hand, a row of sine and cosine, by its angle."""
    return torch.block_diag(*(torch.tensor([[a.cos(), -a.sin()], [a.sin(), a.cos()]]) for a in angles))


SPEED = 100 ** (-torch.arange(0, 8, 2, dtype=torch.float64) / 8)  # of the four clocks

# Three words, two mornings


def test_shuffled_vectors_come_out_shuffled_whatever_they_are(notebook):
    for _ in range(20):
        x, order = torch.randn(7, 5), torch.randperm(7)
        torch.testing.assert_close(notebook["attend"](x[order]), notebook["attend"](x)[order])
    torch.testing.assert_close(notebook["after"], notebook["before"][notebook["other"]])


# Borrow from counting


def test_four_bits_flip_from_7_to_8_and_one_from_8_to_9(notebook):
    flips = notebook["bits"].diff(dim=0).abs().sum(dim=1)
    assert flips[7] == 4 and flips[8] == 1


# A wall of clocks


def test_one_step_and_44_steps_turn_the_clocks_as_far_as_said():
    """In 44 steps clock 0 makes seven turns and one degree, and the others come to stand 77, 252 and 80 further."""
    assert ((SPEED[1:] / SPEED[:-1] - 1 / 3).abs() < 0.02).all()
    assert SPEED.rad2deg().round().tolist() == [57, 18, 6, 2]
    turns = [divmod(math.degrees(44 * speed), 360) for speed in SPEED.tolist()]
    assert turns[0][0] == 7 and [round(left) for _, left in turns] == [1, 77, 252, 80]


# One matrix for all starts


@pytest.mark.parametrize("steps", [1, 2, 5, 20])
def test_powers_of_the_best_matrix_rotate_each_clock(notebook, steps):
    rows, move = notebook["rows"], notebook["matrix"].matrix_power(steps)
    torch.testing.assert_close(rows[:-steps] @ move, rows[steps:])
    torch.testing.assert_close(move, rotation(steps * SPEED), atol=1e-8, rtol=0)


def test_dot_products_fall_from_64_to_0_with_the_distance_alone(notebook):
    speed = 100 ** (-torch.arange(0, 128, 2) / 128)
    by_formula = (torch.arange(80)[:, None] * speed).cos().sum(dim=1)
    for start in (5, 50, 105):
        line = notebook["wide"][start : start + 80] @ notebook["wide"][start]
        torch.testing.assert_close(line, by_formula)
    assert abs(line[0] - 64) < 1e-9 and line[6:].max() < 32 and line[40:].abs().max() < 6
    assert (line[::10].diff() < 0).all(), "less and less, on the whole"


# Longer than the training


def test_the_game_shown_is_the_one_that_the_model_plays(notebook):
    torch.manual_seed(0)
    ids, targets, _ = copy_back(1, 16, 10)
    assert ["abcdefghij"[i] for i in ids[0]] == notebook["letters"] and torch.equal(targets[0, 3:], ids[0, :-3])


def test_rotary_carries_on_and_sinusoids_fall_to_a_fifth(notebook):
    lines = notebook["lines"]
    assert lines["rotary"][3:].min() > 98
    assert lines["sinusoidal"][3:16].min() > 90
    assert 16 < lines["sinusoidal"][16:].mean() < 23
    assert lines["sinusoidal"][54] < 20 < 98 < lines["rotary"][54], "the 55th letter"
    assert lines["learned"][3:16].min() > 95 and lines["learned"][16:].isnan().all(), "to its end, and stops"


@pytest.mark.weekly
@pytest.mark.parametrize("seed", range(1, 8))
def test_every_training_on_64_letters_ends_the_same_way(seed):
    rotary, sinusoidal = (100 * copy_accuracy(kind, seed=seed) for kind in ("rotary", "sinusoidal"))
    assert rotary[3:].nanmean() > 97 and rotary[54] > 95
    assert sinusoidal[3:16].min() > 90 and 14 < sinusoidal[16:].mean() < 25


def test_on_1024_letters_rotary_models_copy_from_a_fifth_to_most(notebook):
    far = torch.tensor(list(notebook["far"].values()))
    assert far.max() > 94 and 18 < far.min() < 23 and len(far) == 8


# Exercises


@pytest.mark.parametrize("width", [6, 8, 64])
@pytest.mark.parametrize("steps", [1, 3, 5])
def test_sixteen_rows_suffice_for_four_clocks_not_for_32(width, steps):
    """With 6 or 8 columns the rotation alone solves the equations; with 64 another matrix does, and goes astray."""
    base = 10_000 if width == 64 else 100
    rows = sinusoidal_table(200, width, base=base)
    matrix = torch.linalg.lstsq(rows[steps:16], rows[: 16 - steps]).solution
    right = (rows @ matrix @ rows.T).argmax(dim=1)[steps:] == torch.arange(200 - steps)
    assert right[: 16 - steps].all() and right.all() == (width < 64)
    if (width, steps) == (64, 3):
        assert len(rows[steps:16]) == 13, "equations for each column"
        assert not right[: 36 - steps].all(), "astray at position 35, or earlier"
    back = rotation(-steps * base ** (-torch.arange(0, width, 2) / width))
    torch.testing.assert_close(rows[steps:] @ back, rows[:-steps])
    assert ((matrix - back).abs().max() < 1e-6) == (width < 64)


# Going deeper


def test_in_the_mirror_only_alibi_matches_as_before(notebook):
    shown = notebook.prediction("mirror").result.astype(float)
    there, mirrored, neighbours = (shown.loc[order] for order in ("dog bites man", "man bites dog", "dog man bites"))
    assert there["ALiBi"] == mirrored["ALiBi"] and abs(there["ALiBi"] - neighbours["ALiBi"]) > 0.5
    for kind in ("sinusoids", "rotary"):
        assert abs(there[kind] - mirrored[kind]) > 0.5


def test_embeddings_have_size_1_and_sinusoids_0_7():
    assert abs(TokenEmbedding(1000, 64).weight.square().mean().sqrt() - 1) < 0.05
    assert round(sinusoidal_table(16, 64).square().mean().sqrt().item(), 1) == 0.7


@seeds(8)
def test_loud_words_guess_and_like_quiet_positions_get_a_quarter(notebook, seed):
    """As drawn 95 % are right, with loud words a guess; divided by 64 these get what quiet positions get, a quarter."""
    settings = {}, {"words": 8}, {"positions": 1 / 8}, {"words": 8, "scores": 1 / 64}
    trained = (reversal_accuracy(seed=seed, **each) for each in settings)
    drawn, loud, quiet, divided = trained if seed else notebook["letters_right"].values()
    assert drawn > 0.95 and 0.095 < loud < 0.13
    assert quiet == pytest.approx(0.24, abs=0.025) and divided == pytest.approx(0.24, abs=0.04)


def test_with_base_100_products_fall_from_1_to_0():
    def products(base):
        table = sinusoidal_table(64, 128, base=base)
        return (table @ table[0] / 64)[[0, 5, 20, 40, 63]].tolist()

    near, _, middle, far, end = products(100)
    assert near == pytest.approx(1) and near > middle > far > end and abs(end) < 0.01
    small = products(10)
    assert abs(small[1]) < 0.02 and small[3] > small[1], "back above"
    assert [round(x, 2) for x in products(100_000)[2::2]] == [0.68, 0.63]
    assert "change by 0.0000 at most" in explore.positional(base=10).description
