"""Cases of which `make test` tries the first few, and `make test-long` the others."""

from collections.abc import Iterable

import pytest


def first_few(values: Iterable, *, few: int = 2) -> list:
    """The values as parameters; all but the first few are marked as long."""
    return [
        pytest.param(x, id=name_of(x, i), marks=[pytest.mark.long] if i >= few else []) for i, x in enumerate(values)
    ]


def name_of(value: object, number: int) -> str:
    """A short word is its own name; anything else is numbered."""
    short = isinstance(value, str) and 0 < len(value) < 40 and value.replace(" ", "").isalnum() and value.isascii()
    return value if short else str(number)  # type: ignore[return-value]
