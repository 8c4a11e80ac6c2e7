"""The lessons of the course, found by their folders: their modules, and their questions and hints in TOML."""

import tomllib
from collections.abc import Callable, Iterator
from importlib import import_module
from inspect import getmembers, isfunction
from pathlib import Path
from types import ModuleType
from typing import Any

COURSE = Path(__file__).parents[1]


def modules(name: str) -> Iterator[ModuleType]:
    """The module `name`, for instance "checks", of each lesson that has one."""
    for path in sorted(COURSE.glob(f"*/{name}.py")):
        yield import_module(f"encoder_lib.course.{path.parent.name}.{name}")


def functions(name: str, wanted: Callable[[Callable], bool]) -> dict[str, Callable]:
    """The functions in the modules `name` of all lessons for which `wanted(function)` is true, by name.

    Raises: ValueError if two lessons use the same name.
    """
    found: dict[str, Callable] = {}
    for module in modules(name):
        own = {n: f for n, f in getmembers(module, isfunction) if f.__module__ == module.__name__ and wanted(f)}
        _merge(found, own, module.__name__)
    return found


def texts(file: str) -> dict[str, Any]:
    """The tables of the TOML files of this name in all lessons, in one dictionary.

    Raises: ValueError if two lessons have the same table.
    """
    found: dict[str, Any] = {}
    for path in sorted(COURSE.glob(f"*/{file}")):
        _merge(found, tomllib.loads(path.read_text(encoding="utf-8")), f"{path.parent.name}/{file}")
    return found


def _merge(found: dict[str, Any], more: dict[str, Any], source: str) -> None:
    if twice := sorted(found.keys() & more.keys()):
        raise ValueError(f"{source}: expected names that no other lesson uses, got {twice}")
    found.update(more)
