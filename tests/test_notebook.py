"""The set-up cell makes numbers repeat, and tensors and sources display as the notebooks promise."""

import html
import inspect
import math
import re
import subprocess
import sys

import numpy as np
import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell

from encoder_lib import LayerNorm, notebook
from encoder_lib.notebook import complaint, setup, show_source, table, tidy


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
    assert repr(show_source(tidy, LayerNorm)) == f"{show_source(tidy)!r}\n\n{show_source(LayerNorm)!r}"
    with pytest.raises(TypeError, match="things: expected a class, function or method, got none"):
        show_source()


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


def column(values, **options):
    """The cells of a table of one column."""
    return list(table({"x": values}, **options)["x"])


def test_a_table_has_its_names_and_its_columns_in_order():
    frame = table({"word": ["a", "b"], "score": torch.tensor([1.0, -2.345])}, rows=["first", "second"])
    assert list(frame.columns) == ["word", "score"] and list(frame.index) == ["first", "second"]
    assert frame.to_numpy().tolist() == [["a", "1.00"], ["b", "-2.35"]]
    assert list(table({"x": [5, 6]}).index) == [0, 1]


@pytest.mark.parametrize(
    ("values", "cells"),
    [
        ([1.0, 0.125, 2 / 3], ["1.00", "0.12", "0.67"]),
        ([-0.001, -0.0, 0.0, -0.004999], ["0.00"] * 4),
        ([-0.5, 12345.678], ["-0.50", "12345.68"]),
        ([1, -2, 0, 10**20], ["1", "-2", "0", "1" + 20 * "0"]),
        ([True, False], ["True", "False"]),
        (["the", "", "$x^$ <b>"], ["the", "", "$x^$ <b>"]),
        ([math.nan, math.inf, -math.inf], ["nan", "inf", "-inf"]),
        ([1, 2.5, "a"], ["1", "2.50", "a"]),
        ((0.5,), ["0.50"]),
        (range(3), ["0", "1", "2"]),
        ([1e-20, 1e20], ["0.00", "1" + 20 * "0" + ".00"]),
        ([torch.tensor(0.125), torch.tensor(7), torch.tensor(True)], ["0.12", "7", "True"]),
        ([torch.tensor(-1e-9, requires_grad=True)], ["0.00"]),
        ([np.float64(1.5), np.float32(0.1), np.float16(0.1)], ["1.50", "0.10", "0.10"]),
        ([np.int64(3), np.uint8(4), np.bool_(True), np.str_("a"), np.array(2.0)], ["3", "4", "True", "a", "2.00"]),
        (torch.tensor([0.1, 0.7]), ["0.10", "0.70"]),
        (torch.tensor([0.1, 0.7], requires_grad=True), ["0.10", "0.70"]),
        (torch.tensor([0.1, -1e-5], dtype=torch.bfloat16), ["0.10", "0.00"]),
        (torch.tensor([3, -4]), ["3", "-4"]),
        (torch.tensor([True, False]), ["True", "False"]),
        (np.array([0.1, -0.0], dtype=np.float32), ["0.10", "0.00"]),
        (np.array(["a", "b"]), ["a", "b"]),
    ],
    ids=range(22),
)
def test_a_cell_is_a_number_rounded_or_a_text_as_it_is(values, cells):
    assert column(values) == cells


@pytest.mark.parametrize(("decimals", "cell"), [(0, "-3"), (1, "-2.7"), (4, "-2.7183"), (15, "-2.718281828459045")])
def test_a_table_is_rounded_to_as_many_places_as_asked_for(decimals, cell):
    assert column([-math.e], decimals=decimals) == [cell]
    assert column(torch.tensor([-1e-16]), decimals=decimals) == [f"{0:.{decimals}f}"]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_table_of_float32_reads_as_one_of_float64(dtype):
    values = [0.005 + 0.01 * n for n in range(20)] + [1 / 3, 2 / 3, 99.994]
    shown = [float(cell) for cell in column(torch.tensor(values, dtype=dtype))]
    assert shown == pytest.approx(values, abs=0.0050001)


def test_rows_may_have_the_same_name():
    words = ["the", "dog", "bites", "the", "man"]
    assert list(table({"weight": torch.ones(5)}, rows=words).index) == words
    assert list(table({"weight": [1]}, rows=(word for word in ["the"])).index) == ["the"]


def test_a_table_takes_shapes():
    x = torch.ones(2, 3)
    assert table({"shape": [x.shape, (5,), ()]})["shape"].tolist() == ["(2, 3)", "(5,)", "()"]


def test_a_table_reads_the_same_on_every_page():
    frame = table({"score": [1.0, -2.0], "word": ["a", "b & <b>"]}, rows=["<i>", "two"])
    page = frame._repr_html_()
    assert re.findall(r"<(?:td|th)>(.*?)</", page) == [
        "", "score", "word", "&lt;i&gt;", "1.00", "a", "two", "-2.00", "b &amp; &lt;b&gt;",
    ]  # fmt: skip
    assert 'class="dataframe"' in page and "align: left" not in page, "the theme sets such tables to the right"
    assert repr(frame) == "     score     word\n<i>   1.00        a\ntwo  -2.00  b & <b>"
    assert not re.search(r"0x|id=|<script", page)
    assert page == table({"score": torch.tensor([1.0, -2.0]), "word": ("a", "b & <b>")}, ["<i>", "two"])._repr_html_()


def test_no_text_in_a_table_is_cut():
    sentence = "word " * 60
    assert sentence.strip() in table({"sentence": [sentence]})._repr_html_()


@pytest.mark.parametrize(
    ("columns", "options", "error", "words"),
    [
        ({}, {}, ValueError, "columns: expected at least one"),
        ({"a": []}, {}, ValueError, "at least one, got {'a': 0}"),
        ({"a": [1], "b": [1, 2]}, {}, ValueError, "as many rows in each, .* got {'a': 1, 'b': 2}"),
        ({"a": torch.ones(2, 3)}, {}, ValueError, r"a: expected a tensor \(n,\), got \(2, 3\); try one column"),
        ({"a": torch.tensor(1.0)}, {}, ValueError, r"a: expected a tensor \(n,\), got \(\)$"),
        ({"a": np.ones((2, 2, 2))}, {}, ValueError, r"got \(2, 2, 2\)$"),
        ({"a": [1, 2]}, {"rows": ["x"]}, ValueError, "rows: expected 2 names, one for each row, got 1"),
        ({"a": [1]}, {"rows": ["x", "y"]}, ValueError, "rows: expected 1 names, one for each row, got 2"),
        ({"a": [1]}, {"decimals": 16}, ValueError, "decimals: expected at most 15, got 16"),
        ({"a": [1]}, {"rows": "x"}, TypeError, "rows: expected a list of texts, got one"),
        ({"a": [1]}, {"rows": [1]}, TypeError, "rows: for each text expected a str, got int"),
        ({"a": "text"}, {}, TypeError, "a: expected a tensor .* got 'text'"),
        ({"a": {1, 2}}, {}, TypeError, "a: expected a tensor .* got {1, 2}"),
        ({"a": [None]}, {}, TypeError, "a: expected numbers or texts, got None"),
        ({"a": [[1]]}, {}, TypeError, r"a: expected numbers or texts, got \[1\]"),
        ({"a": [(1, 2.5)]}, {}, TypeError, r"a: expected numbers or texts, got \(1, 2.5\)"),
        ({"a": [torch.ones(1)]}, {}, TypeError, "a: expected numbers or texts, got tensor"),
        ({"a": torch.tensor([1j])}, {}, TypeError, "a: expected numbers or texts, got 1j"),
        ({"a": torch.ones(2, device="meta")}, {}, TypeError, "a: expected numbers or texts, got Tensor"),
        ({"a": torch.ones(2).to_sparse()}, {}, TypeError, "a: expected numbers or texts, got Tensor"),
        ({3: [1]}, {}, TypeError, "columns: for each text expected a str, got int"),
    ],
    ids=range(21),
)
def test_what_makes_no_table_is_refused(columns, options, error, words):
    with pytest.raises(error, match=words):
        table(columns, **options)


def test_the_first_cell_of_a_notebook_imports_nothing_slow():
    code = "import sys, encoder_lib.explore, encoder_lib.notebook, encoder_lib.checks; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    slow = {"seaborn", "pandas", "scipy", "transformers", "sentence_transformers", "torch._dynamo"}
    assert "encoder_lib.plots" in loaded and not slow & set(loaded)
