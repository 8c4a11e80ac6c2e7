"""Cases of which `make test` tries the first few, and `make test-long` the others."""

from collections.abc import Iterable

import pytest


def first_few(values: Iterable, *, few: int = 2) -> list:
    """The values as parameters, numbered; all but the first few are marked as long."""
    return [pytest.param(x, id=str(i), marks=[pytest.mark.long] if i >= few else []) for i, x in enumerate(values)]
