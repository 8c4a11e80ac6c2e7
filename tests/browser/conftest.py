"""Mark everything here as a browser test."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    """`-m browser` selects these tests."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)
