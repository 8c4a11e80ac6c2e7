"""The small runs that live on positions: what they set, what they return, that a seed decides, and the bad input."""

import pytest
import torch

from encoder_lib import sinusoidal_table
from encoder_lib.lab import positions
from encoder_lib.lab.positions import copy_accuracy, reversal_accuracy


def test_a_run_comes_from_its_seed_and_leaves_other_random_numbers_alone():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    first = reversal_accuracy(steps=2, seed=1)
    assert torch.equal(torch.rand(3), expected)
    assert reversal_accuracy(steps=2, seed=1) == first != reversal_accuracy(steps=2, seed=2)
    torch.testing.assert_close(copy_accuracy("rotary", steps=2), copy_accuracy("rotary", steps=2), equal_nan=True)


def test_the_factors_scale_words_positions_and_scores(monkeypatch):
    """What enters the layer is words · embedding + positions · sinusoids, and its queries are scores times as large."""
    seen = {}

    def look(model, draw, *, steps):
        encoder = model[0]
        ids = torch.tensor([[3, 1, 4]])
        seen["x"] = encoder.embedding(ids)
        seen["word"], seen["table"] = encoder.embedding.token.weight[ids], positions_of(3)
        attention = encoder.encoder.layers[0].attention
        seen["query"] = attention.q_proj(seen["x"])
        seen["plain"] = torch.nn.functional.linear(seen["x"], attention.q_proj.weight, attention.q_proj.bias)

    monkeypatch.setattr(positions, "fit", look)
    reversal_accuracy(words=3, positions=0.5, scores=0.25)
    torch.testing.assert_close(seen["x"], 3 * seen["word"] + 0.5 * seen["table"])
    torch.testing.assert_close(seen["query"], 0.25 * seen["plain"])


def positions_of(length):
    """The sinusoids of the first positions, in the models' precision."""
    return sinusoidal_table(length, 64, dtype=torch.float32)


@pytest.mark.parametrize("kind", ["sinusoidal", "learned", "rotary", "alibi", "none"])
def test_nan_stands_where_nothing_is_asked_or_no_row_is(kind):
    shares = copy_accuracy(kind, trained=6, tried=9, back=2, steps=1)
    assert shares.shape == (9,)
    asked = torch.tensor([False] * 2 + [True] * 4 + [kind != "learned"] * 3)
    assert torch.equal(~shares.isnan(), asked)
    assert ((shares[asked] >= 0) & (shares[asked] <= 1)).all()


def test_a_model_that_copies_is_told_apart_from_one_that_cannot():
    assert copy_accuracy("learned", trained=8, tried=8, back=1, steps=150)[1:].min() > 0.9
    assert copy_accuracy("none", trained=8, tried=8, back=1, steps=150)[1:].max() < 0.5


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"kind": "rope"}, "kind: expected one of"),
        ({"kind": "rotary", "tried": 15}, "tried: expected at least trained=16 letters, got 15; try tried=64"),
        ({"kind": "rotary", "back": 16}, "back: expected less than length=16, got 16"),
    ],
)
def test_runs_that_make_no_sense_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        copy_accuracy(**wrong)
