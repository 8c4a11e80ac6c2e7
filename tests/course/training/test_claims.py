"""What 08_training says, tested: each number, and each "so"."""

import copy
from functools import cache

import pytest
import torch
import torch.nn.functional as F
from claims import fold, seeds

from encoder_lib import trace
from encoder_lib.course.training import letters
from encoder_lib.training.tasks import IGNORE_INDEX, TASKS, Sample, solver

pytestmark = pytest.mark.long  # the notebook takes most of a minute

HERE = "the notebook's"  # its reader, beside smaller ones in the weekly run
each_reader = pytest.mark.parametrize("seed", [HERE, *(pytest.param(n, marks=pytest.mark.weekly) for n in range(8))])


# The loop


def test_the_loop_of_large_models_is_run_as_it_stands(notebook, monkeypatch):
    """It draws the loss down; its rate rises for 15 steps and falls to 0, and no gradient is longer than 1."""
    torch.manual_seed(0)
    task, rates = TASKS["pointer"], []
    model = solver(task, d_model=32)
    clip = torch.nn.utils.clip_grad_norm_

    def next_batch():
        rates.append(names["optimiser"].param_groups[0]["lr"])
        return task.draw(64)

    def clipped(parameters, most):
        clip(parameters := list(parameters), most)
        assert torch.nn.utils.get_total_norm([x.grad for x in parameters]) < 1.001

    monkeypatch.setattr(torch.nn.utils, "clip_grad_norm_", clipped)
    names = {"torch": torch, "nn": torch.nn, "F": F, "model": model, "steps": 150, "next_batch": next_batch}
    exec(fold(notebook, "optimiser = torch.optim.AdamW"), names)
    assert len(rates) == 150 and rates[:14] == sorted(rates[:14]) and rates[14:] == sorted(rates[14:], reverse=True)
    assert 0.85 * 0.003 < max(rates) <= 0.003 and names["optimiser"].param_groups[0]["lr"] == 0
    batch = task.draw(500)
    assert notebook["percent_right"](model(batch.ids), batch) > 95


# Where it looks


def test_what_one_should_have_found_in_the_explorer(notebook):
    recording = notebook["recording"]
    right, weight = recording.accuracies, recording.weights[:, 0, 0]
    (step, *_) = (i for i, share in enumerate(right.tolist()) if share >= 0.9)
    assert 40 - 2 < step < 50 + 2 and 0.75 < weight[step] < 0.95
    for x in (right, weight):
        assert 0.3 < x[30] < 0.5 and x[60] > 0.95
    assert recording.steps == list(range(150)) and len(recording.sequences) == 6 and len(recording.sample.ids) == 100
    arrows = [[int(token[1:]) for token in tokens[8:]] for tokens in recording.sequences]
    for sequence in range(6):
        assert recording.maps[-1, 0, 0, sequence, 8:].argmax(dim=-1).tolist() == arrows[sequence]


# A text holds its own answers

LENGTH = 32  # of the excerpts of a smaller reader


@pytest.fixture(scope="module")
def small(notebook):
    """A function that trains a smaller reader from a seed, and the gaps that it is asked about."""
    torch.manual_seed(2)
    gaps = notebook["excerpts"](notebook["unseen"], 512, 0.15, LENGTH)

    @cache
    def learn(seed):
        reader = notebook["new_filler"](seed, d_model=32)
        notebook["train"](reader, lambda: notebook["excerpts"](notebook["text"], 32, 0.3, LENGTH), 300)
        return reader, gaps

    return learn


def right(guesses, gaps):
    """Per cent of the gaps that are filled rightly."""
    return 100 * (guesses == gaps.targets)[gaps.ids == letters.GAP].double().mean().item()


def trained(notebook, small, seed):
    """The notebook's reader, or a smaller one of that seed, and the gaps that it is asked about."""
    return (notebook["filler"], notebook["gaps"]) if seed == HERE else small(seed)


def within(reader, gaps, may_look):
    """Per cent of the gaps that are filled rightly when only some looks are allowed, by their distance."""
    place = torch.arange(gaps.ids.shape[1])
    with torch.no_grad():
        return right(reader[1](reader[0](gaps.ids, may_look(place - place[:, None]))).argmax(dim=-1), gaps)


def test_a_hidden_letter_asks_and_no_other_has_a_target(notebook):
    """A hidden letter is the target of its gap, and all other places have the target −100."""
    torch.manual_seed(0)
    ids = torch.randint(27, (100, 64))
    given, targets, _ = notebook["hide"](ids, 0.3)
    hidden = given == letters.GAP
    assert 0.27 < hidden.double().mean() < 0.33 and torch.equal(given[~hidden], ids[~hidden])
    assert torch.equal(targets[hidden], ids[hidden]) and (targets[~hidden] == IGNORE_INDEX).all()
    assert len(notebook["text"]) + len(notebook["unseen"]) > 200_000 and len(letters.LETTERS) == 27


def test_what_counting_fills_in(notebook):
    none, left, one, two = notebook["counting"].values()
    assert 100 / 7 < none < 20
    assert 20 < left < 32 and left + 10 < one < two - 10


def test_it_passes_one_neighbour_on_each_side_and_two_stay_ahead(notebook):
    share = list(notebook["right_after"].values())
    assert list(notebook["right_after"]) == list(range(0, 501, 100))
    none, before, one, two = notebook["counting"].values()
    assert none < before < one and share[1] < one and one + 3 < share[-1] < two - 5
    assert share[-1] > share[3] + 1  # it still rises


@pytest.mark.weekly
def test_within_3000_steps_it_passes_the_counting(notebook, capsys):
    """Within 3000 steps the model passes counting with two neighbours, by the lines that the reader may paste."""
    exec(fold(notebook, "from copy import deepcopy\nlonger"), dict(notebook.variables))
    percent = [int(line.split()[-2]) for line in capsys.readouterr().out.splitlines()]
    assert len(percent) == 5 and percent[-1] > notebook["counting"]["two on each side"]


@pytest.mark.weekly
@pytest.mark.parametrize("seed", range(1, 8))
def test_eight_excerpts_are_learned_by_heart_from_other_seeds(notebook, seed):
    """Eight excerpts are learned by heart, and other text is filled worse than by spaces."""
    torch.manual_seed(seed)
    learner, gaps = notebook["new_filler"](seed), notebook["gaps"]
    eight = notebook["excerpts"](notebook["text"], 8, 0.3)
    notebook["train"](learner, lambda: eight, 100)
    by_heart, new = (notebook["percent_right"](learner(x.ids), x) for x in (eight, gaps))
    assert by_heart > 95 and new < notebook["counting"]["no neighbour"] - 2


def test_eight_excerpts_are_learned_by_heart_and_no_other_text(notebook):
    """Other text is filled worse than by spaces, which counting with no neighbour always says."""
    by_heart, new = notebook["met_and_new"]
    assert by_heart > 95 and new < notebook["counting"]["no neighbour"] - 2 < notebook["right_after"][100]
    assert (letters.by_counts(notebook["text"], notebook["gaps"].ids, 0, 0) == 0).all()


@each_reader
def test_the_and_sleeping_come_out_right_and_vowels_in_between(notebook, small, seed):
    """ "The" and "sleeping" come out right, and "cat" and "mat" get a vowel, with one exception at most."""
    reader, _ = trained(notebook, small, seed)
    given = "th_ c_t is sleepi_g on t_e m_t"
    filled = (after for before, after in zip(given, letters.fill(reader, given), strict=True) if before == "_")
    assert sum(map(str.__contains__, ("E", "AEIOU", "N", "H", "AEIOU"), filled)) >= 4


@each_reader
def test_few_answers_depend_on_the_weight_of_far_letters(notebook, small, seed):
    """Layer 1 gives much weight to far letters, yet few answers depend on it, and many on the four nearest."""
    reader, gaps = trained(notebook, small, seed)
    with torch.no_grad(), trace(reader) as t:
        reader(gaps.ids)
    first = t["0.encoder.layers.0.attention.weights"].mean(dim=1)  # (B, T, T)
    place = torch.arange(first.shape[-1])
    far = (place - place[:, None]).abs() > 2
    assert (first * far).sum(dim=-1)[gaps.ids == letters.GAP].mean() > 0.3
    anywhere = within(reader, gaps, lambda d: d < LENGTH * 2)
    assert within(reader, gaps, lambda d: d.abs() <= 2) / anywhere > 0.8
    assert within(reader, gaps, lambda d: (d.abs() > 2) | (d == 0)) < 20


@pytest.mark.weekly
@pytest.mark.parametrize("seed", range(8))
def test_with_one_side_about_half_is_left_in_smaller_readers(small, seed):
    reader, gaps = small(seed)
    anywhere = within(reader, gaps, lambda d: d < LENGTH * 2)
    for one_side in (lambda d: d <= 0, lambda d: d >= 0):
        assert 0.45 < within(reader, gaps, one_side) / anywhere < 0.8
    assert abs(within(reader, gaps, lambda d: d <= 0) - within(reader, gaps, lambda d: d >= 0)) < 8


def test_the_tables_of_weights_and_of_what_is_left(notebook):
    near, far = ([notebook["weight_on"](notebook[n], x) for x in notebook["maps"]] for n in ("near", "far"))
    assert 40 < far[0] < 60 and near[1] > 2 * far[1]
    nothing, farther, nearest = map(float, notebook.prediction("forbidden").result["% right"])
    assert farther > 0.8 * nothing and 40 < nothing < 60
    assert nearest < notebook["counting"]["no neighbour"]


def test_six_small_models_too_need_no_far_letters(notebook):
    """Far letters have a third of the weight, and three quarters as many answers are right without them."""
    weight, remain = zip(*(row.values() for row in notebook["seeds"].values()), strict=True)
    assert len(remain) == 6 and min(remain) > 76 and min(weight) > 33
    assert max(remain) > min(remain) + 5


@each_reader
def test_near_looks_of_layer_1_are_worth_more_than_far_ones(notebook, small, seed):
    """Layer 1's near looks are worth more than its far ones, and layer 2 needs its own near ones."""
    reader, gaps = trained(notebook, small, seed)
    forward_with = answer(notebook, "forward_with")
    place = torch.arange(gaps.ids.shape[1])
    far = (place - place[:, None]).abs() > 2
    near, anywhere = ~far & ~torch.eye(len(place), dtype=torch.bool), torch.ones_like(far)

    @torch.no_grad()
    def with_masks(*masks):
        return right(reader[1](forward_with(reader[0], gaps.ids, masks)).argmax(dim=-1), gaps)

    whole = with_masks(anywhere, anywhere)
    if seed == HERE:
        assert 10 < whole - with_masks(~near, anywhere) < 20 and whole - with_masks(~far, anywhere) < 8
    assert whole - with_masks(~near, anywhere) > 2 * (whole - with_masks(~far, anywhere))
    assert with_masks(anywhere, ~near) < notebook["counting"]["no neighbour"] + 7


def test_one_side_tells_about_as_much_as_the_other(notebook):
    anywhere, before, after = notebook["allowed"].values()
    assert 0.45 < min(before, after) / anywhere < max(before, after) / anywhere < 0.8 and abs(before - after) < 8


@each_reader
def test_most_that_is_nearest_to_vowels_are_vowels(notebook, small, seed):
    """By chance it would be 3 of 20."""
    reader, _ = trained(notebook, small, seed)
    rows = F.normalize(reader[1].weight[1:].detach(), dim=-1)
    nearest = (rows @ rows.T).fill_diagonal_(-1)[letters.to_ids("aeiou") - 1].topk(4).indices.flatten() + 1
    assert sum(letter in "aeiou" for letter in letters.to_text(nearest)) > 11


# Of 1,000,000 steps: Devlin et al. 2018, appendix A.2; 40 epochs of 3.3 billion words
BERT = {"rate": 0.0001, "decay": 0.01, "warm-up": 10_000, "tokens a step": 256 * 512, "chips": 16}


def test_bert_met_up_to_512_tokens_of_256_texts_a_step():
    assert BERT["tokens a step"] == 131_072 and 10**6 * BERT["tokens a step"] / 3.3e9 == pytest.approx(40, rel=0.02)


# The exercises


def answer(notebook, name):
    """The function of that name as the notebook answers its exercise."""
    names = {"torch": torch, "letters": letters, "Sample": Sample, "IGNORE_INDEX": IGNORE_INDEX}
    exec(fold(notebook, f"def {name}"), names)
    return names[name]


@seeds(8)
def test_after_berts_hiding_it_names_nine_in_ten_letters_it_sees(notebook, small, seed):
    """Before it names fewer than half of the letters that it sees, and so it does after as many steps on gaps alone."""
    reader, _ = small(seed)
    ids = notebook["excerpts"](notebook["unseen"], 256, 0, LENGTH).ids
    everywhere = Sample(ids, ids, None)

    def right_after(hide, steps):
        learner = copy.deepcopy(reader)
        notebook["train"](learner, lambda: hide(notebook["excerpts"](notebook["text"], 24, 0, LENGTH).ids, 0.3), steps)
        return notebook["percent_right"](learner(ids), everywhere)

    torch.manual_seed(0)
    assert notebook["percent_right"](reader(ids), everywhere) < 50
    assert right_after(answer(notebook, "hide_for_bert"), 250) > 90
    if seed == 0:
        assert right_after(notebook["hide"], 500) < 50


def test_the_notebooks_own_model_names_fewer_than_half(notebook):
    """The notebook's own model names fewer than half of the letters that it sees."""
    ids = notebook["excerpts"](notebook["unseen"], 256, 0).ids
    assert notebook["percent_right"](notebook["filler"](ids), Sample(ids, ids, None)) < 50
