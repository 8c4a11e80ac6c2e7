"""Check that gradients arrive where training needs them: at parameters, and at inputs computed by earlier layers."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map_only

from encoder_lib.course.kit.checking.inputs import deep_copy
from encoder_lib.course.kit.checking.results import numbers

CUT = "is it detached on the way (.detach(), .data, .item(), torch.no_grad)?"


def missing_gradients(outputs: Any, tensors: Mapping[str, Tensor]) -> str:
    """Describe which of the tensors no gradient of the outputs reaches; return "" if it reaches them all.

    outputs: the result of a module or a loss, a tensor or a list of several. tensors: inputs and parameters that
    require gradients, for instance {"x": x, **dict(module.named_parameters())}.
    """
    missing = [name for name, gradient in gradients(outputs, tensors).items() if gradient is None]
    if not missing:
        return ""
    more = f" and {len(missing) - 3} more" if missing[3:] else ""
    return f"no gradient reaches {', '.join(missing[:3])}{more}: {CUT}"


def wrong_gradients(outputs: Any, tensors: Mapping[str, Tensor], expected: Any, theirs: Mapping[str, Tensor]) -> str:
    """Describe which tensor gets a wrong gradient; return "" if none does.

    outputs and expected hold the same numbers, computed from `tensors` and, by the reference, from `theirs`, which have
    the same names.
    """
    mine, wanted = gradients(outputs, tensors), gradients(expected, theirs)
    missing = {name: tensors[name] for name in tensors if mine[name] is None and wanted[name] is not None}
    if missing:
        return missing_gradients(outputs, missing)
    for name in tensors:
        got, right = ((torch.zeros_like(theirs[name]) if g is None else g).double() for g in (mine[name], wanted[name]))
        if not torch.allclose(got, right, rtol=1e-4, atol=1e-4):
            return f"the numbers are right, but the gradient of {name} is not: is a part of it detached on the way?"
    return ""


def gradients(outputs: Any, tensors: Mapping[str, Tensor]) -> dict[str, Tensor | None]:
    """Return the gradients of a weighted sum of all outputs, and None for a tensor that no gradient reaches."""
    parts = [x for x in tree_leaves(outputs) if isinstance(x, Tensor) and x.requires_grad]
    if not parts:
        return dict.fromkeys(tensors)
    total = torch.stack([(x.double() * numbers(*x.shape, seed=seed)).sum() for seed, x in enumerate(parts)]).sum()
    found = torch.autograd.grad(total, list(tensors.values()), allow_unused=True, retain_graph=True)
    return dict(zip(tensors, found, strict=True))


def requiring_gradients(values: Any, names: Any) -> tuple[Any, dict[str, Tensor]]:
    """Make a deep copy in which every floating tensor requires gradients, also inside modules, and return both by name.

    values: arguments in a tuple; names: their names.
    """
    values = tree_map_only(Tensor, lambda x: x.detach(), deep_copy(values))
    found: dict[str, Tensor] = {}
    for name, value in zip(names, values, strict=True):
        leaves = tree_leaves(value)
        for i, leaf in enumerate(leaves):
            label = f"{name}[{i}]" if isinstance(value, list | tuple | dict) else name
            if isinstance(leaf, nn.Module):
                found |= {f"{label}.{path}": p.requires_grad_() for path, p in leaf.named_parameters()}
            elif isinstance(leaf, Tensor) and leaf.is_floating_point():
                found[label] = leaf.requires_grad_()
    return values, found
