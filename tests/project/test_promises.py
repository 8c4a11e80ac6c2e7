"""What the course promises is what its tests run: versions of Python and of the packages, and every explorer."""

import ast
import importlib.metadata
import re
import tomllib

import nbformat
import pytest
from explorers import EXPLORERS
from notebook_rules import code_cells
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from pins import REQUIRED, pins, version
from places import NOTEBOOKS, ROOT

from encoder_lib.course import explore

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DEPENDENCIES = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["notebooks"]]
LOWEST = {name: version(pin) for name, pin in pins(ROOT / "tests/constraints-lowest.txt").items()}
COLAB = "ipywidgets>=7.7.1,<9"  # wider than what JupyterLab takes
NO_PICTURES = {"predict", "judge", "Question", "Prediction"}  # of encoder_lib.course.explore, and no explorers
OWN_TESTS = {"alive", "alive predict=True", "search"}  # in tests/course/kit/widget: test_alive.py and test_search.py


def test_promised_python_versions_are_those_of_ci():
    """The classifiers name what CI runs, the lowest is what pip and `make` ask for, and Binder takes one of them."""
    begin = "Programming Language :: Python :: "
    promised = [line.removeprefix(begin) for line in PROJECT["classifiers"] if line.startswith(begin)]
    workflow = re.findall(r"python(?:-version)?: *(\[.*\]|\".*\")", (ROOT / ".github/workflows/ci.yml").read_text())
    assert set(promised) == set(re.findall(r"\d+\.\d+", " ".join(workflow)))
    minors = [Version(version).minor for version in promised]
    assert PROJECT["requires-python"] == f">=3.{min(minors)},<3.{max(minors) + 1}"
    assert f"(3, {max(minors) + 1}) > sys.version_info >= (3, {min(minors)})" in (ROOT / "Makefile").read_text()
    assert (ROOT / "binder/runtime.txt").read_text().strip().removeprefix("python-") in promised


@pytest.mark.parametrize("dependency", DEPENDENCIES)
def test_range_ends_are_the_lowest_tested_and_the_next_major(dependency):
    """Its lower end is in constraints-lowest.txt, its upper end follows the pin, and what is installed lies between."""
    requirement = Requirement(dependency)
    ends = {end.operator: Version(end.version) for end in requirement.specifier}
    assert len(requirement.specifier) == 2 and set(ends) == {">=", "<"}
    name = canonicalize_name(requirement.name)
    if dependency != COLAB:
        assert Version(LOWEST[name]) == ends[">="]
    assert ends["<"] == Version(str(Version(REQUIRED[name]).major + 1))
    assert requirement.specifier.contains(Version(importlib.metadata.version(name)).public)


def test_test_requirements_pin_nothing_of_the_library():
    """tests/requirements.txt pins what tests; a pin there of what the library needs would be no end of its range."""
    assert not set(pins(ROOT / "tests/requirements.txt")) & {*LOWEST, *REQUIRED}


def explorer_calls(cell):
    """Each call of an explorer in a cell, with the switches that it sets."""
    for node in ast.walk(ast.parse(cell.source)):
        if isinstance(node, ast.Call) and (name := ast.unparse(node.func)).startswith("explore."):
            values = {word.arg: getattr(word.value, "value", None) for word in node.keywords}
            switches = [f"{switch}={value}" for switch, value in values.items() if isinstance(value, bool)]
            yield " ".join([name.removeprefix("explore."), *switches])


def test_every_explorer_call_of_the_notebooks_is_tested():
    cells = [cell for path in NOTEBOOKS for cell in code_cells(nbformat.read(path, as_version=4))]
    called = {call for cell in cells for call in explorer_calls(cell)} - NO_PICTURES
    assert called >= OWN_TESTS
    called -= OWN_TESTS
    assert called <= set(EXPLORERS)
    assert {call.split()[0] for call in called} == set(explore.EXPLORERS)
