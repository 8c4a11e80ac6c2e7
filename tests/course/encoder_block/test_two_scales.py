"""The stored curves of two layers at two scales are those that the code records."""

import pytest

from encoder_lib.course.encoder_block.two_scales import MODELS, SEEDS, STEPS, learning_curve, stored_curves
from encoder_lib.course.kit.learning_curves import EVERY


@pytest.mark.long
@pytest.mark.parametrize("model", MODELS)
def test_stored_curves_begin_as_they_do_when_trained_again(model):
    """Only the first steps are compared: later on, rounding on another processor may lead elsewhere."""
    stored = stored_curves().query("model == @model and seed == 0 and step <= 100").sort_values("step")
    again = learning_curve(model, steps=100, seed=0)
    assert list(again["step"]) == list(stored["step"]) == [0, 50, 100]
    assert list(again["accuracy"]) == pytest.approx(list(stored["accuracy"]), abs=3)


def test_stored_curves_hold_all_models_seeds_and_steps():
    curves = stored_curves()
    assert list(curves["model"].unique()) == list(MODELS)
    assert len(curves) == len(MODELS) * len(SEEDS) * (STEPS // EVERY + 1)
    assert curves["step"].max() == STEPS and curves["accuracy"].between(0, 100).all()


def test_unknown_model_is_named():
    with pytest.raises(ValueError, match=r"model: expected one of .no norms., .* got .rnn."):
        learning_curve("rnn", steps=1, seed=0)
