"""Wrong values by kind, and what an error has to say of them: what the tables of bad input share."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import matplotlib.pyplot as plt
import pytest
import torch

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


def complete(error: BaseException, value, *names: str) -> str:
    """What an error's message lacks; empty for one that names the argument, what was expected and what it got."""
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

    call: Callable
    good: Callable[[], dict]
    wrong: dict[str, list[Wrong]]
    draws: bool = False  # random numbers, before it comes to what is wrong
    long: bool = False  # what is right takes seconds to make

    def __repr__(self) -> str:
        owner = getattr(self.call, "__self__", None)
        name = getattr(self.call, "__name__", "partial")
        return name if owner is None or inspect.ismodule(owner) else f"{type(owner).__name__}.{name}"


def row(kinds: dict, call: Callable, /, *, wrong: dict | None = None, draws: bool = False, **good) -> Entry:
    """An entry: what its parameters' names say is wrong (`kinds`), and beside or in place of it what `wrong` says."""
    named = {name: kinds[name] for name in inspect.signature(call).parameters if name in kinds}
    return Entry(call, lambda: good, named | (wrong or {}), draws=draws)


def cases(entries: list[Entry]) -> list:
    """One case for each wrong value of each parameter."""
    return [
        pytest.param(entry, name, wrong, id=f"{entry}-{name}-{i}", marks=pytest.mark.long if entry.long else ())
        for entry in entries
        for name, kind in entry.wrong.items()
        for i, wrong in enumerate(kind)
    ]


def check_refusal(entry: Entry, name: str, wrong: Wrong) -> None:
    """The wrong value gets its exception with a complete message, and nothing else happens."""
    arguments = entry.good() | {name: wrong.value}
    others = [] if wrong.error is TypeError else entry.wrong  # sizes that do not fit each other
    random, dtype = torch.get_rng_state(), torch.get_default_dtype()
    with pytest.raises(wrong.error) as error:
        entry.call(**arguments)
    assert type(error.value) is wrong.error
    assert not (lacks := complete(error.value, wrong.value, name, *others)), lacks
    assert entry.draws or torch.equal(torch.get_rng_state(), random)
    assert torch.get_default_dtype() == dtype and plt.get_fignums() == []
