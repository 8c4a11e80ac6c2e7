"""How long a reader's code is."""

import ast
import linecache
from typing import Any


def lines_of(thing: Any) -> int:
    """How many lines a function or class takes, without comments, docstrings and empty lines; 0 when nobody knows."""
    functions = (
        [thing]
        if hasattr(thing, "__code__")
        else [f for f in getattr(thing, "__dict__", {}).values() if hasattr(f, "__code__")]
    )
    for function in functions:
        try:
            tree = ast.parse("".join(linecache.getlines(function.__code__.co_filename)))
        except SyntaxError:  # lines of a cell that begins with a magic command
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == getattr(thing, "__name__", ""):
                return sum(map(bool, ast.unparse(_without_docstrings(node)).splitlines()))
    return 0


def _without_docstrings(tree: ast.AST) -> ast.AST:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return tree
