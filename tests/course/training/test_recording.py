"""A recording holds what the model did, and does not disturb its training."""

import pytest
import torch
from explorers import trained

from encoder_lib import trace
from encoder_lib.course.training.recording import Recording, right_map, weight_on
from encoder_lib.training.fit import fit
from encoder_lib.training.tasks import IGNORE_INDEX, TASKS, solver


def test_right_map_attends_to_the_source():
    source = torch.tensor([[2, IGNORE_INDEX, 0]])
    right = right_map(source)
    assert right.shape == (1, 3, 3) and right.dtype == torch.get_default_dtype()
    assert right[0, 0].tolist() == [0, 0, 1] and right[0, 2].tolist() == [1, 0, 0] and right[0, 1].isnan().all()


def test_weight_on_source_is_averaged_over_tokens_with_a_target():
    weights = torch.rand(2, 3, 4, 4).softmax(-1)
    source = torch.tensor([[3, IGNORE_INDEX, 0, IGNORE_INDEX], [IGNORE_INDEX, 2, IGNORE_INDEX, IGNORE_INDEX]])
    expected = (weights[0, :, 0, 3] + weights[0, :, 2, 0] + weights[1, :, 1, 2]) / 3  # (H,)
    torch.testing.assert_close(weight_on(source, weights), expected)


def attention_maps(model, ids):
    """The attention maps (layers, H, B, T, T) of the model."""
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
    maps = attention_maps(model, sample.ids)
    torch.testing.assert_close(recording.maps[-1], maps[:, :, :4])
    assert not torch.allclose(recording.maps[0], recording.maps[-1])
    wanted = right_map(sample.source).nan_to_num().double()  # (B, T, T)
    torch.testing.assert_close(recording.weights[-1], (maps * wanted).sum((2, 3, 4)) / wanted.sum())
    counted = sample.source >= 0
    right = (model(sample.ids).argmax(-1) == sample.targets)[counted].double().mean()
    assert recording.accuracies[-1] == right
    assert recording.sequences == [TASKS[name].read(ids) for ids in sample.ids[:4]]
    assert recording.labels[1][:2] == [f"0 {recording.sequences[1][0]}", f"1 {recording.sequences[1][1]}"]


def test_recording_does_not_change_the_training():
    watched, _, _ = trained("pointer", every=1, dropout=0.3)
    torch.manual_seed(0)
    task = TASKS["pointer"]
    model, _ = solver(task, dropout=0.3), task.draw(30)
    fit(model, lambda: task.draw(8), steps=6)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), watched.parameters(), strict=True))


def test_recording_restores_each_modules_mode_even_when_it_fails():
    task = TASKS["pointer"]
    model = solver(task).train()
    model[1].eval()
    before = [module.training for module in model.modules()]
    Recording(model, task, task.draw(3))()
    assert [module.training for module in model.modules()] == before
    too_long = Recording(model, task, task.draw(3)._replace(ids=torch.zeros(3, 99, dtype=torch.int64)))
    with pytest.raises(ValueError, match="positions"):
        too_long()
    assert [module.training for module in model.modules()] == before
