"""What 00_start_here says, tested: each number, and each "so"."""

import re

import nbformat
import pytest
import torch
from places import ROOT

from encoder_lib.lab import ladder

STEM = "00_start_here"


def prose(stem):
    cells = nbformat.read(ROOT / "notebooks" / f"{stem}.ipynb", as_version=4).cells
    return "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


# Tokens


def test_two_tokens_stand_for_no_word_and_capitals_are_gone(notebook):
    assert notebook.shown("[CLS] the cat sat on the mat because it was tired . [SEP]")
    model = notebook["model"]
    assert model.tokens("THE Cat") == model.tokens("the cat")


def test_a_rare_word_is_spelled_in_pieces_and_what_has_no_piece_is_unknown(notebook):
    assert notebook.shown("un ##bel ##ie ##va ##bly") and notebook.shown("[UNK]")


# Vectors


def test_a_sentence_has_384_numbers_and_length_1(notebook):
    vectors = notebook["vectors"]
    assert notebook.shown("(5, 384)")
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
    question = notebook.prediction("alike").question
    assert question.choices[question.answer] == notebook["sentences"][recipe]


def test_cake_and_cage_differ_by_a_letter_and_the_recipe_shares_only_a(notebook):
    cake, cage, recipe = (set(re.findall(r"\w+", s.lower())) for s in notebook["sentences"][:3])
    assert sum(a != b for a, b in zip("cake", "cage", strict=True)) == 1
    assert cake & recipe == {"a"} and len(cake & cage) > len(cake) / 2


def test_the_two_banks_have_the_largest_cosine_of_all_pairs(notebook):
    others = notebook["cosines"].clone().fill_diagonal_(-1)
    assert divmod(int(others.argmax()), 5) in ((3, 4), (4, 3))
    river, rates = (set(re.findall(r"\w+", s.lower())) for s in notebook["sentences"][3:])
    assert river & rates == {"the", "bank"}


# Attention


def test_the_model_has_6_layers_of_12_heads_and_each_row_adds_up_to_1(notebook):
    weights = notebook["weights"]
    assert weights.shape[:2] == (6, 12)
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(6, 12, 13, dtype=weights.dtype), atol=1e-5, rtol=0)


def test_twelve_of_thirteen_tokens_look_most_at_cat_it_on_and_was_among_them(notebook):
    tokens = notebook["tokens"]
    looked_at = [tokens[i] for i in notebook["weights"][5, 11].argmax(dim=-1)]
    assert len(tokens) == 13 and looked_at.count("cat") == 12
    assert all(looked_at[tokens.index(word)] == "cat" for word in ("it", "on", "was"))


def test_in_the_other_sentence_all_look_at_cls(notebook):
    assert set(notebook.table("looks most at")["looks most at"]) == {"[CLS]"}


@pytest.mark.parametrize(
    "text", ["The cat sat on the mat because it was tired.", "The stock market fell sharply.", "Hello"]
)
def test_one_head_of_the_first_two_layers_looks_at_the_token_before(notebook, text):
    weights = notebook["model"].attention(text)  # (layers, H, T, T)
    before = torch.arange(weights.shape[-1] - 1)
    found = (weights.argmax(dim=-1)[..., 1:].cpu() == before).all(dim=-1)  # (layers, H)
    assert found[:2].sum() >= 1 and found[:2].nonzero().tolist()[0] == [0, 2]


# Parameters and digits


def test_the_table_of_words_holds_more_than_half_of_22_6_million(notebook):
    sizes = notebook["sizes"]
    total = notebook["count"](notebook["encoder"])
    assert round(total / 1e6, 1) == 22.6 and round(sizes["the table of words"] / 1e6, 1) == 11.7
    assert sizes["the table of words"] == 30_522 * 384 > total / 2
    assert max(sizes, key=sizes.get) == "the table of words"
    assert sum(sizes.values()) > 0.98 * total  # the three largest parts: hardly anything is left
    assert notebook.prediction("parts").question.answer == 0


def test_float32_is_wrong_from_the_eighth_digit_on(notebook):
    assert notebook.shown("float32: 0.3333333432674408") and notebook.shown("float64: 0.3333333333333333")


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
    assert notebook["share"].item() == pytest.approx(1 / 8, abs=0.006) and notebook.shown("12.4%")


# Hours


def test_the_time_is_counted_as_it_says():
    """180 words a minute, two minutes for a cell of code, ten for an exercise; the table of words at the end aside."""
    cells = nbformat.read(ROOT / "notebooks" / f"{STEM}.ipynb", as_version=4).cells[:-1]
    words = sum(
        len(re.sub(r"(?s)<details>.*?</details>", "", c.source).split()) for c in cells if c.cell_type == "markdown"
    )
    code = [c for c in cells if c.cell_type == "code"]
    exercises = sum("exercise" in c.metadata.get("tags", []) for c in code)
    minutes = words / 180 + 2 * (len(code) - exercises) + 10 * exercises
    assert "three quarters of an hour" in prose(STEM) and 35 < minutes < 56
