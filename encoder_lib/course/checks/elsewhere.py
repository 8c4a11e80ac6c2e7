"""What a learner's module does on another device, told on any machine: what it forgets to move meets what was moved."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map_only

MOVES = (Tensor.to, Tensor.type_as)
LEFT = "a tensor that is made on the CPU meets x, which is on another device; try device=x.device where it is made"


class Here(Tensor):
    """A tensor on the CPU while a module and its inputs are elsewhere. It has to be moved before it meets them.

    As on a GPU, a single number may be anywhere, and so may the indices with which one looks up rows.
    """

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        kwargs = kwargs or {}
        moved = function in MOVES and any(isinstance(x, Tensor | torch.device) for x in (*args[1:], *kwargs.values()))
        with torch._C.DisableTorchFunctionSubclass():
            out = function(*args, **kwargs)
        tensors = [x for x in tree_leaves((args, kwargs)) if isinstance(x, Tensor)]
        if moved or (function is Tensor.__getitem__ and not isinstance(args[0], Here)):
            return tree_map_only(Tensor, lambda x: x.as_subclass(Tensor), out)
        if all(isinstance(x, Here) for x in tensors):
            return tree_map_only(Tensor, lambda x: x.as_subclass(Here), out)
        if any(isinstance(x, Here) and x.ndim > 0 for x in tensors):
            raise RuntimeError(LEFT)
        return out


class _Elsewhere(TorchFunctionMode):
    """Inside, what is made from no tensor, and for no device, is made here."""

    def __torch_function__(self, function: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        out = function(*args, **(kwargs or {}))
        from_nothing = not any(isinstance(x, Tensor) for x in tree_leaves((args, kwargs)))
        if isinstance(out, Tensor) and from_nothing and (kwargs or {}).get("device") is None:
            return out.as_subclass(Here)
        return out


def left_behind(module: nn.Module, *inputs: Any) -> str:
    """A question to ask of a module: does it run on another device, where it was moved with its inputs? "" if it does.

    Raises: RuntimeError at the line where a tensor that was not moved meets one that was.
    """
    for part in module.modules():  # .to(...) moves parameters and buffers alone
        vars(part).update({name: x.as_subclass(Here) for name, x in vars(part).items() if isinstance(x, Tensor)})
    with _Elsewhere():
        module(*inputs)
    return ""
