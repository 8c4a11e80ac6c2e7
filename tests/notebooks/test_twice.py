"""The plugin `twice` runs a quick cell once more, on four threads, and compares it again."""

import os
import subprocess
import sys

import nbformat
from nbformat.v4 import new_code_cell, new_notebook, new_output
from places import ROOT

SETUP = "import time\nimport torch\nruns = []\ntorch.set_num_threads(1)"
CELLS = {  # source -> what is stored, and whether it passes
    SETUP: (None, True),
    "1 + 1": ("2", True),
    "print(1)\nprint(2)": ("12", True),  # stored in two pieces
    "runs.append(1)\nlen(runs)": ("1", False),
    "torch.get_num_threads()": ("1", False),
    "time.sleep(2.1)\ntorch.get_num_threads()": ("1", True),  # it is slow, and runs once
}


def stored(source, text):
    """The outputs of a cell."""
    if source.startswith("print"):
        return [new_output("stream", name="stdout", text=f"{line}\n") for line in text]
    return [new_output("execute_result", {"text/plain": text}, execution_count=1)] if text else []


def test_a_quick_cell_shows_the_same_twice_whatever_the_threads(tmp_path):
    cells = [
        new_code_cell(source, execution_count=1, outputs=stored(source, text)) for source, (text, _) in CELLS.items()
    ]
    nbformat.write(new_notebook(cells=cells), tmp_path / "cells.ipynb")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "twice",
        "-p",
        "no:cacheprovider",
        "--nbval",
        "--nbval-current-env",
    ]
    done = subprocess.run(
        [*command, "-v", "--rootdir", tmp_path, tmp_path / "cells.ipynb"], capture_output=True, text=True, timeout=120,
        env=os.environ | {"PYTHONPATH": str(ROOT / "tests/tools")}, cwd=tmp_path,
    )  # fmt: skip
    rows = [line for line in done.stdout.splitlines() if "::Cell" in line and "%]" in line]
    assert ["PASSED" in row for row in rows] == [passes for _, passes in CELLS.values()], done.stdout
