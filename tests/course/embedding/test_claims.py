"""What 01_embedding says of its numbers."""

import math
from collections import Counter
from itertools import pairwise

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from encoder_lib import TokenEmbedding, load_pretrained
from encoder_lib.course import explore
from encoder_lib.course.kit import ladder
from encoder_lib.seeded import seeded


def cosine_map(table):
    """The cosines of the sixteen words that have a kind. (V, 2) -> (16, 16)"""
    unit = F.normalize(table[:16], dim=-1)
    return unit @ unit.T


def between_kinds(table):
    """The mean cosine of the words of every two kinds. (V, 2) -> (4, 4)"""
    return cosine_map(table).view(4, 4, 4, 4).mean(dim=(1, 3))


def trained(notebook, seed, *, optimiser=torch.optim.SGD, lr=1.0, clear=True):
    """The losses of 150 steps of the notebook's loop."""
    return train(notebook, seed, optimiser=optimiser, lr=lr, clear=clear)[1]


def train(notebook, seed, *, optimiser, lr, clear=True):
    """The model after 150 steps of the notebook's loop, and its losses."""
    torch.manual_seed(seed)
    model = nn.Sequential(TokenEmbedding(19, 2), nn.Linear(2, 19))
    optimiser, losses = optimiser(model.parameters(), lr=lr), []
    for _ in range(150):
        loss = F.cross_entropy(model(notebook["given"]), notebook["beside"])
        loss.backward()
        optimiser.step()
        if clear:
            optimiser.zero_grad()
        losses.append(loss.item())
    return model, losses


@pytest.fixture(scope="module")
def ten_tables(notebook):
    """The table after training, from seeds 0 to 9."""
    return [notebook["train"](seed)[-1] for seed in range(10)]


# An id is a name, and the same thing as a product


def test_the_first_and_the_third_vector_are_row_2(notebook):
    vectors, weight = notebook["vectors"], notebook["embed"].weight
    assert torch.equal(vectors[0], vectors[2]) and torch.equal(vectors[0], weight[2])


# Which rows can learn?


def test_cat_dog_and_sees_get_a_gradient_and_dog_gets_it_twice(notebook):
    gradient = notebook["padded"].weight.grad  # (V, D)
    assert gradient[:, 0].tolist() == [0, 1, 2, 0, 1, 0] and (gradient == gradient[:, :1]).all()
    assert notebook["vocabulary"] == ["[PAD]", "cat", "dog", "eats", "sees", "fish"]
    question = notebook.prediction("gradient").question
    assert question.choices[question.answer] == str(int(gradient[2, 0]))


# Sentences and a task


def test_there_are_4000_pairs_of_19_words_in_both_directions(notebook):
    assert len(notebook["given"]) == len(notebook["beside"]) == 4000 and len(notebook["words"]) == 19
    pairs = Counter(zip(notebook["given"].tolist(), notebook["beside"].tolist(), strict=True))
    assert all(pairs[a, b] == pairs[b, a] for a, b in pairs)


def test_a_fresh_model_is_a_little_worse_than_sharing_evenly(notebook):
    assert math.log(19) < notebook["losses"][0] < math.log(19) + 0.5
    for seed in range(3):
        with seeded(seed):
            model = nn.Sequential(TokenEmbedding(19, 2), nn.Linear(2, 19))
        assert F.cross_entropy(model(notebook["given"]), notebook["beside"]) > math.log(19)


# The loop that learns


def test_the_loop_of_these_tests_is_the_notebooks(notebook):
    assert notebook["losses"] == pytest.approx(trained(notebook, 0))


def test_by_counting_1_27_is_the_least_and_eight_words_stand_beside_eats_about_equally_often(notebook):
    pairs = torch.zeros(19, 19, dtype=torch.float64)
    pairs.index_put_((notebook["given"], notebook["beside"]), torch.ones(4000, dtype=torch.float64), accumulate=True)
    shares = pairs / pairs.sum(dim=1, keepdim=True)
    least = -torch.xlogy(pairs, shares).sum() / pairs.sum()
    assert least.item() == pytest.approx(1.27, abs=0.005)
    beside_eats = shares[notebook["words"].index("eats")]
    assert (beside_eats > 0).sum() == 8
    assert beside_eats[beside_eats > 0].min() > 0.1 and beside_eats.max() < 0.15


@pytest.mark.parametrize("seed", range(8))
def test_a_large_learning_rate_goes_up_and_down(notebook, seed):
    large = trained(notebook, seed, lr=10.0)
    assert large[5] < trained(notebook, seed)[5]
    rises = [step for step, (before, after) in enumerate(pairwise(large)) if after > before]
    assert len(rises) > 50
    assert [b > a for a, b in pairwise(large[-20:])] in ([True, False] * 9 + [True], [False, True] * 9 + [False])


@pytest.mark.parametrize("seed", range(8))
def test_without_zero_grad_the_loss_falls_and_then_ends_above_100(notebook, seed):
    losses = trained(notebook, seed, clear=False)
    assert min(losses) < 2 / 3 * losses[0] and losses[-1] > 100
    if seed == 0:
        shown = notebook.prediction("forgotten").result
        assert float(shown.loc["step 150", "without"]) > 300
        assert float(shown.loc["step 21", "without"]) < float(shown.loc["step 21", "with zero_grad"])


@pytest.mark.parametrize("seed", range(8))
def test_without_zero_grad_the_steps_become_longer_and_longer(notebook, seed):
    torch.manual_seed(seed)
    model, lengths = nn.Sequential(TokenEmbedding(19, 2), nn.Linear(2, 19)), []
    optimiser = torch.optim.SGD(model.parameters(), lr=1.0)
    for _ in range(150):
        F.cross_entropy(model(notebook["given"]), notebook["beside"]).backward()
        optimiser.step()
        lengths.append(sum((parameter.grad**2).sum() for parameter in model.parameters()).sqrt().item())
    first, second, third, last = (lengths[i] for i in (0, 50, 100, 149))
    assert first < second < third < last and last > 20 * first


def adams_step(gradient, lr=0.03):
    """What Adam takes away at the last of a hundred such gradients, as a multiple of lr."""
    parameter = nn.Parameter(torch.zeros(1))
    adam = torch.optim.Adam([parameter], lr=lr)
    for _ in range(100):
        before = parameter.item()
        parameter.grad = torch.tensor([gradient])
        adam.step()
    return (before - parameter.item()) / lr


def test_adam_takes_away_lr_whatever_the_size_of_a_gradient():
    assert adams_step(10.0) == pytest.approx(1, abs=1e-4) == adams_step(0.001)


# What the table has learned


@pytest.mark.parametrize("seed", range(10))
def test_with_a_rate_of_0_03_adam_comes_near_the_least(notebook, seed):
    assert trained(notebook, seed, optimiser=torch.optim.Adam, lr=0.03)[-1] < 1.31


def test_words_of_one_kind_have_cosines_above_0_9_in_every_run(notebook, ten_tables):
    for table in (*(run[-1] for run in notebook["runs"]), *ten_tables):
        blocks = cosine_map(table).view(4, 4, 4, 4).diagonal(dim1=0, dim2=2)  # (4, 4, kinds)
        assert blocks.min() > 0.9


def test_before_training_they_do_not(notebook):
    for run in notebook["runs"]:
        assert cosine_map(run[0]).view(4, 4, 4, 4).diagonal(dim1=0, dim2=2).min() < 0


def test_kinds_that_share_a_verb_have_cosines_above_0_2(ten_tables):
    assert all(between_kinds(table).diagonal(1).min() > 0.2 for table in ten_tables)


def test_bundles_side_by_side_share_a_verb(notebook):
    """In the three pictures the kinds lie in a fan: animals, foods, people, places, this way round or the other."""
    for run in notebook["runs"]:
        middle = F.normalize(run[-1, :16].view(4, 4, 2).mean(dim=1), dim=-1)  # (4, 2): where each bundle points
        across = middle[:-1, 0] * middle[1:, 1] - middle[:-1, 1] * middle[1:, 0]  # sines of the three angles between
        assert (across > 0.5).all() or (across < -0.5).all()
        assert (between_kinds(run[-1]).diagonal(1) > 0.6).all()


def test_which_way_a_kind_points_differs_from_run_to_run(notebook):
    middles = [F.normalize(run[-1, :16].view(4, 4, 2).mean(dim=1), dim=-1) for run in notebook["runs"]]  # (4, 2) each
    for kind in range(4):
        others = [(middles[i][kind] @ middles[j][kind]).item() for i, j in ((0, 1), (0, 2), (1, 2))]
        assert min(others) < 0.5


def test_cat_and_bread_end_at_about_0_7_and_cat_and_rome_apart(notebook):
    columns = notebook["columns_of_cosines"]
    assert all(value > 0.99 for value in columns["cat, dog"] + columns["bread, apple"])
    assert all(0.65 < value < 0.8 for value in columns["cat, bread"])
    assert all(value < -0.4 for value in columns["cat, Rome"])


def beside_each_other(notebook, seed):
    """The cosine of cat and Rome after a training."""
    model, _ = train(notebook, seed, optimiser=torch.optim.Adam, lr=0.03)
    cat, rome = notebook["words"].index("cat"), notebook["words"].index("Rome")
    return cosine_map(model[0].weight)[cat, rome].item()


def test_with_seed_7_cat_and_rome_lie_on_one_side(notebook):
    assert beside_each_other(notebook, 7) > 0.3


@pytest.mark.long
def test_so_they_do_with_seed_29_and_no_other_of_thirty(notebook):
    assert [seed for seed in range(30) if beside_each_other(notebook, seed) > 0] == [7, 29]


def test_words_of_different_kinds_are_not_driven_apart(notebook):
    """What the explorer's question finds: their mean cosine, by the explorer's own line."""
    words, kinds, other = notebook["words"][:16], notebook["kinds"], ~torch.eye(4).bool()
    for run, end in zip(notebook["runs"], ("0.29", "0.27", "0.37"), strict=True):
        different = torch.stack([between_kinds(table)[other].mean() for table in run])  # (steps + 1,)
        assert abs(different[0]) < 0.07 and f"{different[-1]:.2f}" == end
        explorer = explore.similarity(run[:, :16], words, kinds)
        explorer.step = 150
        assert f"{end} of words of different kinds" in explorer.description
    assert 45 < different.argmax() < 55 and different[50] > 0.8


# The ladder


def test_card_2_is_a_capital_and_its_answer_the_swapped_letter(notebook):
    letters, arrows = notebook["letters"], notebook["arrows"]
    answers = ladder.spell(notebook["answers"][0])
    assert (letters[2], letters[arrows[2]], answers[2]) == ("C", "B", "b")


def test_the_ladder_trains_for_400_steps_on_128_newly_drawn_rows_and_tries_4000():
    dealt = []
    ladder.train(ladder.CardModel, deal=lambda n: dealt.append(n) or ladder.deal(n))
    assert dealt == [128] * 400 + [4000]


@pytest.mark.parametrize("seed", range(3))
def test_an_embedding_alone_is_right_as_often_as_a_guess(seed):
    guess, embedding = ladder.climb("embedding", seed=seed, progress=False)
    assert embedding.at_most == 0.125
    for rung in (guess, embedding):
        assert rung.right == pytest.approx(0.125, abs=0.006)


# Going deeper


def test_the_product_would_take_nearly_twelve_million_multiplications():
    vocabulary, width = load_pretrained().encoder.embedding.token.weight.shape
    assert (vocabulary, width) == (30_522, 384) and 11.5e6 < vocabulary * width < 12e6


def test_frequent_words_become_whole_and_rare_ones_stay_in_pieces(notebook):
    counts, pieces = notebook["counts"], notebook["spelling"]
    assert not any(" " in pieces[word] for word in counts if counts[word] >= 5)
    assert sum(" " in pieces[word] for word in counts if counts[word] == 1) > 120


def test_50_of_225_rows_are_looked_up_once_or_never_where_it_was_165_of_263(notebook):
    rows = set("".join(notebook["text"])) | {left + right for left, right in notebook["merges"]}
    times = Counter(piece for word in notebook["text"] for piece in notebook["spelling"][word].split())
    assert (sum(times[piece] <= 1 for piece in rows), len(rows)) == (50, 225)
    assert len(set("".join(notebook["text"]))) == 25 and len(notebook["merges"]) == 200
    assert notebook["counts"]["thought"] == 4
    assert (len(notebook["once"]), len(notebook["counts"])) == (165, 263)


def test_z_is_the_letter_that_the_text_never_shows_and_wondering_is_cut_in_two(notebook):
    assert set("abcdefghijklmnopqrstuvwxyz") - set("".join(notebook["text"])) == {"z"}
    pieces = " ".join("wondering")
    for pair in notebook["merges"]:
        pieces = notebook["merge"](pieces, *pair)
    assert "wondering" not in notebook["counts"] and pieces == "wonder ing"
    for piece in ("wonder", "ing"):
        assert sum(piece in spelled.split() for spelled in notebook["spelling"].values()) > 1


def test_every_change_of_thought_is_shown(notebook):
    spelled = " ".join("thought")
    for n, pair in enumerate(notebook["merges"], 1):
        before, spelled = spelled, notebook["merge"](spelled, *pair)
        assert notebook.shown(f"merge {n}: {pair[0]} + {pair[1]}, ") == (spelled != before)
    assert spelled == "thought"


def test_more_than_half_of_the_rows_would_be_read_once(notebook):
    assert len(notebook["once"]) > len(notebook["counts"]) / 2
