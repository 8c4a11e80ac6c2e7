"""The training loop learns, and leaves a usable model however it ends."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from encoder_lib import TokenEmbedding
from encoder_lib.training.fit import accuracy, fit
from encoder_lib.training.tasks import IGNORE_INDEX

IDS = torch.arange(5)
NEXT = IDS, IDS.roll(1)
NOTHING = torch.full((5,), IGNORE_INDEX)


def small(dropout=0.1):
    """An embedding and a linear layer: enough to learn five answers."""
    return nn.Sequential(TokenEmbedding(5, 8), nn.Dropout(dropout), nn.Linear(8, 5))


def weights(model):
    """All weights in one vector."""
    return nn.utils.parameters_to_vector(model.parameters()).detach().clone()


def test_fit_learns_calls_back_each_step_and_ends_in_eval_mode():
    model, seen = small().eval(), []
    losses = fit(model, lambda: (*NEXT, "left alone"), steps=200, lr=0.05, callback=lambda: seen.append(model.training))
    assert len(losses) == 200 and losses[-1] < 0.1 < losses[0]
    assert seen == [True] * 201 and not model.training
    assert accuracy(model, *NEXT) == 1.0 and accuracy(model, IDS, IDS.roll(2)) == 0.0
    assert all(p.grad is None for p in model.parameters())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_model_keeps_its_dtype_and_device(dtype, device):
    model = small().to(device, dtype)
    fit(model, lambda: NEXT, steps=2)
    accuracy(model, *NEXT)
    assert {(p.dtype, p.device.type) for p in model.parameters()} == {(dtype, device.type)}


@pytest.mark.parametrize("handed_in", [False, True])
def test_each_step_uses_the_optimiser_on_a_fresh_batch(handed_in):
    """Three steps with Adam at `lr`, or with an optimiser passed in at its own rate, against the same by hand."""
    model, twin = small(0.0), small(0.0)
    twin.load_state_dict(model.state_dict())
    batches = [(IDS, torch.randperm(5)) for _ in range(3)]
    by_hand = torch.optim.SGD(twin.parameters(), 0.1) if handed_in else torch.optim.Adam(twin.parameters(), 0.01)
    expected = []
    for ids, targets in batches:
        loss = F.cross_entropy(twin(ids), targets)
        by_hand.zero_grad()
        loss.backward()
        by_hand.step()
        expected.append(loss.item())
    draw, optimiser = iter(batches), torch.optim.SGD(model.parameters(), 0.1) if handed_in else None
    assert fit(model, lambda: next(draw), steps=3, lr=0.01, optimiser=optimiser) == expected
    assert torch.equal(weights(model), weights(twin))


def test_targets_of_ignore_index_do_not_count():
    model, targets = small(0.0), torch.tensor([4, 0, IGNORE_INDEX, IGNORE_INDEX, IGNORE_INDEX])
    expected = F.cross_entropy(model(IDS[:2]), targets[:2]).item()
    assert fit(model, lambda: (IDS, targets), steps=1) == [pytest.approx(expected)]
    fit(model, lambda: NEXT, steps=100, lr=0.05)
    assert accuracy(model, IDS, targets) == 1.0
    targets[1] = 1
    assert accuracy(model, IDS, targets) == 0.5


def test_accuracy_evaluates_and_restores_each_modules_mode():
    model = small(0.9)
    fit(model, lambda: NEXT, steps=300, lr=0.05)
    model.train()
    model[0].eval()
    assert accuracy(model, *NEXT) == 1.0
    with pytest.raises(ValueError, match="targets"):
        accuracy(model, IDS, NOTHING)
    assert [module.training for module in model.children()] == [False, True, True] and model.training


@pytest.mark.parametrize("moment", [0, 1, 3])
def test_an_interrupt_leaves_a_usable_model_and_the_losses(moment, capsys):
    model, calls = small(), iter(range(99))

    def interrupt():
        if next(calls) == moment:
            raise KeyboardInterrupt

    before = weights(model)
    losses = fit(model, lambda: NEXT, steps=10, callback=interrupt)
    assert len(losses) == moment and not model.training and model(IDS).isfinite().all()
    assert torch.equal(before, weights(model)) == (moment == 0)
    assert f"interrupted after {moment} of 10 steps. Run the cell again" in capsys.readouterr().out
    assert len(fit(model, lambda: NEXT, steps=3)) == 3 and capsys.readouterr() == ("", "")


def test_any_other_error_is_raised_and_leaves_eval_mode():
    model = small()
    with pytest.raises(StopIteration):
        fit(model, iter([NEXT]).__next__, steps=3)
    assert not model.training and all(p.grad is None for p in model.parameters())


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        ({"callback": 3}, TypeError, "callback: expected a function"),
        ({"optimiser": "Adam"}, TypeError, "optimiser: expected a torch optimiser, got 'Adam'"),
        ({"draw": NEXT}, TypeError, "draw: expected a function, .*try lambda"),
        ({"draw": lambda: IDS}, TypeError, "draw: expected two tensors"),
        ({"draw": lambda: (IDS,)}, TypeError, "draw: expected two tensors"),
        ({"draw": lambda: (IDS, NOTHING)}, ValueError, "at least one class, got only IGNORE_INDEX"),
        ({"draw": lambda: (IDS, IDS[:3])}, ValueError, r"targets \(3,\), got \(5, 5\)"),
        ({"draw": lambda: (IDS, IDS + 1)}, ValueError, "from 0 to 4, .* got 5; try more outputs"),
        ({"draw": lambda: (IDS, IDS - 1)}, ValueError, "from 0 to 4, .* got -1; try -100 where"),
    ],
)
def test_fit_refuses_wrong_arguments(wrong, error, words):
    with pytest.raises(error, match=words):
        fit(**{"model": small(), "draw": lambda: NEXT, "steps": 1} | wrong)


def detached(model):
    model[2].register_forward_hook(lambda module, inputs, scores: scores.detach())
    return model


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode, lambda: torch.set_grad_enabled(False)])
def test_gradients_that_are_off_are_named(mode):
    model = small()
    words = "inference mode is on" if mode is torch.inference_mode else r"off in this kernel: try torch\.set_grad_"
    with mode(), pytest.raises(RuntimeError, match=words):
        fit(model, lambda: NEXT, steps=1)
    assert fit(model, lambda: NEXT, steps=1)


@torch.inference_mode()
def small_in_inference_mode():
    return small()


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (lambda: small().requires_grad_(False), r"requires_grad=False for all of them; try model.requires_grad_"),
        (small_in_inference_mode, "made in inference mode; try building the model again"),
        (lambda: detached(small()), "output that depends on weights being trained"),
    ],
)
def test_a_model_that_no_gradient_can_reach_is_refused(model, words):
    with pytest.raises(RuntimeError, match=words):
        fit(model(), lambda: NEXT, steps=1)


def test_gradients_that_a_callback_switches_off_are_named():
    with pytest.raises(RuntimeError, match="gradients are off in this kernel"):
        fit(small(), lambda: NEXT, steps=3, callback=lambda: torch.set_grad_enabled(False))


def test_a_partly_frozen_model_is_trained():
    model = small()
    model[0].requires_grad_(False)
    before = weights(model)
    fit(model, lambda: NEXT, steps=2)
    assert not torch.equal(weights(model), before)


def test_a_nan_loss_stops_the_training_before_an_update():
    model = small()
    with torch.no_grad():
        model[2].bias[0] = torch.nan
    before = weights(model)
    with pytest.raises(FloatingPointError, match="expected a finite number, got nan; try a smaller lr"):
        fit(model, lambda: NEXT, steps=3)
    torch.testing.assert_close(weights(model), before, equal_nan=True, rtol=0, atol=0)
