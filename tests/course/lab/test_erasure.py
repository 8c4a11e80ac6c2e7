"""What counts as content when tokens are taken away."""

import pytest

from encoder_lib import load_pretrained
from encoder_lib.course.lab.erasure import FUNCTION_WORDS, content_tokens

TEXT = "The cat sat on the mat because it was tired."


def test_the_content_of_a_sentence_is_what_it_names():
    tokens = load_pretrained("minilm").tokens(TEXT)
    kept = [token for token, content in zip(tokens, content_tokens(tokens), strict=True) if content]
    assert kept == ["cat", "sat", "mat", "tired"]


@pytest.mark.parametrize(
    ("token", "content"),
    [("ba", True), ("##ke", True), ("3", True), ("世", True), ("The", False), ("?", False), ("[UNK]", False)],
)
def test_pieces_digits_and_signs(token, content):
    assert content_tokens([token]).tolist() == [content]


def test_the_function_words_are_small_and_one_token_each():
    model = load_pretrained("minilm")
    assert all(word == word.lower() and model.tokens(word)[1:-1] == [word] for word in FUNCTION_WORDS)
