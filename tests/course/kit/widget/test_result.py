"""What a prediction reveals: every kind of result, as the page gets it and as it is stored."""

import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import torch

from encoder_lib.course.kit import plots
from encoder_lib.course.kit.widget.result import as_result, plain

FINDING = "River gets 73 %, and <b> is no tag."


@pytest.mark.parametrize(
    ("number", "written"),
    [
        (3, "3"),
        (np.int64(7), "7"),
        (-0.0, "0"),
        (0.7310585786, "0.7311"),
        (0.00012345, "0.00012"),
        (2.2204e-16, "0.00000000000000022"),
        (-0.00001e-5, "-0.0000000001"),
        (1e22, "1" + 22 * "0"),
        (math.nan, "nan"),
    ],
)
def test_numbers_are_written_without_powers_of_ten(number, written):
    assert plain(number) == written
    assert as_result(number, FINDING).spec == {"kind": "text", "text": written}


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (True, "True"),
        (np.bool_(False), "False"),
        (torch.tensor(2.2e-16), "0.00000000000000022"),
        (torch.tensor(True), "True"),
        (torch.tensor([0.25, -0.00001], requires_grad=True), "tensor([0.2500, 0.0000])"),
        (torch.tensor([[1, 2], [3, 4]]), "tensor([[1, 2],\n        [3, 4]])"),
        ("one line", "one line"),
        ("\none\n\ttwo <b>\x00\n", "one\n    two <b> "),
    ],
)
def test_what_is_shown_as_text(value, written):
    result = as_result(value, FINDING)
    assert result.spec == {"kind": "text", "text": written}
    assert f">{written.replace('<', '&lt;').replace('>', '&gt;')}</pre>" in result.html


def test_a_table_is_written_as_pandas_writes_it():
    """Every cell, each column in one form, with the names of rows and columns."""
    columns = {"score": [1.41, 16.92], "word": ["<i>", "a\nb"], "n": [1, 20], "tiny": [2e-9, 1.0], "same": [True, None]}
    frame = pd.DataFrame(columns, index=pd.Index(["money", "river & bank"], name="token"))
    result = as_result(frame, FINDING)
    assert result.spec["head"] == ["token", "score", "word", "n", "tiny", "same"]
    money, river = result.spec["body"]
    assert money == ["money", "1.41", "<i>", "1", "2.000000e-09", "True"]
    assert river == ["river & bank", "16.92", "a\\nb", "20", "1.000000e+00", "None"]
    shown = frame.to_string()
    assert all(cell in shown for cell in [*money, *river])
    assert '<td class="text">&lt;i&gt;</td>' in result.html and "<td>20</td>" in result.html
    assert result.spec["texts"] == [2, 5] and '<th scope="row">river &amp; bank</th>' in result.html
    assert '<th scope="col">tiny</th>' in result.html and "<i>" not in result.html
    unnamed = as_result(pd.DataFrame({"a": [0.5]}), FINDING)  # an empty corner, and no header that says nothing
    assert unnamed.spec["head"] == ["", "a"] and "<tr><td></td><th" in unnamed.html


@pytest.mark.parametrize("kind", ["figure", "axes", "picture"])
def test_a_picture_has_the_finding_as_its_alt_text(kind):
    """Its own, which may tell the answer, goes no further; its figure is closed."""
    figure, ax = plt.subplots()
    ax.plot([0, 1], [0, 1])
    values = {"figure": figure, "axes": ax, "picture": plots.show(figure, alt="It rises from 0 to 1.")}
    result = as_result(values[kind], FINDING)
    assert plt.get_fignums() == []
    assert result.spec["kind"] == "picture" and result.spec["svg"].startswith("<svg")
    assert result.html.startswith('<img alt="River gets 73 %, and &lt;b&gt; is no tag." src="data:image/svg+xml;')
    assert "It rises" not in result.html
