"""The generated data sets are what they say, and the training loop learns them."""

import re

import pytest
import torch
from torch import nn

from encoder_lib import TokenEmbedding
from encoder_lib.tasks import KINDS, SENTENCES, accuracy, fit, kinds_corpus, library_sentences, neighbours, reversal


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


def test_fit_learns_watches_every_step_and_leaves_eval_mode():
    model = nn.Sequential(TokenEmbedding(5, 8), nn.Dropout(0.1), nn.Linear(8, 5))
    ids = torch.arange(5)
    seen = []
    losses = fit(model, lambda: (ids, ids.roll(1)), steps=200, lr=0.05, watch=lambda: seen.append(model.training))
    assert len(losses) == 200 and losses[-1] < 0.1 < losses[0]
    assert seen == [True] * 201 and not model.training
    assert accuracy(model, ids, ids.roll(1)) == 1.0
    assert accuracy(model, ids, ids.roll(2)) == 0.0


@pytest.mark.parametrize(
    ("wrong", "error"), [({"steps": 0}, ValueError), ({"steps": 1.5}, TypeError), ({"steps": 1, "lr": 0}, ValueError)]
)
def test_fit_refuses_steps_and_rates_that_mean_nothing(wrong, error):
    model = nn.Sequential(TokenEmbedding(5, 8), nn.Linear(8, 5))
    with pytest.raises(error, match=r"steps|lr"):
        fit(model, lambda: (torch.arange(5), torch.arange(5)), **wrong)


def test_library_sentences_are_real_sentences_with_their_place():
    sentences = library_sentences()
    assert len(sentences) > 300 and sentences == library_sentences()
    assert all(re.fullmatch(r"[A-Z][ -~]{28,158}\.", sentence) for sentence in sentences)
    assert sentences["Create and return a temporary directory."] == "tempfile.TemporaryDirectory"
    assert not any(re.search(r"\._|^_", place) for place in sentences.values())


def test_an_interrupted_training_leaves_a_usable_model():
    model = nn.Sequential(TokenEmbedding(5, 8), nn.Dropout(0.1), nn.Linear(8, 5))
    steps = iter([None, None])

    def interrupt():
        if next(steps, "stop") == "stop":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(model, lambda: (torch.arange(5), torch.arange(5)), steps=10, watch=interrupt)
    assert not model.training and model(torch.arange(5)).isfinite().all()
