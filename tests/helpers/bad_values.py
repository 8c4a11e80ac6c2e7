"""Wrong values by kind, and what an error has to say of them: what the tables of bad input share."""

import importlib.util
import inspect
import itertools
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import matplotlib.pyplot as plt
import pytest
import torch
from torch import nn

HUGE = 10**400  # beyond the largest float
LONG = 10**5000  # beyond what Python writes in decimal


class Wrong(NamedTuple):
    """One wrong value, and the exception that it gets."""

    value: object
    error: type[Exception]

    def __repr__(self) -> str:
        return type(self.value).__name__


def types(*values) -> list[Wrong]:
    """Values of a wrong type."""
    return [Wrong(value, TypeError) for value in values]


def numbers(*values) -> list[Wrong]:
    """Values of the right type that are out of bounds."""
    return [Wrong(value, ValueError) for value in values]


NO_INTEGER = types("1", None, True, 8.0)
SIZE = [*NO_INTEGER, *numbers(0, -LONG)]
COUNT = [*NO_INTEGER, *numbers(-1)]
SEED = [*COUNT, *numbers(2**64, LONG)]
FLAG = types(1, None, "yes")
FUNCTION = types(None, 3)
MODULE = types(None, 3, nn.Linear)
TEXT = types(None, 3, b"text", ["text"])
TEXTS = types(None, "one text", b"text", ["good", b"bad"])
DEVICE = [*numbers("tpu", "cuda:77"), *types(1.5)]


def optional(kind: list[Wrong]) -> list[Wrong]:
    """A kind that may also be None."""
    return [wrong for wrong in kind if wrong.value is not None]


def complete(error: BaseException, value, *names: str) -> str:
    """What an error's message lacks, in words; empty for one that tells whereof, expected and got in a sentence."""
    message, lacks = str(error), []
    if "expected" not in message or " got" not in message:
        lacks.append("what was expected and what came")
    keys = list(map(str, value)) if isinstance(value, Mapping) else []
    written = repr(value).strip("'")[:30] if isinstance(value, str) else ""
    if not any(name and name in message for name in (*names, *keys, written)):
        lacks.append(f"the name {names[0]}")
    if not 20 < len(message) < 1500 or not message.replace("\n", "").isprintable():
        lacks.append("a fit length, and printable characters alone")
    return " and ".join(lacks) and f"{type(error).__name__}: {message[:300]!r} lacks {' and '.join(lacks)}"


@dataclass(frozen=True)
class Entry:
    """A public function: arguments that are right, and for each parameter what is wrong."""

    name: str
    good: Callable[[], dict]
    wrong: dict[str, list[Wrong]]
    call: Callable | None = None
    draws: bool = False  # random numbers, before it comes to what is wrong
    long: bool = False  # what is right takes seconds to make

    @property
    def function(self) -> Callable:
        return self.call or public(self.name)

    def __repr__(self) -> str:
        return self.name


def public(name: str):
    """The object of that dotted name in the library, or in the course's equipment."""
    parts = name.split(".")
    for start, cut in itertools.product(("encoder_lib", "encoder_lib.course"), (-1, -2)):  # -2: a method of a class
        module = ".".join([start, *parts[:cut]])
        if importlib.util.find_spec(start + "." + parts[0]) and _is_module(module):
            return operator.attrgetter(".".join(parts[cut:]))(importlib.import_module(module))
    raise ValueError(f"expected a name of the library's, got {name!r}")


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # above it is no package
        return False


def row(
    kinds: dict, name: str, /, *, call: Callable | None = None, wrong: dict | None = None, draws: bool = False, **good
) -> Entry:
    """An entry: what its parameters' names say is wrong (`kinds`), and beside or in place of it what `wrong` says."""
    named = {part: kinds[part] for part in inspect.signature(public(name)).parameters if part in kinds}
    return Entry(name, lambda: good, named | (wrong or {}), call=call, draws=draws)


def cases(entries: list[Entry]) -> list:
    """One case for each wrong value of each parameter."""
    return [
        pytest.param(entry, name, wrong, id=f"{entry}-{name}-{i}", marks=pytest.mark.long if entry.long else ())
        for entry in entries
        for name, kind in entry.wrong.items()
        for i, wrong in enumerate(kind)
    ]


def check_refusal(entry: Entry, name: str, wrong: Wrong) -> None:
    """The wrong value gets its exception, in words that are complete, and nothing else happens."""
    arguments = entry.good() | {name: wrong.value}
    others = [] if wrong.error is TypeError else entry.wrong  # sizes that do not fit each other
    random, dtype = torch.get_rng_state(), torch.get_default_dtype()
    with pytest.raises(wrong.error) as error:
        entry.function(**arguments)
    assert type(error.value) is wrong.error
    assert not (lacks := complete(error.value, wrong.value, name, *others)), lacks
    assert entry.draws or torch.equal(torch.get_rng_state(), random)
    assert torch.get_default_dtype() == dtype and plt.get_fignums() == []
