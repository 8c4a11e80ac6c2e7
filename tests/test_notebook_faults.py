"""What readers do to a notebook: run a cell twice, go back, restart the kernel, stop a training. It goes on working.

`make test-long` runs these tests on the poorest machine (see machines.py), so that what is stored is also what that
machine shows.
"""

import os
import re
import signal
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pytest
from jupyter_core.utils import run_sync
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_markdown_cell
from notebook_rules import code_cells, tags

FOLDER = Path(__file__).parent.parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
TRAINING = FOLDER / "08_training.ipynb"
CLINIC = FOLDER / "10_debugging_clinic.ipynb"
LARGE = ("09_pretrained.ipynb", "11_fast_encoder.ipynb")  # whoever goes back in them wants more than 1 GiB


class Reader:
    """A notebook, its kernel, and somebody who runs its cells in an order of their own."""

    def __init__(self, path):
        self.path = path
        self.whole = False  # whether every cell has run
        self.notebook = nbformat.read(path, as_version=4)
        self.stored = {cell.id: said(cell) for cell in code_cells(self.notebook)}
        self.client = NotebookClient(
            self.notebook,
            timeout=600,
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

    def differs(self, cell):
        """What a cell shows where it should show what is stored; empty if it does so, or is not to be compared."""
        if "nbval-ignore-output" in tags(cell) or without_hints(said(cell)) == without_hints(self.stored[cell.id]):
            return ""
        return f"{said(cell)} instead of {self.stored[cell.id]}"

    def run_and_compare(self, cells):
        """Run cells and return what goes wrong or differs from what is stored, by the cell's place in the notebook."""
        place = self.notebook.cells.index
        return {place(cell): bad for cell in cells if (bad := self.run(cell) or self.differs(cell))}

    def run_what_can_run(self, cells):
        """The same, without the errors that say plainly that a cell further up has not run."""
        wrong = self.run_and_compare(cells)
        return {place: bad for place, bad in wrong.items() if not lacks(bad, self.notebook.cells[:place])}

    def restart(self):
        """Restart the kernel: it forgets every name."""
        run_sync(self.client.km.restart_kernel)(now=True)
        run_sync(self.client.kc.wait_for_ready)(timeout=120)

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


@pytest.fixture(scope="module", params=NOTEBOOKS, ids=lambda path: path.name)
def reader(request):
    """One reader for all that happens to a notebook: a kernel takes seconds to start."""
    with reading(request.param) as one:
        yield one


def said(cell):
    """What a cell shows in words, one entry for each output; what it writes piece by piece is joined."""
    shown = [output.data.get("text/plain") for output in cell.outputs if "data" in output]
    return [*shown, "".join(output.text for output in cell.outputs if output.output_type == "stream")]


def without_hints(texts):
    """What is said without the hint of a check, which gets stronger with each try."""
    return [re.sub(r"^Hint: .*", "", text, flags=re.DOTALL | re.MULTILINE) for text in texts]


def sections(notebook):
    """The set-up cell, then the code cells between one heading and the next."""
    found = [[]]
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and any(line.startswith("## ") for line in cell.source.splitlines()):
            found.append([])
        elif cell.cell_type == "code":
            found[-1].append(cell)
    first, *others = found
    return [section for section in ([first[0]], first[1:], *others) if section]


def lacks(error, above):
    """Whether an error says plainly that a cell above has not run: a name from there, or a case of the clinic."""
    if missing := re.fullmatch(r"NameError: name '(\w+)' is not defined(\. Did you mean: .*)?", error):
        return any(cell.cell_type == "code" and re.search(rf"\b{missing[1]}\b", cell.source) for cell in above)
    return bool(re.match(r"LookupError: expected .* (has run|run the cells)", error))


def joined(cells):
    """The cells of several sections, one after the other."""
    return [cell for section in cells for cell in section]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_section_begins_at_its_heading(path):
    """The first holds the set-up alone, and together they hold every cell."""
    notebook = nbformat.read(path, as_version=4)
    first, *others = sections(notebook)
    assert len(first) == 1 and "setup(" in first[0].source and len(others) >= 4
    assert [*first, *joined(others)] == code_cells(notebook)


@pytest.mark.parametrize(
    ("error", "plain"),
    [
        ("NameError: name 'model' is not defined", True),
        ("NameError: name 'modal' is not defined. Did you mean: 'model'?", False),  # nothing above is called so
        ("LookupError: expected a fault whose cell has run, got 'no 1/√K'; there are []", True),
        ("LookupError: expected at least one case to look at, got none: run the cells of the cases first", True),
        ("LookupError: unknown encoding", False),
        ("AssertionError: ", False),
        ("AttributeError: 'NoneType' object has no attribute 'model'", False),
        ("['2'] instead of ['1']", False),
    ],
)
def test_what_counts_as_plain(error, plain):
    """An error that names what stands in a cell above, or says which cells to run."""
    above = [new_markdown_cell("the modal verbs"), new_code_cell("model = load()")]
    assert lacks(error, above) is plain


def test_the_course_says_what_to_do_after_a_restart():
    """What the next tests hold it to."""
    welcome, clinic = (
        "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells[:4])
        for path in (FOLDER / "00_start_here.ipynb", CLINIC)
    )
    assert "Run All Above Selected Cell" in welcome and "`NameError`" in welcome
    assert "run the first code cell, and go on where you stopped" in clinic


@pytest.mark.long
def test_a_kernel_restarted_half_way_says_plainly_what_it_lacks(reader):
    """From the middle on, at once and after the set-up: a cell shows what is stored, or wants a cell above.

    Of what ran before a restart nothing is left, so that the set-up stands here for the whole first half. What comes
    after it is left to the test below where every section of the notebook begins in a new kernel.
    """
    setup, *others = sections(reader.notebook)
    middle = len(others) // 2
    assert reader.run_all(setup) == {}
    reader.restart()
    assert reader.run_what_can_run(others[middle]) == {}
    assert reader.run_all(setup) == {}
    if reader.path == CLINIC:  # its cases need nothing else
        assert reader.run_what_can_run(joined(reversed(others))) == {}
        cases = [cell for cell in joined(others) if "exercise" in tags(cell)]
        assert len(cases) == 20 and reader.run_and_compare(cases[::-1]) == {}
    elif reader.path != TRAINING:
        assert reader.run_what_can_run(joined(others[middle:])) == {}


@pytest.mark.long
def test_three_cases_a_day_are_enough_for_the_rounds():
    """The clinic's last section looks at the cases that ran since the kernel started."""
    with reading(CLINIC) as reader:
        setup, *others = sections(reader.notebook)
        cases = [cell for cell in joined(others) if "exercise" in tags(cell)][-3:]
        assert reader.run_all([*setup, *cases, *others[-1]]) == {}
        assert " of 3, " in said(others[-1][-1])[-1]


@pytest.mark.long
def test_a_cell_that_runs_twice_shows_what_is_stored_both_times(reader):
    """In the kernel that was restarted, from the top: each cell twice at once, and the cells after it work."""
    for cell in code_cells(reader.notebook):
        for _ in range(2):
            assert reader.run_and_compare([cell]) == {}
    reader.whole = True


@pytest.mark.long
def test_sections_run_again_from_the_last_to_the_first(reader):
    """After the whole run, one goes back section by section, and each shows what is stored.

    The sections of the training do so in a new kernel too: whoever wants to see one need not run the others.
    """
    if reader.path.name in LARGE:
        pytest.skip("it takes more than the poorest machine has: test_going_back.py does it")
    setup, *others = sections(reader.notebook)
    if reader.path == TRAINING:
        reader.restart()
        assert reader.run_all(setup) == {}
    else:
        assert reader.whole or reader.run_all(code_cells(reader.notebook)) == {}
    for section in reversed(others):
        assert reader.run_and_compare(section) == {}


def stop_in(section_with):
    """Stop a training, then run what is left of the notebook. -> the error of the stopped cell and what it says."""
    with reading(TRAINING) as reader:
        first, *others = sections(reader.notebook)
        (number,) = (i for i, cells in enumerate(others) if any(section_with in cell.source for cell in cells))
        (place,) = (i for i, cell in enumerate(others[number]) if section_with in cell.source)
        before, cell, after = others[number][:place], others[number][place], others[number][place + 1 :]
        assert reader.run_all([*first, *before]) == {}
        error, text = reader.stop(cell), said(cell)[-1]
        rest = after + joined(others[number + 1 :])
        assert reader.run_all(rest) == {}
        return error, text


@pytest.mark.long
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
