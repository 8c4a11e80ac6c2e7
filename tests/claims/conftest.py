"""What the claims of a notebook are tested on: the notebook itself, run once for all tests of its file."""

import os
from contextlib import nullcontext
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import pytest
import torch
from notebook_run import Run
from places import ROOT
from reading import CLINIC, goes_back, restarts_half_way
from record_all import Recorder


@pytest.fixture(autouse=True)
def as_in_a_notebook():
    """Tensors are float64 unless said otherwise, also where a claim needs nothing of the run."""
    torch.set_default_dtype(torch.float64)


@pytest.fixture(scope="module")
def notebook(request):
    """The notebook that the file of tests is named after: test_04_attention.py runs 04_attention.ipynb.

    It shows what is stored; and when its claims have been tested, also to one who goes back or restarts half-way.
    RECORDINGS=folder keeps its explorers and pictures for the web edition, which then need not run again.
    """
    dtype, threads = torch.get_default_dtype(), torch.get_num_threads()
    path = ROOT / "notebooks" / f"{request.path.stem.removeprefix('test_')}.ipynb"
    stored = nbformat.read(path, as_version=4)
    try:
        with plt.rc_context():
            folder = os.environ.get("RECORDINGS")
            with Recorder(path, Path(folder)) if folder else nullcontext(lambda cell, value: None) as after:
                run = Run(stored, after)
            assert run.differences() == []
            yield run
            assert goes_back(run) == {}
            assert restarts_half_way(run, cases=path.stem == CLINIC) == {}
    finally:
        torch.set_default_dtype(dtype)
        torch.set_num_threads(threads)
        torch.set_printoptions(profile="default")
        plt.close("all")
