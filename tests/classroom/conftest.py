"""The students use the browser of the browser tests."""

from lab_fixtures import browser  # noqa: F401
