"""What the tests of claims share."""

import re

import pytest


def seeds(*bounds):
    """Parametrise a test by the seeds of range(*bounds): the first in every run, the others in the weekly one."""
    first, *others = range(*bounds)
    return pytest.mark.parametrize("seed", [first, *(pytest.param(seed, marks=pytest.mark.weekly) for seed in others)])


def fold(notebook, beginning):
    """The program in the notebook's prose that begins so: an answer in a fold, or lines to paste."""
    programs = re.findall(r"```python\n(.*?)```", "\n".join(cell.source for cell in notebook.notebook.cells), re.DOTALL)
    (program,) = (program for program in programs if program.startswith(beginning))
    return program
