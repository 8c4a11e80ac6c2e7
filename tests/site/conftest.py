"""The web edition as `make site` has built it, served to a browser."""

import os

import pytest
from lab_fixtures import browser  # noqa: F401
from places import ROOT
from served import served

HTML = ROOT / "build/site/html"


@pytest.fixture(scope="session")
def html():
    """The folder of the pages. Without one the tests are skipped, except in CI, where they fail."""
    if not (HTML / "index.html").is_file():
        (pytest.fail if os.environ.get("CI") else pytest.skip)("no web edition here: run `make site` first")
    return HTML


@pytest.fixture(scope="module")
def address(html):
    """Where the pages are served."""
    with served(html) as address:
        yield address
