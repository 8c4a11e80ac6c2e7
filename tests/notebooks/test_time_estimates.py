"""The time that a notebook asks its reader to plan for fits its words, its cells and its exercises."""

import re

import nbformat
import pytest
from notebook_rules import code_cells, tags
from places import NOTEBOOKS, ROOT

WORDS, CODE, EXERCISE = 150, 2.5, 12  # words a minute; minutes for a cell of code, and for an exercise
PLAN = re.compile(r"Plan for (\d+) minutes, [^.]* included")  # reading, running and the exercises of the main path


def main_path(notebook):
    """The cells before *Going deeper*."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and cell.source.startswith("## Going deeper"):
            return
        yield cell


def estimated(notebook):
    """The minutes that reading, running and the exercises should take, by the counts."""
    cells = list(main_path(notebook))
    prose = " ".join(cell.source for cell in cells if cell.cell_type == "markdown")
    words = len(re.sub(r'(?s)<details(?! class="after").*?</details>', "", prose).split())
    code = code_cells(notebook.__class__(cells=cells))
    exercises = sum("exercise" in tags(cell) for cell in code)
    return words / WORDS + CODE * (len(code) - exercises) + EXERCISE * exercises


def planned(notebook):
    """The minutes that the notebook asks its reader to plan for."""
    (minutes,) = PLAN.findall(" ".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown"))
    return int(minutes)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_planned_time_is_within_a_third_of_the_estimate(path):
    notebook = nbformat.read(path, as_version=4)
    assert planned(notebook) == pytest.approx(estimated(notebook), rel=1 / 3)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_readme_lists_the_planned_time(path):
    """A notebook's row in the table has a link, the question below its title, and the planned time."""
    notebook = nbformat.read(path, as_version=4)
    question = notebook.cells[0].source.split("**")[1]
    row = f"(notebooks/{path.name}) | {question} | {planned(notebook)} minutes |"
    assert row in (ROOT / "README.md").read_text(encoding="utf-8")


def test_readme_states_the_total_time():
    """To the nearest hour."""
    hours = sum(planned(nbformat.read(path, as_version=4)) for path in NOTEBOOKS) / 60
    (stated,) = re.findall(r"Plan for about (\d+) hours, exercises included", (ROOT / "README.md").read_text())
    assert int(stated) == round(hours)
