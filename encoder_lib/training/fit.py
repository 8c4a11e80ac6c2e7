"""The training loop of the notebooks, and how to measure what was learned."""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from encoder_lib import expect
from encoder_lib.training.loading import load_optimisers
from encoder_lib.training.tasks import IGNORE_INDEX


def fit(
    model: nn.Module,
    draw: Callable[[], Sequence[Tensor]],
    *,
    steps: int,
    lr: float = 3e-3,
    optimiser: torch.optim.Optimizer | None = None,
    callback: Callable[[], None] | None = None,
) -> list[float]:
    """Train `model` in place to predict the targets that `draw()` hands out with its inputs; return every step's loss.

    Each step draws one batch and moves the weights against the gradient of the cross-entropy, with Adam (Kingma and Ba
    2014, arXiv 1412.6980) or the `optimiser` handed in, which has its own lr. Targets of IGNORE_INDEX (−100) do not
    count, and whatever `draw()` gives after inputs and targets is left alone. `callback()` is called before the first
    step and after each.

    The model is left in eval mode, however the training ends. A KeyboardInterrupt (the kernel's stop button) ends the
    training and goes no further: the weights stay as they are in that moment, `fit` says so on the screen and returns
    the losses so far, so that the rest of a notebook has both.

    Shapes: inputs as the model takes them, targets (…) of class ids, model(inputs) (…, classes).
    Raises: TypeError or ValueError for steps that are no integer ≥ 1, lr ≤ 0, scores that do not fit the targets,
    targets that are no class, a batch that asks nothing; TypeError for a model without weights, a `draw` that is no
    function of pairs, an optimiser that is none; FloatingPointError for a loss that is not finite any more.
    """
    expect.sizes(steps=steps)
    expect.positive("lr", lr)
    expect.kind("draw", draw, Callable, "a function", "; try lambda: (inputs, targets)")
    if callback is not None:
        expect.kind("callback", callback, Callable, "a function")
    device = _device(model)
    load_optimisers()
    optimiser = torch.optim.Adam(model.parameters(), lr=lr) if optimiser is None else optimiser
    expect.kind("optimiser", optimiser, torch.optim.Optimizer, "a torch optimiser", "; try torch.optim.Adam(...)")
    callback, losses = callback or (lambda: None), list[float]()
    model.train()
    try:
        callback()
        while len(losses) < steps:
            inputs, targets = _pair("draw", draw())
            loss = F.cross_entropy(*_scores(model, inputs.to(device), targets.to(device)), ignore_index=IGNORE_INDEX)
            if not loss.isfinite():
                raise FloatingPointError(f"loss: expected a finite number, got {loss.item()}; try a smaller lr")
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
            callback()
    except KeyboardInterrupt:
        print(f"Training stopped by hand after {len(losses)} of {steps} steps. To train anew, run the cell again.")
    finally:
        optimiser.zero_grad()
        model.eval()
    return losses


@torch.no_grad()
def accuracy(model: nn.Module, inputs: Tensor, targets: Tensor) -> float:
    """The share of targets that the model, in eval mode, names, as a number from 0 to 1. IGNORE_INDEX does not count.

    Shapes and errors: as `fit`.
    """
    device, mode = _device(model), model.training
    inputs, targets = _pair("data", (inputs, targets))
    model.eval()
    try:
        scores, targets = _scores(model, inputs.to(device), targets.to(device))  # (N, classes), (N,)
    finally:
        model.train(mode)
    asked = targets != IGNORE_INDEX
    return (scores.argmax(-1) == targets)[asked].double().mean().item()


def _scores(model: nn.Module, inputs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """The model's scores (N, classes), and the targets (N,) that they are for, of which at least one asks."""
    scores = model(inputs)  # (…, classes)
    if scores.shape[:-1] != targets.shape:
        raise ValueError(
            f"expected scores (…, classes) for targets {tuple(targets.shape)}, got {tuple(scores.shape)}; "
            "try nn.Linear(d_model, classes) as the last layer"
        )
    asked = targets[targets != IGNORE_INDEX]
    if not len(asked):
        raise ValueError(f"targets: expected at least one that asks for a class, got {IGNORE_INDEX} everywhere")
    unknown = asked[(asked < 0) | (asked >= scores.shape[-1])]
    if len(unknown):
        raise ValueError(
            f"targets: expected classes from 0 to {scores.shape[-1] - 1}, or {IGNORE_INDEX} for none, got "
            f"{unknown[0].item()}; try a last layer with more outputs"
        )
    return scores.flatten(0, -2), targets.flatten()


def _pair(name: str, batch: object) -> Sequence[Tensor]:
    """The first two of what should be inputs and targets, and perhaps more."""
    if not isinstance(batch, tuple | list) or len(batch) < 2 or not all(isinstance(x, Tensor) for x in batch[:2]):
        kinds = [type(x).__name__ for x in batch] if isinstance(batch, tuple | list) else type(batch).__name__
        raise TypeError(f"{name}: expected two tensors, inputs and targets, got {kinds}; try torch.tensor(...)")
    return batch[:2]


def _device(model: nn.Module) -> torch.device:
    weight = next(model.parameters(), None) if isinstance(model, nn.Module) else None
    if weight is None:
        raise TypeError(f"model: expected a torch module with weights, got {type(model).__name__}")
    return weight.device
