"""A device "far" that stands for a GPU: its tensors are the CPU's, say that they are not, and refuse to meet those.

For PyTorch it is a device like any other: modules move there, gradients and optimisers work. It is there from the
import of this module on, in this process, and cannot be taken away again.
"""

import torch
from torch import Tensor
from torch.utils import backend_registration
from torch.utils._python_dispatch import return_and_correct_aliasing
from torch.utils._pytree import tree_leaves, tree_map_only

COPIES = {"aten::copy_", "aten::_to_copy"}  # one tensor may be here and one there
LOOK_UPS = {"aten::index", "aten::index_put", "aten::index_put_", "aten::_index_put_impl_"}  # so may the indices


class Far(Tensor):
    """A tensor of the device, around the one that holds its numbers."""

    held: Tensor
    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, held):
        layout = {"strides": held.stride(), "storage_offset": held.storage_offset(), "dtype": held.dtype}
        self = Tensor._make_wrapper_subclass(cls, held.size(), device="far:0", **layout)
        self.held = held
        return self

    @classmethod
    def __torch_dispatch__(cls, operation, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        refuse_to_mix(operation._schema.name, args, kwargs)
        to = kwargs.get("device")
        held = tree_map_only(Far, lambda x: x.held, (args, kwargs | ({"device": "cpu"} if to else {})))
        out = operation(*held[0], **held[1])
        if to and to.type == "cpu":
            return out
        return return_and_correct_aliasing(operation, args, kwargs, tree_map_only(Tensor, cls, out))

    def __repr__(self):
        return f"{repr(self.cpu())[:-1]}, device='far:0')"

    def __format__(self, how):
        return format(self.cpu(), how)

    def tolist(self):
        return self.cpu().tolist()

    def numpy(self):
        raise TypeError("can't convert far:0 device type tensor to numpy. Use Tensor.cpu() first.")


def refuse_to_mix(name, args, kwargs):
    """Complain, as a GPU does, of a tensor of the CPU's; a single number may be there."""
    if name in LOOK_UPS and isinstance(args[0], Far):
        args = args[2:]
    tensors = [x for x in tree_leaves((args, kwargs)) if isinstance(x, Tensor)]
    if name not in COPIES and any(x.ndim > 0 and not isinstance(x, Far) for x in tensors):
        raise RuntimeError(f"Expected all tensors to be on the same device, but found far:0 and cpu in {name}")


def _empty(size, dtype=None, layout=None, device=None, pin_memory=None, memory_format=None):
    return Far(torch.empty(size, dtype=dtype))


def _empty_strided(size, stride, dtype=None, layout=None, device=None, pin_memory=None):
    return Far(torch.empty_strided(size, stride, dtype=dtype))


def _copy(source, to, non_blocking=False):
    to.held.copy_(source)
    return to


backend_registration._setup_privateuseone_for_python_backend("far")
KERNELS = torch.library.Library("aten", "IMPL")  # all others are made of these
KERNELS.impl("empty.memory_format", _empty, "PrivateUse1")
KERNELS.impl("empty_strided", _empty_strided, "PrivateUse1")
KERNELS.impl("_copy_from", _copy, "PrivateUse1")
torch.far.get_rng_state = lambda device: torch.get_rng_state()  # the CPU's generator draws for it
torch.far.set_rng_state = lambda state, device: torch.set_rng_state(state)
