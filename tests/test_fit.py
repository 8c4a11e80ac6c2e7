"""The training loop learns, and leaves a usable model however it ends."""

import pytest
import torch
from torch import nn

from encoder_lib import TokenEmbedding
from encoder_lib.fit import accuracy, fit


def test_fit_learns_watches_every_step_and_leaves_eval_mode():
    model = nn.Sequential(TokenEmbedding(5, 8), nn.Dropout(0.1), nn.Linear(8, 5))
    ids = torch.arange(5)
    seen = []
    losses = fit(model, lambda: (ids, ids.roll(1)), steps=200, lr=0.05, watch=lambda: seen.append(model.training))
    assert len(losses) == 200 and losses[-1] < 0.1 < losses[0]
    assert seen == [True] * 201 and not model.training
    assert accuracy(model, ids, ids.roll(1)) == 1.0
    assert accuracy(model, ids, ids.roll(2)) == 0.0


@pytest.mark.parametrize(
    ("wrong", "error"), [({"steps": 0}, ValueError), ({"steps": 1.5}, TypeError), ({"steps": 1, "lr": 0}, ValueError)]
)
def test_fit_refuses_steps_and_rates_that_mean_nothing(wrong, error):
    model = nn.Sequential(TokenEmbedding(5, 8), nn.Linear(8, 5))
    with pytest.raises(error, match=r"steps|lr"):
        fit(model, lambda: (torch.arange(5), torch.arange(5)), **wrong)


def test_an_interrupted_training_leaves_a_usable_model():
    model = nn.Sequential(TokenEmbedding(5, 8), nn.Dropout(0.1), nn.Linear(8, 5))
    steps = iter([None, None])

    def interrupt():
        if next(steps, "stop") == "stop":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(model, lambda: (torch.arange(5), torch.arange(5)), steps=10, watch=interrupt)
    assert not model.training and model(torch.arange(5)).isfinite().all()
