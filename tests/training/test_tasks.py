"""The generated tasks have the answers that they claim."""

import pytest
import torch

from encoder_lib.training.tasks import (
    IGNORE_INDEX,
    TASKS,
    copy_back,
    padded_reversal,
    reversal,
    solver,
)


def test_reversal_reverses():
    ids, targets = reversal(7, 5, 10)
    assert ids.shape == targets.shape == (7, 5) and ids.max() < 10
    assert torch.equal(targets[:, 0], ids[:, -1]) and torch.equal(targets.flip(1), ids)


@pytest.mark.parametrize(("length", "shortest"), [(12, 4), (5, 5), (6, 1), (1, 1)])
def test_padded_reversal_reverses_up_to_the_padding(length, shortest):
    ids, targets, source = padded_reversal(300, length, 10, shortest=shortest)
    lengths = (ids != 10).sum(1)
    assert ids.shape == targets.shape == source.shape == (300, length)
    assert lengths.min() == shortest and lengths.max() == length and ids.max() == (9 if shortest == length else 10)
    for row, answer, position, n in zip(ids.tolist(), targets.tolist(), source.tolist(), lengths.tolist(), strict=True):
        assert answer == row[:n][::-1] + [IGNORE_INDEX] * (length - n)
        assert position == [*range(n - 1, -1, -1)] + [IGNORE_INDEX] * (length - n)


def test_copy_back_targets_are_the_tokens_before():
    ids, targets, source = copy_back(50, 9, 7, back=2)
    assert ids.shape == (50, 9) and set(ids.flatten().tolist()) == set(range(7))
    for row, answer, position in zip(ids.tolist(), targets.tolist(), source.tolist(), strict=True):
        assert answer == [IGNORE_INDEX] * 2 + row[:7]
        assert position == [IGNORE_INDEX] * 2 + list(range(7))


@pytest.mark.parametrize("name", TASKS)
def test_ids_targets_and_scores_fit_the_task(name):
    task = TASKS[name]
    ids, targets, source = task.draw(50)
    assert ids.shape == targets.shape == source.shape == (50, task.length)
    assert ids.min() >= 0 and ids.max() < len(task.symbols) == len(set(task.symbols))
    counted = targets != IGNORE_INDEX
    assert torch.equal(counted, source != IGNORE_INDEX) and targets[counted].min() >= 0 and targets.max() < task.answers
    if task.padding_idx is not None:
        assert torch.equal(counted, ids != task.padding_idx) and not counted.all()
    assert [task.symbols.index(symbol) for symbol in task.read(ids[0])] == ids[0].tolist()
    scores = solver(task, n_layers=2, n_heads=4)(ids)
    assert scores.shape == (50, task.length, task.answers) and scores.dtype == torch.float32


def test_solver_passes_settings_to_the_encoder():
    model = solver(TASKS["padded"], d_model=32, positional="rotary", norm_first=True, padding_idx=None)
    assert model[0].padding_idx is None and model[0].encoder.layers[0].norm_first and model[1].in_features == 32
