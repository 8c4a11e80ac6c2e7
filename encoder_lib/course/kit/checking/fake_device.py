"""Find out on any machine, with a fake device, whether a learner's module would run on another device."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map_only

MOVES = (Tensor.to, Tensor.type_as)
MISMATCH = "a tensor made on the CPU meets x, which is on another device; try device=x.device where it is made"


class CPUTensor(Tensor):
    """A tensor on the CPU, where the module and its inputs are pretended to be on another device.

    It has to be moved before it can be combined with them.

    As on a GPU, a single number may be on any device, and so may indices that look up rows.
    """

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        kwargs = kwargs or {}
        moved = function in MOVES and any(isinstance(x, Tensor | torch.device) for x in (*args[1:], *kwargs.values()))
        with torch._C.DisableTorchFunctionSubclass():
            out = function(*args, **kwargs)
        tensors = [x for x in tree_leaves((args, kwargs)) if isinstance(x, Tensor)]
        if moved or (function is Tensor.__getitem__ and not isinstance(args[0], CPUTensor)):
            return tree_map_only(Tensor, lambda x: x.as_subclass(Tensor), out)
        if all(isinstance(x, CPUTensor) for x in tensors):
            return tree_map_only(Tensor, lambda x: x.as_subclass(CPUTensor), out)
        if any(isinstance(x, CPUTensor) and x.ndim > 0 for x in tensors):
            raise RuntimeError(MISMATCH)
        return out


class _FakeDevice(TorchFunctionMode):
    """Turn every tensor that is created from no other tensor, and without a device, into a `CPUTensor`."""

    def __torch_function__(self, function: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        out = function(*args, **(kwargs or {}))
        from_nothing = not any(isinstance(x, Tensor) for x in tree_leaves((args, kwargs)))
        if isinstance(out, Tensor) and from_nothing and (kwargs or {}).get("device") is None:
            return out.as_subclass(CPUTensor)
        return out


def device_mismatch(module: nn.Module, *inputs: Any) -> str:
    """Run a module as if it and its inputs had been moved to another device; return "" if nothing was left behind.

    Raises: RuntimeError at the line that combines a tensor left on the CPU with one that was moved.
    """
    for part in module.modules():  # .to(...) only moves parameters and buffers
        vars(part).update({name: x.as_subclass(CPUTensor) for name, x in vars(part).items() if isinstance(x, Tensor)})
    with _FakeDevice():
        module(*inputs)
    return ""
