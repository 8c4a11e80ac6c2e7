"""A notebook's code, run once: what it leaves in its variables, shows, and reveals."""

import ast
import io
import linecache
from contextlib import redirect_stderr, redirect_stdout

import pandas as pd
from notebook_rules import tags
from torch import Tensor

from encoder_lib.course.explore.questions import QUESTIONS
from encoder_lib.course.explore.widget.prediction import Prediction
from encoder_lib.course.notebook import tidy


class Run:
    """A notebook after its code cells have run, in this process. `run["name"]` is one of its variables."""

    def __init__(self, notebook, after=lambda cell, value: None):
        self.variables = {"__name__": "__main__"}
        self.values, self.texts, self.wrapped = [], [], []  # of each cell; the last as a kernel wraps wide tables
        self.cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        for cell in self.cells:
            self._run(cell.source, raises="raises-exception" in tags(cell))
            after(cell, self.values[-1])

    def differences(self):
        """What cells show where they should show what is stored, without those whose outputs are not compared."""
        for cell, text in zip(self.cells, self.wrapped, strict=True):
            stored = "".join(out.get("text") or out.get("data", {}).get("text/plain", "") for out in cell.outputs)
            if not {"nbval-ignore-output", "raises-exception"} & set(tags(cell)) and stored.split() != text.split():
                yield f"{text} instead of {stored}"

    def _run(self, source, *, raises):
        printed, value = io.StringIO(), None
        with redirect_stdout(printed), redirect_stderr(io.StringIO()):
            try:
                value = evaluate(source, self.variables)
            except Exception as error:
                if not raises:
                    raise
                value = f"{type(error).__name__}: {error}"
            else:
                assert not raises, f"tagged raises-exception, and raises none: {source!r}"
        self.values.append(value)
        self.texts.append(printed.getvalue() + as_text(value))
        self.wrapped.append(printed.getvalue() + as_text(value, width=80))

    def __getitem__(self, name):
        return self.variables[name]

    def shown(self, text):
        """Whether the output of some cell contains the text."""
        return any(text in output for output in self.texts)

    def prediction(self, name):
        """The question of that name, as it was asked; its `result` is what it reveals."""
        asked = [value for value in self.values if isinstance(value, Prediction)]
        return the_only([value for value in asked if value.question is QUESTIONS[name]], f"question {name!r}")

    def table(self, column):
        """The table with that column, of those that cells showed or predictions reveal."""
        revealed = [value.result if isinstance(value, Prediction) else value for value in self.values]
        tables = [value for value in revealed if isinstance(value, pd.DataFrame)]
        return the_only([value for value in tables if column in value], f"table with a column {column!r}")


def the_only(found, what):
    """The one thing that was found."""
    assert len(found) == 1, f"expected one {what}, got {len(found)}"
    return found[0]


def evaluate(source, variables):
    """Run a cell, and return the value of its last line when that is an expression."""
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    file = f"<cell {len(linecache.cache)}>"  # a kernel, too, lets the source of a cell be looked up
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(ast.Module(body, []), file, "exec"), variables)
    return None if last is None else eval(compile(ast.Expression(last.value), file, "eval"), variables)


def as_text(value, width=None):
    """What a notebook shows of a value, as text; a table that is wider is wrapped."""
    if value is None:
        return ""
    if isinstance(value, pd.DataFrame):
        return value.to_string(line_width=width)
    return repr(tidy(value)) if isinstance(value, Tensor) else repr(value)
