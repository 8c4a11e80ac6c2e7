"""`make notebooks` saves what a fresh run shows, nothing volatile, and stops at an error."""

import nbformat
import pytest
import run_notebooks
from nbformat.v4 import new_code_cell, new_notebook, new_output


@pytest.mark.long
def test_saves_outputs_in_order_without_anything_volatile(tmp_path):
    """A run in place stores outputs and counts, and a second run changes no byte."""
    path = tmp_path / "one.ipynb"
    code = "import ipywidgets\nipywidgets.IntSlider(3)"
    cells = [new_code_cell("6 * 7"), new_code_cell(code, metadata={"tags": ["x"], "execution": {"a": "b"}})]
    nbformat.write(new_notebook(cells=cells, metadata={"widgets": {}}), path)

    assert run_notebooks.main([path]) == 0
    first = path.read_bytes()
    saved = nbformat.read(path, as_version=4)
    assert [cell.execution_count for cell in saved.cells] == [1, 2]
    assert saved.cells[0].outputs[0].data["text/plain"] == "42"
    assert saved.cells[1].metadata == {"tags": ["x"]}
    assert saved.cells[1].outputs == []
    assert sorted(saved.metadata) == ["kernelspec", "language_info"]
    assert "version" not in saved.metadata.language_info

    assert run_notebooks.main([path]) == 0
    assert path.read_bytes() == first


@pytest.mark.long
def test_stops_at_a_cell_error_and_keeps_the_file(tmp_path):
    path = tmp_path / "bad.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell("1 / 0")]), path)
    before = path.read_bytes()
    assert "ZeroDivisionError" in run_notebooks.main([path])
    assert path.read_bytes() == before


@pytest.mark.long
def test_stops_at_a_timeout_and_keeps_the_file(tmp_path, monkeypatch):
    path = tmp_path / "slow.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell("while True:\n    pass")]), path)
    before, run = path.read_bytes(), run_notebooks.run
    monkeypatch.setattr(run_notebooks, "run", lambda notebook, folder: run(notebook, folder, timeout=1))
    assert "timed out" in run_notebooks.main([path])
    assert path.read_bytes() == before


def test_a_widget_leaves_its_picture_or_nothing():
    """Without a kernel a live view is empty, so its picture is stored, and nothing if there is none."""
    view = {run_notebooks.WIDGET_VIEW: {"model_id": "a"}, "text/plain": "IntSlider(value=3)"}
    outputs = [new_output("display_data", data) for data in (view, view | {"text/html": "<img>"})]
    notebook = new_notebook(cells=[new_code_cell("x", outputs=outputs)])
    run_notebooks.tidy(notebook)
    assert [list(output.data) for output in notebook.cells[0].outputs] == [["text/plain", "text/html"]]
