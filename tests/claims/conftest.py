"""What the claims of a notebook are tested on: the notebook itself, run once for all tests of its file."""

import matplotlib.pyplot as plt
import pytest
import torch
from notebook_run import Run


@pytest.fixture(scope="module")
def notebook(request):
    """The notebook that the file of tests is named after: test_04_attention.py runs 04_attention.ipynb."""
    dtype, threads = torch.get_default_dtype(), torch.get_num_threads()
    try:
        with plt.rc_context():
            yield Run.of(request.path.stem.removeprefix("test_"))
    finally:
        torch.set_default_dtype(dtype)
        torch.set_num_threads(threads)
        torch.set_printoptions(profile="default")
        plt.close("all")
