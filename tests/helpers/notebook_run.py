"""A notebook's code, run once: what it leaves in its variables, shows, and reveals."""

import ast
import io
import itertools
import linecache
import re
import time
from contextlib import redirect_stderr, redirect_stdout

import pandas as pd
import torch
from notebook_rules import tags
from torch import Tensor

from encoder_lib.course.kit.notebook import tidy
from encoder_lib.course.kit.questions import QUESTIONS
from encoder_lib.course.kit.widget.prediction import Prediction

LONG = 2  # seconds: a training, most often
NUMBERS = itertools.count()  # of the cells that were run


class Run:
    """A notebook after its code cells have run, in this process. `run["name"]` is one of its variables."""

    def __init__(self, notebook, after=lambda cell, value: None):
        self.notebook = notebook
        self.cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        self.variables = {"__name__": "__main__"}
        self.values, self.texts, self.wrapped = [], [], []  # of each cell; the last as a kernel wraps wide tables
        self.slow = set()  # ids of cells that have taken their time, and whose output is not compared
        for cell in self.cells:
            begun = time.perf_counter()
            value, printed = self._run(cell)
            if time.perf_counter() - begun > LONG and "nbval-ignore-output" in tags(cell):
                self.slow.add(cell.id)
            self.values.append(value)
            self.texts.append(printed + as_text(value))
            self.wrapped.append(printed + as_text(value, width=80))
            after(cell, value)

    def differences(self):
        """What cells show where they should show what is stored, without those whose outputs are not compared."""
        return [found for cell, text in zip(self.cells, self.wrapped, strict=True) if (found := differs(cell, text))]

    def again(self, cell):
        """Run a cell once more: the error that it stops with, or what it shows in place of what is stored; or ""."""
        try:
            value, printed = self._run(cell)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return differs(cell, printed + as_text(value, width=80))

    def restart(self):
        """Forget every name, and what was set for the whole of torch."""
        self.variables = {"__name__": "__main__"}
        torch.set_default_dtype(torch.float32)
        torch.set_printoptions(profile="default")

    def _run(self, cell):
        """The value of a cell, and what it prints."""
        printed, value, raises = io.StringIO(), None, "raises-exception" in tags(cell)
        with redirect_stdout(printed), redirect_stderr(io.StringIO()):
            try:
                value = evaluate(cell.source, self.variables)
            except Exception as error:
                if not raises:
                    raise
                value = f"{type(error).__name__}: {error}"
            else:
                assert not raises, f"tagged raises-exception, and raises none: {cell.source!r}"
        return value, printed.getvalue()

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


def differs(cell, text):
    """What a cell shows where it should show what is stored; empty if it does so, or is not to be compared.

    Both without the hint of a check, which gets stronger with each try.
    """
    stored = "".join(out.get("text") or out.get("data", {}).get("text/plain", "") for out in cell.outputs)
    shown, wanted = (
        (re.sub(r"^Hint: .*", "", said, flags=re.DOTALL | re.MULTILINE)).split() for said in (text, stored)
    )
    if {"nbval-ignore-output", "raises-exception"} & set(tags(cell)) or shown == wanted:
        return ""
    return f"{text} instead of {stored}"


def the_only(found, what):
    """The one thing that was found."""
    assert len(found) == 1, f"expected one {what}, got {len(found)}"
    return found[0]


def evaluate(source, variables):
    """Run a cell, and return the value of its last line when that is an expression."""
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    file = f"<cell {next(NUMBERS)}>"  # a kernel, too, lets the source of a cell be looked up
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
