"""Run the cells of the notebooks, and record their explorers and pictures for the pages."""

import ast
import builtins
import hashlib
import io
import re
import symtable
import warnings
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import matplotlib
import nbformat
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
    except modules, functions and classes. Where a cell gives a name to a new object, the earlier ones are not wanted.
    """
    names = [_names(cell.source) for cell in cells]
    tools = {name for one in names for name in one.tools}.union(dir(builtins))
    found, wanted = [], set()
    for place in reversed(range(len(cells))):
        one = names[place]
        if wanted_for(cells[place]) or place == 0 or wanted & (one.given | one.tools | one.read - tools):
            found.append(cells[place])
            wanted = (wanted | one.read) - one.new
    return found[::-1]


class Names(NamedTuple):
    """The names that a cell reads, those that it gives, those of its functions, classes and modules, and new ones.

    A name is new if the cell gives it to an object before reading it.
    """

    read: set[str]
    given: set[str]
    tools: set[str]
    new: set[str]


def _names(source: str) -> Names:
    tree, tools = ast.parse(source), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            tools.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            tools |= {(name.asname or name.name).partition(".")[0] for name in node.names}
    return Names(*_global(tree), tools, _new(tree.body, set()))


def _global(node: ast.AST) -> tuple[set[str], set[str]]:
    """Return the global names that code reads, also inside functions, and those that it gives."""
    read, given = set(), set()
    tables = [symtable.symtable(ast.unparse(node), "<cell>", "exec")]
    for table in tables:
        tables += table.get_children()
        for name in table.get_symbols():
            if table.get_type() == "module" or name.is_global():
                read |= {name.get_name()} if name.is_referenced() else set()
                given |= {name.get_name()} if name.is_assigned() else set()
    return read, given


def _new(body: list[ast.stmt], seen: set[str]) -> set[str]:
    """Return the names that statements give to objects before reading them. Names that were `seen` before are not new.

    A loop counts as run at least once.
    """
    new = set()
    for statement in body:
        if isinstance(statement, ast.For):
            seen |= _global(statement.iter)[0]
            given = _global(statement.target)[0]  # on its own, a target looks like something that is read
            new |= given - seen | _new(statement.body, seen | given)
        read, given = _global(statement)
        if isinstance(statement, ast.Assign | ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
            new |= given - read - seen
        seen |= read | given
    return new


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


def write_recordings(paths: list[Path], folder: Path, pool: Executor) -> Callable[[], None]:
    """Begin to record the explorers of all notebooks, and return what waits for them.

    What hasn't changed since the last time is kept. The last notebooks take longest. They come first, so that all
    processes are busy to the end.
    """
    known = {file.stem: file.read_text() for file in folder.glob("*.digest")}
    new = [path for path in reversed(paths) if known.get(path.stem) != _digest(path)]
    recorded = pool.map(_write, new, [folder] * len(new))

    def wait() -> None:
        for _ in recorded:
            pass

    return wait


def _digest(path: Path) -> str:
    """Return a hash of everything that a notebook's recordings depend on: the library, the recorder, its own code."""
    recorder = [HERE / name for name in ("phone.py", "record.py", "record_all.py", "vector.py")]
    library = [*sorted(ROOT.glob("encoder_lib/**/*.py")), *recorder]
    cells = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    return hashlib.sha256(b"".join(file.read_bytes() for file in library) + "\n".join(cells).encode()).hexdigest()
