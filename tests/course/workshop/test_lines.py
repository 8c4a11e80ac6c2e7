"""How long a reader's code is: its lines of code, wherever it was written."""

import linecache

import pytest
from torch import nn

from encoder_lib.course.workshop.lines import lines_of


def written(source, name):
    """What a cell of a notebook leaves: something whose source the interpreter can look up."""
    file = f"<cell {abs(hash(source))}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names = {"nn": nn}
    exec(compile(source, file, "exec"), names)
    return names[name]


FUNCTION = '''
# a comment
def add(a, b):
    """Of no account."""

    total = a + b  # nor this

    return total
'''
CLASS = '''
class Before:
    def f(self):
        return 1


class Twice(nn.Module):
    """Words."""

    def __init__(self):
        super().__init__()

    def forward(
        self,
        x,
    ):
        return 2 * x
'''


@pytest.mark.parametrize(("source", "name", "lines"), [(FUNCTION, "add", 3), (CLASS, "Twice", 5), (CLASS, "Before", 3)])
def test_comments_docstrings_and_empty_lines_do_not_count(source, name, lines):
    assert lines_of(written(source, name)) == lines


def test_a_docstring_alone_is_a_line_of_nothing():
    assert lines_of(written('def f():\n    """Words."""\n', "f")) == 2


@pytest.mark.parametrize("thing", [nn.Linear(1, 1), 3, "text", None, print, ...])
def test_nobody_knows_how_long_that_is(thing):
    assert lines_of(thing) == 0


def test_a_class_without_functions_of_its_own_has_no_lines_that_can_be_found():
    assert lines_of(written("class Empty(nn.Module):\n    pass\n", "Empty")) == 0
