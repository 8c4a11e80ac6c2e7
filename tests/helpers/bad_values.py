"""Wrong values by kind, and what an error has to say of them: what the tables of bad input share."""

import importlib
import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from torch import nn

HUGE = 10**400  # beyond the largest float
LONG = 10**5000  # beyond what Python writes in decimal


COUNTED = r"got [\w ]*[(\[]?(-?\d|nan|NaN|inf|none)"  # how a message tells of one number out of many, or of their shape


class Wrong(NamedTuple):
    """One wrong value, and the exception that it gets."""

    value: object
    error: type[Exception]

    def __repr__(self) -> str:
        return short(self.value)


def short(value) -> str:
    """A value in a few characters, for the name of a case."""
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{tuple(value.shape)}"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= HUGE:
        return f"{'-' * (value < 0)}huge{value.bit_length()}"
    name = (
        value.__name__ if isinstance(value, type) or (callable(value) and hasattr(value, "__name__")) else repr(value)
    )
    name = re.sub(r" at 0x[0-9a-f]+", "", name)  # the same name in every process
    return "".join(c if c.isprintable() and c != "\\" else "?" for c in name)[:40]


def types(*values) -> list[Wrong]:
    """Values of a wrong type."""
    return [Wrong(value, TypeError) for value in values]


def numbers(*values) -> list[Wrong]:
    """Values of the right type that are out of bounds."""
    return [Wrong(value, ValueError) for value in values]


NO_NUMBER = types("1", None, True, [1], 1j, torch.tensor(1.0))
NO_INTEGER = [*NO_NUMBER, *types(8.0, math.nan, np.bool_(True))]
SIZE = [*NO_INTEGER, *numbers(0, -1, -LONG)]
COUNT = [*NO_INTEGER, *numbers(-1, -HUGE)]
SEED = [*COUNT, *numbers(2**64, LONG)]
NUMBER = [*NO_NUMBER, *numbers(math.nan, math.inf, -math.inf, HUGE, LONG)]
POSITIVE = [*NUMBER, *numbers(0, -1, -0.5)]
PROBABILITY = [*NUMBER, *numbers(-0.1, 1.1, 2)]
FLAG = types(1, 0, "yes", None, np.bool_(True), [])
CHOICE = numbers("?", "", "\ud800", None, 3, ["relu"], {}, torch.tensor([1, 2]))
MODULE = types(None, 3, "model", nn.Linear, lambda x: x, {}, torch.zeros(2))
FUNCTION = types(None, 3, "draw", [], torch.zeros(2))
TEXT = types(None, 3, b"text", ["text"], 1.5, torch.zeros(2))
TEXTS = types(None, 3, "one text", b"text", [3], [None], ["good", b"bad"], torch.zeros(2))
TENSOR = types(None, 3, "x", [[1.0]], np.zeros((2, 2)), nn.Linear)
FLOATS = [*TENSOR, *types(torch.zeros(2, 3).long(), torch.zeros(2, 3).bool(), torch.zeros(2, 3).to(torch.complex64))]
IDS = [*TENSOR, *types(torch.zeros(2, 3), torch.zeros(2, 3).bool(), torch.zeros(2, 3).byte())]
MAPPING = types(None, 3, "text", [1, 2], torch.zeros(2), [("a", 1)])
PATH = types(None, 3, b"path", ["path"], 1.5)
DEVICE = [*numbers("tpu", "", "cuda:77", "\ud800"), *types(1.5, ["cpu"], object)]
REAL = types("text", None, [[1, "a"]], [[1j]], object(), {"a": 1}, torch.zeros(2, device="meta"))
LIMITS = [
    *types(3, "ab", ["a", "b"], [None, 1]),
    *numbers((0,), (0, 1, 2), (1, 1), (2, 1), (0, math.nan), (-math.inf, 1), ()),
]
AXES = types(3, "ax", [], {}, np.zeros(2))


def one_of(kind: list[Wrong], *, but: tuple = ()) -> list[Wrong]:
    """A kind without the values that are right here: None for what may be left out, for instance."""
    return [wrong for wrong in kind if not any(wrong.value is value for value in but)]


def optional(kind: list[Wrong]) -> list[Wrong]:
    """A kind that may also be None."""
    return one_of(kind, but=(None,))


def labels(size: int) -> list[Wrong]:
    """What is no list of so many labels; the labels may be anything."""
    return [*types(3, 1.5, True), *numbers([], ["a"] * (size + 1), ["a"] * (size - 1))]


def says_what_came(message: str, value) -> bool:
    """Whether a message holds the value that came, or a part, its type, its shape or its dtype, or a count of it."""
    if isinstance(value, int) and abs(value) >= HUGE:
        return "0000000000" in message or "bits" in message
    if getattr(value, "__name__", "") == "<lambda>":
        return True  # what it gives is told, not what it is called
    came = {
        type(value).__name__,
        getattr(value, "__name__", ""),
        repr(value)[:30],
        repr(value).strip("'")[:30],
        str(value)[:30],
    }
    if isinstance(value, torch.Tensor | np.ndarray):
        came |= {str(tuple(value.shape)), str(value.dtype), "a single number"}
    if isinstance(value, list | tuple):
        came |= {type(part).__name__ for part in value} | {repr(part)[:30] for part in value}
    if isinstance(value, torch.Tensor | np.ndarray | nn.Module | list | tuple | Mapping) and re.search(
        COUNTED, message
    ):
        return True
    if isinstance(value, Mapping) and any(says_what_came(message, part) for part in [*value, *value.values()]):
        return True
    return (
        "got an empty" in message
        or (isinstance(value, str) and "got one;" in message)
        or any(each and each in message for each in came)
    )


def complete(error: BaseException, value, *names: str) -> str:
    """What an error's message lacks, in words; empty for one that tells expected, got and whereof in a sentence."""
    message, lacks = str(error), []
    written = "" if isinstance(value, int) and abs(value) >= HUGE else str(value)
    known = "is not in the table" in message or (written and f"={written}" in message)
    if "expected" not in message and not known:
        lacks.append("what was expected")
    if " got" not in message and not known:
        lacks.append("that something else came")
    if not known and not says_what_came(message, value):
        lacks.append(f"what came ({short(value)})")
    wanted = {
        *names,
        written[:30],
        repr(written),
        repr(written).strip("'"),
        *(map(str, value) if isinstance(value, Mapping) else ()),
    }
    if not known and not any(name and name in message for name in wanted):
        lacks.append(f"the name {names[0]}")
    if not 20 < len(message) < 1500:
        lacks.append(f"a fit length ({len(message)})")
    if not message.replace("\n", "").isprintable():
        lacks.append("printable characters alone")
    return " and ".join(lacks) and f"{type(error).__name__}: {message[:300]!r} lacks {' and '.join(lacks)}"


def snapshot(value):
    """Something that is equal as long as `value` was not changed: numbers, shapes, weights, names, in order."""
    if isinstance(value, torch.Tensor) and not value.is_meta:
        return (
            tuple(value.shape),
            value.dtype,
            value.detach().cpu().contiguous().view(-1).tolist(),
            value.requires_grad,
        )
    if isinstance(value, nn.Module) and sum(x.numel() for x in value.parameters()) > 100_000:
        return id(value)  # what is pretrained is many numbers to compare, and mapped read-only
    if isinstance(value, nn.Module):
        return (value.training, type(value), {name: snapshot(x) for name, x in value.state_dict().items()})
    if isinstance(value, np.ndarray):
        return (value.shape, str(value.dtype), value.tolist())
    if isinstance(value, Mapping):
        return [(key, snapshot(each)) for key, each in value.items()]
    if isinstance(value, list | tuple):
        return [type(value), *(snapshot(each) for each in value)]
    return repr(value) if isinstance(value, str | bytes | float) else id(value)


@dataclass(frozen=True)
class Entry:
    """A public function: arguments that are right, and for each parameter what is wrong, or why nothing is."""

    name: str
    good: Callable[[], dict]
    wrong: dict[str, list[Wrong]]
    anything: dict[str, str] = field(default_factory=dict)  # parameter -> what becomes of whatever comes
    call: Callable | None = None
    draws: bool = False  # random numbers, before it comes to what is wrong
    long: bool = False  # what is right takes seconds to make

    @property
    def function(self) -> Callable:
        if self.call is not None:
            return self.call
        return public(self.name)

    def __repr__(self) -> str:
        return self.name


def public(name: str):
    """The object of that dotted name in the library."""
    module, _, inside = f"encoder_lib.{name}".rpartition(".")
    try:
        return operator.attrgetter(inside)(importlib.import_module(module))
    except ModuleNotFoundError:  # a method: the last but one is a class
        module, _, of = module.rpartition(".")
        return operator.attrgetter(f"{of}.{inside}")(importlib.import_module(module))


def cases(entries: list[Entry]) -> list:
    """One case for each wrong value of each parameter."""
    return [
        pytest.param(
            entry, name, wrong, id=f"{entry}-{name}-{i}-{wrong!r}", marks=pytest.mark.long if entry.long else ()
        )
        for entry in entries
        for name, kind in entry.wrong.items()
        for i, wrong in enumerate(kind)
    ]


def check_refusal(entry: Entry, name: str, wrong: Wrong) -> None:
    """The wrong value gets its exception, in words that are complete, and nothing else happens."""
    arguments = entry.good() | {name: wrong.value}
    others = [] if wrong.error is TypeError else entry.wrong  # sizes that do not fit each other
    before, random, dtype = snapshot(arguments), torch.get_rng_state(), torch.get_default_dtype()
    with pytest.raises(wrong.error) as error:
        entry.function(**arguments)
    assert type(error.value) is wrong.error
    lacks = complete(error.value, wrong.value, name, *others)
    assert not lacks, lacks
    assert snapshot(arguments) == before
    assert entry.draws or torch.equal(torch.get_rng_state(), random)
    assert torch.get_default_dtype() == dtype
    assert plt.get_fignums() == []
