"""Evaluate a model in the middle of its training."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Put `model` in eval mode for a block; afterwards each of its modules is in the mode that it had before."""
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        yield
    finally:
        model.train(modes[0][1])  # for modules that override train(); it gives all of them the root's mode
        for module, training in modes:
            module.training = training
