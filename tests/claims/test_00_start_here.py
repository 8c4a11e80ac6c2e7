"""What 00_start_here says, tested: each number, and each "so"."""

import re

import pytest
import torch

from encoder_lib.course.lab import ladder

# Tokens


# Vectors


def test_a_sentence_has_384_numbers_and_length_1(notebook):
    vectors = notebook["vectors"]
    torch.testing.assert_close(vectors.norm(dim=-1), torch.ones(5, dtype=vectors.dtype), atol=1e-5, rtol=0)


def test_a_vector_is_the_mean_over_its_tokens_at_length_1(notebook):
    model, text = notebook["model"], notebook["sentences"][0]
    with torch.no_grad():
        mean = model.encoder(model.ids(text))[0].mean(dim=0)
    torch.testing.assert_close(mean.cpu() / mean.cpu().norm(), notebook["vectors"][0], atol=1e-5, rtol=0)


def test_the_recipe_is_closer_with_0_35_than_the_cage_with_0_21(notebook):
    cake, cage, recipe = range(3)
    assert round(notebook["cosines"][cake, recipe].item(), 2) == 0.35
    assert round(notebook["cosines"][cake, cage].item(), 2) == 0.21
    assert notebook["cosines"][cake, cage] > notebook["cosines"][cage, recipe]  # the letters count, too
    question = notebook.prediction("alike").question
    assert question.choices[question.answer] == notebook["sentences"][recipe]


def test_0_is_about_what_two_unrelated_words_get(notebook):
    model = notebook["model"]
    pairs = {"The cat sat on the mat.": "mat", "The stock market fell sharply.": "market", "My dog likes music.": "dog"}
    for text, word in pairs.items():
        there = model.encoder(model.ids(text))[0, model.tokens(text).index(word)]
        assert abs(torch.cosine_similarity(notebook["river"], there, dim=0)) < 0.1


def test_the_two_banks_have_the_largest_cosine_of_all_pairs(notebook):
    others = notebook["cosines"].clone().fill_diagonal_(-1)
    assert divmod(int(others.argmax()), 5) in ((3, 4), (4, 3))
    river, rates = (set(re.findall(r"\w+", s.lower())) for s in notebook["sentences"][3:])
    assert river & rates == {"the", "bank"}


def test_what_comes_out_for_bank_depends_on_its_company(notebook):
    same, other, shore, unrelated = notebook["cosines_of_bank"]
    assert same > 0.95 > 0.9 > other > 0.8 > 0.3 > shore > 0.1 > abs(unrelated)
    model = notebook["model"]
    table = model.encoder.embedding.token
    rows = [
        table(model.ids(text))[0, model.tokens(text).index("bank")]
        for text in ("The river bank was flooded.", "The big bank raised its interest rates.")
    ]
    assert torch.equal(*rows)  # as a token it is the same


# Attention


def test_twelve_of_thirteen_tokens_look_most_at_cat_it_on_and_was_among_them(notebook):
    tokens = notebook["tokens"]
    looked_at = [tokens[i] for i in notebook["weights"][5, 11].argmax(dim=-1)]
    assert len(tokens) == 13 and looked_at.count("cat") == 12
    assert all(looked_at[tokens.index(word)] == "cat" for word in ("it", "on", "was"))


@pytest.mark.parametrize(
    "text", ["The cat sat on the mat because it was tired.", "The stock market fell sharply.", "Hello"]
)
def test_one_head_of_the_first_two_layers_looks_at_the_token_before(notebook, text):
    weights = notebook["model"].attention(text)  # (layers, H, T, T)
    before = torch.arange(weights.shape[-1] - 1)
    found = (weights.argmax(dim=-1)[..., 1:].cpu() == before).all(dim=-1)  # (layers, H)
    assert found[:2].sum() >= 1 and found[:2].nonzero().tolist()[0] == [0, 2]


# Parameters and digits


def test_the_sizes_can_be_estimated_as_the_text_says(notebook):
    sizes = notebook["sizes"]
    assert sizes["attention"] == pytest.approx(6 * 4 * 384 * 384, rel=0.01)
    assert sizes["feed-forward"] == pytest.approx(6 * 2 * 384 * 1536, rel=0.01)


def test_the_table_of_words_holds_more_than_half_of_22_6_million(notebook):
    sizes = notebook["sizes"]
    total = notebook["count"](notebook["encoder"])
    assert round(total / 1e6, 1) == 22.6 and sizes["the table of words"] == 30_522 * 384 > total / 2
    assert max(sizes, key=sizes.get) == "the table of words"
    assert sum(sizes.values()) > 0.98 * total  # the three largest parts: hardly anything is left
    assert notebook.prediction("parts").question.answer == 0


def test_float64_has_sixteen_digits_and_float32_seven():
    third = torch.tensor(1 / 3)
    assert third.dtype == torch.float64  # setup asked for it
    assert abs(third.item() - 1 / 3) < 1e-16 < 1e-9 < abs(third.float().item() - 1 / 3) < 1e-7


def test_minilm_runs_in_float32_here_and_so_do_the_models_that_are_trained(notebook):
    assert notebook["model"].encoder.embedding.token.weight.dtype == torch.float32
    model, _ = ladder.train(lambda: ladder.CardModel(), steps=1)
    assert {p.dtype for p in model.parameters()} == {torch.float32}


# The task


def test_card_2_is_a_capital_and_its_answer_the_swapped_letter(notebook):
    letters, arrows = notebook["letters"], notebook["arrows"]
    torch.manual_seed(0)
    _, answers = ladder.deal(1)
    pointed_at = letters[arrows[2]]
    assert (letters[2], pointed_at, ladder.spell(answers[0])[2]) == ("C", "B", "b")
    question = notebook.prediction("cards").question
    assert question.choices[question.answer] == "b"


def test_a_guess_is_right_in_one_of_eight(notebook):
    assert 100 * notebook["share"].item() == pytest.approx(12.5, abs=0.6)
