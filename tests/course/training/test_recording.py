"""A recording holds what the model did, and does not disturb its training."""

import pytest
import torch
from explorers import filler, trained_filler

from encoder_lib import trace
from encoder_lib.course.training import letters
from encoder_lib.course.training.recording import Recording, weight_on_nearest
from encoder_lib.training.fit import fit

TEXT = "the f_nction ret_rns"


def test_weight_on_the_nearest_is_averaged_over_heads_and_gaps():
    weights = torch.rand(2, 3, 5, 5).softmax(-1)
    ids = torch.tensor([[letters.GAP, 1, 2, 3, 4], [1, 2, 3, letters.GAP, 5]])
    expected = (weights[0, :, 0, [1, 2]].sum(-1) + weights[1, :, 3, [1, 2, 4]].sum(-1)).mean() / 2
    torch.testing.assert_close(weight_on_nearest(ids, weights), expected)


def attention_maps(model, ids):
    """The attention maps (layers, B, H, T, T) of the model."""
    with torch.no_grad(), trace(model) as t:
        model(ids)
    return torch.stack([x.double() for name, x in t.items() if name.endswith("attention.weights")])


def test_a_recording_holds_what_the_model_did():
    model, sample, recording = trained_filler(TEXT)
    assert recording.steps == [0, 2, 4, 6]
    maps = attention_maps(model, letters.to_ids(TEXT)[None])[:, 0].mean(dim=1)
    torch.testing.assert_close(recording.maps[-1], maps)
    assert recording.maps.shape == (4, 2, len(TEXT), len(TEXT))
    assert not torch.allclose(recording.maps[0], recording.maps[-1])
    nearest = [weight_on_nearest(sample.ids, weights) for weights in attention_maps(model, sample.ids)]
    torch.testing.assert_close(recording.nearest[-1], torch.stack(nearest))
    correct = (model(sample.ids).argmax(-1) == sample.targets)[sample.ids == letters.GAP].double().mean()
    assert recording.accuracies.shape == (4,) and recording.accuracies[-1] == correct
    assert recording.filled[-1] == letters.fill(model, TEXT) and len(recording.filled) == 4


def test_recording_does_not_change_the_training():
    watched, sample, _ = trained_filler(TEXT, every=1, dropout=0.3)
    model, _ = filler(dropout=0.3)
    fit(model, lambda: sample, steps=6)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), watched.parameters(), strict=True))


def test_recording_restores_each_modules_mode_even_when_it_fails():
    model, sample = filler()
    model.train()
    model[1].eval()
    before = [module.training for module in model.modules()]
    Recording(model, sample, TEXT)()
    assert [module.training for module in model.modules()] == before
    unknown = Recording(model, sample._replace(ids=sample.ids + 1), TEXT)
    with pytest.raises(IndexError, match="not in the table"):
        unknown()
    assert [module.training for module in model.modules()] == before
