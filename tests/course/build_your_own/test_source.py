"""What a reader wrote, as it was written, and how many lines of code that is."""

import linecache

import pytest
from torch import nn

from encoder_lib.course.build_your_own.source import lines_of, parsed, source_of


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


def test_the_source_is_as_it_was_written_with_what_stands_above_and_within():
    decorated = "@torch.no_grad()  # quietly\ndef add(a, b):\n    # both\n    return a + b"
    add = written(f"import torch\n\n\n{decorated}\n\n\nx = 3", "add")
    assert source_of(add) == decorated and lines_of(add) == 3
    assert source_of(written(CLASS, "Twice")) == CLASS[CLASS.index("class Twice") :].strip()
    twice = "def f():\n    return 1\n\n\ndef f():\n    return 2\n"
    assert source_of(written(twice, "f")).endswith("2") and source_of(nn.Linear).startswith("class Linear(Module):")
    assert source_of(written("if True:\n    def f():\n        return 1\n", "f")) == "def f():\n    return 1"


@pytest.mark.parametrize(("source", "names"), [("%%time\nx = 1", ["x"]), ("for i in y:\n  !ls\n", []), ("(", [])])
def test_code_is_parsed_with_or_without_magic(source, names):
    assert [node.targets[0].id for node in parsed(source).body if hasattr(node, "targets")] == names
