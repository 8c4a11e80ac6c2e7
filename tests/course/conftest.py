"""What tests of lessons share; above all the notebook itself, run once for all tests of its claims."""

import os
from collections import Counter
from contextlib import nullcontext
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import pytest
import torch
from notebook_run import Run
from out_of_order import CLINIC, goes_back, restarts_half_way
from places import ROOT
from record_all import Recorder

from encoder_lib.course.debugging_clinic import rounds
from encoder_lib.course.kit.checking import verdict


@pytest.fixture(autouse=True)
def as_in_a_notebook(request):
    """For claims, tensors are float64 unless said otherwise, also where a claim needs nothing of the run."""
    if request.path.name == "test_claims.py":
        torch.set_default_dtype(torch.float64)


@pytest.fixture(autouse=True)
def fresh_checks(monkeypatch):
    """No test sees what another has tried, and a busy machine is given time."""
    monkeypatch.setattr(verdict, "_tries", Counter())
    for module in (verdict, rounds):
        monkeypatch.setattr(module, "PATIENCE", 60.0)


@pytest.fixture
def nothing_drawn():
    """The caller's random numbers are where they were."""
    before = torch.get_rng_state()
    yield
    assert torch.equal(torch.get_rng_state(), before)


@pytest.fixture(scope="module")
def notebook(request):
    """The notebook of the lesson that the folder is named after: attention/test_claims.py runs 04_attention.ipynb.

    It shows what is stored; and when its claims have been tested, also to one who goes back or restarts half-way.
    RECORDINGS=folder keeps its explorers and pictures for the web edition, which then need not run again.
    """
    dtype, threads = torch.get_default_dtype(), torch.get_num_threads()
    (path,) = (ROOT / "notebooks").glob(f"[0-9][0-9]_{request.path.parent.name}.ipynb")
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
