"""Call a learner's code with copies of its inputs, and notice every change to them."""

import inspect
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from encoder_lib.course.kit.checking.results import Feedback, show

PLAIN = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def deep_copy(values: Any) -> Any:
    """Copy lists, dictionaries, tensors, and modules with their parameters and buffers, all the way down.

    An object that occurs twice in the original also occurs twice in the copy. A copied tensor stays part of the graph,
    so that gradients of a result reach the original.
    """
    memo = {id(leaf): leaf.clone() for leaf in tree_leaves(values) if type(leaf) is Tensor}
    return deepcopy(values, memo)


def changed_part(before: Any, after: Any, name: str = "") -> str | None:
    """Return the name of a value that differs between an input and its used copy, such as "rows[1]", or None.

    Tensors, arrays, numbers and texts are compared, also inside lists, tuples, dictionaries and modules. The contents
    of other objects are not.
    """
    if type(before) is not type(after):
        return name
    inside, others = _contents(before), _contents(after)
    if list(inside) != list(others):
        return name
    if isinstance(before, Tensor | np.ndarray | int | float | str) and not _same(before, after):
        return name
    changes = (changed_part(value, others[key], f"{name}{key}") for key, value in inside.items())
    return next((found for found in changes if found is not None), None)


def _contents(value: Any) -> dict[str, Any]:
    """The contents of a container by the expression that reads them: [0], ['key'] or .weight."""
    if isinstance(value, nn.Module):
        return {f".{name}": x for name, x in (*value.named_parameters(), *value.named_buffers())}
    if isinstance(value, dict):
        return {f"[{key!r}]": entry for key, entry in value.items()}
    return {f"[{i}]": entry for i, entry in enumerate(value)} if isinstance(value, list | tuple) else {}


def _same(before: Any, after: Any) -> bool:
    """Whether two values of one type are equal; NaN equals NaN."""
    if not isinstance(before, Tensor | np.ndarray):
        return before == after or before != before
    if before.shape != after.shape or before.dtype != after.dtype:
        return False
    equal: Any = (before == after) | ((before != before) & (after != after))
    return bool(equal.all())


def argument_names(function: Callable, n: int) -> list[str]:
    """The function's own names for its first n arguments; empty if they have no names or cannot be found out."""
    try:
        parameters = list(inspect.signature(function).parameters.values())[:n]
    except Exception:  # not every callable has a signature
        return []
    return [p.name for p in parameters] if len(parameters) == n and all(p.kind in PLAIN for p in parameters) else []


def require_signature(function: Callable, arguments: Sequence[Any], name: str) -> None:
    """Raises: Feedback if the function cannot be called with these arguments."""
    try:
        signature = inspect.signature(function)
    except Exception:
        return
    try:
        signature.bind(*arguments)
    except TypeError:
        passed = f"{len(arguments)} argument{'s' * (len(arguments) != 1)}"
        values = f": {', '.join(show(a) for a in arguments)}" if arguments else ""
        raise Feedback(f"{name} takes {signature}, and the check passes {passed}{values}") from None


def call(function: Callable, *arguments: Any, name: str = "") -> Any:
    """Call a learner's function or module with copies of the arguments and return its result.

    Raises: Feedback if it does not take this many arguments, or if it changes one of them.
    """
    called = function.forward if isinstance(function, nn.Module) else function
    require_signature(called, arguments, name or getattr(function, "__name__", type(function).__name__))
    mine = deep_copy(arguments)
    got = function(*mine)
    names = argument_names(called, len(arguments)) or [""] * len(arguments)
    for before, after, argument in zip(arguments, mine, names, strict=True):
        if (where := changed_part(before, after, argument)) is not None:
            raise Feedback(
                f"the function changed its own input{f' {where}' if argument else ''}; make a new one instead"
            )
    return got
