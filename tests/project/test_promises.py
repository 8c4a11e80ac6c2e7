"""What the course promises is what its tests run: versions of Python and of the packages, and every explorer."""

import ast
import importlib.metadata
import re
import sys
import tomllib

import nbformat
import pytest
import yaml
from explorers import EXPLORERS
from notebook_rules import code_cells
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
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


def pythons_in_ci():
    """The versions of Python that the workflow sets up."""
    text = (ROOT / ".github/workflows/ci.yml").read_text()
    lines = re.findall(r"python(?:-version)?: *(\[.*\]|\".*\")", text)
    return sorted({version for line in lines for version in re.findall(r"\d+\.\d+", line)}, key=Version)


def test_the_promised_versions_of_python_are_those_of_ci():
    """The classifiers name what CI runs, the lowest is what pip and `make` ask for, and Binder takes one of them."""
    begin = "Programming Language :: Python :: "
    promised = [line.removeprefix(begin) for line in PROJECT["classifiers"] if line.startswith(begin)]
    assert promised and promised == pythons_in_ci()
    required = SpecifierSet(PROJECT["requires-python"])
    lowest = Version(promised[0])
    assert all(version in required for version in promised)
    assert f"{lowest.major}.{lowest.minor - 1}" not in required
    assert f">= ({lowest.major}, {lowest.minor})" in (ROOT / "Makefile").read_text()
    assert (ROOT / "binder/runtime.txt").read_text().strip().removeprefix("python-") in promised
    assert f"{sys.version_info.major}.{sys.version_info.minor}" in required


@pytest.mark.parametrize("dependency", DEPENDENCIES)
def test_a_range_goes_from_the_lowest_version_that_is_tested_to_the_next_major_one(dependency):
    """Its lower end is in constraints-lowest.txt, its upper end follows the pin, and what is installed lies between."""
    requirement = Requirement(dependency)
    ends = {end.operator: Version(end.version) for end in requirement.specifier}
    assert len(requirement.specifier) == 2 and set(ends) == {">=", "<"}
    name = canonicalize_name(requirement.name)
    if dependency != COLAB:
        assert Version(LOWEST[name]) == ends[">="]
    assert ends["<"] == Version(str(Version(REQUIRED[name]).major + 1))
    assert requirement.specifier.contains(Version(importlib.metadata.version(name)).public)


def test_the_workflow_runs_the_pins_and_both_ends_of_the_ranges():
    """Each set is installed by what its name says: the pins alone, the constraints alone, neither."""
    job = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]["test"]
    matrix = job["strategy"]["matrix"]
    versions = [*matrix["versions"], *(more["versions"] for more in matrix["include"])]
    assert versions == ["pinned", "lowest", "newest"]
    assert {"run": "make test VERSIONS=${{ matrix.versions }}"} in job["steps"]
    makefile = (ROOT / "Makefile").read_text()
    install = dict(re.findall(r"^INSTALL_(\w+) := (.+)$", makefile, re.MULTILINE))
    assert "pip-version-check $(INSTALL_$(VERSIONS))\n" in makefile
    assert install == {
        "pinned": "-r requirements.txt",
        "newest": "-e '.[notebooks]'",
        "lowest": "$(INSTALL_newest) -c tests/constraints-lowest.txt",
    }


def test_tools_are_no_packages_of_the_course():
    """tests/requirements.txt pins what tests; a pin there of what the library needs would be no end of its range."""
    assert not set(pins(ROOT / "tests/requirements.txt")) & {*LOWEST, *REQUIRED}


def test_no_pinned_tool_wants_more_than_the_lowest_versions():
    """Else pip finds nothing to install for `make test VERSIONS=lowest`."""
    tools = [name for name, pin in pins(ROOT / "tests/requirements.txt").items() if "==" in str(pin)]
    wanted = [(tool, Requirement(line)) for tool in tools for line in importlib.metadata.requires(tool) or []]
    asked = [(tool, each, LOWEST.get(canonicalize_name(each.name))) for tool, each in wanted if not each.marker]
    assert [f"{tool}: {each}" for tool, each, low in asked if low and not each.specifier.contains(low)] == []


def explorer_calls(path):
    """Each call of an explorer in a notebook: its name, and the switches that it sets."""
    for cell in code_cells(nbformat.read(path, as_version=4)):
        for node in ast.walk(ast.parse(cell.source)):
            called = node.func if isinstance(node, ast.Call) else None
            if not isinstance(called, ast.Attribute) or getattr(called.value, "id", "") != "explore":
                continue
            if called.attr not in NO_PICTURES:
                values = {word.arg: getattr(word.value, "value", None) for word in node.keywords}
                yield called.attr, {name: value for name, value in values.items() if isinstance(value, bool)}


def test_the_explorers_of_the_notebooks_are_those_that_are_driven_to_their_ends():
    """Each explorer, with a switch or without, that a notebook calls; as many calls are found as the eye finds."""
    calls = [call for path in NOTEBOOKS for call in explorer_calls(path)]
    text = "\n".join(cell.source for path in NOTEBOOKS for cell in code_cells(nbformat.read(path, as_version=4)))
    written = [name for name in re.findall(r"\bexplore\.(\w+)\(", text) if name not in NO_PICTURES]
    assert sorted(name for name, _ in calls) == sorted(written)
    called = {
        " ".join([name, *(f"{switch}={value}" for switch, value in switches.items())]) for name, switches in calls
    }
    assert called <= set(EXPLORERS)
    assert {name for name, _ in calls} == set(explore.EXPLORERS)
