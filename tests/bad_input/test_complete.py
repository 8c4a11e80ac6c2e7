"""Every public function that promises an error in words is tried with bad input, in a table or beside its own tests."""

import importlib
import inspect
import pkgutil
import re

from places import ROOT

import encoder_lib

TESTS = {path: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")}
TRIED = [text for path, text in TESTS.items() if "pytest.raises(" in text or path.name.startswith("tables_")]
INSIDE = {
    "destination": "atomic_write",
    "run_within": "check_attention",
    "losses_and_after": "check_learn",
    "of_shape": "check_feed_forward",
    "fed": "check_own_positions",
    "load_training": "training.__main__",
}  # by whom it is tried


def promises() -> list[str]:
    """The dotted names of functions, classes and methods of the library whose docstrings speak of an error."""
    found = []
    for info in pkgutil.walk_packages(encoder_lib.__path__, "encoder_lib."):
        for name, thing in vars(importlib.import_module(info.name)).items():
            if name.startswith("_") or getattr(thing, "__module__", "") != info.name:
                continue
            methods = vars(thing).items() if inspect.isclass(thing) else ()
            for inside, what in ((name, thing), *((f"{name}.{m}", f) for m, f in methods if not m.startswith("_"))):
                if "Raises" in (getattr(what, "__doc__", None) or ""):
                    found.append(f"{info.name}.{inside}")
    return found


def untried(names: list[str]) -> list[str]:
    """Those of which no file of tests with bad input speaks."""
    own = {name: name.rpartition(".")[2] for name in names}
    return [name for name in names if not any(re.search(rf"\b{INSIDE.get(own[name], own[name])}\b", t) for t in TRIED)]


def test_whatever_raises_in_words_is_tried_with_bad_input():
    names = promises()
    assert len(names) > 40 and untried(names) == []


def test_a_function_that_nobody_tries_is_found():
    assert untried(["encoder_lib.course.lab.nobody_tries" + "_me"]) != []
