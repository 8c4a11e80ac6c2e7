"""Where things are: the one file of the tests that knows."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted(ROOT.glob("notebooks/*.ipynb"))


def tracked():
    """The files of the repository, by their paths; skips the test where they lie in no clone."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout.splitlines()
    return listed or pytest.skip("these files are no clone")
