"""Run the cells of the notebooks, and record their explorers and pictures for the pages."""

import ast
import hashlib
import io
import re
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import matplotlib
import nbformat
import torch
from address import ROOT
from phone import catching, narrowed
from record import record

from encoder_lib.course.kit import plots
from encoder_lib.course.kit.widget.alive import Alive
from encoder_lib.course.kit.widget.explorer import Explorer
from encoder_lib.course.kit.widget.search import Search

HERE = Path(__file__).parent
EXPLORER = re.compile(r"\bexplore\.(?!(?:predict|judge|Question|Prediction)\b)(\w+)\(")
FIGURE = 'class="figure"'  # of a stored picture


def explorer_name(source: str) -> str:
    """Return the name of the function that makes the explorer of a cell."""
    return EXPLORER.search(source)[1]


def _shows(cell: nbformat.NotebookNode) -> bool:
    """Whether a cell shows an explorer, or a picture, which a phone gets drawn anew."""
    return bool(EXPLORER.search(cell.source)) or FIGURE in str(cell.get("outputs"))


def name_on_phone(stem: str, alt: str) -> str:
    """Return the name of the file with a picture as a phone shows it, by its notebook and its alt text."""
    return f"{stem}-{hashlib.sha256(alt.encode()).hexdigest()[:16]}.svg"


class Recorder:
    """Records the explorers of a notebook, right after each cell, before a later cell can change it.

    Pictures that are wider than a phone are kept as a phone shows them, and so are explorers that draw a figure.
    """

    def __init__(self, path: Path, folder: Path) -> None:
        self.path, self.folder, self.number = path, folder, 0
        folder.mkdir(parents=True, exist_ok=True)
        for stale in folder.glob(f"{path.stem}*"):
            stale.unlink()

    def __enter__(self) -> "Recorder":
        plots.show = catching(self._keep)
        return self

    def _keep(self, alt: str, svg: str) -> None:
        (self.folder / name_on_phone(self.path.stem, alt)).write_text(svg, encoding="utf-8")

    def __call__(self, cell: nbformat.NotebookNode, value: object) -> None:
        """Record the explorer that a cell shows."""
        if not EXPLORER.search(cell.source):
            return
        self.number += 1
        recording = self.folder / f"{self.path.stem}-{self.number}.recording"
        recording.write_bytes(_recorded(value))
        recording.with_suffix(".heights").write_text(" ".join(map(str, value.web.heights)))
        if isinstance(value, Alive) and value.question.detail:
            picture = value.picture(wide=False)
            self._keep(picture.alt, picture.svg)
        if isinstance(value, Explorer) and value._figure and not value.web.computed:
            narrowed(value._figure)
            value._figure.draw_without_rendering()
            value._figure.set_layout_engine("none")  # laid out once, as at a desk
            recording.with_stem(f"{recording.stem}-phone").write_bytes(record(value))
        print(f"  {self.path.stem} {explorer_name(cell.source)}: {recording.stat().st_size / 1000:.0f} KB")

    def __exit__(self, failed: object, *_: object) -> None:
        """If everything was recorded, note the digest, so that it isn't recorded again."""
        plots.show = plots.picture.show
        if not failed:
            (self.folder / f"{self.path.stem}.digest").write_text(_digest(self.path))


def _recorded(explorer: Explorer | Alive | Search) -> bytes:
    if isinstance(explorer, Alive):
        return explorer.record(())
    return explorer.record() if isinstance(explorer, Search) else record(explorer)


def needed(cells: list[nbformat.NotebookNode], wanted_for: Callable = _shows) -> list[nbformat.NotebookNode]:
    """Return the cells that explorers and pictures depend on, in order. The others, such as trainings, are skipped.

    They are the cells that `wanted_for` finds, the first one, which sets up, and every cell that creates or changes
    something that a needed cell reads further down. To be safe, a cell counts as changing every object that it names,
    except modules, functions and classes.
    """
    names = [_names(cell.source) for cell in cells]
    tools = {name for _, _, defined in names for name in defined}
    found, wanted = [], set()
    for place in reversed(range(len(cells))):
        read, bound, defined = names[place]
        if wanted_for(cells[place]) or place == 0 or wanted & (bound | defined | read - tools):
            found.append(cells[place])
            wanted |= read
    return found[::-1]


def _names(source: str) -> tuple[set[str], set[str], set[str]]:
    """Return the names that a cell reads, those it gives to objects, and those of functions, classes and modules."""
    read, bound, defined = set(), set(), set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            defined |= {(name.asname or name.name).partition(".")[0] for name in node.names}
    return read, bound, defined


def _run(cell: nbformat.NotebookNode, variables: dict) -> object:
    """Run a cell, and return the value of its last line if that is an expression."""
    body = ast.parse(cell.source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(ast.Module(body, []), "<cell>", "exec"), variables)
            return None if last is None else eval(compile(ast.Expression(last.value), "<cell>", "eval"), variables)
        except Exception:
            if "raises-exception" not in cell.metadata.get("tags", []):
                raise
    return None


def _write(path: Path, folder: Path) -> None:
    """Run the needed cells of a notebook, and record what they show into `folder`."""
    matplotlib.use("agg")
    cells, variables = nbformat.read(path, as_version=4).cells, {"__name__": "__main__"}
    with Recorder(path, folder) as recorder:
        for cell in needed([cell for cell in cells if cell.cell_type == "code"]):
            recorder(cell, _run(cell, variables))


def write_recordings(paths: list[Path], folder: Path) -> None:
    """Record the explorers of all notebooks in two processes. What hasn't changed since the last time is kept."""
    known = {file.stem: file.read_text() for file in folder.glob("*.digest")}
    new = [path for path in paths if known.get(path.stem) != _digest(path)]
    # One thread each: with more of them than cores, those of a small product mostly wait for each other.
    with ProcessPoolExecutor(2, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        for _ in pool.map(_write, new, [folder] * len(new)):
            pass


def _digest(path: Path) -> str:
    """Return a hash of everything that a notebook's recordings depend on: the library, the recorder, its own code."""
    recorder = [HERE / name for name in ("phone.py", "record.py", "record_all.py", "vector.py")]
    library = [*sorted(ROOT.glob("encoder_lib/**/*.py")), *recorder]
    cells = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    return hashlib.sha256(b"".join(file.read_bytes() for file in library) + "\n".join(cells).encode()).hexdigest()
