"""Somebody who reads a notebook with a kernel, in an order of their own, and compares it with what is stored."""

import re
import time
from contextlib import contextmanager

import nbformat
from jupyter_core.utils import run_sync
from nbclient import NotebookClient
from notebook_rules import code_cells, tags
from places import ROOT

FOLDER = ROOT / "notebooks"
LONG = 2  # seconds: a training, most often


class Reader:
    """A notebook, its kernel, and somebody who runs its cells in an order of their own."""

    def __init__(self, path):
        self.path = path
        self.slow = set()  # ids of cells that have taken their time, and whose output is not compared
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
        place, found = self.notebook.cells.index, {}
        for cell in cells:
            start = time.perf_counter()
            if bad := self.run(cell) or self.differs(cell):
                found[place(cell)] = bad
            if time.perf_counter() - start > LONG and "nbval-ignore-output" in tags(cell):
                self.slow.add(cell.id)
        return found

    def go_back(self, groups):
        """Run groups of cells from the last to the first, after all have run, and return what goes wrong or differs.

        A slow cell is left out: what it has made is still there.
        """
        again = [cell for group in reversed(groups) for cell in group if cell.id not in self.slow]
        return self.run_and_compare(again)

    def run_what_can_run(self, cells):
        """The same, without the errors that say plainly that a cell further up has not run.

        A slow cell is left out, and what wants it says so.
        """
        wrong = self.run_and_compare([cell for cell in cells if cell.id not in self.slow])
        return {place: bad for place, bad in wrong.items() if not lacks(bad, self.notebook.cells[:place])}

    def restart(self):
        """Restart the kernel: it forgets every name."""
        run_sync(self.client.km.restart_kernel)(now=True)
        run_sync(self.client.kc.wait_for_ready)(timeout=120)


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
    """Whether an error says plainly that a cell above has not run: it names something from there."""
    missing = re.fullmatch(r"NameError: name '(\w+)' is not defined(\. Did you mean: .*)?", error)
    return missing is not None and any(
        cell.cell_type == "code" and re.search(rf"\b{missing[1]}\b", cell.source) for cell in above
    )


def joined(cells):
    """The cells of several sections, one after the other."""
    return [cell for section in cells for cell in section]
