"""Learning curves can be drawn again, and the stored ones are those that the code records."""

from functools import partial

import pandas as pd
import pytest
import torch

from encoder_lib.course.kit import ladder, learning_curves
from encoder_lib.course.kit.learning_curves import CONTROLS, EVERY, MODELS, SEEDS, STEPS, learning_curve, stored_curves
from encoder_lib.seeded import seeded


def test_curve_measures_the_accuracy_every_50_steps():
    curve = learning_curve("attention", steps=120, seed=3, progress=False)
    assert list(curve["step"]) == [0, 50, 100] and set(curve["model"]) == {"attention"} and set(curve["seed"]) == {3}
    assert curve["accuracy"].iloc[0] == pytest.approx(12.5, abs=2) and curve["accuracy"].iloc[-1] > 30
    pd.testing.assert_frame_equal(curve, learning_curve("attention", steps=120, seed=3, progress=False))


def test_curve_is_that_of_the_ladders_own_training():
    """The last measurement is the accuracy of the model that `ladder.train` gives with the same seed and steps."""
    _, accuracy = ladder.train(lambda: ladder.CardModel(positions="learned", attention=True), steps=100, seed=1)
    curve = learning_curve("attention", steps=100, seed=1, progress=False)
    assert curve["accuracy"].iloc[-1] == pytest.approx(100 * accuracy.item(), abs=3)


@pytest.mark.long
@pytest.mark.parametrize("model", [*MODELS, *CONTROLS])
def test_stored_curves_begin_as_they_do_when_trained_again(model):
    """Only the first steps are compared: later on, rounding on another processor may lead elsewhere."""
    stored = stored_curves(model).query("seed == 0 and step <= 100")
    again = learning_curve(model, steps=100, seed=0, progress=False)
    assert list(again["step"]) == list(stored["step"])
    assert list(again["accuracy"]) == pytest.approx(list(stored["accuracy"]), abs=3)


def test_stored_curves_hold_all_models_seeds_and_steps():
    curves = stored_curves()
    assert list(curves["model"].unique()) == list(MODELS)
    assert len(curves) == len(MODELS) * len(SEEDS) * (STEPS // EVERY + 1)
    assert curves.groupby(["model", "seed"])["step"].agg(["min", "max"]).drop_duplicates().values.tolist() == [
        [0, STEPS]
    ]
    assert curves["accuracy"].between(0, 100).all()
    assert len(stored_curves(*CONTROLS)) == len(CONTROLS) * len(SEEDS) * (STEPS // EVERY + 1)
    assert set(stored_curves("attention")["model"]) == {"attention"}


def test_the_control_begins_like_the_network_and_is_linear():
    """The same initial parameters, without an activation function between the two matrices."""
    settings = {"positions": "learned", "attention": True, "feed_forward": True}
    with seeded(0):
        network = ladder.CardModel(**settings)
    with seeded(0):
        control = ladder.CardModel(**settings, activation=False)
    for one, other in zip(network.parameters(), control.parameters(), strict=True):
        torch.testing.assert_close(one, other, atol=0, rtol=0)
    part, x = control.layers[0].feed_forward, torch.randn(5, ladder.D_MODEL)
    torch.testing.assert_close(part(2 * x) - part(x), part(x) - part(torch.zeros_like(x)))


def test_what_is_written_is_read_again(tmp_path, torch_is_left_as_it_was):
    models = ["attention + residual", "attention"]
    learning_curves.write(tmp_path / "x.csv", partial(learning_curve, progress=False), models, 50, range(2))
    curves = learning_curves.read(tmp_path / "x.csv")
    assert list(curves["model"].unique()) == models and set(curves["seed"]) == {0, 1}
    draw = partial(learning_curve, "attention + residual", steps=50, progress=False)
    for seed, again in enumerate((draw(), draw(seed=1))):
        stored = curves[(curves["model"] == models[0]) & (curves["seed"] == seed)].sort_values("step")
        assert list(stored["accuracy"]) == list(again["accuracy"])


def test_unknown_model_is_named():
    for function in (stored_curves, lambda name: learning_curve(name, steps=1)):
        with pytest.raises(ValueError, match=r"model: expected one of .attention., .* got .rnn."):
            function("rnn")


def test_interrupted_training_gives_no_curve(monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(learning_curves, "accuracy", stop)
    with pytest.raises(KeyboardInterrupt):
        learning_curve("attention", steps=3, progress=False)
