"""Modules made by a learner's class: building and running them, their parameters and gradients.

Building and running draw the same random numbers each time; the verdict restores the learner's random state.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from encoder_lib.course.kit.checking.gradients import missing_gradients
from encoder_lib.course.kit.checking.inputs import argument_names, call, require_signature
from encoder_lib.course.kit.checking.results import Feedback, as_number, as_tensor
from encoder_lib.course.kit.checking.verdict import NotWritten, require_written
from encoder_lib.model.encoder import EncoderLayer


def build(thing: Callable, *sizes: Any, name: str = "") -> nn.Module:
    """Make an object of the learner's class in float64; `name` is the expected name of the class.

    Raises: NotWritten for a placeholder; Feedback if it is not a module, or the class does not take these sizes.
    """
    torch.default_generator.manual_seed(0)
    require_signature(thing, sizes, getattr(thing, "__name__", type(thing).__name__))
    module = require_written(thing(*sizes), thing)
    if isinstance(module, nn.Module):
        return module.double()
    got = type(module).__name__
    if name:
        raise Feedback(f"expected a module, got {got}; try class {name}(nn.Module)")
    raise Feedback(f"expected a class of nn.Module, got something that makes {got}")


def run(module: nn.Module, *inputs: Tensor | None) -> Any:
    """Run a module on copies of the inputs, with the same dropout in each run. Raises: Feedback, as `run_on_copies`."""
    torch.default_generator.manual_seed(0)
    return run_on_copies(module, *inputs)


def run_on_copies(module: nn.Module, *inputs: Any) -> Any:
    """Run a module on copies of the inputs. Raises: Feedback if it changes them or cannot be called with them."""
    return call(module, *inputs, name="forward")


def without_gradient(module: nn.Module, *inputs: Any) -> str:
    """Describe which parameters or floating inputs of a module get no gradient of its result; "" if all do."""
    mine = [x.detach().clone().requires_grad_() if _is_floating(x) else x for x in inputs]
    names = argument_names(module.forward, len(inputs)) or [f"input {n}" for n, _ in enumerate(inputs, start=1)]
    given = {name: x for name, x in zip(names, mine, strict=True) if _is_floating(x)}
    trained = {name: weight for name, weight in module.named_parameters() if weight.requires_grad}
    return missing_gradients(module(*mine), given | trained)


def _is_floating(x: Any) -> bool:
    return isinstance(x, Tensor) and x.is_floating_point()


def losses_and_after(
    losses: Any, model: nn.Module, before: nn.Module, loss: Callable[[], Tensor], steps: int | None = None
) -> Tensor:
    """The losses that a training loop returned, followed by the loss of the trained model. -> (steps + 1,)

    Raises: NotWritten for a placeholder, or for None if the model has not changed; Feedback for anything but a list
    of `steps` numbers.
    """
    if losses is ... or (losses is None and _same_parameters(model, before)):
        raise NotWritten
    if not isinstance(losses, list | tuple):
        losses = as_tensor(losses, "a list with the loss of each step")
        if losses.ndim == 0:
            raise Feedback("expected a list with the loss of each step, got a single number")
    if steps is not None and len(losses) != steps:
        raise Feedback(f"expected {steps} loss{'es' * (steps != 1)}, one for each step, got {len(losses)}")
    found = [as_number(each, "a number as the loss of each step") for each in losses]
    return torch.tensor([*found, loss().item()], dtype=torch.float64)


def _same_parameters(model: nn.Module, other: nn.Module) -> bool:
    return all(torch.equal(a, b) for a, b in zip(model.parameters(), other.parameters(), strict=True))


def count(module: nn.Module) -> int:
    """The number of parameters of a module, counted as single numbers."""
    return sum(weight.numel() for weight in module.parameters())


def equal_matrices(module: nn.Module) -> int:
    """The number of pairs of a module's matrices that hold the same numbers."""
    matrices = [weight for weight in module.parameters() if weight.ndim == 2]
    return sum(torch.equal(a, b) for i, a in enumerate(matrices) for b in matrices[:i])


def encoder_layers(module: nn.Module) -> list[EncoderLayer]:
    return [each for each in module.modules() if isinstance(each, EncoderLayer)]


def run_layers(layers: list[EncoderLayer], x: Tensor, mask: Tensor | None) -> Tensor:
    for layer in layers:
        x = layer(x, mask)  # (B, T, D)
    return x


def parameter_of_shape(module: nn.Module, *shape: int) -> Tensor:
    """The one parameter of that shape. Raises: Feedback if there is none, or more than one."""
    found = [weight for weight in module.parameters() if weight.shape == shape]
    if len(found) != 1:
        raise Feedback(f"expected one parameter of shape {shape} in parameters(), found {len(found)}")
    return found[0]
