"""The small runs that live on positions: what they set, what they return, and that a seed decides."""

import pytest
import torch

from encoder_lib import sinusoidal_table
from encoder_lib.course.positional_encoding import positions
from encoder_lib.course.positional_encoding.positions import copy_accuracy, reversal_accuracy


def test_a_run_comes_from_its_seed(nothing_drawn):
    first = reversal_accuracy(steps=2, seed=1)
    assert reversal_accuracy(steps=2, seed=1) == first != reversal_accuracy(steps=2, seed=2)
    torch.testing.assert_close(copy_accuracy("rotary", steps=2), copy_accuracy("rotary", steps=2), equal_nan=True)


def test_the_factors_scale_words_positions_and_scores(monkeypatch):
    """What enters the layer is words · embedding + positions · sinusoids, and its queries are scores times as large."""
    seen = {}

    def look(model, draw, *, steps):
        encoder = model[0]
        ids = torch.tensor([[3, 1, 4]])
        seen["x"] = encoder.embedding(ids)
        seen["word"], seen["table"] = encoder.embedding.token.weight[ids], sinusoidal_table(3, 64, dtype=torch.float32)
        attention = encoder.encoder.layers[0].attention
        seen["query"] = attention.q_proj(seen["x"])
        seen["plain"] = torch.nn.functional.linear(seen["x"], attention.q_proj.weight, attention.q_proj.bias)

    monkeypatch.setattr(positions, "fit", look)
    reversal_accuracy(words=3, positions=0.5, scores=0.25)
    torch.testing.assert_close(seen["x"], 3 * seen["word"] + 0.5 * seen["table"])
    torch.testing.assert_close(seen["query"], 0.25 * seen["plain"])


@pytest.mark.parametrize("kind", ["sinusoidal", "learned", "rotary", "alibi", "none"])
def test_nan_stands_where_nothing_is_asked_or_no_row_is(kind):
    shares = copy_accuracy(kind, steps=1)
    assert shares.shape == (64,)
    asked = torch.tensor([False] * 3 + [True] * 13 + [kind != "learned"] * 48)
    assert torch.equal(~shares.isnan(), asked)
    assert ((shares[asked] >= 0) & (shares[asked] <= 1)).all()


def test_a_model_that_copies_is_told_apart_from_one_that_cannot():
    assert copy_accuracy("learned", steps=150)[3:16].min() > 0.9
    assert copy_accuracy("none", steps=50)[3:].max() < 0.5
