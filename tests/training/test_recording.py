"""What is recorded of a training is what the model did."""

import pytest
import torch
from explorers import trained
from torch import nn

from encoder_lib import trace
from encoder_lib.training.fit import fit
from encoder_lib.training.recording import Recording
from encoder_lib.training.tasks import TASKS, Sample, right_map, solver


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
