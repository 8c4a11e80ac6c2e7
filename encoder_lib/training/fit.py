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
from encoder_lib.training.distributed import ALONE, Workers
from encoder_lib.training.tasks import NOT_ASKED

CHUNK = 256  # sequences that are tried at a time


class History(list):
    """What happened in a training, also in one that was stopped: the list of every step's loss, and more.

    planned: the number of steps that were asked for. looks: the steps after which the held-out data was tried, with
    its `accuracies` and `held_out_losses`. ended: why the training ended, in words.
    """

    def __init__(self, planned: int):
        super().__init__()
        expect.sizes(planned=planned)
        self.planned, self.ended = planned, "it goes on"
        self.looks: list[int] = []
        self.accuracies: list[float] = []
        self.held_out_losses: list[float] = []

    @property
    def interrupted(self) -> bool:
        """Whether somebody stopped it by hand."""
        return self.ended == "stopped by hand"

    def first(self, share: float) -> int | None:
        """The first look, as a number of steps, at which the held-out accuracy was at least `share`; None without."""
        expect.probability("share", share)
        return next((step for step, a in zip(self.looks, self.accuracies, strict=True) if a >= share), None)

    def __repr__(self) -> str:
        seen = f", held-out accuracy {self.accuracies[-1]:.1%}" if self.looks else ""
        return f"{len(self)} of {self.planned} steps{seen}: {self.ended}"


def fit(
    model: nn.Module,
    draw: Callable[[], Sequence[Tensor]],
    *,
    steps: int,
    lr: float = 3e-3,
    held_out: Sequence[Tensor] | None = None,
    every: int = 10,
    stop_at: float | None = None,
    patience: int | None = None,
    seed: int | None = None,
    watch: Callable[[], None] | None = None,
    progress: bool = False,
    optimiser: torch.optim.Optimizer | None = None,
    history: History | None = None,
    workers: Workers = ALONE,
) -> History:
    """Train `model` in place to predict the targets that `draw()` hands out with its inputs; return every step's loss.

    Each step draws one batch and moves the weights against the gradient of the cross-entropy (Adam, Kingma and Ba
    2014, arXiv 1412.6980). Targets of NOT_ASKED (−100) do not count, and whatever `draw()` and `held_out` hold behind
    inputs and targets is left alone. `watch()` is called before the first step and after each; `progress` shows a bar.

    After each `every` steps, and after the last, the held-out data is tried. The training ends early when its accuracy
    reaches `stop_at`; or when `patience` looks in a row were no better than the best one before them. With `patience`
    the weights of the best look come back in the end. With a `seed` everything that is drawn inside comes from it, and
    the caller's random numbers go on as if nothing had been drawn; without one they are used.

    To go on with a training, hand in its `optimiser` (which has its own lr) and its `history`, whose steps count as
    done: the same list is returned, longer. When `workers` share the training, each draws the same batches and works
    on its rows of them, and all end with the same weights: those that one process alone would have.

    The model is left in eval mode, however the training ends. A KeyboardInterrupt (the kernel's stop button) ends the
    training and goes no further: the weights stay as they are in that moment, `fit` says so on the screen and in
    `ended`, and returns the history so far, so that the rest of a notebook has both.

    Shapes: inputs as the model takes them, targets (…) of class ids, model(inputs) (…, classes).
    Raises: TypeError or ValueError for steps, every or patience that are not integers ≥ 1, lr ≤ 0, a stop_at outside
    0 … 1, a limit without held-out data, scores that do not fit the targets, targets that are no class, a batch that
    asks nothing, or has fewer sequences than there are workers; TypeError for a `draw` that is no function of pairs, an
    optimiser or a history that is none; FloatingPointError for a loss that is no finite number any more.
    """
    expect.sizes(steps=steps, every=every)
    expect.positive("lr", lr)
    _expect_limits(held_out, stop_at, patience)
    if not callable(draw):
        raise TypeError(f"draw: expected a function, got {type(draw).__name__}; try lambda: (inputs, targets)")
    if watch is not None:
        expect.function("watch", watch)
    device = _device(model)
    optimiser = torch.optim.Adam(model.parameters(), lr=lr) if optimiser is None else optimiser
    history = History(steps) if history is None else history
    expect.kind("optimiser", optimiser, torch.optim.Optimizer, "a torch optimiser", "; try torch.optim.Adam(...)")
    expect.kind("history", history, History, "a History", "; try the one that fit returned")
    expect.kind("workers", workers, Workers, "Workers", "; try ALONE")
    history.planned, history.ended = steps, "it goes on"
    watch, best = watch or (lambda: None), None
    shared = workers.wrap(model)
    with _seeded(seed), progress_bar.bar(steps, "Training", shown=progress) as bar:
        model.train()
        bar.update(len(history))
        try:
            watch()
            while not _enough(history, stop_at, patience):
                history.append(_step(shared, optimiser, _pair("draw", draw()), device, workers))
                watch()
                if held_out is not None and (len(history) % every == 0 or len(history) == steps):
                    look(model, held_out, history)
                    bar.set_postfix(loss=f"{history[-1]:.3f}", held_out=f"{history.accuracies[-1]:.1%}", refresh=False)
                    if patience and history.accuracies[-1] > max(history.accuracies[:-1], default=-1.0):
                        best = deepcopy(model.state_dict())
                bar.update()
            history.ended = _enough(history, stop_at, patience)
            if best is not None:
                model.load_state_dict(best)
        except KeyboardInterrupt:
            history.ended = "stopped by hand"
        finally:
            optimiser.zero_grad()
            model.eval()
    if history.interrupted:
        print(f"Training stopped by hand after {len(history)} of {steps} steps. To train anew, run the cell again.")
    return history


def accuracy(model: nn.Module, inputs: Tensor, targets: Tensor) -> float:
    """The share of targets that the model, in eval mode, names, as a number from 0 to 1. NOT_ASKED does not count.

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
        for x, y in zip(inputs.split(CHUNK), targets.split(CHUNK), strict=True):
            scores, y = _scores(model, x.to(device), y.to(device))  # (N, classes), (N,)
            right += (scores.argmax(-1) == y).sum().item()
            loss += F.cross_entropy(scores, y, reduction="sum", ignore_index=NOT_ASKED).item()
            asked += (y != NOT_ASKED).sum().item()
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
    unknown = targets[(targets != NOT_ASKED) & ((targets < 0) | (targets >= scores.shape[-1]))]
    if len(unknown):
        raise ValueError(
            f"targets: expected classes from 0 to {scores.shape[-1] - 1}, or {NOT_ASKED} for none, got "
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
    asked = (batch[1] != NOT_ASKED).sum()
    scores, targets = _scores(model, *(x.to(device) for x in workers.share(batch)))
    part = F.cross_entropy(scores, targets, ignore_index=NOT_ASKED, reduction="sum") / asked
    loss = workers.total(part)
    if not loss.isfinite():
        raise FloatingPointError(f"loss: expected a finite number, got {loss.item()}; try a smaller lr")
    optimiser.zero_grad()
    (part * workers.count).backward()  # the mean over the workers of these gradients is the gradient of the sum
    optimiser.step()
    return loss.item()


def look(model: nn.Module, held_out: Sequence[Tensor], history: History) -> None:
    """Try the held-out data after the steps so far, and note what came out in `history`."""
    accuracy, loss = _try(model, *_pair("held_out", held_out))
    history.looks.append(len(history))
    history.accuracies.append(accuracy)
    history.held_out_losses.append(loss)


def _enough(history: History, stop_at: float | None, patience: int | None) -> str:
    """Why the training need not go on, in words; empty when it should."""
    seen = history.accuracies
    if stop_at is not None and seen and seen[-1] >= stop_at:
        return f"held-out accuracy reached {stop_at:.1%}"
    if patience is not None and seen and len(seen) - 1 - seen.index(max(seen)) >= patience:
        return f"no better in {patience} looks"
    return "all steps done" if len(history) >= history.planned else ""


def _pair(name: str, batch) -> Sequence[Tensor]:
    """The first two of what should be inputs and targets, and perhaps more."""
    if not isinstance(batch, tuple | list) or len(batch) < 2 or not all(isinstance(x, Tensor) for x in batch[:2]):
        kinds = [type(x).__name__ for x in batch] if isinstance(batch, tuple | list) else type(batch).__name__
        raise TypeError(f"{name}: expected two tensors, inputs and targets, got {kinds}; try torch.tensor(...)")
    return batch[:2]


def _expect_asked(targets: Tensor) -> None:
    if (targets == NOT_ASKED).all():
        raise ValueError(f"targets: expected at least one that asks for a class, got {NOT_ASKED} everywhere")


def _expect_limits(held_out, stop_at, patience) -> None:
    if stop_at is not None:
        expect.probability("stop_at", stop_at)
    if patience is not None:
        expect.sizes(patience=patience)
    if held_out is not None:
        _pair("held_out", held_out)
    elif stop_at is not None or patience is not None:
        raise ValueError("held_out: expected inputs and targets to stop by, got None; try held_out=draw()")


def _device(model: nn.Module) -> torch.device:
    weight = next(model.parameters(), None) if isinstance(model, nn.Module) else None
    if weight is None:
        raise TypeError(f"model: expected a torch module with weights, got {type(model).__name__}")
    return weight.device


def _seeded(seed: int | None) -> AbstractContextManager:
    """As `seeded`; without a seed nothing is done."""
    return nullcontext() if seed is None else seeded(expect.integer("seed", seed, least=0))
