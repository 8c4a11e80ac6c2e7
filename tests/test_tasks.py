"""The generated data sets are what they say."""

import re

import pytest
import torch

from encoder_lib.tasks import KINDS, SENTENCES, kinds_corpus, library_sentences, neighbours, reversal


def test_every_sentence_of_the_corpus_follows_a_pattern():
    sentences, words = kinds_corpus(500)
    kind = {word: name for name, members in KINDS.items() for word in members}
    assert sentences.shape == (500, 3) and len(words) == len(set(words)) == 19
    seen = {tuple(kind.get(words[i], words[i]) for i in row) for row in sentences.tolist()}
    assert seen == set(SENTENCES)
    assert set(sentences.flatten().tolist()) == set(range(19)), "every word occurs"


def test_the_corpus_lists_words_kind_by_kind_and_depends_on_its_seed_alone():
    torch.manual_seed(1)
    sentences, words = kinds_corpus(50, seed=3)
    torch.manual_seed(2)
    assert torch.equal(sentences, kinds_corpus(50, seed=3)[0])
    assert not torch.equal(sentences, kinds_corpus(50, seed=4)[0])
    assert words[:16] == [word for members in KINDS.values() for word in members]


@pytest.mark.parametrize(("count", "error"), [(0, ValueError), (-1, ValueError), (2.0, TypeError), (True, TypeError)])
def test_a_corpus_needs_a_positive_number_of_sentences(count, error):
    with pytest.raises(error, match="n_sentences"):
        kinds_corpus(count)


def test_neighbours_go_both_ways():
    words, beside = neighbours(torch.tensor([[1, 2, 3], [4, 5, 6]]))
    pairs = sorted(zip(words.tolist(), beside.tolist(), strict=True))
    assert pairs == [(1, 2), (2, 1), (2, 3), (3, 2), (4, 5), (5, 4), (5, 6), (6, 5)]


def test_reversal_reads_backwards():
    ids, targets = reversal(7, 5, 10)
    assert ids.shape == targets.shape == (7, 5) and ids.max() < 10
    assert torch.equal(targets[:, 0], ids[:, -1]) and torch.equal(targets.flip(1), ids)


def test_library_sentences_are_real_sentences_with_their_place():
    sentences = library_sentences()
    assert len(sentences) > 300 and sentences == library_sentences()
    assert all(re.fullmatch(r"[A-Z][ -~]{28,158}\.", sentence) for sentence in sentences)
    assert sentences["Create and return a temporary directory."] == "tempfile.TemporaryDirectory"
    assert not any(re.search(r"\._|^_", place) for place in sentences.values())
