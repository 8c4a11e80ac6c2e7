"""On a GPU no tensor meets one that was left on the CPU: tried with a device that acts as a GPU.

What trains does so for a few steps, and of the library's sentences there are fewer: no result is compared.
"""

import os
import subprocess
import sys

import pytest
from places import NOTEBOOKS, ROOT

pytestmark = pytest.mark.long
MOVED = [path for path in NOTEBOOKS if "device = setup(" in path.read_text(encoding="utf-8")]  # others stay

NOTEBOOK = r"""
import re, sys
from functools import partial

import far_device
import nbformat
from notebook_run import Run
from places import ROOT
from test_build_your_own import STEM, answered

from encoder_lib.course.kit import notebook
from encoder_lib.course.feed_forward import curves
from encoder_lib.course.kit import ladder, texts

notebook.setup = partial(notebook.setup, device="far")
for train in (curves.train, ladder.train, ladder.climb):
    train.__kwdefaults__["steps"] = 3
few = dict(list(texts.library_sentences().items())[::8])
texts.library_sentences = lambda: few
stem, = sys.argv[1:]
cells = answered() if stem == STEM else nbformat.read(ROOT / "notebooks" / f"{stem}.ipynb", as_version=4)
for cell in cells.cells:
    cell.source = re.sub(r"steps=\d+", "steps=3", cell.source)
assert Run(cells)["device"].type == "far"
"""
ANSWERS = """
import far_device
import pytest
import torch
from answers import ANSWERS
from test_fake_device import RUNS, STOPS, Part

for forward in RUNS.values():
    Part(forward).to("far")(torch.ones(2, 4, 3, device="far"))
for forward in STOPS.values():
    with pytest.raises(RuntimeError):
        Part(forward).to("far")(torch.ones(2, 4, 3, device="far"))
for check, (right, _) in ANSWERS.items():
    for answer in right.values():
        verdict = check(answer)
        assert verdict.correct, verdict
"""


def run_alone(program, *arguments):
    """Run a program in a process of its own, with what tests find; it must come to its end."""
    folders = [*sys.path, str(ROOT / "tests/notebooks"), str(ROOT / "tests/course/kit/checking")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(folders)}
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", MOVED, ids=lambda path: path.name)  # the ending lets processes share them
def test_notebooks_run_on_the_far_device(path):
    run_alone(NOTEBOOK, path.stem)


def test_checks_work_on_the_far_device():
    run_alone(ANSWERS)
