"""Answers that differ from another one in a few words of its source."""

import functools
import inspect
import re
import sys

import nbformat
from notebook_run import evaluate
from places import ROOT

source_of = functools.cache(inspect.getsource)


def edited(thing, edits):
    """A function or class with each old text of its source, which occurs once, replaced by the new one."""
    source = source_of(thing)
    for old, new in edits.items():
        assert source.count(old) == 1, f"{thing.__name__}: {old!r} occurs {source.count(old)} times"
        source = source.replace(old, new)
    names = dict(vars(sys.modules[thing.__module__]))
    exec(source, names)
    return names[thing.__name__]


def wrong(right, mistakes):
    """Wrong answers by their names: what each changes in the right one, old text -> new, or the answer itself."""
    return {name: edited(right, what) if isinstance(what, dict) else what for name, what in mistakes.items()}


def folded(notebook, name, module):
    """The function that a fold of this notebook gives as an answer, among the names of a module."""
    (path,) = (ROOT / "notebooks").glob(f"{notebook}_*.ipynb")
    prose = "".join(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown")
    (program,) = re.findall(rf"```python\n(def {name}\b.*?)```", prose, re.DOTALL)
    names = dict(vars(sys.modules[module]))
    evaluate(program, names)
    return names[name]
