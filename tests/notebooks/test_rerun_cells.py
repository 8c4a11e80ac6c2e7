"""The plugin `rerun_cells` runs a quick cell once more, on four threads, and compares it again."""

import os
import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from places import ROOT

SETUP = "import time\nimport torch\nruns = []\ntorch.set_num_threads(1)"
CELLS = {  # source -> the stored lines, each a piece of its own, and whether the cell passes
    SETUP: ("", True),
    "print(1)\nprint(2)": ("12", True),
    "runs.append(1)\nprint(len(runs))": ("1", False),
    "print(torch.get_num_threads())": ("1", False),
    "time.sleep(2.1)\nprint(torch.get_num_threads())": ("1", True),  # it is slow, and runs once
}


@pytest.mark.long
def test_quick_cells_are_compared_twice_and_slow_ones_once(tmp_path):
    cells = []
    for source, (lines, _) in CELLS.items():
        outputs = [new_output("stream", name="stdout", text=f"{line}\n") for line in lines]
        cells.append(new_code_cell(source, execution_count=1, outputs=outputs))
    nbformat.write(new_notebook(cells=cells), tmp_path / "cells.ipynb")
    options = "-v -p rerun_cells -p no:cacheprovider --nbval --nbval-current-env --rootdir . cells.ipynb"
    command = [sys.executable, "-m", "pytest", *options.split()]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (ROOT / "tests/tools", ROOT)))}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, cwd=tmp_path)
    rows = [line for line in done.stdout.splitlines() if "::Cell" in line and "%]" in line]
    assert ["PASSED" in row for row in rows] == [passes for _, passes in CELLS.values()], done.stdout
