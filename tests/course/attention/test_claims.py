"""What 04_attention says, tested: each number, and each "so"."""

import pytest
import torch
from torch import nn

from encoder_lib import attention, lengths_mask, trace
from encoder_lib.course import explore
from encoder_lib.course.kit import ladder
from encoder_lib.seeded import seeded

pytestmark = pytest.mark.long  # the notebook takes half a minute

SEEDS = (0, 1, 2)


@pytest.fixture(scope="module")
def by_hand(notebook):
    """The first row of the notebook, with all its digits: scores, powers, weights."""
    scores = notebook["keys"] @ notebook["query"] / 2**0.5
    return scores, scores.exp(), scores.softmax(dim=0)


# One row, by hand


def test_river_gets_73_percent_and_bank_keeps_9(by_hand):
    _, river, bank = by_hand[2].tolist()
    assert round(river, 2) == 0.73 and round(bank, 2) == 0.09


def test_river_is_ahead_of_money_by_1_4_and_gets_four_times_the_share(by_hand):
    scores, _, weights = by_hand
    assert scores[1] - scores[0] == pytest.approx(1.4, abs=0.05)
    assert weights[1] / weights[0] == pytest.approx(4, abs=0.15)


def test_the_output_of_bank_is_the_mean_that_the_title_names(notebook, by_hand):
    output = by_hand[2] @ notebook["values"]
    assert notebook["title"] is not None and [round(x, 2) for x in output.tolist()] == [0.80, 2.29]


# All rows at once, and where they come from


def test_the_three_lines_are_the_librarys_attention(notebook, by_hand):
    queries, keys, values = notebook["queries"], notebook["keys"], notebook["values"]
    output, weights = attention(queries, keys, values)
    torch.testing.assert_close(weights, (queries @ keys.T / 2**0.5).softmax(dim=-1))
    torch.testing.assert_close(weights[2], by_hand[2])  # the last row is the one done by hand
    torch.testing.assert_close(output, weights @ values)


def test_down_the_columns_money_gets_more_than_1_and_river_less(notebook):
    shares = (notebook["queries"] @ notebook["keys"].T / 2**0.5).softmax(dim=0)
    money, river, _ = shares.sum(dim=-1).tolist()
    assert ((shares >= 0) & (shares <= 1)).all() and money > 1 > river
    assert notebook.prediction("wrong_dim").result["dim=0"].astype(float).tolist()[0] > 1


def test_vectors_compared_directly_match_each_other_equally_well_and_with_two_matrices_they_do_not(notebook):
    table = notebook.table("x and x")
    assert table["x and x"].nunique() == 1 and table["q and k"].nunique() == 2
    plain, projected = notebook["plain"], notebook["projected"]
    torch.testing.assert_close(plain, plain.T)
    assert (projected - projected.T).abs().max() > 1
    between = notebook["q_proj"].weight.T @ notebook["k_proj"].weight  # (D, D), without the constants
    plain = nn.functional.linear(notebook["x"], notebook["q_proj"].weight)
    found = nn.functional.linear(notebook["x"], notebook["k_proj"].weight)
    torch.testing.assert_close(notebook["x"] @ between @ notebook["x"].T, plain @ found.T)


# Why the root?


def test_a_sum_of_k_random_products_has_variance_k_and_divided_variance_1():
    for width in (8, 512):
        scores = torch.randn(400, width) @ torch.randn(400, width).T
        assert scores.var().item() == pytest.approx(width, rel=0.1)
        assert (scores / width**0.5).var().item() == pytest.approx(1, rel=0.1)


def test_the_largest_weight_climbs_above_80_percent_at_512_and_stays_near_10_when_divided(notebook):
    divided, not_divided = notebook["divided"], notebook["not_divided"]
    assert all(0.08 < share < 0.13 for share in divided)
    assert not_divided == sorted(not_divided) and 0.1 < not_divided[0] < 0.2 and not_divided[-1] > 0.8
    lines = notebook.prediction("saturate").result.lines
    assert [line.get_ydata()[-1] for line in lines] == [divided[-1], not_divided[-1]]


def test_at_512_a_typical_score_is_about_23_and_a_lead_of_5_is_a_hundred_and_fifty_times_the_share():
    assert round(512**0.5) == 23
    share = torch.tensor([0.0, 5.0]).softmax(dim=0)
    assert 140 < share[1] / share[0] < 160


def test_with_the_root_hardly_any_gradient_is_short_or_long_and_without_it_four_in_ten_and_a_third_are(notebook):
    assert max(notebook["gradients"](512**0.5)) < 0.5
    short, long = notebook["gradients"](1) / 64
    assert 0.37 < short < 0.43 and 0.31 < long < 0.37


def slower_without(divided, undivided):
    """Whether the losses with the root are near 0 from step 70 on, and those without are not; and who looks where."""
    (losses, wrong), (others, others_wrong) = divided, undivided
    late, others_late = sum(losses[70:85]) / 15, sum(others[70:85]) / 15
    return late < 0.05 < others_late and wrong < 0.5 < others_wrong


def test_with_the_root_the_cards_learn_in_70_steps_and_without_they_are_slower(notebook):
    assert all(map(slower_without, notebook["runs"]["with √K"], notebook["runs"]["without"]))


@pytest.mark.parametrize("seed", range(3, 8))
def test_the_root_helps_with_other_seeds_too(notebook, seed):
    assert slower_without(notebook["trained"](True, seed), notebook["trained"](False, seed))


# Words that are not there


def test_padding_takes_its_share_from_the_words(notebook):
    alone, padded, weights = notebook["alone"], notebook["with_padding"], notebook["weights"]
    sentence = notebook["padded"]
    _, weights = attention(sentence, sentence, sentence)
    share = weights[:3, 3:].sum(dim=-1, keepdim=True)
    assert (padded[:3].norm(dim=-1) < alone.norm(dim=-1)).all()
    torch.testing.assert_close(padded[:3], (1 - share) * alone)  # by the very share
    assert (share > 0).all()


def test_with_the_mask_the_words_get_what_they_got_without_padding(notebook):
    torch.testing.assert_close(notebook["masked"][:3], notebook["alone"])
    assert not notebook["masked_weights"][:, 3:].any()


# One look to spend


def test_one_head_answers_one_question_and_two_heads_answer_both(notebook):
    lesser, greater = sorted(notebook["one_head"].tolist())
    assert greater > 85 and 20 < lesser < 40
    assert notebook["two_heads"].min() > 99


def two_questions(seed, n_heads):
    build = lambda: ladder.CardModel(positions="learned", attention=True, n_heads=n_heads, n_questions=2)  # noqa: E731
    return ladder.train(build, deal=ladder.deal_two_questions, seed=seed)[1].tolist()


@pytest.mark.parametrize("seed", range(1, 8))
def test_one_head_looks_left_from_each_of_eight_seeds(seed):
    arrow, left = two_questions(seed, n_heads=1)
    assert left > 0.8 and 0.2 < arrow < 0.45


@pytest.mark.parametrize("seed", SEEDS[1:])
def test_two_heads_answer_both_from_three_seeds(seed):
    assert min(two_questions(seed, n_heads=2)) > 0.99


def test_an_even_look_would_be_right_in_62_5_percent_on_both_and_in_sum_as_often_as_one_place(notebook):
    agree = 1 / 7 + 6 / 7 / 8  # the arrow points left, or at another card with the same letter
    assert agree == pytest.approx(1 / 4) and agree + (1 - agree) / 2 == 0.625
    assert notebook["one_head"].sum() == pytest.approx(2 * 62.5, abs=6)


def test_the_c_at_place_2_is_to_answer_C_and_B(notebook):
    assert notebook["letters"][2] == "c" and notebook["arrows"][2] == 7
    assert notebook["letters"][7] == "C" and notebook["letters"][1] == "B"


def test_the_mean_of_two_letters_does_not_say_which_came_from_where():
    model = ladder.CardModel(positions="learned", attention=True)
    cards, _ = ladder.deal(1)
    exchanged = cards.clone()
    exchanged[0, [2, 5]] = cards[0, [5, 2]]
    values = [model.layers[0].attention.v_proj(model.embedding(x))[0, [2, 5]].mean(dim=0) for x in (cards, exchanged)]
    torch.testing.assert_close(*values)


def test_one_head_looks_left_and_the_other_where_the_arrows_point(notebook):
    torch.manual_seed(1)
    cards, _ = ladder.deal(1)  # those that the lines are drawn for
    _, arrows = ladder.read_cards(cards[0])
    left = [(place - 1) % 8 for place in range(8)]
    looks = [head.argmax(dim=-1).tolist() for head in (notebook["head_1"], notebook["head_2"])]
    assert sorted([looks[0] == left, looks[1] == left]) == [False, True]
    assert sorted([looks[0] == arrows, looks[1] == arrows]) == [False, True]


def test_two_heads_by_hand_are_the_layer(notebook):
    batch = notebook["x"][None]
    torch.testing.assert_close(notebook["y"], notebook["layer"](batch, batch, batch)[0])


def test_the_output_is_the_sum_of_what_the_heads_write(notebook):
    torch.testing.assert_close(notebook["total"], notebook["y"])


# The ladder


def test_attention_brings_half_of_the_answers_and_the_rungs_below_guess(notebook):
    *below, top = notebook["rungs"]
    assert all(100 * rung.right == pytest.approx(12.5, abs=1.5) for rung in below) and 0.46 < top.right < 0.54
    assert [rung.name for rung in below] == ["a guess", "embedding", "positions"] and top.at_most == 0.5


def test_each_card_looks_where_its_arrow_points(notebook):
    with seeded(5):
        cards, _ = ladder.deal(200)
    with trace(notebook["rungs"][-1].model) as t:
        notebook["rungs"][-1].model(cards)
    weights = t["layers.0.attention.weights"][:, 0]  # (B, T, T)
    assert weights.gather(-1, (cards % 8)[..., None]).mean() > 0.95


def test_the_card_hardly_looks_at_itself(notebook):
    with trace(notebook["rungs"][-1].model) as t:
        notebook["rungs"][-1].model(ladder.deal(200)[0])
    weights = t["layers.0.attention.weights"][:, 0]
    assert weights.diagonal(dim1=-2, dim2=-1).mean() < 0.02


def test_the_letter_is_found_and_its_case_is_a_coin_toss(notebook):
    with seeded(6):
        cards, answers = ladder.deal(1000)
    said = notebook["rungs"][-1].model(cards).argmax(-1)
    assert (said // 2 == answers // 2).float().mean() > 0.98  # a and A share a letter
    assert 0.46 < (said == answers).float().mean() < 0.54


@pytest.mark.parametrize("seed", SEEDS)
def test_a_second_head_answers_all_and_each_head_is_there_for_one_case(seed):
    model, right = ladder.train(lambda: ladder.CardModel(positions="learned", attention=True, n_heads=2), seed=seed)
    assert right > 0.99
    with seeded(7):
        cards, _ = ladder.deal(300)
    at = ladder.weights(model, cards).gather(-1, (cards % 8)[:, None, :, None].expand(-1, 2, -1, -1))[..., 0]
    capital = cards // 8 % 2 == 1
    capitals, small = (at.transpose(1, 2)[case].mean(dim=0) for case in (capital, ~capital))  # (H,) each
    mine = int(capitals.argmax())
    assert capitals[mine] > 0.9 and small[1 - mine] > 0.9
    assert capitals[1 - mine] < capitals[mine] - 0.25 and small[mine] < small[1 - mine] - 0.25


def test_the_notebook_shows_both(notebook):
    assert notebook["two_right"] > 0.99
    shown = notebook.table("capitals").astype(float)
    assert set(shown.idxmax()) == set(notebook.table("capitals").index)


@pytest.mark.parametrize("seed", range(1, 8))
def test_one_head_stays_with_the_toss_from_each_of_eight_seeds(seed):
    _, right = ladder.train(lambda: ladder.CardModel(positions="learned", attention=True), seed=seed)
    assert 0.44 < right < 0.56


# What the explorers show, as their tasks say it


def weights_and_outputs(**settings):
    explorer = explore.attend(masks=False)
    explorer.set(**settings)
    return [torch.tensor(panel.frame(0)) for panel in explorer._view.panels[1:]]


def test_with_similarity_1_each_word_looks_most_at_itself_and_the_at_both():
    weights, _ = weights_and_outputs(similarity=1.0)
    words = ["the", "dog", "bites", "the", "man"]
    for word, row in zip(words, weights, strict=True):
        best = [other for other, weight in zip(words, row, strict=True) if weight > row.max() - 1e-6]
        assert set(best) == {word} and len(best) == words.count(word)


def test_with_a_high_temperature_all_outputs_come_close_to_the_same_mean():
    weights, outputs = weights_and_outputs(temperature=10.0)
    assert (weights - 0.2).abs().max() < 0.05 and (outputs - outputs.mean(dim=0)).abs().max() < 0.15


def test_with_12_heads_each_compares_one_number_and_there_are_624_parameters_as_before():
    explorer = explore.head_slices()
    before = explorer.description
    explorer.set(n_heads=12)
    assert "624 numbers" in before and "624 numbers" in explorer.description and "K = 1 of 12" in explorer.description


# The trophy


def test_it_looks_more_at_the_trophy_with_either_word_and_no_weight_moves_by_a_hundredth(notebook):
    shown = notebook.prediction("trophy").result.astype(float)
    assert shown.loc["trophy"].tolist() == [0.23, 0.23] and shown.loc["suitcase"].tolist() == [0.16, 0.16]
    assert (notebook["looks"]("big") - notebook["looks"]("small")).abs().max() < 0.01


def test_in_each_layer_the_thing_that_gets_more_with_big_gets_more_with_small(notebook):
    leads = []
    for word in ("big", "small"):
        with trace(notebook["minilm"].encoder) as t:
            notebook["minilm"].encode([notebook["text"].format(word)])
        every = torch.stack([t[f"encoder.layers.{layer}.attention.weights"][0].mean(dim=0) for layer in range(6)])
        trophy, suitcase = every[:, notebook["it"], notebook["things"]].T  # (6,) each
        assert (trophy - suitcase).abs().min() > 0.005
        leads.append((trophy > suitcase).tolist())
    assert leads[0] == leads[1]


def test_a_row_that_may_look_at_nobody_shares_evenly_and_gets_zeros_from_the_library():
    nobody = torch.zeros(1, 3, dtype=torch.bool)
    scores = torch.randn(1, 3).masked_fill(~nobody, torch.finfo(torch.get_default_dtype()).min)
    assert (scores.softmax(dim=-1) == 1 / 3).all()
    assert torch.full((3,), -torch.inf).softmax(dim=-1).isnan().all()
    output, _ = attention(torch.randn(1, 4), torch.randn(3, 4), torch.randn(3, 2), nobody)
    assert (output == 0).all()


def test_the_class_from_the_first_line_to_the_last_is_the_librarys_layer(notebook):
    mine, batch = notebook["mine"], torch.randn(2, 5, 8)
    mask = lengths_mask(torch.tensor([5, 3]))
    torch.testing.assert_close(mine(batch, mask), notebook["layer"](batch, batch, batch, mask))


# Exercises


def test_e_to_the_score_must_be_693_so_the_factor_is_18_5_at_least():
    assert round(0.99 * 7 / 0.01) == 693
    score = torch.tensor(693.0).log()
    assert round(score.item(), 2) == 6.54 and round(score.item() * 8**0.5, 1) == 18.5


# Going deeper


def test_with_the_causal_mask_the_last_word_alone_hears_of_the_change(notebook):
    assert (notebook["encoder_moves"] > 0.1).all()
    assert (notebook["decoder_moves"][:4] == 0).all() and notebook["decoder_moves"][4] > 0.1
