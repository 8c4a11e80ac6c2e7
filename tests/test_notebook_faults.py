"""What readers do to a notebook: run a cell twice, go back to another section, stop a training. It goes on working."""

import os
import signal
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from notebook_rules import code_cells, tags

FOLDER = Path(__file__).parent.parent / "notebooks"
NOTEBOOKS = [path for name in ("06", "07", "08") for path in sorted(FOLDER.glob(f"{name}_*.ipynb"))]
TRAINING = FOLDER / "08_training.ipynb"


class Reader:
    """A notebook, its kernel, and somebody who runs its cells in an order of their own."""

    def __init__(self, path):
        self.notebook = nbformat.read(path, as_version=4)
        self.client = NotebookClient(
            self.notebook,
            timeout=120,
            kernel_name="python3",
            allow_errors=True,
            store_widget_state=False,
            resources={"metadata": {"path": str(path.parent)}},
            extra_arguments=["--log-level=ERROR"],
        )

    def run(self, cell):
        """Run a cell and return the error that it stops with, as text; empty without one."""
        cell.outputs = []
        self.client.execute_cell(cell, self.notebook.cells.index(cell))
        errors = [f"{output.ename}: {output.evalue}" for output in cell.outputs if output.output_type == "error"]
        return "" if "raises-exception" in tags(cell) else "".join(errors)

    def run_all(self, cells):
        """Run cells and return what goes wrong, by the first line of the cell."""
        return {cell.source.splitlines()[0]: error for cell in cells if (error := self.run(cell))}

    def stop(self, cell):
        """Run a cell and press stop when its progress bar has been there for half a second; return the error."""
        done = threading.Event()

        def press():
            while not done.is_set() and not cell.outputs:
                time.sleep(0.02)
            if not done.wait(0.5):
                os.kill(self.client.km.provisioner.pid, signal.SIGINT)

        cell.outputs = []
        finger = threading.Thread(target=press)
        finger.start()
        try:
            return self.run(cell)
        finally:
            done.set()
            finger.join()


@contextmanager
def reading(path):
    """A reader with a fresh kernel."""
    reader = Reader(path)
    with reader.client.setup_kernel():
        yield reader


def said(cell):
    """What a cell shows in words, one entry for each output; what it writes piece by piece is joined."""
    shown = [output.data.get("text/plain") for output in cell.outputs if "data" in output]
    return [*shown, "".join(output.text for output in cell.outputs if output.output_type == "stream")]


def sections(notebook):
    """The code cells between one heading and the next."""
    found = [[]]
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and any(line.startswith("## ") for line in cell.source.splitlines()):
            found.append([])
        elif cell.cell_type == "code":
            found[-1].append(cell)
    return [section for section in found if section]


def test_a_section_begins_at_its_heading():
    """The first holds the set-up alone, and together they hold every cell."""
    for path in NOTEBOOKS:
        notebook = nbformat.read(path, as_version=4)
        first, *others = sections(notebook)
        assert len(first) == 1 and "setup(" in first[0].source and len(others) >= 4
        assert [*first, *(cell for section in others for cell in section)] == code_cells(notebook)


@pytest.mark.long
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_cells_run_twice_show_the_same(path):
    """Each cell, run again at once, shows what it showed, and the cells after it work."""
    with reading(path) as reader:
        for cell in code_cells(reader.notebook):
            shown = []
            for _ in range(2):
                assert reader.run(cell) == "", cell.source
                shown.append(said(cell))
            if "nbval-ignore-output" not in tags(cell):
                assert shown[0] == shown[1], cell.source


@pytest.mark.long
@pytest.mark.parametrize("path", [path for path in NOTEBOOKS if path != TRAINING], ids=lambda path: path.name)
def test_sections_run_again_from_the_last_to_the_first(path):
    """After a whole run, one goes back section by section."""
    with reading(path) as reader:
        _, *others = sections(reader.notebook)
        assert reader.run_all(code_cells(reader.notebook)) == {}
        for section in reversed(others):
            assert reader.run_all(section) == {}


@pytest.mark.long
def test_each_section_of_the_training_needs_the_set_up_alone():
    """Whoever wants to see one training only need not run the others: from the last section to the first."""
    with reading(TRAINING) as reader:
        first, *others = sections(reader.notebook)
        assert reader.run_all(first) == {}
        for section in reversed(others):
            assert reader.run_all(section) == {}


def stop_in(section_with):
    """Stop a training; then run what is left, and the stopped section once more. -> the cell and its first error."""
    with reading(TRAINING) as reader:
        first, *others = sections(reader.notebook)
        (number,) = (i for i, cells in enumerate(others) if any(section_with in cell.source for cell in cells))
        (place,) = (i for i, cell in enumerate(others[number]) if section_with in cell.source)
        before, cell, after = others[number][:place], others[number][place], others[number][place + 1 :]
        assert reader.run_all([*first, *before]) == {}
        error, text = reader.stop(cell), said(cell)[-1]
        rest = after + [cell for section in others[number + 1 :] for cell in section]
        assert reader.run_all(rest) == {}
        return error, text


def test_a_stopped_training_leaves_a_working_notebook():
    """The cell says what happened; what it claims of the trained model fails, and nothing else does."""
    error, text = stop_in("words.draw(64)")
    assert "Training stopped by hand after" in text and "of 700 steps" in text
    assert error.startswith("AssertionError") and "of 700 steps" in error and "stopped by hand" in error


@pytest.mark.long
def test_a_loop_of_trainings_is_stopped_as_a_whole():
    """One press ends all seven."""
    error, text = stop_in("without(part, model)")
    assert text.count("Training stopped by hand after") == 1
    assert error.startswith("AssertionError") and "stopped by hand" in error
