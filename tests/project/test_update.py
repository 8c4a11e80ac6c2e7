"""`make update` and `make fresh` never lose a reader's work, whatever is in their way."""

import re
import shutil
import subprocess
import sys

import pytest
from places import ROOT

from encoder_lib.course.build_your_own import earlier_work

TOOL, NOTEBOOK = "tests/tools/update.py", "notebooks/04_attention.ipynb"
OURS, NEW = '{"cells": []}', '{"cells": [1]}'
MINE = '{"cells": [{"source": "def multi_head(x): return x", "metadata": {"tags": ["exercise"]}}]}'


def git(folder, *words):
    name = ("-c", "user.name=A", "-c", "user.email=a@b.c")
    return subprocess.run(["git", *name, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def commit(folder, files):
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    git(folder, "add", "--force", *files)
    git(folder, "commit", "--quiet", "--message", "news")


def run(folder, *words):
    """The one line that the tool prints, or what it ends with."""
    done = subprocess.run([sys.executable, folder / TOOL, *words], capture_output=True, text=True)
    return (done.stdout + done.stderr).strip()


@pytest.fixture
def clone(tmp_path):  # a reader's, with a changed notebook; it lacks a commit that changes it too
    above, clone = tmp_path / "above", tmp_path / "clone"
    git(tmp_path, "init", "--quiet", "above")
    commit(above, {TOOL: (ROOT / TOOL).read_text(), ".gitignore": "mine/\nbuild", NOTEBOOK: OURS, "a.py": ""})
    git(tmp_path, "clone", "--quiet", "above", "clone")
    (clone / NOTEBOOK).write_text(MINE)
    commit(above, {NOTEBOOK: NEW, "a.py": "new", "build/x": "new", "notebooks/13.ipynb": "new"})
    return clone


def test_a_changed_notebook_is_kept_and_updated(clone):
    for n, name in enumerate(("04_attention.ipynb", "04_attention-2.ipynb"), start=1):
        (clone / NOTEBOOK).write_text(MINE)
        commit(clone.parent / "above", {NOTEBOOK: NEW + "\n" * n})
        assert run(clone) == f"Updated, new commits: {3 - n}; yours: mine/{name}."
        assert (clone / NOTEBOOK).read_text() == NEW + "\n" * n and (clone / "mine" / name).read_text() == MINE
    assert git(clone, "status", "--short") == "" and run(clone) == "Nothing new; all files stay as they are."
    (found,) = (work for work in earlier_work(clone / "notebooks") if work.name == "multi_head")
    assert found.source and found.written.startswith("yes, in mine/04_attention")


REFUSALS = {  # by what git says
    "Could not read from remote": lambda clone: shutil.rmtree(clone.parent / "above"),  # as without a network
    "13.ipynb": lambda clone: (clone / "notebooks/13.ipynb").write_text("mine"),  # at the place of a new file
    "build": lambda clone: (clone / "build").write_text("ignored"),  # at the place of a new folder
    "a.py": lambda clone: (clone / "a.py").write_text("mine"),  # and the course has changed it too
    "fast-forward": lambda clone: commit(clone, {"b.py": "mine"}),
    "HEAD does not point to a branch": lambda clone: git(clone, "checkout", "--quiet", "--detach"),
}


@pytest.mark.parametrize("said", REFUSALS)
def test_nothing_changes_where_git_refuses(clone, said):
    REFUSALS[said](clone)
    before = {path: path.read_bytes() for path in clone.rglob("*") if path.is_file() and ".git" not in path.parts}
    assert re.match(f"(?s)Nothing of yours was lost.*{said}", run(clone))
    assert before == {path: path.read_bytes() for path in before}


def test_one_notebook_is_reset(clone):
    git(clone, "add", NOTEBOOK)
    assert run(clone, "04") == f"{NOTEBOOK} is as it came; yours: mine/04_attention.ipynb."
    assert (clone / NOTEBOOK).read_text() == OURS and (clone / "mine/04_attention.ipynb").read_text() == MINE
    assert run(clone, "04").endswith("nothing of yours was in the way.") and "got '9'" in run(clone, "9")
