"""Where things are: the one file of the tests that knows."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted(ROOT.glob("notebooks/*.ipynb"))
