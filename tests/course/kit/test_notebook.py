"""The set-up cell makes numbers repeat, and tensors and sources display as the notebooks promise."""

import html
import inspect
import math
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from encoder_lib import LayerNorm
from encoder_lib.course.kit import notebook
from encoder_lib.course.kit.notebook import (
    columns_of_text,
    missing,
    setup,
    show_source,
    table,
    table_html,
    table_on_page,
    tidy,
)


@pytest.fixture(autouse=True)
def put_back():
    yield
    torch.set_printoptions(profile="default")


def test_setup_starts_the_random_numbers_anew():
    setup(seed=3)
    first = torch.randn(4), np.random.rand(4)
    setup(seed=3)
    assert torch.equal(first[0], torch.randn(4)) and (first[1] == np.random.rand(4)).all()
    setup(seed=4)
    assert not torch.equal(first[0], torch.randn(4))


def test_missing_names_what_is_not_there_and_how_to_install_it(capsys):
    assert missing("torch", "no_such_package", "neither_this") is True
    (line,) = capsys.readouterr().out.splitlines()
    assert "%pip install no_such_package neither_this" in line and "torch" not in line


def test_nothing_is_missing_and_nothing_is_said(capsys):
    assert missing("torch", "numpy") is False and missing() is False
    assert capsys.readouterr().out == ""


def test_setup_chooses_float64_one_thread_and_a_device():
    device = setup()
    assert device.type == ("cuda" if torch.cuda.is_available() else "cpu")
    assert torch.get_default_dtype() == torch.float64 and torch.get_num_threads() == 1
    assert setup(device="cpu") == torch.device("cpu")


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


def test_setup_gives_the_page_its_style(monkeypatch):
    shell = InteractiveShell.instance()
    monkeypatch.setattr(notebook, "get_ipython", lambda: shell)
    try:
        with capture_output() as captured:
            setup()
    finally:
        InteractiveShell.clear_instance()
    (output,) = captured.outputs
    style = output.data["text/html"]
    parts = [f"details.{kind}" for kind in ("hint", "answer", "after", "aside")] + ["table.dataframe", "--column"]
    assert style.count("\n") == 0 and [part for part in parts if part not in style] == []


def test_show_source_shows_the_tested_code():
    assert repr(show_source(LayerNorm)) == inspect.getsource(LayerNorm).strip()
    assert repr(show_source(LayerNorm.forward)).startswith("def forward")
    assert repr(show_source(tidy, LayerNorm)) == f"{show_source(tidy)!r}\n\n{show_source(LayerNorm)!r}"


def test_show_source_is_coloured_text_and_nothing_else():
    page = show_source(setup)._repr_html_()
    assert page.startswith("<pre") and 'var(--jp-mirror-editor-keyword-color, #008000)">def</span>' in page
    assert "&gt;" in page
    bare = html.unescape(re.sub(r"</?(span|pre)[^>]*>", "", page))
    assert bare.strip() == repr(show_source(setup))


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
        ([-0.001, -0.0, -0.5, 0.125, 12345.678], ["0.00", "0.00", "-0.50", "0.12", "12345.68"]),
        ([1, -2, 10**20, True, 2.5, "$x^$ <b>"], ["1", "-2", "1" + 20 * "0", "True", "2.50", "$x^$ <b>"]),
        ([math.nan, math.inf, -math.inf, 1e-20, 1e20], ["nan", "inf", "-inf", "0.00", "1" + 20 * "0" + ".00"]),
        ((0.5,), ["0.50"]),
        (range(3), ["0", "1", "2"]),
        ([torch.ones(2, 3).shape, (5,), ()], ["(2, 3)", "(5,)", "()"]),
        ([torch.tensor(0.125, requires_grad=True), torch.tensor(7), torch.tensor(True)], ["0.12", "7", "True"]),
        (
            [np.float32(0.1), np.int64(3), np.bool_(True), np.str_("a"), np.array(2.0)],
            ["0.10", "3", "True", "a", "2.00"],
        ),
        (torch.tensor([0.1, -1e-5], dtype=torch.bfloat16, requires_grad=True), ["0.10", "0.00"]),
        (torch.tensor([3, -4]), ["3", "-4"]),
        (torch.tensor([True, False]), ["True", "False"]),
        (np.array([0.1, -0.0], dtype=np.float32), ["0.10", "0.00"]),
        (np.array(["a", "b"]), ["a", "b"]),
    ],
)
def test_a_cell_is_a_number_rounded_or_a_text_as_it_is(values, cells):
    assert column(values) == cells


@pytest.mark.parametrize(("decimals", "cell"), [(0, "-3"), (1, "-2.7"), (4, "-2.7183"), (15, "-2.718281828459045")])
def test_a_table_is_rounded_to_as_many_places_as_asked_for(decimals, cell):
    assert column([-math.e], decimals=decimals) == [cell]
    assert column(torch.tensor([-1e-16]), decimals=decimals) == [f"{0:.{decimals}f}"]


def test_rows_may_have_the_same_name():
    words = ["the", "dog", "bites", "the", "man"]
    assert list(table({"weight": torch.ones(5)}, rows=words).index) == words
    assert list(table({"weight": [1]}, rows=(word for word in ["the"])).index) == ["the"]


def test_keys_of_a_dictionary_name_the_rows():
    assert list(table({"weight": [1, 2]}, rows={"the": 0.1, "cat": 0.2}).index) == ["the", "cat"]


def test_a_table_reads_the_same_on_every_page():
    """And no text in it is cut, or becomes markup."""
    long = "word " * 60
    frame = table({"score": [1.0, -2.0], "word": [long.strip(), "b & <b>"]}, rows=["<i>", "two"])
    page = table_on_page(frame)
    cells = re.findall(r"<(?:td|th)\b[^>]*>(.*?)</", page)
    assert cells == ["", "score", "word", "&lt;i&gt;", "1.00", long.strip(), "two", "-2.00", "b &amp; &lt;b&gt;"]
    assert page.startswith('<table class="dataframe"><thead><tr><td></td><th scope="col">score</th>')
    assert not re.search(r"0x|id=|<script", page)


@pytest.mark.parametrize(
    ("column", "is_text"),
    [
        (["1.41", "-16.92"], False),
        (["12.5 %", "nan"], False),
        (["4.4e-16", "inf", "1,204"], False),
        (["0.50", "TypeError"], True),
        (["(384,)", "(2, 3)"], True),
        (["True", "False"], True),
    ],
)
def test_columns_of_text_are_recognised(column, is_text):
    """Numbers end at the right, and everything else begins at the left."""
    body = [["row", cell] for cell in column]
    assert columns_of_text(body) == [1] * is_text
    assert table_html(["", "x"], body).count('class="text"') == (len(body) + 1) * is_text


def test_other_tables_are_formatted_by_pandas():
    long = pd.DataFrame({"x": range(61)})
    for frame in (long, long[:0], long[:2].set_index([["a", "b"], ["c", "d"]])):
        assert table_on_page(frame) == frame._repr_html_()


def test_the_first_cell_of_a_notebook_imports_nothing_slow():
    code = "import sys; from encoder_lib.course import checks, explore; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    slow = {"seaborn", "pandas", "scipy", "transformers", "sentence_transformers", "torch._dynamo"}
    assert "encoder_lib.course.kit.plots" in loaded and not slow & set(loaded)
