"""Results of a learner's code: convert them to tensors, compare them with what was expected, describe them."""

import re
from collections.abc import Iterator
from numbers import Real
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from encoder_lib.course.kit.checking.comparison import Comparison
from encoder_lib.course.kit.notebook import tidy

TOLERANCE = 1e-4  # so that an answer computed in float32 also passes
MAX_SHOWN = 3  # numbers, or positions at which two results differ, that are shown one by one
NUMBER = re.compile(r"[^\[\], ]+")  # in a list that is written out
MAX_LISTED = 12  # numbers in a tensor that is written out
MAX_ROWS, MAX_COLUMNS = 8, 16  # of a mask that is drawn
compared: list[Comparison] = []  # the results that differed from what was expected, since the last input was tried
NOTHING = "the function returns nothing; is a `return` missing?"


class Feedback(ValueError):
    """Says what is wrong with an attempt, in a sentence for the reader."""


def describe_type(value: object) -> str:
    """Name the type of a value, with its length if it is a list, a tuple or a dictionary."""
    for kind, name in ((list, "a list"), (tuple, "a tuple"), (dict, "a dictionary")):
        if isinstance(value, kind):
            return f"{name} of {len(value)}"
    return "a NumPy array" if isinstance(value, np.ndarray) else type(value).__name__


def as_tensor(got: Any, expected: str = "a tensor or a number") -> Tensor:
    """Convert a result to a tensor. It may be a tensor, a parameter, a NumPy array or number, or a Python number.

    Raises: Feedback for None and for anything else; `expected` names what was expected.
    """
    if got is None:
        raise Feedback(NOTHING)
    if isinstance(got, Tensor):
        return got
    if isinstance(got, np.ndarray | np.generic | Real):
        try:
            return torch.tensor(np.array(got))
        except (TypeError, ValueError, OverflowError):  # text, objects, integers that no dtype holds
            pass
    raise Feedback(f"expected {expected}, got {describe_type(got)}")


def as_number(got: Any, expected: str = "a number") -> float:
    """Convert a result to one number, whatever kind of number or array it is. Raises: Feedback for anything else."""
    tensor = as_tensor(got, expected)
    if tensor.numel() != 1:
        raise Feedback(f"expected {expected}, got a tensor of shape {tuple(tensor.shape)}")
    if tensor.is_complex():
        raise Feedback(f"expected {expected}, got a complex one")
    return tensor.item()


def difference(given: str, expected: Tensor, got: object) -> str:
    """Describe how a result differs from what was expected; "" if it doesn't. `given` is a description of the input."""
    try:
        tensor = as_tensor(got, "a tensor" if expected.ndim else "a tensor or a number")
        problem = _difference(expected, tensor)
        if problem:
            compared.append(Comparison(problem, tensor, expected))
    except Feedback as complaint:
        problem = str(complaint)
    return problem and with_input(given, problem)


def _difference(expected: Tensor, got: Tensor) -> str:
    if got.shape != expected.shape:
        shape = tuple(got.shape) or "a single number"
        return f"expected shape {tuple(expected.shape)}, got {shape}"
    if got.is_complex():
        return f"expected real numbers, got {got.dtype}"
    if (got.dtype == torch.bool) != (expected.dtype == torch.bool):
        kind = "boolean" if expected.dtype == torch.bool else "a number"
        return f"expected each element to be {kind}, got {got.dtype}"
    got, expected = got.detach().cpu().double(), expected.detach()
    if nans := _positions(got.isnan() & ~expected.isnan()):
        more = f" and {len(nans) - 1} more position{'s' * (len(nans) > 2)}" if nans[1:] else ""
        return f"the result {f'has NaN at {nans[0]}{more}' if got.ndim else 'is NaN'}, expected {show(expected)}"
    off = ~torch.isclose(got, expected.double(), atol=TOLERANCE, rtol=0, equal_nan=True)
    positions = _positions(off)
    if not positions:
        return ""
    if expected.dtype == torch.bool:
        got = got.bool()
    elif not expected.is_floating_point() and torch.equal(got, got.round()):
        got = got.long()  # so that both are written as whole numbers
    if expected.numel() <= MAX_SHOWN:
        wanted, came = _aligned(show(expected), show(got))
        return f"expected {wanted}\ngot      {came}"
    if len(positions) <= MAX_SHOWN:
        return "\n".join(f"expected {show(expected[at])} at {at}, got {show(got[at])}" for at in positions)
    far = (got.double() - expected.double()).abs().nan_to_num(torch.inf).where(off, 0.0)
    at = tuple(int(i) for i in np.unravel_index(int(far.argmax()), off.shape))
    there = f"expected {show(expected[at])}, got {show(got[at])}"
    return f"{len(positions)} of {off.numel()} positions differ, most at {at}: {there}"


def _aligned(*shown: str) -> Iterator[str]:
    """Write two lists of as many numbers so that those at the same place end in the same column."""
    widths = [max(map(len, pair)) for pair in zip(*map(NUMBER.findall, shown), strict=True)]
    for text in shown:
        padded = (number.rjust(width) for number, width in zip(NUMBER.findall(text), widths, strict=True))
        yield NUMBER.sub("{}", text).format(*padded)


def _positions(where: Tensor) -> list[tuple[int, ...]]:
    return [tuple(place) for place in where.nonzero().tolist()]


def with_input(given: str, problem: str) -> str:
    """Put the input `given` before a problem, on separate lines if one of the two has several."""
    if "\n" in given:
        return f"with\n{given}\n{problem}"
    return f"with {given}\n{problem}" if "\n" in problem else f"with {given}: {problem}"


def show(value: object) -> str:
    """Describe a value: a small tensor as a list, a mask as rows of 0 and 1, other tensors by their shape."""
    if isinstance(value, Tensor):
        if value.numel() <= MAX_LISTED:
            return str(tidy(value.double() if value.is_floating_point() else value).tolist())
        shape = tuple(value.shape)
        return _rows_of_mask(value) if value.dtype == torch.bool else f"a tensor of shape {shape}"
    if isinstance(value, nn.Module):
        return f"the module {type(value).__name__}"
    if isinstance(value, list | tuple) and any(isinstance(entry, Tensor) for entry in value):
        shown = [show(entry) for entry in value[:MAX_ROWS]] + ["…"] * (len(value) > MAX_ROWS)
        return "\n".join(shown) if any("\n" in entry for entry in shown) else f"[{', '.join(shown)}]"
    return repr(value)[:100]


def _rows_of_mask(mask: Tensor) -> str:
    rows = mask.reshape(-1, mask.shape[-1])
    lines = [" ".join(str(int(x)) for x in row[:MAX_COLUMNS]) for row in rows[:MAX_ROWS]]
    if rows.shape[1] > MAX_COLUMNS:
        lines = [f"{line} …" for line in lines]
    return "\n".join([f"a mask of shape {tuple(mask.shape)}, 1 for True:", *lines, *["…"] * (len(rows) > MAX_ROWS)])


def numbers(*shape: int, seed: int = 0) -> Tensor:
    """Random numbers in float64, always the same for the same seed."""
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
