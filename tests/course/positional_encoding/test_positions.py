"""The small models that need positional encodings: what a run trains, what it returns, and that a seed decides."""

import pytest
import torch
from torch import nn

from encoder_lib import TransformerEncoder, sinusoidal_table
from encoder_lib.course.positional_encoding.positions import accuracy_by_length, accuracy_by_position, rescale


def build(kind):
    encoder = TransformerEncoder(8, n_layers=1, d_model=64, n_heads=1, d_ff=128, positional=kind, max_len=16)
    return nn.Sequential(encoder, nn.Linear(64, 8))


def test_a_run_is_repeated_by_its_seed(nothing_drawn):
    first = accuracy_by_position(build, "rotary", steps=2, seed=1)
    torch.testing.assert_close(accuracy_by_position(build, "rotary", steps=2, seed=1), first, equal_nan=True)
    assert not torch.equal(accuracy_by_position(build, "rotary", steps=2, seed=2)[3:], first[3:])


def test_the_factors_scale_letters_positions_and_scores():
    """What enters the layer is letters · embedding + positions · sinusoids; its queries are `scores` times as large."""
    model, ids = build("sinusoidal").float(), torch.tensor([[3, 1, 4]])
    encoder = model[0]
    word, rows = encoder.embedding.token.weight[ids], sinusoidal_table(3, 64, dtype=torch.float32)
    assert rescale(model, letters=3, positions=0.5, scores=0.25) is model
    x = encoder.embedding(ids)
    torch.testing.assert_close(x, 3 * word + 0.5 * rows)
    projection = encoder.encoder.layers[0].attention.q_proj
    plain = torch.nn.functional.linear(x, projection.weight, projection.bias)
    torch.testing.assert_close(projection(x), 0.25 * plain)


def test_each_length_is_tested_on_the_same_trained_model():
    alone = accuracy_by_position(build, "rotary", length=16, steps=2).nanmean()
    near, far = accuracy_by_length(build, "rotary", [16, 40], steps=2)
    assert near == pytest.approx(float(alone), abs=0.03) and 0 <= far <= 1


@pytest.mark.parametrize("kind", ["sinusoidal", "learned", "rotary", "alibi", "none"])
def test_positions_without_an_answer_or_without_a_row_are_nan(kind):
    accuracy = accuracy_by_position(build, kind, steps=1)
    asked = torch.tensor([False] * 3 + [True] * 13 + [kind != "learned"] * 48)
    assert torch.equal(~accuracy.isnan(), asked)
    assert ((accuracy[asked] >= 0) & (accuracy[asked] <= 1)).all()


def test_only_a_model_with_positions_names_the_letter_to_the_left():
    assert accuracy_by_position(build, "learned", steps=150)[3:16].min() > 0.9
    assert accuracy_by_position(build, "none", steps=50)[3:].max() < 0.5
