"""Find the explorers of the notebooks, by running their cells, and record them."""

import ast
import hashlib
import io
import re
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import matplotlib
import nbformat
from address import ROOT
from record import record
from recordings import PLANS

HERE = Path(__file__).parent
EXPLORER = re.compile(r"\bexplore\.(?!(?:predict|judge|Question|Prediction)\b)\w+\(")


def plan_name(source: str) -> str:
    """The name of the plan for the explorer that a cell makes: its function, and the switches that are set."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and EXPLORER.match(ast.unparse(node)):
            switches = [w for w in node.keywords if isinstance(getattr(w.value, "value", None), bool)]
            return " ".join([node.func.attr, *(ast.unparse(switch) for switch in switches)])
    raise ValueError(f"expected a call of an explorer, got {source!r}")


def made(notebook: nbformat.NotebookNode) -> Iterator[tuple[str, object]]:
    """Run the cells of a notebook that its explorers need; gives each explorer with the name of its plan."""
    variables: dict = {"__name__": "__main__"}
    for cell in needed([cell for cell in notebook.cells if cell.cell_type == "code"]):
        value = _run(cell, variables)
        if EXPLORER.search(cell.source):
            yield plan_name(cell.source), value


def needed(cells: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """The cells without which an explorer would lack something, in their order; trainings take most of the time.

    They are the explorers' own, the first one, which sets up, and whatever gives or changes what a needed cell reads
    further down. To be on the safe side, a cell counts as changing every object that it names, but for what was
    imported or defined.
    """
    names = [_names(cell.source) for cell in cells]
    tools = {name for _, _, defined in names for name in defined}
    found, wanted = [], set()
    for place in reversed(range(len(cells))):
        read, bound, defined = names[place]
        if EXPLORER.search(cells[place].source) or place == 0 or wanted & (bound | defined | read - tools):
            found.append(cells[place])
            wanted |= read
    return found[::-1]


def _names(source: str) -> tuple[set[str], set[str], set[str]]:
    """The names that a cell reads, that it gives to objects, and that it gives to functions, classes and modules."""
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
    """Run a cell; gives the value of its last line when that is an expression."""
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


def _write(path: Path, folder: Path) -> list[tuple[str, int]]:
    """Record the explorers of a notebook into `folder`; gives their names and bytes."""
    matplotlib.use("agg")
    written = []
    for number, (name, explorer) in enumerate(made(nbformat.read(path, as_version=4)), 1):
        if name not in PLANS:
            raise KeyError(
                f"{path.stem}: expected a plan for the explorer {name!r}, got none: write one in recordings.py"
            )
        content = record(explorer, PLANS[name])
        (folder / f"{path.stem}-{number}.recording").write_bytes(content)
        written.append((f"{path.stem} {name}", len(content)))
    return written


def write_recordings(paths: list[Path], folder: Path) -> None:
    """Record the explorers of all notebooks, in two processes; what has not changed since the last time stays."""
    folder.mkdir(parents=True, exist_ok=True)
    library = [*sorted(ROOT.glob("encoder_lib/**/*.py")), HERE / "record.py"]
    common = b"".join(path.read_bytes() for path in library)
    digests = {path: hashlib.sha256(common + _code(path)).hexdigest() for path in paths}
    old = [path for path in paths if _read(folder / f"{path.stem}.digest") == digests[path]]
    new = [path for path in paths if path not in old]
    for path in new:
        for stale in folder.glob(f"{path.stem}*"):
            stale.unlink()
    with ProcessPoolExecutor(2) as pool:
        for path, written in zip(new, pool.map(_write, new, [folder] * len(new)), strict=True):
            for name, size in written:
                print(f"  {name}: {size / 1000:.0f} KB")
            (folder / f"{path.stem}.digest").write_text(digests[path])


def _code(path: Path) -> bytes:
    """The code of a notebook, and the plans of its explorers."""
    cells = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    plans = [PLANS.get(plan_name(source)) for source in cells if EXPLORER.search(source)]
    return "\n".join([*cells, *map(repr, plans)]).encode()


def _read(path: Path) -> str:
    return path.read_text() if path.exists() else ""
