"""The time that a notebook names follows from its words, its cells and its exercises."""

import re

import nbformat
import pytest
from notebook_rules import code_cells, tags
from places import NOTEBOOKS, ROOT

WORDS, CODE, EXERCISE = 150, 2.5, 12  # words a minute; minutes for a cell of code, and for an exercise
NUMBERS = {
    "half an hour": 30,
    "forty minutes": 40,
    "three quarters of an hour": 45,
    "fifty minutes": 50,
    "an hour and ten minutes": 70,
    "an hour": 60,  # the last, since two others begin with it
}


def main_path(notebook):
    """The cells before *Going deeper*."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and cell.source.startswith("## Going deeper"):
            return
        yield cell


def minutes(notebook):
    """What reading and running takes, and what the exercises take."""
    cells = list(main_path(notebook))
    prose = " ".join(cell.source for cell in cells if cell.cell_type == "markdown")
    words = len(re.sub(r"(?s)<details>.*?</details>", "", prose).split())
    code = code_cells(notebook.__class__(cells=cells))
    exercises = sum("exercise" in tags(cell) for cell in code)
    return words / WORDS + CODE * (len(code) - exercises), EXERCISE * exercises


def stated(notebook):
    """The minutes that it asks its reader to plan for, and whether the exercises come on top."""
    prose = " ".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    words, rest = re.search(rf"Plan for ({'|'.join(NUMBERS)})\b([^.]*)\.", prose).groups()
    return NUMBERS[words], "more for" in rest


def faults(notebook):
    """What is wrong with an estimate: more than a third off, or more than an hour and ten minutes."""
    reading, exercises = minutes(notebook)
    plan, on_top = stated(notebook)
    needed = reading if on_top else reading + exercises
    if not 2 / 3 * needed <= plan <= 4 / 3 * needed:
        yield f"it says {plan} minutes and takes {needed:.0f}"
    if plan > 70:
        yield f"its main path is planned for {plan} minutes, expected an hour and ten minutes at most"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_time_estimates_match_the_content(path):
    assert list(faults(nbformat.read(path, as_version=4))) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_readme_lists_the_time(path):
    """A notebook's row in the table: a link, the question below its title, and the time that it asks for."""
    notebook = nbformat.read(path, as_version=4)
    row = f"(notebooks/{path.name}) | {notebook.cells[0].source.split('**')[1]} |"
    (plan,) = re.findall(re.escape(row) + r" ([\w ]+) \|", (ROOT / "README.md").read_text())
    assert NUMBERS[plan] == stated(notebook)[0]


def test_the_readme_states_the_total_time():
    times = [minutes(nbformat.read(path, as_version=4)) for path in NOTEBOOKS]
    reading, exercises = (sum(each) / 60 for each in zip(*times, strict=True))
    assert "Eleven hours to read and run, and seven more for the exercises" in (ROOT / "README.md").read_text()
    assert 10 <= reading < 12 and 7 <= exercises < 9
