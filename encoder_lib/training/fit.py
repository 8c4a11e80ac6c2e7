"""The training loop of the notebooks, and the accuracy of what it trained."""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from encoder_lib import expect
from encoder_lib.training.evaluating import evaluating
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
    """Train `model` in place to predict targets from inputs, and return the loss of every step.

    Each step calls `draw()` for a batch (inputs, targets) and updates the weights with the gradient of the mean
    cross-entropy, using Adam (Kingma and Ba 2014, arXiv 1412.6980) at learning rate `lr`, or the `optimiser` passed in,
    which has its own. Targets of IGNORE_INDEX (−100) do not count in the loss, and anything that `draw()` returns after
    the targets is left alone. `callback()` is called before the first step and after each one.

    The model is left in eval mode, however the training ends. A KeyboardInterrupt (the kernel's stop button) ends the
    training without an error: the model keeps the weights that it has at that moment, and `fit` prints how far it got
    and returns the losses so far, so that the rest of a notebook can go on with both.

    Shapes: inputs as the model takes them, targets (…) of class ids, model(inputs) (…, classes).
    Raises: TypeError or ValueError for `steps` that is not an integer ≥ 1, lr ≤ 0, scores whose shape does not fit the
    targets, targets that are not class ids, or a batch whose targets are all IGNORE_INDEX; TypeError for a model
    without weights, a `draw` that is not a function returning pairs, or an `optimiser` of another type; RuntimeError
    if gradients are off or none can reach a weight; FloatingPointError if the loss becomes infinite or NaN.
    """
    expect.sizes(steps=steps)
    expect.positive("lr", lr)
    expect.instance("draw", draw, Callable, "a function", "; try lambda: (inputs, targets)")
    expect.instance("callback", callback, Callable | None, "a function")
    device = _device(model)
    load_optimisers()
    optimiser = torch.optim.Adam(model.parameters(), lr=lr) if optimiser is None else optimiser
    expect.instance("optimiser", optimiser, torch.optim.Optimizer, "a torch optimiser", "; try torch.optim.Adam(...)")
    callback, losses = callback or (lambda: None), list[float]()
    model.train()
    try:
        callback()
        while len(losses) < steps:
            inputs, targets = _pair("draw", draw())
            require_gradients(model)  # in every step, because draw and callback could switch them off
            loss = F.cross_entropy(*_scores(model, inputs.to(device), targets.to(device)), ignore_index=IGNORE_INDEX)
            if not loss.requires_grad:
                got = "one without a gradient; look for detach(), .data, no_grad() or argmax in its forward"
                raise RuntimeError(f"model: expected an output that depends on weights being trained, got {got}")
            if not loss.isfinite():
                raise FloatingPointError(f"loss: expected a finite number, got {loss.item()}; try a smaller lr")
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
            callback()
    except KeyboardInterrupt:
        print(f"Training interrupted after {len(losses)} of {steps} steps. Run the cell again to retrain.")
    finally:
        optimiser.zero_grad()
        model.eval()
    return losses


@torch.no_grad()
def accuracy(model: nn.Module, inputs: Tensor, targets: Tensor) -> float:
    """The share of targets, from 0 to 1, that get the highest score from the model in eval mode.

    Targets of IGNORE_INDEX do not count. Each module of the model keeps its train or eval mode.

    Shapes and errors: as `fit`.
    """
    device = _device(model)
    inputs, targets = _pair("data", (inputs, targets))
    with evaluating(model):
        scores, targets = _scores(model, inputs.to(device), targets.to(device))  # (N, classes), (N,)
    counted = targets != IGNORE_INDEX
    return (scores.argmax(-1) == targets)[counted].double().mean().item()


def require_gradients(model: nn.Module) -> None:
    """Raise RuntimeError, with the reason, if gradients are off or `model` has no weights that they could train."""
    gradients, weights = "training needs gradients, and", "model: expected weights that can be trained, got"
    if torch.is_inference_mode_enabled():
        raise RuntimeError(f"{gradients} inference mode is on: try it outside torch.inference_mode()")
    if not torch.is_grad_enabled():
        hint = "try torch.set_grad_enabled(True), and train outside torch.no_grad()"
        raise RuntimeError(f"{gradients} gradients are off in this kernel: {hint}")
    if any(weight.is_inference() for weight in model.parameters()):
        hint = "try building the model again, outside torch.inference_mode()"
        raise RuntimeError(f"{weights} some made in inference mode; {hint}")
    if not any(weight.requires_grad for weight in model.parameters()):
        raise RuntimeError(f"{weights} requires_grad=False for all of them; try model.requires_grad_(True)")


def _scores(model: nn.Module, inputs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """The model's scores (N, classes) and their targets (N,), of which at least one is a class."""
    scores = model(inputs)  # (…, classes)
    if scores.shape[:-1] != targets.shape:
        got = f"{tuple(scores.shape)}; try nn.Linear(d_model, classes) as the last layer"
        raise ValueError(f"expected scores (…, classes) for targets {tuple(targets.shape)}, got {got}")
    classes = targets[targets != IGNORE_INDEX]
    if not len(classes):
        raise ValueError(f"targets: expected at least one class, got only IGNORE_INDEX ({IGNORE_INDEX})")
    low, high, most = classes.min().item(), classes.max().item(), scores.shape[-1] - 1
    if low < 0 or high > most:
        got = f"{low}; try {IGNORE_INDEX} where there is no target" if low < 0 else f"{high}; try more outputs"
        raise ValueError(f"targets: expected classes from 0 to {most}, or IGNORE_INDEX ({IGNORE_INDEX}), got {got}")
    return scores.flatten(0, -2), targets.flatten()


def _pair(name: str, batch: object) -> Sequence[Tensor]:
    """The inputs and targets with which a batch begins."""
    if not isinstance(batch, tuple | list) or len(batch) < 2 or not all(isinstance(x, Tensor) for x in batch[:2]):
        kinds = [type(x).__name__ for x in batch] if isinstance(batch, tuple | list) else type(batch).__name__
        raise TypeError(f"{name}: expected two tensors, inputs and targets, got {kinds}; try torch.tensor(...)")
    return batch[:2]


def _device(model: nn.Module) -> torch.device:
    weight = next(model.parameters(), None) if isinstance(model, nn.Module) else None
    if weight is None:
        raise TypeError(f"model: expected a torch module with weights, got {type(model).__name__}")
    return weight.device
