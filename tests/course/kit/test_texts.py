"""What the course reads is what it says."""

import re

import torch

from encoder_lib.course.kit.texts import (
    KINDS,
    SENTENCES,
    kinds_corpus,
    library_sentences,
    library_texts,
    neighbours,
    wonderland,
)


def test_every_sentence_of_the_corpus_follows_a_pattern():
    sentences, words = kinds_corpus(500)
    kind = {word: name for name, members in KINDS.items() for word in members}
    assert sentences.shape == (500, 3) and len(words) == len(set(words)) == 19
    seen = {tuple(kind.get(words[i], words[i]) for i in row) for row in sentences.tolist()}
    assert seen == set(SENTENCES)
    assert set(sentences.flatten().tolist()) == set(range(19)), "every word occurs"


def test_corpus_is_sorted_by_kind_and_seeded():
    torch.manual_seed(1)
    sentences, words = kinds_corpus(50, seed=3)
    torch.manual_seed(2)
    assert torch.equal(sentences, kinds_corpus(50, seed=3)[0])
    assert not torch.equal(sentences, kinds_corpus(50, seed=4)[0])
    assert words[:16] == [word for members in KINDS.values() for word in members]


def test_neighbours_go_both_ways():
    words, beside = neighbours(torch.tensor([[1, 2, 3], [4, 5, 6]]))
    pairs = sorted(zip(words.tolist(), beside.tolist(), strict=True))
    assert pairs == [(1, 2), (2, 1), (2, 3), (3, 2), (4, 5), (5, 4), (5, 6), (6, 5)]


def test_library_sentences_are_real_sentences_with_their_place():
    sentences = library_sentences()
    assert len(sentences) > 300 and sentences == library_sentences()
    assert all(re.fullmatch(r"[A-Z][ -~]{28,158}\.", sentence) for sentence in sentences)
    assert sentences["Create and return a temporary directory."] == "tempfile.TemporaryDirectory"
    assert not any(re.search(r"\._|^_", place) for place in sentences.values())


def test_library_texts_begin_with_those_sentences():
    texts, whole = library_texts(), "\n".join(" ".join(text.split()) for text in library_texts())
    assert texts == library_texts() and all(texts) and max(map(len, texts)) > 20 * min(map(len, texts))
    assert all(sentence in whole for sentence in library_sentences())


def test_wonderland_is_alice_from_her_first_words_on():
    words = re.findall("[a-z]+", wonderland().lower())
    assert words[:3] == ["alice", "was", "beginning"] and len(words) == 646 and len(set(words)) == 263
    assert wonderland().isascii()
