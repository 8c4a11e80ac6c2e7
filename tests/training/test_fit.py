"""The training loop learns, tells what happened, and leaves a usable model however it ends."""

import math

import pytest
import torch
from torch import nn

from encoder_lib import TokenEmbedding
from encoder_lib.training.fit import EVAL_BATCH, History, accuracy, fit
from encoder_lib.training.tasks import IGNORE_INDEX

IDS = torch.arange(5)
NEXT = IDS, IDS.roll(1)


def small(dropout=0.1):
    """A table and a linear map: enough to learn five answers."""
    return nn.Sequential(TokenEmbedding(5, 8), nn.Dropout(dropout), nn.Linear(8, 5))


def weights(model):
    """All weights in one vector."""
    return nn.utils.parameters_to_vector(model.parameters()).detach().clone()


def scripted(*shares):
    """Held-out data whose accuracy is what one wants: the model learns one thing, and is asked another at each look."""
    model = nn.Sequential(TokenEmbedding(10, 4), nn.Linear(4, 10))
    seen = iter(shares)

    def watch():
        """Make the model name the first `share` of ten ids right."""
        share = next(seen, None)
        if share is not None:
            with torch.no_grad():
                model[0].weight.zero_()
                model[1].weight.zero_()
                model[1].bias.copy_(torch.arange(10.0) == 0)
                held_out[1][:] = (torch.arange(10) >= round(10 * share)).long()

    held_out = torch.arange(10), torch.zeros(10, dtype=torch.long)
    return model, watch, held_out


def test_fit_learns_watches_every_step_and_leaves_eval_mode():
    model, seen = small(), []
    losses = fit(model, lambda: NEXT, steps=200, lr=0.05, callback=lambda: seen.append(model.training))
    assert len(losses) == 200 and losses[-1] < 0.1 < losses[0]
    assert seen == [True] * 201 and not model.training
    assert accuracy(model, *NEXT) == 1.0
    assert accuracy(model, IDS, IDS.roll(2)) == 0.0
    assert all(p.grad is None for p in model.parameters())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_model_keeps_its_dtype_and_device(dtype, device):
    model = small().to(device, dtype)
    fit(model, lambda: NEXT, steps=2)
    assert {(p.dtype, p.device.type) for p in model.parameters()} == {(dtype, device.type)}


def test_a_history_is_the_list_of_losses_and_says_what_came_out():
    history = fit(small(0.0), lambda: NEXT, steps=25, lr=0.05, held_out=NEXT, eval_every=10)
    assert isinstance(history, list) and len(history) == history.planned_steps == 25
    assert history.eval_steps == [10, 20, 25] and len(history.accuracies) == len(history.held_out_losses) == 3
    assert history.held_out_losses[0] > history.held_out_losses[-1]
    assert history.stop_reason == "all steps done" and not history.interrupted
    assert repr(history) == f"25 of 25 steps, held-out accuracy {history.accuracies[-1]:.1%}: all steps done"


def test_a_history_of_nothing_yet():
    assert repr(History(3)) == "0 of 3 steps: it goes on"


def test_the_training_ends_when_the_accuracy_is_reached():
    history = fit(small(0.0), lambda: NEXT, steps=1000, lr=0.05, held_out=NEXT, stop_at_accuracy=1.0)
    assert len(history) < 1000 and len(history) % 10 == 0
    assert history.accuracies[-1] == 1.0 and max(history.accuracies[:-1], default=0) < 1.0
    assert history.stop_reason == "held-out accuracy reached 100.0%"


def test_patience_ends_the_training_and_brings_the_best_weights_back():
    model, watch, held_out = scripted(0, 0.2, 0.7, 0.5, 0.7, 0.6, 0.9)
    kept = []

    def watch_and_keep():
        watch()
        kept.append(weights(model))

    history = fit(
        model, lambda: held_out, steps=20, held_out=held_out, eval_every=1, patience=3, callback=watch_and_keep
    )
    assert history.accuracies == pytest.approx([0.2, 0.7, 0.5, 0.7, 0.6])
    assert history.stop_reason == "no better in 3 evaluations"
    assert torch.equal(weights(model), kept[2]), "the weights of the second look"


def test_a_seed_decides_what_is_drawn_and_leaves_the_callers_numbers_alone():
    def run(seed):
        torch.manual_seed(7)
        model, drawn = small(), []

        def draw():
            drawn.append(torch.rand(()).item())
            return NEXT

        fit(model, draw, steps=5, seed=seed)
        return weights(model), drawn, torch.rand(3)

    torch.manual_seed(7)
    small()
    untouched = torch.rand(3)
    (first, a, after), (again, b, _), (other, c, _) = run(1), run(1), run(2)
    assert torch.equal(first, again) and a == b and not torch.equal(first, other) and a != c
    assert torch.equal(after, untouched)
    assert not torch.equal(run(None)[2], untouched), "without a seed the caller's numbers are used"


def test_a_training_in_two_parts_is_the_training_in_one():
    def drawn():
        return IDS, torch.randint(5, (5,))

    torch.manual_seed(1)
    whole = small()
    expected = fit(whole, drawn, steps=12, lr=0.05, held_out=NEXT, eval_every=5)
    torch.manual_seed(1)
    model = small()
    optimiser = torch.optim.Adam(model.parameters(), lr=0.05)
    first = fit(model, drawn, steps=6, optimiser=optimiser, held_out=NEXT, eval_every=5)
    assert first.eval_steps == [5, 6] and first.stop_reason == "all steps done"
    del first.eval_steps[1:], first.accuracies[1:], first.held_out_losses[1:]
    second = fit(model, drawn, steps=12, optimiser=optimiser, history=first, held_out=NEXT, eval_every=5)
    assert second is first and second == expected and torch.equal(weights(model), weights(whole))
    assert repr(second) == repr(expected) and second.held_out_losses == expected.held_out_losses


def test_with_all_steps_done_nothing_moves(capsys):
    model, history = small(), History(3)
    history.extend([0.3, 0.2, 0.1])
    before = weights(model)
    assert fit(model, lambda: NEXT, steps=2, history=history, progress=True) == [0.3, 0.2, 0.1]
    assert torch.equal(before, weights(model)) and history.stop_reason == "all steps done"
    assert "Training: 100%" in capsys.readouterr().err


def test_tokens_that_are_not_asked_do_not_count():
    model = small(0.0)
    targets = torch.tensor([4, 0, IGNORE_INDEX, IGNORE_INDEX, IGNORE_INDEX])
    history = fit(model, lambda: (IDS, targets), steps=1)
    model = small(0.0)
    torch.manual_seed(0)
    expected = nn.functional.cross_entropy(model(IDS[:2]), targets[:2])
    assert fit(model, lambda: (IDS, targets), steps=1)[0] == pytest.approx(expected.item()) and len(history) == 1
    fit(model, lambda: NEXT, steps=100, lr=0.05)
    assert accuracy(model, IDS, targets) == 1.0
    assert accuracy(model, IDS, torch.tensor([4, 1, IGNORE_INDEX, IGNORE_INDEX, IGNORE_INDEX])) == 0.5


def test_accuracy_goes_through_the_data_in_parts():
    model = small(0.9)
    fit(model, lambda: NEXT, steps=300, lr=0.05)
    ids = torch.randint(5, (2 * EVAL_BATCH + 3,))
    targets = (ids - 1) % 5
    targets[:EVAL_BATCH] = IGNORE_INDEX  # the first part asks nothing
    targets[-1] = ids[-1]  # wrong
    model.train()
    assert accuracy(model, ids, targets) == pytest.approx(1 - 1 / (EVAL_BATCH + 3))
    assert model.training, "the mode is as it was, and no dropout fell on the answers"


@pytest.mark.parametrize("moment", [0, 1, 3])
def test_an_interrupted_training_leaves_a_usable_model_and_the_history(moment, capsys):
    model, calls = small(), iter(range(99))

    def interrupt():
        if next(calls) == moment:
            raise KeyboardInterrupt

    before = weights(model)
    history = fit(model, lambda: NEXT, steps=10, callback=interrupt, held_out=NEXT, eval_every=1)
    assert history.interrupted and len(history) == moment and len(history.eval_steps) == max(moment - 1, 0)
    assert not model.training and model(IDS).isfinite().all()
    assert torch.equal(before, weights(model)) == (moment == 0)
    assert f"stopped by hand after {moment} of 10 steps" in capsys.readouterr().out
    assert "stopped by hand" in repr(history)
    assert not fit(model, lambda: NEXT, steps=3).interrupted, "and it trains on"


def test_any_other_error_goes_through_and_leaves_eval_mode():
    model = small()

    def draw():
        raise LookupError("no more data")

    with pytest.raises(LookupError):
        fit(model, draw, steps=3)
    assert not model.training


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        ({"steps": 0}, ValueError, "steps"),
        ({"steps": 1.5}, TypeError, "steps"),
        ({"callback": 3}, TypeError, "callback: expected a function, got 3"),
        ({"callback": []}, TypeError, "callback: expected a function"),
        ({"lr": 0}, ValueError, "lr"),
        ({"lr": math.nan}, ValueError, "lr"),
        ({"eval_every": 0}, ValueError, "eval_every"),
        ({"eval_every": True}, TypeError, "eval_every"),
        ({"held_out": NEXT, "stop_at_accuracy": 1.5}, ValueError, "stop_at_accuracy"),
        ({"held_out": NEXT, "stop_at_accuracy": "all"}, TypeError, "stop_at_accuracy"),
        ({"held_out": NEXT, "patience": 0}, ValueError, "patience"),
        ({"stop_at_accuracy": 0.9}, ValueError, r"held_out: expected .* got None; try"),
        ({"patience": 3}, ValueError, "held_out"),
        ({"held_out": IDS}, TypeError, "held_out: expected two tensors"),
        ({"held_out": (IDS, "abc")}, TypeError, "held_out: expected two tensors"),
        ({"held_out": (IDS, torch.full((5,), IGNORE_INDEX))}, ValueError, "targets: expected at least one"),
        ({"seed": -1}, ValueError, "seed"),
        ({"seed": 0.5}, TypeError, "seed"),
        ({"draw": NEXT}, TypeError, r"draw: expected a function, got tuple; try lambda"),
        ({"draw": lambda: IDS}, TypeError, "draw: expected two tensors"),
        ({"draw": lambda: (IDS,)}, TypeError, "draw: expected two tensors"),
        ({"draw": lambda: (IDS, torch.full((5,), IGNORE_INDEX))}, ValueError, "targets: expected at least one"),
        ({"draw": lambda: (IDS, IDS[:3])}, ValueError, r"targets \(3,\), got \(5, 5\)"),
        ({"draw": lambda: (IDS[None], IDS)}, ValueError, "expected scores"),
        ({"draw": lambda: (IDS, IDS + 1)}, ValueError, "targets: expected classes from 0 to 4, .* got 5; try"),
        ({"draw": lambda: (IDS, IDS - 1)}, ValueError, "targets: expected classes from 0 to 4, .* got -1; try"),
        ({"model": nn.ReLU()}, TypeError, "model: expected a torch module with weights"),
        ({"model": None}, TypeError, "model"),
        ({"optimiser": "Adam"}, TypeError, r"optimiser: expected a torch optimiser, got 'Adam' \(str\); try torch"),
        ({"history": [0.5]}, TypeError, r"history: expected a History, got .*\(list\); try the one that fit returned"),
        ({"workers": 2}, TypeError, r"workers: expected Workers, got 2 \(int\); try SINGLE_PROCESS"),
    ],
)
def test_fit_refuses_what_means_nothing(wrong, error, words):
    arguments = {"model": small(), "draw": lambda: NEXT, "steps": 1} | wrong
    with pytest.raises(error, match=words):
        fit(**arguments)


def test_a_loss_that_is_no_number_stops_the_training():
    model = small()
    with torch.no_grad():
        model[2].bias[0] = torch.nan
    with pytest.raises(FloatingPointError, match=r"loss: expected a finite number, got nan; try a smaller lr"):
        fit(model, lambda: NEXT, steps=3)


def test_the_bar_writes_to_the_error_stream_and_shows_loss_and_accuracy(capsys):
    fit(small(), lambda: NEXT, steps=20, held_out=NEXT, progress=True)
    out, err = capsys.readouterr()
    assert "Training: 100%" in err and "20/20" in err and "held_out=" in err and not out
    fit(small(), lambda: NEXT, steps=20, held_out=NEXT)
    assert capsys.readouterr() == ("", "")


def test_accuracy_takes_tensors():
    with pytest.raises(TypeError, match=r"expected two tensors, inputs and targets, got \['list', 'list'\]; try"):
        accuracy(small(), [0, 1], [1, 2])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: History(-1), ValueError, "planned"),
        (lambda: History(2.5), TypeError, "planned"),
    ],
)
def test_a_history_says_what_it_takes(call, error, words):
    with pytest.raises(error, match=words):
        call()
