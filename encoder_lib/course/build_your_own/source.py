"""What a reader wrote: the text of a function or class, and how long it is."""

import ast
import inspect
import linecache
import textwrap
from collections.abc import Callable
from typing import Any

Definition = ast.FunctionDef | ast.ClassDef


def functions_of(thing: Any) -> list[Callable]:
    """A function itself, or the methods of a class, without decorators; none where nothing is written in Python."""
    every = [thing, *getattr(thing, "__dict__", {}).values()]
    return [inspect.unwrap(each) for each in every if inspect.isfunction(each)]


def source_of(thing: Any) -> str:
    """The definition of a function or class as it was written, comments included; "" when nobody knows."""
    for function in functions_of(thing):
        lines, start = linecache.getlines(function.__code__.co_filename), function.__code__.co_firstlineno
        for node in ast.walk(parsed("".join(lines))):
            if isinstance(node, Definition) and node.name == getattr(thing, "__name__", ""):
                first = min(each.lineno for each in [node, *node.decorator_list])
                if first <= start <= (end := node.end_lineno or first):
                    return textwrap.dedent("".join(lines[first - 1 : end])).strip("\n")
    return ""


def lines_of(thing: Any) -> int:
    """How many lines a function or class takes, without comments, docstrings and empty lines; 0 when nobody knows."""
    tree = ast.parse(source_of(thing))
    for node in ast.walk(tree):
        if isinstance(node, Definition) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return sum(map(bool, ast.unparse(tree).splitlines()))


def parsed(source: str) -> ast.Module:
    """A cell's code, in which a line of magic (%time, !pip) stands for nothing; empty for what is no code yet."""
    lines = source.split("\n")
    plain = [line if not line.lstrip().startswith(("%", "!")) else _nothing(line) for line in lines]
    for text in (source, "\n".join(plain)):
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError):  # a line of magic; the reader is still writing; a zero byte
            continue
    return ast.Module([], [])


def _nothing(line: str) -> str:
    """A line that does nothing, as deep as this one."""
    return line[: len(line) - len(line.lstrip())] + "pass"
