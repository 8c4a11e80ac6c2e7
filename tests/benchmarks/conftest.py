"""The benchmarks drive the same browser as the browser tests."""

from lab_fixtures import browser  # noqa: F401
