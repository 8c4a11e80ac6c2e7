"""Answers that differ from another one in a few words of its source."""

import functools
import re
import sys

import nbformat
from notebook_run import evaluate
from places import ROOT

from encoder_lib.course.build_your_own import source

source_of = functools.cache(source.source_of)  # of a cell, too


def edited(thing, edits):
    """A function or class with each old text of its source, which occurs once, replaced by the new one."""
    text = source_of(thing)
    for old, new in edits.items():
        assert text.count(old) == 1, f"{thing.__name__}: {old!r} occurs {text.count(old)} times"
        text = text.replace(old, new)
    names = dict(vars(sys.modules[thing.__module__]))
    exec(text, names)
    return names[thing.__name__]


def wrong(right, mistakes):
    """Wrong answers by their names: what each changes in the right one, old text -> new, or the answer itself."""
    return {name: edited(right, what) if isinstance(what, dict) else what for name, what in mistakes.items()}


def folded(notebook, module, *names):
    """The functions and classes of these names that folds of a notebook give as answers, with the names of a module."""
    (path,) = (ROOT / "notebooks").glob(f"{notebook}_*.ipynb")
    prose = "".join(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown")
    programs = re.findall(r"```python\n(.*?)```", prose, re.DOTALL)
    for name in names:
        (program,) = (program for program in programs if re.search(rf"(?m)^(def|class) {name}\b", program))
        variables = dict(vars(sys.modules[module]))
        evaluate(program, variables)
        yield variables[name]
