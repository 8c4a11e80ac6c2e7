"""How long a reader waits from "Run" on the first notebook's set-up cell to its first live explorer."""

import shutil
import time

import nbformat
import pytest
from labserver import lab
from notebook_page import NotebookPage
from notebook_rules import code_cells
from places import NOTEBOOKS
from record_all import EXPLORER, needed

FIRST = NOTEBOOKS[0]


def cells_to_the_first_explorer():
    """The ids of the cells that it needs, from the set-up cell to its own."""
    cells = needed(code_cells(nbformat.read(FIRST, as_version=4)))
    last = next(place for place, cell in enumerate(cells) if EXPLORER.search(cell.source))
    return [cell.id for cell in cells[: last + 1]]


@pytest.mark.parametrize("compiled", [False, True], ids=["as pip leaves it", "compiled at set-up"])
def test_seconds_to_the_first_explorer(browser, tmp_path, monkeypatch, compiled):
    """Without bytecode, and with that of an earlier run, which is what the end of set-up leaves."""
    shutil.copy(FIRST, tmp_path)
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path / "bytecode"))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "")
    with lab(tmp_path) as server:
        for _ in range(1 + compiled):
            page = NotebookPage(browser, server, FIRST.name)
            started = time.perf_counter()
            page.run(cells_to_the_first_explorer())
            page.page.locator("section.explorer .explorer-picture").first.wait_for()
            seconds = time.perf_counter() - started
            assert page.errors() == []
            page.page.evaluate("() => jupyterapp.shell.currentWidget.sessionContext.shutdown()")
            page.close()
    print(f"\n{seconds:.1f} s")
