"""The generated data sets are what they say."""

import re
from collections import Counter

import pytest
import torch

from encoder_lib import trace
from encoder_lib.training.fit import accuracy, fit
from encoder_lib.training.tasks import (
    IGNORE_INDEX,
    KINDS,
    SENTENCES,
    TASKS,
    brackets,
    copy_back,
    kinds_corpus,
    library_sentences,
    neighbours,
    padded_reversal,
    pointers,
    reversal,
    right_map,
    solver,
    weight_on,
    wonderland,
)


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


@pytest.mark.parametrize(("length", "shortest"), [(12, 4), (5, 5), (6, 1), (1, 1)])
def test_padded_reversal_reads_backwards_up_to_the_padding(length, shortest):
    ids, targets, source = padded_reversal(300, length, 10, shortest=shortest)
    lengths = (ids != 10).sum(1)
    assert ids.shape == targets.shape == source.shape == (300, length)
    assert lengths.min() == shortest and lengths.max() == length and ids.max() == (9 if shortest == length else 10)
    for row, answer, place, n in zip(ids.tolist(), targets.tolist(), source.tolist(), lengths.tolist(), strict=True):
        assert answer == row[:n][::-1] + [IGNORE_INDEX] * (length - n)
        assert place == [*range(n - 1, -1, -1)] + [IGNORE_INDEX] * (length - n)


def test_copy_back_asks_for_the_token_so_many_places_before():
    ids, targets, source = copy_back(50, 9, 7, back=2)
    assert ids.shape == (50, 9) and set(ids.flatten().tolist()) == set(range(7))
    for row, answer, place in zip(ids.tolist(), targets.tolist(), source.tolist(), strict=True):
        assert answer == [IGNORE_INDEX] * 2 + row[:7]
        assert place == [IGNORE_INDEX] * 2 + list(range(7))


def test_a_copy_from_before_the_beginning_is_refused():
    with pytest.raises(ValueError, match="back: expected less than length=4, got 4; try back=2"):
        copy_back(1, 4, 7, back=4)


def test_pointers_ask_for_the_word_at_the_place_that_they_name():
    ids, targets, source = pointers(200, 5, 7)
    assert ids.shape == (200, 10) and set(ids[:, :5].flatten().tolist()) == set(range(7))
    assert set(ids[:, 5:].flatten().tolist()) == set(range(7, 12))
    for row, answer, place in zip(ids.tolist(), targets.tolist(), source.tolist(), strict=True):
        assert answer == [IGNORE_INDEX] * 5 + [row[token - 7] for token in row[5:]]
        assert place == [IGNORE_INDEX] * 5 + [token - 7 for token in row[5:]]


def partners(text):
    """Where the partner of each bracket stands, by a stack."""
    stack, answer = [], [None] * len(text)
    for place, bracket in enumerate(text):
        if bracket == 0:
            stack.append(place)
        else:
            other = stack.pop()
            answer[place], answer[other] = other, place
    assert not stack
    return answer


@pytest.mark.parametrize("length", [2, 4, 16, 30])
def test_brackets_match_and_ask_for_their_partner(length):
    ids, targets, source = brackets(200, length)
    assert ids.shape == (200, length) and targets is source
    assert targets.tolist() == [partners(row) for row in ids.tolist()]


def test_every_balanced_sequence_is_equally_likely():
    """There are 14 of length 8, and a thousand of each are expected, give or take 31."""
    counts = Counter(map(tuple, brackets(14_000, 8).ids.tolist()))
    assert len(counts) == 14 and all(850 < count < 1150 for count in counts.values())


def test_the_right_map_looks_at_the_source():
    source = torch.tensor([[2, IGNORE_INDEX, 0]])
    looks = right_map(source)
    assert looks.shape == (1, 3, 3) and looks.dtype == torch.get_default_dtype()
    assert looks[0, 0].tolist() == [0, 0, 1] and looks[0, 2].tolist() == [1, 0, 0] and looks[0, 1].isnan().all()


def test_the_weight_on_the_source_is_averaged_over_all_that_ask():
    weights = torch.rand(2, 3, 4, 4).softmax(-1)
    source = torch.tensor([[3, IGNORE_INDEX, 0, IGNORE_INDEX], [IGNORE_INDEX, 2, IGNORE_INDEX, IGNORE_INDEX]])
    for head in range(3):
        expected = (weights[0, head, 0, 3] + weights[0, head, 2, 0] + weights[1, head, 1, 2]) / 3
        assert weight_on(source, weights)[head].item() == pytest.approx(expected.item())
    sample = TASKS["pointer"].draw(5)
    perfect = right_map(sample.source).nan_to_num(1 / 16)[:, None]
    assert weight_on(sample.source, perfect).tolist() == [1.0]


@pytest.mark.parametrize("name", TASKS)
def test_a_task_fits_its_symbols_its_answers_and_its_model(name):
    task = TASKS[name]
    ids, targets, source = task.draw(50)
    assert ids.shape == targets.shape == source.shape == (50, task.length)
    assert ids.min() >= 0 and ids.max() < len(task.symbols) == len(set(task.symbols))
    asked = targets != IGNORE_INDEX
    assert torch.equal(asked, source != IGNORE_INDEX) and targets[asked].min() >= 0 and targets.max() < task.answers
    if task.padding_idx is not None:
        assert torch.equal(asked, ids != task.padding_idx) and not asked.all()
    assert [task.symbols.index(symbol) for symbol in task.read(ids[0])] == ids[0].tolist()
    scores = solver(task, n_layers=2, n_heads=4)(ids)
    assert scores.shape == (50, task.length, task.answers) and scores.dtype == torch.float32


def test_a_solver_takes_the_encoders_settings():
    model = solver(TASKS["padded"], d_model=32, positional="rotary", norm_first=True, padding_idx=None)
    assert model[0].padding_idx is None and model[0].encoder.layers[0].norm_first and model[1].in_features == 32


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: padded_reversal(0, 5, 10), ValueError, "batch"),
        (lambda: padded_reversal(2, 3, 10), ValueError, "shortest: expected at most length=3, got 4"),
        (lambda: padded_reversal(2, 5, 10, shortest=0), ValueError, "shortest"),
        (lambda: padded_reversal(2, 5, 1.5), TypeError, "vocab_size"),
        (lambda: pointers(2, 0, 10), ValueError, "n_words"),
        (lambda: pointers(2, 4, "a"), TypeError, "vocab_size"),
        (lambda: brackets(2, 7), ValueError, "length: expected an even number"),
        (lambda: brackets(2, 0), ValueError, "length"),
        (lambda: brackets(True, 4), TypeError, "batch"),
    ],
)
def test_tasks_refuse_sizes_that_mean_nothing(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("name", "settings", "steps"),
    [("reverse", {}, 100), ("pointer", {}, 100), ("brackets", {"n_layers": 2, "n_heads": 4}, 400)],
)
def test_each_task_is_learned_in_few_steps_and_copies_are_looked_up(name, settings, steps, seed):
    """At least 99 % of fresh answers after so few steps; a copy looks at its source, brackets need not."""
    task = TASKS[name]
    torch.manual_seed(seed)
    model, held_out = solver(task, **settings), task.draw(1000)
    stop = {"stop_at_accuracy": 0.995} if name == "brackets" else {}
    history = fit(model, lambda: task.draw(64), steps=steps, held_out=held_out, **stop)
    ids, targets, source = task.draw(1000)
    assert accuracy(model, ids, targets) >= 0.99, history
    with torch.no_grad(), trace(model) as t:
        model(ids)
    weights = torch.cat([weight_on(source, x) for tensor, x in t.items() if tensor.endswith("attention.weights")])
    if name == "brackets":
        assert weights.mean() < 0.33 and weights.max() < 0.8
    else:
        assert weights.min() > 0.95


def test_library_sentences_are_real_sentences_with_their_place():
    sentences = library_sentences()
    assert len(sentences) > 300 and sentences == library_sentences()
    assert all(re.fullmatch(r"[A-Z][ -~]{28,158}\.", sentence) for sentence in sentences)
    assert sentences["Create and return a temporary directory."] == "tempfile.TemporaryDirectory"
    assert not any(re.search(r"\._|^_", place) for place in sentences.values())


def test_what_asks_nothing_has_no_weight():
    with pytest.raises(ValueError, match=r"source: expected at least one token that asks, got none; try"):
        weight_on(torch.full((2, 3), IGNORE_INDEX), torch.ones(2, 1, 3, 3))


def test_wonderland_is_alice_from_her_first_words_on():
    words = re.findall("[a-z]+", wonderland().lower())
    assert words[:3] == ["alice", "was", "beginning"] and len(words) == 646 and len(set(words)) == 263
    assert wonderland().isascii()
