"""What is recorded of a training is what the model did, and the explorer shows it."""

import pytest
import torch
from torch import nn

from encoder_lib import explore, trace
from encoder_lib.training.fit import fit
from encoder_lib.training.recording import Recording
from encoder_lib.training.tasks import TASKS, Sample, right_map, solver


def trained(name, *, steps=6, every=2, **settings):
    """A short training with its recording."""
    torch.manual_seed(0)
    task = TASKS[name]
    model, sample = solver(task, **settings), task.draw(30)
    recording = Recording(model, task, sample, every=every, keep=4)
    fit(model, lambda: task.draw(8), steps=steps, callback=recording)
    return model, sample, recording


def seen(model, ids):
    """The maps (layers, H, B, T, T) of the model as it is."""
    with torch.no_grad(), trace(model) as t:
        model(ids)
    return torch.stack([x.transpose(0, 1).double() for name, x in t.items() if name.endswith("attention.weights")])


@pytest.mark.parametrize(("name", "settings"), [("pointer", {}), ("padded", {"n_layers": 2, "n_heads": 4})])
def test_a_recording_holds_what_the_model_did(name, settings):
    model, sample, recording = trained(name, **settings)
    layers, heads = settings.get("n_layers", 1), settings.get("n_heads", 1)
    length = TASKS[name].length
    assert recording.steps == [0, 2, 4, 6]
    assert recording.maps.shape == (4, layers, heads, 4, length, length)
    assert recording.weights.shape == (4, layers, heads) and recording.accuracies.shape == (4,)
    maps = seen(model, sample.ids)
    torch.testing.assert_close(recording.maps[-1], maps[:, :, :4])
    assert not torch.allclose(recording.maps[0], recording.maps[-1])
    wanted = right_map(sample.source).nan_to_num().double()  # (B, T, T)
    torch.testing.assert_close(recording.weights[-1], (maps * wanted).sum((2, 3, 4)) / wanted.sum())
    asked = sample.source >= 0
    right = (model(sample.ids).argmax(-1) == sample.targets)[asked].double().mean()
    assert recording.accuracies[-1] == right
    assert recording.sequences == [TASKS[name].read(ids) for ids in sample.ids[:4]]
    assert recording.labels[1][:2] == [f"0 {recording.sequences[1][0]}", f"1 {recording.sequences[1][1]}"]


def test_recording_leaves_the_training_alone():
    watched, _, _ = trained("pointer", every=1, dropout=0.3)
    torch.manual_seed(0)
    task = TASKS["pointer"]
    model, _ = solver(task, dropout=0.3), task.draw(30)
    fit(model, lambda: task.draw(8), steps=6)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), watched.parameters(), strict=True))


def test_the_explorer_shows_the_maps_and_says_where_the_weight_lies():
    _, sample, recording = trained("pointer")
    explorer = explore.training_maps(recording)
    assert explorer.values == {"step": 0, "sequence": 1}
    for sequence in (1, 4):
        explorer.sequence = sequence
        learned, right = explorer._view.panels
        assert learned.x_ticks == right.y_ticks == recording.labels[sequence - 1]
        wanted = right_map(sample.source[sequence - 1])
        torch.testing.assert_close(torch.tensor(right.values).double(), wanted.double(), equal_nan=True)
        for frame, step in enumerate(recording.steps):
            explorer.step = step
            weights = recording.maps[frame, 0, 0, sequence - 1]
            torch.testing.assert_close(torch.tensor(learned.frame(frame)).double(), weights, atol=1e-6, rtol=0)
            share = 100 * weights[8:][wanted[8:] == 1].mean().item()
            correct = 100 * recording.accuracies[frame].item()
            start, end = f"After {step} steps {correct:.0f} % of the answers", f"gives {share:.0f} % of its weight to "
            assert explorer.description.startswith(start) and end in explorer.description


def test_steps_cost_no_computation_and_other_controls_do():
    explorer = explore.training_maps(trained("pointer")[2])
    view = explorer._view
    explorer.step = 4
    assert explorer._view is view
    explorer.sequence = 3
    assert explorer._view is not view


def test_layers_and_heads_can_be_chosen_where_there_are_several():
    _, _, recording = trained("brackets", n_layers=2, n_heads=4)
    explorer = explore.training_maps(recording, layer=2, head=3, sequence=2)
    assert list(explorer.values) == ["step", "sequence", "layer", "head"]
    assert explorer.title == "Maps form while the model learns"
    shown = torch.tensor(explorer._view.panels[0].values).double()
    torch.testing.assert_close(shown, recording.maps[:, 1, 2, 1], atol=1e-6, rtol=0)
    assert "layer 2, head 3 gives" in explorer.description
    _, _, recording = trained("brackets", n_layers=1, n_heads=4)
    assert list(explore.training_maps(recording).values) == ["step", "sequence", "head"]
    one_head = explore.training_maps(trained("reverse")[2])
    assert one_head.title == "A map forms while the model learns"  # explorers of one page have names of their own


def test_a_training_that_was_stopped_can_be_looked_at():
    task = TASKS["reverse"]
    model = solver(task)
    recording = Recording(model, task, task.draw(5))
    with pytest.raises(ValueError, match="at least two looks, got 0: train the model with it first"):
        explore.training_maps(recording)
    calls = iter(range(9))

    def draw():
        if next(calls) == 3:
            raise KeyboardInterrupt
        return task.draw(4)

    fit(model, draw, steps=9, callback=recording)
    assert recording.steps == [0, 1, 2, 3]
    assert explore.training_maps(recording)._view.count == 4


@pytest.mark.parametrize(
    ("options", "error"), [({"every": 0}, ValueError), ({"every": 1.5}, TypeError), ({"keep": 0}, ValueError)]
)
def test_a_recording_refuses_sizes_that_mean_nothing(options, error):
    with pytest.raises(error, match=r"every|keep"):
        Recording(solver(TASKS["reverse"]), TASKS["reverse"], TASKS["reverse"].draw(2), **options)


def test_a_model_without_attention_has_nothing_to_record():
    task = TASKS["reverse"]
    sample = Sample(*(x[:2] for x in task.draw(2)))
    with pytest.raises(ValueError, match="expected one with attention to record, got none"):
        Recording(nn.Embedding(10, 10), task, sample)()
