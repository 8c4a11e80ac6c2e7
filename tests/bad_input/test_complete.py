"""Every public function that checks its arguments is tried with bad input, in a table or beside its own tests."""

import ast
import importlib
import inspect
import pkgutil
import re
from dataclasses import is_dataclass

from places import ROOT

import encoder_lib

COURSE = "encoder_lib.course"  # what it checks is tried beside its own tests


def checks_arguments(thing: object) -> bool:
    """Whether the docstring of a function or class promises an error, or its code asks for one."""
    parts = [vars(thing).get("__init__"), vars(thing).get("forward")] if inspect.isclass(thing) else [thing]
    code = "".join(inspect.getsource(part) for part in parts if inspect.isfunction(part) and not is_dataclass(thing))
    asks = re.search(r"\bexpect\.(?!is_plain|short_repr)", code) and not thing.__module__.startswith(COURSE)
    return bool(asks) or "Raises" in (thing.__doc__ or "")


def checking() -> list[str]:
    """The dotted names of the library's functions, classes and methods that check their arguments."""
    found = []
    for info in pkgutil.walk_packages(encoder_lib.__path__, "encoder_lib."):
        for name, thing in vars(importlib.import_module(info.name)).items():
            if name.startswith("_") or getattr(thing, "__module__", "") != info.name:
                continue
            methods = vars(thing).items() if inspect.isclass(thing) else ()
            for inside, what in ((name, thing), *((f"{name}.{m}", f) for m, f in methods if not m.startswith("_"))):
                if checks_arguments(what):
                    found.append(f"{info.name}.{inside}")
    return found


def bad_input() -> str:
    """The code that gives bad input: the tables, and in other files the tests that expect an error and their data.

    Imports and helper functions don't count, since they name functions without trying them, and neither does this file.
    """
    parts = []
    for path in sorted((ROOT / "tests").rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if path.name.startswith("tables_"):
            parts.append(source)
        elif path.name.startswith("test_") and path.name != "test_complete.py" and "pytest.raises(" in source:
            for node in ast.parse(source).body:
                code = ast.unparse(node)
                if isinstance(node, ast.Assign) or (isinstance(node, ast.FunctionDef) and "pytest.raises(" in code):
                    parts.append(code)
    return "\n".join(parts)


def untried(names: list[str], code: str) -> list[str]:
    """The names that the code doesn't mention."""
    return [name for name in names if not re.search(rf"\b{name.rpartition('.')[2]}\b", code)]


def test_what_checks_its_arguments_is_tried_with_bad_input():
    names = checking()
    assert len(names) > 60 and untried(names, bad_input()) == []


def test_a_function_without_bad_input_is_noticed():
    assert untried(["lab.nobody_tries_me", "norm.LayerNorm"], bad_input()) == ["lab.nobody_tries_me"]
