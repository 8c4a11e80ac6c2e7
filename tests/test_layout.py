"""The library's imports point one way and the tests mirror its files, so that each is found where it is looked for."""

import ast
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter

import pytest
from places import ROOT

FOLDERS = {path.parent.name for path in ROOT.glob("encoder_lib/course/*/__init__.py")}
LESSONS = sorted(FOLDERS - {"kit"})
# Lowest first. A file imports from the lines above its own and from files of its own part, never from a line below;
# parts of one line know nothing of each other. The last lesson puts the parts of the others together.
LAYERS = (
    ("expect",),
    ("seeded", "files", "recast"),
    ("packed",),
    ("model",),
    ("trace", "patch", "from_torch", "fast"),
    ("pretrained",),
    ("training",),
    ("course.kit",),
    tuple(f"course.{lesson}" for lesson in LESSONS if lesson != "build_your_own"),
    ("course.build_your_own",),
    ("course.checks", "course.explore"),
)
RANK = {f"encoder_lib.{part}": rank for rank, parts in enumerate(LAYERS) for part in parts}
ONLY = {  # the parts that import no more than this
    "encoder_lib.model": ("encoder_lib.expect",),
}
# Files that are tested together, by a table of answers or of pictures, which names something of each file.
SHARED = {
    **{f"course/{lesson}": (f"course/{lesson}/answers.py", "course/kit/plots/test_plots.py") for lesson in LESSONS},
    "course/debugging_clinic": ("course/debugging_clinic/test_clinic.py", "course/debugging_clinic/answers.py"),
    "course/kit/plots": ("course/kit/plots/test_plots.py",),
    "course/kit/widget/front_end": ("front_end/test_{name}.py",),
}


def name_of(path):
    """The dotted name of a file of the library; a package's is that of its `__init__`."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


PACKAGES = {name_of(path) for path in ROOT.glob("encoder_lib/**/__init__.py")}
SOURCES = {name_of(path): path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("encoder_lib/**/*.py"))}
TESTS = {path.relative_to(ROOT): path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("tests/**/*.py"))}


@cache
def imported(name, source):
    """The dotted names of all that a file imports, also inside its functions; relative ones are written out."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = name.split(".")[: (name in PACKAGES) - node.level or None] if node.level else []
            start = ".".join([*above, *([node.module] if node.module else [])])
            found += [f"{start}.{alias.name}" for alias in node.names]
    return found


def files_imported(name, sources):
    """The files of the library that one of them imports: of `from a.b import c` the file a.b.c, else a.b."""
    found = set()
    for target in imported(name, sources[name]):
        known = target
        while known and known not in sources:
            known = known.rpartition(".")[0]
        found |= {known} if known else set()
    return found


def part_of(name):
    """The part of the library that a file belongs to: the longest that LAYERS names; None for the library itself."""
    parts = [part for part in RANK if f"{name}.".startswith(f"{part}.")]
    return max(parts, key=len, default=None)


def wrong_imports(sources):
    """What imports of the library break the one direction, in words."""
    for name in sources:
        here = part_of(name)
        if here is None:
            if name not in ("encoder_lib", "encoder_lib.course"):
                yield f"{name} is in no layer"
            continue
        for other in sorted(files_imported(name, sources)):
            there = part_of(other)
            if f"{name}.".startswith(f"{other}."):
                yield f"{name} imports from the __init__ of its own package, {other}"
            elif here != there and RANK.get(there, len(RANK)) >= RANK[here]:
                yield f"{name} imports upwards, or sideways: {other}"
            elif here != there and here in ONLY and there not in ONLY[here]:
                yield f"{name} imports {other}, which it has no business with"


def circle(sources):
    """The files of one circle of imports, in order; empty when there is none."""
    try:
        TopologicalSorter({name: files_imported(name, sources) for name in sources}).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_every_import_points_down():
    assert list(wrong_imports(SOURCES)) == []


def test_no_imports_go_in_a_circle():
    assert circle(SOURCES) == []


def test_every_layer_exists():
    assert {part_of(name) for name in SOURCES} - {None} == set(RANK)


@pytest.mark.parametrize(
    ("name", "source", "fault"),
    [
        ("model.norm", "from encoder_lib.trace import trace", "upwards"),
        ("model.norm", "def f():\n    from encoder_lib.course import plots", "upwards"),
        ("model.norm", "from encoder_lib.files import atomic_write", "no business"),
        ("trace", "from encoder_lib import fast", "sideways"),
        ("course.kit.texts", "from encoder_lib.course.attention import checks", "upwards"),
        ("course.attention.checks", "from encoder_lib.course.pretrained import names", "sideways"),
        ("course.kit.plots.style", "from encoder_lib.course.kit.plots import show", "__init__"),
        ("new", "", "no layer"),
    ],
)
def test_an_import_that_points_elsewhere_is_noticed(name, source, fault):
    assert list(wrong_imports(SOURCES)) == []
    (words,) = wrong_imports(SOURCES | {f"encoder_lib.{name}": source})
    assert fault in words


# The tests


def defined(source):
    """The public names that a file defines at its top."""
    names = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return {name for name in names if not name.startswith("_")}


def untested(sources, tests):
    """The files of the library without tests at the place that mirrors theirs, or in the table that they share."""
    for name, source in sources.items():
        if name in PACKAGES or name.endswith(".__main__"):
            continue
        *folders, file = name.split(".")[1:]
        folder = "/".join(folders)
        mirrored = f"{folder}/test_{file}.py".lstrip("/")
        shared = "\n".join(tests.get(place.format(name=file), "") for place in SHARED.get(folder, ()))
        named = any(re.search(rf"\b{thing}\b", shared) for thing in defined(source))
        if mirrored not in tests and not named:
            yield mirrored


def test_every_file_of_the_library_has_its_tests():
    assert list(untested(SOURCES, {str(path.relative_to("tests")): text for path, text in TESTS.items()})) == []


def imported_tests(source):
    """The files of tests that a file imports."""
    parts = (part for name in imported("", source) for part in name.split("."))
    return sorted({part for part in parts if part.startswith("test_")})


def test_no_test_file_imports_another():
    assert {path: found for path, text in TESTS.items() if (found := imported_tests(text))} == {}


def after_the_error(source):
    """The lines of assertions that end a `pytest.raises` block: they never run, or it is they that raise."""
    for block in ast.walk(ast.parse(source)):
        if isinstance(block, ast.With) and any("pytest.raises(" in ast.unparse(item) for item in block.items):
            last = block.body[-1]
            if isinstance(last, ast.Assert) or re.match(r"[\w.]*\b(assert_)?close\(", ast.unparse(last)):
                yield last.lineno


def test_no_assertion_follows_the_line_that_raises():
    assert {path: lines for path, text in TESTS.items() if (lines := list(after_the_error(text)))} == {}


@pytest.mark.parametrize("last", ["assert x", "torch.testing.assert_close(x, y)", "close(x, y)"])
def test_an_assertion_that_never_runs_is_noticed(last):
    block = f"with pytest.raises(ValueError):\n    f()\n    {last}"
    assert list(after_the_error(block)) == [3]
    assert list(after_the_error(f"with pytest.raises(ValueError):\n    {last}\n    f()")) == []
