"""What the tests of checks share."""

from collections import Counter

import pytest

from encoder_lib.course.checks import verdict
from encoder_lib.course.checks.clinic import rounds


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    """No test sees what another has tried, and a busy machine is given time."""
    monkeypatch.setattr(verdict, "_tries", Counter())
    for module in (verdict, rounds):
        monkeypatch.setattr(module, "PATIENCE", 60.0)
