"""Exercises without Python: the lines of an answer, which the reader puts in order.

A lesson's exercises.toml names them by their checks. `order` is the line of the notebook's answer whose block is put in
order. Compound statements such as `if` stay where they are, and a line takes the indentation of its place. Which orders
are right is found by running them, and the exercise's own check judges.
"""

import ast
import hashlib
import html
import json
import linecache
import random
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import nbformat
from address import ROOT
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from encoder_lib.course import checks
from encoder_lib.course.kit import lessons
from encoder_lib.course.kit.checking.sandbox import restored_settings
from encoder_lib.course.kit.checking.verdict import Verdict

ANSWER = re.compile(r'(?s)<details class="answer">.*?```python\n(.*?)```')
CHECKED = re.compile(r"\bchecks\.(check_\w+)\((\w+)\)")
UNBOUND = re.compile(r"(stopped with UnboundLocalError) at `[^`]*`")  # Python 3.11 may name the line above
MOST = 8  # lines to put in order; more have too many orders
PROMPT = (
    "Here you can put the lines of one answer in order. Drag a line by its handle, or select the handle and press the "
    "arrow keys; or click on a handle and then on the line whose place it should take. Several orders may be right."
)


@dataclass(frozen=True)
class Puzzle:
    """The lines of an answer, and those to put in order: `movable` are their numbers, counted from 0."""

    name: str
    check: str
    setup: str
    lines: tuple[str, ...]
    movable: tuple[int, ...]

    def judge(self, order: tuple[int, ...]) -> Verdict:
        """Return the check's verdict on an order, in which places that are left over raise `Unfinished`."""
        lines = list(self.lines)
        for place, at in enumerate(self.movable):
            words = lines[at].strip() if place >= len(order) else self.lines[self.movable[order[place]]].strip()
            indent = " " * (len(lines[at]) - len(lines[at].lstrip()))
            lines[at] = indent + (words if place < len(order) else "raise Unfinished")
        variables = {**self.variables, "Unfinished": Unfinished}
        file, text = f"<{self.name}>", "\n".join(lines)
        linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file  # so that an error names its line
        exec(compile(text, file, "exec"), variables)
        return checks.CHECKS[self.check](variables[self.name])

    @cached_property
    def variables(self) -> dict:
        """What the notebook's first cell imports."""
        found = {"__name__": "__main__"}
        with restored_settings():
            exec(self.setup, found)
        return found

    def start(self) -> list[int]:
        """Return the order in which the lines are shown first, always the same."""
        return random.Random(self.name).sample(range(len(self.movable)), len(self.movable))


class Unfinished(Exception):
    """Raised where a line is still missing."""


def asked_in(notebook: nbformat.NotebookNode, kind: str) -> Iterator[tuple[str, str, str, str, dict]]:
    """For each exercise of a notebook whose table in exercises.toml has an entry of this kind: the name of its check,
    the name that the check is called with, the notebook's first code cell, its answer, and the table."""
    tables = lessons.texts("exercises.toml")
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    answers = {name: code for code in ANSWER.findall(text) for name in re.findall(r"(?m)^(?:def|class) (\w+)", code)}
    cells = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    for check, name in (found for source in cells for found in CHECKED.findall(source)):
        if kind in tables.get(check, {}):
            yield check, name, cells[0], answers[name], tables[check]


def puzzles(notebook: nbformat.NotebookNode) -> dict[str, Puzzle]:
    """Return the exercises of a notebook whose lines can be put in order, by the names of their checks."""
    found = asked_in(notebook, "order")
    return {check: _puzzle(check, name, setup, code, table["order"]) for check, name, setup, code, table in found}


def _puzzle(check: str, name: str, setup: str, code: str, within: str) -> Puzzle:
    code = re.sub(r" {2,}#", "  #", code.rstrip())
    lines = code.splitlines()
    blocks = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.stmt)]
    block = next((node for node in blocks if lines[node.lineno - 1].strip() == within), None)
    if block is None:
        raise ValueError(f"{check}: expected a line of the answer as `order`, got {within!r}")
    leaves = list(_leaves(block))
    if not 2 < len(leaves) <= MOST or any(leaf.lineno != leaf.end_lineno for leaf in leaves):
        raise ValueError(f"{check}: expected a block of 3 to {MOST} statements of one line each, got {len(leaves)}")
    return Puzzle(name, check, setup, tuple(lines), tuple(leaf.lineno - 1 for leaf in leaves))


def _leaves(statement: ast.stmt) -> Iterator[ast.stmt]:
    """The simple statements in a block, from top to bottom."""
    for inner in [*getattr(statement, "body", ()), *getattr(statement, "orelse", ())]:
        yield from _leaves(inner) if hasattr(inner, "body") else (inner,)


def solve(puzzle: Puzzle) -> dict:
    """Return what the page needs: all right orders, and what the check says about the first line that is out of place.

    An order grows line by line. Where it stops with an error before it gets to the missing lines, no order that begins
    in this way can be right. `wrong` has the problem and the hint for each right beginning and each wrong next line,
    with the other lines in the answer's order.
    """
    everything = tuple(range(len(puzzle.movable)))
    right = list(_right(puzzle, (), everything))
    if everything not in right:
        raise ValueError(f"{puzzle.check}: expected its check to pass the notebook's answer")
    if tuple(puzzle.start()) in right:
        raise ValueError(f"{puzzle.check}: expected a wrong order at first; choose another seed")
    beginnings = sorted({order[:length] for order in right for length in everything})
    wrong: dict[str, dict[str, list[str]]] = {}
    for begun in beginnings:
        for line in everything:
            if line in begun or any(order[: len(begun) + 1] == (*begun, line) for order in right):
                continue
            puzzle.judge(everything)  # after a right answer, the hints begin with the first again
            rest = (other for other in everything if other not in (*begun, line))
            verdict = puzzle.judge((*begun, line, *rest))
            wrong.setdefault(_code(begun), {})[str(line)] = [UNBOUND.sub(r"\1", verdict.problem), verdict.hint]
    head, *passed = puzzle.judge(everything).lines()
    return {"right": [_code(order) for order in right], "wrong": wrong, "head": head, "passed": passed}


def _code(order: tuple[int, ...]) -> str:
    return "".join(map(str, order))


def _right(puzzle: Puzzle, begun: tuple[int, ...], everything: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The right orders that begin with these lines."""
    verdict = puzzle.judge(begun)
    if len(begun) == len(everything):
        if verdict.correct:
            yield begun
    elif verdict.correct or f"stopped with {Unfinished.__name__}" in verdict.problem:
        for line in everything:
            if line not in begun:
                yield from _right(puzzle, (*begun, line), everything)


def write_orders(paths: list[Path], folder: Path, pool: Executor) -> Callable[[], None]:
    """Begin to solve the exercises of all notebooks, and return what waits for them and writes what was found.

    What hasn't changed since the last time is kept.
    """
    folder.mkdir(parents=True, exist_ok=True)
    found = {f"{path.stem}-{name}": puzzle for path in paths for name, puzzle in _read(path).items()}
    digests = {name: _digest(puzzle) for name, puzzle in found.items()}
    new = [n for n in found if not (folder / f"{n}.json").exists() or _known(folder / f"{n}.digest") != digests[n]]
    for stale in folder.iterdir():
        if stale.stem not in found:
            stale.unlink()
    answers = pool.map(solve, [found[name] for name in new])

    def write() -> None:
        for name, solved in zip(new, answers, strict=True):
            (folder / f"{name}.json").write_text(json.dumps(solved, ensure_ascii=False), encoding="utf-8")
            (folder / f"{name}.digest").write_text(digests[name])
            print(f"  {name}: {len(solved['right'])} right orders")

    return write


def _read(path: Path) -> dict[str, Puzzle]:
    return puzzles(nbformat.read(path, as_version=4))


def _known(file: Path) -> str:
    return file.read_text() if file.exists() else ""


def _digest(puzzle: Puzzle) -> str:
    """Return a hash of everything that the right orders depend on."""
    sources = [
        *sorted(ROOT.glob("encoder_lib/**/*.py")),
        *sorted(ROOT.glob("encoder_lib/**/hints.toml")),
        Path(__file__),
    ]
    return hashlib.sha256(b"".join(file.read_bytes() for file in sources) + repr(puzzle).encode()).hexdigest()


def lines_in_order(puzzle: Puzzle, address: str) -> str:
    """Return the lines of a puzzle in the order in which they are shown first, for the page at this address."""
    start, rows = puzzle.start(), []
    for at, line in enumerate(puzzle.lines):
        indent = len(line) - len(line.lstrip())
        if at in puzzle.movable:
            number = start[puzzle.movable.index(at)]
            line = puzzle.lines[puzzle.movable[number]]
            attributes = f' data-line="{number}"'
        else:
            attributes = ""
        code = highlight(line.strip(), PythonLexer(), HtmlFormatter(nowrap=True)).strip()
        rows.append(f'<li style="--indent: {indent}"{attributes}><code>{code}</code></li>')
    return (
        f'<section class="exercise order" data-order="{html.escape(address)}" aria-label="Lines to put in order">'
        f'<p>{PROMPT}</p><ol class="highlight">{"".join(rows)}</ol></section>'
    )
