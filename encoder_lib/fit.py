"""The training loop of the notebooks, and how to tell whether it worked."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm.auto import tqdm

from encoder_lib import expect


def fit(
    model: nn.Module,
    draw: Callable[[], tuple[Tensor, Tensor]],
    *,
    steps: int,
    lr: float = 3e-3,
    watch: Callable[[], None] | None = None,
    progress: bool = False,
) -> list[float]:
    """Train `model` in place to predict the targets that `draw()` hands out with its inputs; return every step's loss.

    Each step draws one batch and moves the weights against the gradient of the cross-entropy (Adam, Kingma and Ba
    2014, arXiv 1412.6980). `watch()` is called before the first step and after each; `progress` shows a bar. The
    model is left in eval mode, also when the training is interrupted.

    Shapes: inputs as the model takes them, targets (…) of class ids, model(inputs) (…, classes).
    Raises: TypeError or ValueError for steps that are not an integer ≥ 1, or lr ≤ 0.
    """
    expect.sizes(steps=steps)
    expect.positive("lr", lr)
    device = next(model.parameters()).device
    optimiser = torch.optim.Adam(model.parameters(), lr=lr)
    watch = watch or (lambda: None)
    losses = []
    model.train()
    watch()
    try:
        for _ in tqdm(range(steps), desc="Training", disable=not progress):
            inputs, targets = (x.to(device) for x in draw())
            loss = F.cross_entropy(model(inputs).flatten(0, -2), targets.flatten())
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
            watch()
    finally:
        model.eval()
    return losses


@torch.no_grad()
def accuracy(model: nn.Module, inputs: Tensor, targets: Tensor) -> float:
    """The share of targets that the model names, as a number from 0 to 1."""
    device = next(model.parameters()).device
    return (model(inputs.to(device)).argmax(-1) == targets.to(device)).double().mean().item()
