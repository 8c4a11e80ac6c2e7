"""Hidden words: what is hidden and asked, and what counting would guess."""

import itertools

import pytest
import torch
from torch import nn

from encoder_lib import TransformerEncoder
from encoder_lib.training.fit import accuracy, fit
from encoder_lib.training.masked_words import HIDDEN, PADDING, RARE, SPECIAL, MaskedWords
from encoder_lib.training.tasks import IGNORE_INDEX, library_text

WORDS = ("red", "blue", "green", "old", "new", "small")
TEXT = [f"The {a} dog sees a {b} cat number {n}." for a in WORDS for b in WORDS for n in ("one", "two", "odd")]


@pytest.fixture(scope="module")
def words():
    return MaskedWords(TEXT, least=5, longest=10)


def test_tokens_are_words_in_small_letters_and_marks():
    words = MaskedWords([*TEXT, "Don't STOP (it's o'clock), x-y: 3 two."], least=1, longest=40)
    assert words.vocabulary[:3] == list(SPECIAL) and len(set(words.vocabulary)) == len(words.vocabulary)
    rows = [" ".join(words.read(row)) for row in torch.cat([words.training, words.held_out])]
    assert "don't stop ( it's o'clock ) , x - y : 3 two ." in rows
    assert "the red dog sees a old cat number odd ." in rows


def test_the_vocabulary_holds_what_is_frequent_in_training(words):
    held_out = {" ".join(words.read(row)) for row in words.held_out}
    training = [words.read(row) for row in words.training]
    assert len(training) + len(held_out) == len(TEXT) and not held_out & set(map(" ".join, training))
    counts = [sum(row.count(word) for row in training) for word in words.vocabulary[3:]]
    assert counts == sorted(counts, reverse=True) and min(counts) >= 5
    assert words.vocabulary[3:8] == [".", "a", "cat", "dog", "number"], "ties go by the alphabet"


def test_a_sentence_stays_on_its_side_wherever_it_comes():
    sides = {}
    for text in (TEXT, TEXT[::-1], TEXT + TEXT[:9]):
        words = MaskedWords(text, least=1, longest=10)
        for name in ("training", "held_out"):
            rows = [" ".join(words.read(row)) for row in getattr(words, name)]
            assert len(rows) == len(set(rows))
            sides.setdefault(name, set(rows))
            assert set(rows) == sides[name]


def test_long_sentences_are_left_out_and_short_ones_padded():
    words = MaskedWords([*TEXT, *(f"Word number {w}." for w in WORDS), "a " * 30 + "."], least=1, longest=10)
    assert words.training.shape[1] == 10 and (words.training[:, -1] == PADDING).any()
    assert words.read(torch.tensor([4, PADDING])) == [words.vocabulary[4]]


def test_drawing_hides_some_words_and_asks_for_them(words):
    torch.manual_seed(0)
    ids, targets = words.draw(500, share=0.3)
    hidden = ids == HIDDEN
    assert torch.equal(hidden, targets != IGNORE_INDEX) and targets[hidden].min() > RARE
    rows = torch.where(hidden, targets, ids)
    known = {tuple(row) for row in words.training.tolist()}
    assert {tuple(row) for row in rows.tolist()} <= known, "behind each gap is the word of a training sentence"
    assert 0.25 < hidden.sum() / (rows > RARE).sum() < 0.35
    assert (words.draw(5, share=0.0)[1] == IGNORE_INDEX).all()
    ids, _ = words.draw(5, share=1.0)
    assert set(ids.flatten().tolist()) <= {HIDDEN, RARE, PADDING}


def test_questions_hide_each_known_word_of_the_held_out_sentences_once(words):
    ids, targets = words.questions()
    assert ((ids == HIDDEN).sum(1) == 1).all() and torch.equal(ids == HIDDEN, targets != IGNORE_INDEX)
    assert len(ids) == (words.held_out > RARE).sum() == len(torch.unique(torch.cat([ids, targets], 1), dim=0))
    some, _ = words.questions(7)
    assert len(some) == 7 and torch.equal(some[[0, -1]], ids[[0, -1]])
    assert len(words.questions(10**6)[0]) == len(ids)


def test_counting_agrees_with_a_loop(words):
    """The same four guesses, from dictionaries of counts."""
    rows = [["", *words.read(row), ""] for row in words.training]
    known = words.vocabulary[3:]
    total = sum(row.count(word) for row in rows for word in known)
    share = {word: sum(row.count(word) for row in rows) / total for word in known}
    pairs = [pair for row in rows for pair in itertools.pairwise(row)]

    def after(left, word):
        return pairs.count((left, word)) + share[word]

    def before(right, word):
        return pairs.count((word, right)) + share[word]

    ids, targets = words.questions(12)
    right = dict.fromkeys(("most frequent word", "word before", "word after", "both"), 0)
    for row, target in zip(ids, targets, strict=True):
        place = (row == HIDDEN).nonzero().item()
        text = ["", *words.read(row), ""]
        left, answer = text[place], words.vocabulary[target[place]]
        following = text[place + 2]
        guesses = {
            "most frequent word": max(known, key=share.get),
            "word before": max(known, key=lambda w: after(left, w)),
            "word after": max(known, key=lambda w: before(following, w)),
            "both": max(known, key=lambda w: after(left, w) * before(following, w) / share[w]),
        }
        for name, guess in guesses.items():
            right[name] += guess == answer
    assert words.counting(ids, targets) == pytest.approx({name: n / 12 for name, n in right.items()})


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: MaskedWords(TEXT, least=0), ValueError, "least"),
        (lambda: MaskedWords(TEXT, longest=2.0), TypeError, "longest"),
        (lambda: MaskedWords([]), ValueError, "sentences: expected more, got 0 to learn from and 0 to try"),
        (lambda: MaskedWords(TEXT, least=10**6), ValueError, "sentences: expected more"),
        (lambda: MaskedWords(TEXT, longest=3), ValueError, "sentences: expected more"),
        (lambda: MaskedWords(TEXT).draw(0), ValueError, "batch"),
        (lambda: MaskedWords(TEXT).draw(3, share=2), ValueError, "share"),
        (lambda: MaskedWords(TEXT).questions(0), ValueError, "n: expected"),
    ],
)
def test_bad_input(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.long
@pytest.mark.parametrize(("seed", "part"), [(0, 1.0), (1, 1.0), (2, 1.0), (3, 0.7)])
def test_a_model_beats_the_guess_from_one_neighbour(seed, part):
    """On the whole text, and on part of it: other versions of Python have other sentences."""
    chosen = torch.rand(len(library_text()), generator=torch.Generator().manual_seed(seed)) <= part
    words = MaskedWords([s for s, keep in zip(library_text(), chosen, strict=True) if keep], least=40)
    questions, n = words.questions(1000), len(words.vocabulary)
    torch.manual_seed(seed)
    settings = {"positional": "rotary", "padding_idx": 0, "scale": True, "norm_first": True}
    model = nn.Sequential(TransformerEncoder(n, 2, 64, 4, 128, **settings), nn.Linear(64, n)).float()
    history = fit(model, lambda: words.draw(64), steps=700, held_out=questions, eval_every=350)
    shares, share = words.counting(*questions), accuracy(model, *questions)
    assert share > shares["most frequent word"] + 0.1, history
    assert share > max(shares["word before"], shares["word after"]) + 0.02, history
    assert share > shares["both"] - 0.1, history


def test_counting_needs_a_question(words):
    ids, targets = words.questions(3)
    with pytest.raises(ValueError, match=r"targets: expected at least one that asks for a word, .*; try"):
        words.counting(ids, torch.full_like(targets, IGNORE_INDEX))
