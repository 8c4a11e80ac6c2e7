"""What readers do to a notebook: go back, restart the kernel. It goes on working.

That is tried where claims are tested, in `tests/course/conftest.py`; here are the tests of its tools. That each cell
shows the same when it runs twice in a row is tested by `tests/tools/rerun_cells.py`.
"""

import nbformat
import notebook_run
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from notebook_rules import code_cells
from notebook_run import Run
from out_of_order import goes_back, joined, lacks, restarts_half_way, sections
from places import NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_section_begins_at_its_heading(path):
    notebook = nbformat.read(path, as_version=4)
    first, *others = sections(notebook)
    assert len(first) == 1 and "setup(" in first[0].source and len(others) >= 4
    assert [*first, *joined(others)] == code_cells(notebook)


@pytest.mark.parametrize(
    ("error", "plain"),
    [
        ("NameError: name 'model' is not defined", True),
        ("NameError: name 'modal' is not defined", False),  # no code above calls anything so
        ("LookupError: unknown encoding", False),
        ("AssertionError: ", False),
        ("AttributeError: 'NoneType' object has no attribute 'model'", False),
        ("['2'] instead of ['1']", False),
    ],
)
def test_errors_that_name_a_cell_above_are_plain(error, plain):
    """An error that names what a cell above defines."""
    above = [new_markdown_cell("the modal verbs"), new_code_cell("model = load()")]
    assert lacks(error, above) is plain


def test_the_course_says_what_to_do_after_a_restart():
    cells = nbformat.read(NOTEBOOKS[0], as_version=4).cells
    welcome = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    assert "Run All Above Selected Cell" in welcome and "`NameError`" in welcome


def read_by(*cells):
    """A notebook after it has run: a set-up, and a section for each cell of code, with what is stored, and tags."""
    parts = [new_code_cell("import torch; torch.set_default_dtype(torch.float64)")]
    for source, stored, *tags in cells:
        outputs = [new_output("execute_result", {"text/plain": stored}, execution_count=1)]
        parts += [new_markdown_cell("## On"), new_code_cell(source, outputs=outputs, metadata={"tags": tags})]
    return Run(new_notebook(cells=parts))


def test_a_different_output_after_going_back_is_detected():
    later = ("x = 2; x", "2"), ("x += 1; x", "3"), ("torch.set_default_dtype(torch.float32); x", "3")
    run = read_by(("x = 1; x", "1"), ("y = x; y", "1"), *later, ("torch.zeros(0).dtype", "torch.float32"))
    assert run.differences() == [] and run.slow == set()
    assert goes_back(run) == {8: "4 instead of 3", 4: "2 instead of 1"}


def test_an_unclear_error_after_a_restart_is_detected():
    first = ("x = 1; x", "1"), ("y = 2; y", "2"), ("z = 3; z", "3")
    then = ("x", "1"), ("globals()['y']", "2"), ("torch.ones(1).dtype", "torch.float64"), ("x", "other", "exercise")
    run = read_by(*first, *then)
    assert run.differences() == ["1 instead of other"]
    assert restarts_half_way(run) == {10: "KeyError: 'y'"}
    assert restarts_half_way(run, cases=True) == {10: "KeyError: 'y'", 14: "1 instead of other"}


def test_a_slow_cell_is_skipped_and_its_users_say_so(monkeypatch):
    monkeypatch.setattr(notebook_run, "LONG", 0)
    run = read_by(("x = 1", ""), ("runs = []", ""), ("runs.append(1); w = 1", "", "nbval-ignore-output"), ("w", "1"))
    assert len(run.slow) == 1 and goes_back(run) == {} and run["runs"] == []
    assert restarts_half_way(run) == {} and "w" not in run.variables
