"""The training loop of the notebooks, what it tells of a training, and how to measure the result.

`python -m encoder_lib.training --help` runs it from the command line, alone or, under torchrun, in several processes.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from encoder_lib import expect
from encoder_lib.seeded import seeded
from encoder_lib.training import progress as progress_bar
from encoder_lib.training.distributed import SINGLE_PROCESS, Workers
from encoder_lib.training.tasks import IGNORE_INDEX

EVAL_BATCH = 256  # sequences that are tried at a time


class History(list[float]):
    """What happened in a training, also in one that was stopped: the list of every step's loss, and more.

    planned_steps: the number of steps that were asked for. eval_steps: the steps after which the held-out data was
    tried, with its `accuracies` and `held_out_losses`. stop_reason: why the training ended, in words.
    """

    def __init__(self, planned_steps: int):
        super().__init__()
        expect.sizes(planned_steps=planned_steps)
        self.planned_steps, self.stop_reason = planned_steps, "it goes on"
        self.eval_steps: list[int] = []
        self.accuracies: list[float] = []
        self.held_out_losses: list[float] = []

    @property
    def interrupted(self) -> bool:
        """Whether somebody stopped it by hand."""
        return self.stop_reason == "stopped by hand"

    def __repr__(self) -> str:
        seen = f", held-out accuracy {self.accuracies[-1]:.1%}" if self.eval_steps else ""
        return f"{len(self)} of {self.planned_steps} steps{seen}: {self.stop_reason}"


def fit(
    model: nn.Module,
    draw: Callable[[], Sequence[Tensor]],
    *,
    steps: int,
    lr: float = 3e-3,
    held_out: Sequence[Tensor] | None = None,
    eval_every: int = 10,
    stop_at_accuracy: float | None = None,
    patience: int | None = None,
    seed: int | None = None,
    callback: Callable[[], None] | None = None,
    progress: bool = False,
    optimiser: torch.optim.Optimizer | None = None,
    history: History | None = None,
    workers: Workers = SINGLE_PROCESS,
) -> History:
    """Train `model` in place to predict the targets that `draw()` hands out with its inputs; return every step's loss.

    Each step draws one batch and moves the weights against the gradient of the cross-entropy (Adam, Kingma and Ba
    2014, arXiv 1412.6980). Targets of IGNORE_INDEX (−100) do not count, and whatever `draw()` and `held_out` hold
    behind inputs and targets is left alone. `callback()` is called before the first step and after each; `progress`
    shows a bar.

    After each `eval_every` steps, and after the last, the model is evaluated on the held-out data. The training ends
    early when its accuracy reaches `stop_at_accuracy`; or when `patience` evaluations in a row were no better than the
    best one before them. With `patience` the weights of the best one come back in the end. With a `seed` everything
    that is drawn inside comes from it, and the caller's random numbers go on as if nothing had been drawn; without one
    they are used.

    To go on with a training, hand in its `optimiser` (which has its own lr) and its `history`, whose steps count as
    done: the same list is returned, longer. When `workers` share the training, each draws the same batches and works
    on its rows of them, and all end with the same weights: those that one process alone would have.

    The model is left in eval mode, however the training ends. A KeyboardInterrupt (the kernel's stop button) ends the
    training and goes no further: the weights stay as they are in that moment, `fit` says so on the screen and in
    `stop_reason`, and returns the history so far, so that the rest of a notebook has both.

    Shapes: inputs as the model takes them, targets (…) of class ids, model(inputs) (…, classes).
    Raises: TypeError or ValueError for steps, eval_every or patience that are not integers ≥ 1, lr ≤ 0, a
    stop_at_accuracy outside 0 … 1, a limit without held-out data, scores that do not fit the targets, targets that are
    no class, a batch that asks nothing or has fewer sequences than there are workers; TypeError for a `draw` that is no
    function of pairs, an optimiser or a history that is none; FloatingPointError for a loss that is not finite any
    more.
    """
    expect.sizes(steps=steps, eval_every=eval_every)
    expect.positive("lr", lr)
    _expect_limits(held_out, stop_at_accuracy, patience)
    if not callable(draw):
        raise TypeError(f"draw: expected a function, got {type(draw).__name__}; try lambda: (inputs, targets)")
    if callback is not None:
        expect.function("callback", callback)
    device = _device(model)
    optimiser = torch.optim.Adam(model.parameters(), lr=lr) if optimiser is None else optimiser
    history = History(steps) if history is None else history
    expect.kind("optimiser", optimiser, torch.optim.Optimizer, "a torch optimiser", "; try torch.optim.Adam(...)")
    expect.kind("history", history, History, "a History", "; try the one that fit returned")
    expect.kind("workers", workers, Workers, "Workers", "; try SINGLE_PROCESS")
    history.planned_steps, history.stop_reason = steps, "it goes on"
    callback, best = callback or (lambda: None), None
    shared = workers.data_parallel(model)
    with _seeded(seed), progress_bar.bar(steps, "Training", shown=progress) as bar:
        model.train()
        bar.update(len(history))
        try:
            callback()
            while not _enough(history, stop_at_accuracy, patience):
                history.append(_step(shared, optimiser, _pair("draw", draw()), device, workers))
                callback()
                if held_out is not None and (len(history) % eval_every == 0 or len(history) == steps):
                    evaluate(model, held_out, history)
                    bar.set_postfix(loss=f"{history[-1]:.3f}", held_out=f"{history.accuracies[-1]:.1%}", refresh=False)
                    if patience and history.accuracies[-1] > max(history.accuracies[:-1], default=-1.0):
                        best = deepcopy(model.state_dict())
                bar.update()
            history.stop_reason = _enough(history, stop_at_accuracy, patience)
            if best is not None:
                model.load_state_dict(best)
        except KeyboardInterrupt:
            history.stop_reason = "stopped by hand"
        finally:
            optimiser.zero_grad()
            model.eval()
    if history.interrupted:
        print(f"Training stopped by hand after {len(history)} of {steps} steps. To train anew, run the cell again.")
    return history


def accuracy(model: nn.Module, inputs: Tensor, targets: Tensor) -> float:
    """The share of targets that the model, in eval mode, names, as a number from 0 to 1. IGNORE_INDEX does not count.

    Shapes and errors: as `fit`.
    """
    return _try(model, inputs, targets)[0]


@torch.no_grad()
def _try(model: nn.Module, inputs: Tensor, targets: Tensor) -> tuple[float, float]:
    """Accuracy and mean loss over the targets that are asked, a part of the sequences at a time."""
    device, mode = _device(model), model.training
    inputs, targets = _pair("data", (inputs, targets))
    _expect_asked(targets)
    model.eval()
    right, loss, asked = 0, 0.0, 0
    try:
        for x, y in zip(inputs.split(EVAL_BATCH), targets.split(EVAL_BATCH), strict=True):
            scores, y = _scores(model, x.to(device), y.to(device))  # (N, classes), (N,)
            right += int((scores.argmax(-1) == y).sum())
            loss += F.cross_entropy(scores, y, reduction="sum", ignore_index=IGNORE_INDEX).item()
            asked += int((y != IGNORE_INDEX).sum())
    finally:
        model.train(mode)
    return right / asked, loss / asked


def _scores(model: nn.Module, inputs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """The model's scores (N, classes) and the targets (N,) that they are for."""
    scores = model(inputs)  # (…, classes)
    if scores.shape[:-1] != targets.shape:
        raise ValueError(
            f"expected scores (…, classes) for targets {tuple(targets.shape)}, got {tuple(scores.shape)}; "
            "try nn.Linear(d_model, classes) as the last layer"
        )
    unknown = targets[(targets != IGNORE_INDEX) & ((targets < 0) | (targets >= scores.shape[-1]))]
    if len(unknown):
        raise ValueError(
            f"targets: expected classes from 0 to {scores.shape[-1] - 1}, or {IGNORE_INDEX} for none, got "
            f"{unknown[0].item()}; try a last layer with more outputs"
        )
    return scores.flatten(0, -2), targets.flatten()


def _step(
    model: nn.Module,
    optimiser: torch.optim.Optimizer,
    batch: Sequence[Tensor],
    device: torch.device,
    workers: Workers,
) -> float:
    """Move the weights once, and return the batch's loss before it.

    The loss is the mean over all targets of the batch that are asked, whoever works on them. A worker may have more of
    them than another; so each adds up the losses in its rows and divides by the number in the whole batch.
    """
    _expect_asked(batch[1])
    asked = (batch[1] != IGNORE_INDEX).sum()
    scores, targets = _scores(model, *(x.to(device) for x in workers.shard(batch)))
    part = F.cross_entropy(scores, targets, ignore_index=IGNORE_INDEX, reduction="sum") / asked
    loss = workers.all_reduce(part)
    if not loss.isfinite():
        raise FloatingPointError(f"loss: expected a finite number, got {loss.item()}; try a smaller lr")
    optimiser.zero_grad()
    (part * workers.world_size).backward()  # the mean over the workers of these gradients is the gradient of the sum
    optimiser.step()
    return loss.item()


def evaluate(model: nn.Module, held_out: Sequence[Tensor], history: History) -> None:
    """Try the model on the held-out data after the steps so far, and note what came out in `history`."""
    accuracy, loss = _try(model, *_pair("held_out", held_out))
    history.eval_steps.append(len(history))
    history.accuracies.append(accuracy)
    history.held_out_losses.append(loss)


def _enough(history: History, stop_at_accuracy: float | None, patience: int | None) -> str:
    """Why the training need not go on, in words; empty when it should."""
    seen = history.accuracies
    if stop_at_accuracy is not None and seen and seen[-1] >= stop_at_accuracy:
        return f"held-out accuracy reached {stop_at_accuracy:.1%}"
    if patience is not None and seen and len(seen) - 1 - seen.index(max(seen)) >= patience:
        return f"no better in {patience} evaluations"
    return "all steps done" if len(history) >= history.planned_steps else ""


def _pair(name: str, batch: object) -> Sequence[Tensor]:
    """The first two of what should be inputs and targets, and perhaps more."""
    if not isinstance(batch, tuple | list) or len(batch) < 2 or not all(isinstance(x, Tensor) for x in batch[:2]):
        kinds = [type(x).__name__ for x in batch] if isinstance(batch, tuple | list) else type(batch).__name__
        raise TypeError(f"{name}: expected two tensors, inputs and targets, got {kinds}; try torch.tensor(...)")
    return batch[:2]


def _expect_asked(targets: Tensor) -> None:
    if (targets == IGNORE_INDEX).all():
        raise ValueError(f"targets: expected at least one that asks for a class, got {IGNORE_INDEX} everywhere")


def _expect_limits(held_out: object, stop_at_accuracy: float | None, patience: int | None) -> None:
    if stop_at_accuracy is not None:
        expect.probability("stop_at_accuracy", stop_at_accuracy)
    if patience is not None:
        expect.sizes(patience=patience)
    if held_out is not None:
        _pair("held_out", held_out)
    elif stop_at_accuracy is not None or patience is not None:
        raise ValueError("held_out: expected inputs and targets to stop by, got None; try held_out=draw()")


def _device(model: nn.Module) -> torch.device:
    weight = next(model.parameters(), None) if isinstance(model, nn.Module) else None
    if weight is None:
        raise TypeError(f"model: expected a torch module with weights, got {type(model).__name__}")
    return weight.device


def _seeded(seed: int | None) -> AbstractContextManager:
    """As `seeded`; without a seed nothing is done."""
    return nullcontext() if seed is None else seeded(expect.integer("seed", seed, least=0))
