"""Every notebook as its reader meets it: in JupyterLab, in a browser, by keyboard."""

import os
import shutil
from pathlib import Path

import nbformat
import notebook_rules
import pytest
from labserver import lab
from notebook_page import NotebookPage
from specimens import EXPLORERS, FAULTS, specimen_notebook

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted(path.name for path in ROOT.glob("notebooks/*.ipynb"))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """JupyterLab on a copy of the notebooks, so that nothing here can change them."""
    folder = tmp_path_factory.mktemp("notebooks")
    shutil.copytree(ROOT / "notebooks", folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".*"))
    nbformat.write(specimen_notebook(), folder / "specimens.ipynb")
    with lab(folder) as address:
        yield address


@pytest.fixture(scope="module", params=NOTEBOOKS)
def notebook(request, browser, server):
    """A notebook that was opened, looked at and run from top to bottom."""
    page = NotebookPage(browser, server, request.param)
    page.stored = nbformat.read(ROOT / "notebooks" / request.param, as_version=4)
    page.shown_before_run = page.pictures_with_alt_text()
    page.run_all()
    yield page
    page.close()


def test_stored_pictures_show_before_anything_runs(notebook):
    """A clone that has not run yet shows every stored picture with its alt text."""
    stored = sum(map(notebook_rules.has_picture, notebook_rules.code_cells(notebook.stored)))
    assert notebook.shown_before_run >= stored


def test_runs_without_an_error(notebook):
    """No cell, no widget and no script fails."""
    assert notebook.errors() == []


def test_explorers_are_there(notebook):
    """Each explorer of the notebook is drawn, named and described."""
    expected = sum(map(notebook_rules.is_explorer, notebook_rules.code_cells(notebook.stored)))
    assert len(notebook.explorers()) >= expected
    assert [problem for explorer in notebook.explorers() for problem in explorer.check_at_rest()] == []


def test_every_control_changes_picture_and_words(notebook):
    """Each control, moved to both ends by keyboard, changes the picture, its output and the description."""
    found = [
        problem
        for explorer in notebook.explorers()
        for name in explorer.controls()
        for problem in explorer.check_control(name)
    ]
    assert found == []


def test_heatmaps_are_read_by_arrow_keys(notebook):
    """The value of a cell can be read without a mouse."""
    assert [problem for explorer in notebook.explorers() for problem in explorer.check_cells()] == []


def test_typing_stays_in_the_explorer(notebook):
    """A key pressed on a control is no command to JupyterLab."""
    found = [problem for explorer in notebook.explorers() for problem in explorer.check_typing()]
    assert found + list(notebook.check_predictions()) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_words_stand_out(notebook, theme):
    """Explorers are legible in both themes. SCREENSHOTS=folder keeps a picture of each."""
    notebook.use_theme(theme)
    found = []
    for number, explorer in enumerate(notebook.explorers()):
        found += explorer.check_contrast(theme)
        if folder := os.environ.get("SCREENSHOTS"):
            name = f"{Path(notebook.page.url.split('?')[0]).stem}-{number}-{theme}.png"
            explorer.root.screenshot(path=Path(folder) / name)
    assert found == []


def test_asks_no_other_machine(notebook):
    """After all of the above, nothing was requested but from the server."""
    assert notebook.external == []
    assert notebook.errors() == []


# Every kind of control and view; and the checks themselves, on explorers that each have one fault.


@pytest.fixture(scope="module")
def specimens(browser, server):
    """The notebook of specimens."""
    page = NotebookPage(browser, server, "specimens.ipynb")
    page.run_all()
    yield page
    page.close()


@pytest.mark.parametrize("title", EXPLORERS)
def test_every_kind_of_explorer(specimens, title):
    """An explorer passes every check, with every kind of control and view."""
    explorer = specimens.explorer(title)
    found = [*explorer.check_at_rest(), *explorer.check_cells(), *explorer.check_typing()]
    for name in explorer.controls():
        found += explorer.check_control(name)
    for theme in ("dark", "light"):
        specimens.use_theme(theme)
        found += explorer.check_contrast(theme)
    assert found == []


def test_predictions_are_answered_by_keyboard(specimens):
    """A prediction question is there and takes keys."""
    assert specimens.page.locator(".prediction").count() == 1
    assert list(specimens.check_predictions()) == []


@pytest.mark.parametrize(("fault", "words"), FAULTS.items(), ids=FAULTS)
def test_the_checks_notice(specimens, fault, words):
    """A fault is reported in words, and the sound explorer passes."""
    explorer = specimens.explorer(fault)
    found = [*explorer.check_at_rest(), *explorer.check_cells(), *explorer.check_contrast("light")]
    found += [*explorer.check_control("x"), *explorer.check_typing()]
    report = "\n".join(found)
    assert (report == "") if words is None else (words in report), report


def test_errors_and_requests_are_noticed(specimens):
    """A failing cell, an error in a listener and a request to another host."""
    assert any("ZeroDivisionError" in error for error in specimens.errors())
    for fault in ("network", "throws"):
        explorer = specimens.explorer(fault)
        explorer.move(explorer.control("x"), "range", 1)
        explorer.state()
    assert any("example.invalid" in url for url in specimens.external)
    assert any("thrown in a listener" in error for error in specimens.page_errors)
