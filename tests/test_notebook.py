"""The set-up cell makes numbers repeat, and tensors and sources display as the notebooks promise."""

import html
import inspect
import re
import subprocess
import sys

import numpy as np
import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell

from encoder_lib import LayerNorm, notebook
from encoder_lib.notebook import complaint, setup, show_source, tidy


@pytest.fixture(autouse=True)
def put_back():
    dtype, threads, random, state = (
        torch.get_default_dtype(),
        torch.get_num_threads(),
        torch.get_rng_state(),
        np.random.get_state(),
    )
    yield
    torch.set_default_dtype(dtype)
    torch.set_num_threads(threads)
    torch.set_rng_state(random)
    np.random.set_state(state)
    torch.set_printoptions(profile="default")


def test_setup_starts_the_random_numbers_anew():
    setup(seed=3)
    first = torch.randn(4), np.random.rand(4)
    setup(seed=3)
    assert torch.equal(first[0], torch.randn(4)) and (first[1] == np.random.rand(4)).all()
    setup(seed=4)
    assert not torch.equal(first[0], torch.randn(4))


def test_setup_chooses_float64_one_thread_and_a_device_that_is_there():
    device = setup()
    assert device.type == ("cuda" if torch.cuda.is_available() else "cpu")
    assert torch.get_default_dtype() == torch.float64 and torch.get_num_threads() == 1
    assert setup(device="cpu") == torch.device("cpu")


@pytest.mark.parametrize("device", ["gpu", "cpu:x", "cuda:99", ""])
def test_setup_refuses_a_device_that_is_not_there(device):
    with pytest.raises(ValueError, match=r"device: expected one .* got"):
        setup(device=device)


def test_mps_gets_float32(monkeypatch):
    monkeypatch.setattr(notebook.expect, "device", torch.device)
    setup(device="mps")
    assert torch.get_default_dtype() == torch.float32


def test_tidy_rounds_drops_the_graph_and_never_shows_minus_zero():
    x = torch.tensor([-1e-9, 0.12345678, -0.0], requires_grad=True)
    shown = tidy(x)
    assert shown.tolist() == pytest.approx([0, 0.1235, 0]) and not shown.requires_grad
    assert not torch.signbit(shown).any()
    assert x[0].item() != 0, "the tensor itself stays as it is"
    assert tidy(torch.tensor([True])).dtype == torch.bool and tidy(torch.tensor([7])).item() == 7


def test_a_tensor_at_the_end_of_a_cell_shows_four_decimals(monkeypatch):
    shell = InteractiveShell.instance()
    monkeypatch.setattr(notebook, "get_ipython", lambda: shell)
    try:
        setup()
        text = shell.display_formatter.format(torch.tensor([-1e-12, 1 / 3], requires_grad=True))[0]["text/plain"]
    finally:
        InteractiveShell.clear_instance()
    assert text == "tensor([0.0000, 0.3333])"


def test_show_source_shows_the_tested_code():
    assert repr(show_source(LayerNorm)) == inspect.getsource(LayerNorm).strip()
    assert repr(show_source(LayerNorm.forward)).startswith("def forward")


def test_show_source_is_coloured_text_and_nothing_else():
    page = show_source(setup)._repr_html_()
    assert page.startswith("<pre") and 'var(--jp-mirror-editor-keyword-color, #008000)">def</span>' in page
    bare = html.unescape(re.sub(r"</?(span|pre)[^>]*>", "", page))
    assert bare.strip() == repr(show_source(setup))


@pytest.mark.parametrize("thing", [3, len, None, "LayerNorm"])
def test_show_source_refuses_what_has_no_source(thing):
    with pytest.raises(TypeError, match="written in Python"):
        show_source(thing)


def test_a_complaint_tells_the_kind_of_error_and_its_words():
    assert complaint(int, "one").startswith("ValueError: invalid literal")
    assert complaint([].pop) == "IndexError: pop from empty list"
    with pytest.raises(AssertionError, match="expected <class 'int'> to refuse"):
        complaint(int, "1")


def test_the_first_cell_of_a_notebook_imports_nothing_slow():
    code = "import sys, encoder_lib.explore, encoder_lib.notebook, encoder_lib.checks; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    slow = {"seaborn", "pandas", "scipy", "transformers", "sentence_transformers", "torch._dynamo"}
    assert "encoder_lib.plots" in loaded and not slow & set(loaded)
