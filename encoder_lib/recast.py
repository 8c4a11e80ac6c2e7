"""Modules that share parameters: the same module with another class, and a copy of a whole tree of modules."""

from typing import TypeVar, cast

import torch
from torch import nn

Module = TypeVar("Module", bound=nn.Module)


def with_class(module: nn.Module, cls: type[Module]) -> Module:
    """The module as an instance of `cls`, sharing parameters, settings, submodules and hooks with the original.

    `cls` is a subclass of the module's class that changes what it computes and has no attributes of its own: use it to
    ablate a part, or to swap in another implementation.
    """
    new = cls.__new__(cls)
    new.__dict__ = module.__dict__
    return new


def has_hooks(module: nn.Module) -> bool:
    """Whether calling the module also runs hooks that were registered on it."""
    forward, backward = module._forward_hooks or module._forward_pre_hooks, module._backward_hooks
    return bool(forward or backward or module._backward_pre_hooks)


def share(module: Module) -> Module:
    """A copy of a module and all its submodules that shares parameters, buffers and hooks with the original.

    A training step of one is a training step of the other, and a hook added to one also fires in the other. Each
    module of the copy has its own class, submodules, settings and mode (train or eval), so changing these leaves the
    original as it was. A submodule that occurs twice occurs twice in the copy.
    """
    return _share(module, {})


def _share(module: Module, copies: dict[int, nn.Module]) -> Module:
    if isinstance(module, torch.jit.ScriptModule):  # compiled code, which no change to Python attributes reaches
        return module
    if id(module) not in copies:
        # Not copy.copy, which parametrized modules refuse.
        copies[id(module)] = new = nn.Module.__new__(type(module))
        new.__dict__ |= module.__dict__ | {"_compiled_call_impl": None}  # what `compile()` made calls the original
        new._modules = {n: child if child is None else _share(child, copies) for n, child in module._modules.items()}
    return cast(Module, copies[id(module)])
