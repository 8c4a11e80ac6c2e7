"""Fixtures shared by the browser tests and the benchmarks."""

import os

import pytest
from labserver import BROWSER_ARGS, find_browser
from playwright.sync_api import sync_playwright


@pytest.fixture(scope="module")
def browser():
    """A Chromium without a window. Without one the tests are skipped, except in CI, where they fail."""
    with sync_playwright() as playwright:
        path = find_browser(playwright)
        if path is None:
            advice = "no Chromium or Chrome here: install one, or run `python -m playwright install chromium`"
            (pytest.fail if os.environ.get("CI") else pytest.skip)(advice)
        chromium = playwright.chromium.launch(executable_path=path, args=BROWSER_ARGS)
        yield chromium
        chromium.close()
