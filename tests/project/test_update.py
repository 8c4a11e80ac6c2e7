"""`make update` and `make fresh` lose nothing of a reader's, whatever stands in their way."""

import shutil
import subprocess
import sys

import pytest
from places import ROOT

from encoder_lib.course.workshop import earlier_work

TOOL, NOTEBOOK = "tests/tools/update.py", "notebooks/04_attention.ipynb"
OURS = '{"cells": []}'
MINE = '{"cells": [{"source": "def multi_head(x): return x", "metadata": {"tags": ["exercise"]}}]}'


def git(folder, *words):
    name = ("-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main")
    return subprocess.run(["git", *name, *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def commit(folder, files):
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "news")


def run(folder, *words):
    """The one line that the tool prints, or what it ends with."""
    done = subprocess.run([sys.executable, folder / TOOL, *words], capture_output=True, text=True)
    return (done.stdout + done.stderr).strip()


@pytest.fixture
def above(tmp_path):
    git(tmp_path, "init", "--quiet", "above")
    ours = {path: (ROOT / path).read_text() for path in (TOOL, ".gitignore")}
    commit(tmp_path / "above", {**ours, NOTEBOOK: OURS, "a.py": ""})
    return tmp_path / "above"


@pytest.fixture
def clone(above):
    git(above.parent, "clone", "--quiet", str(above), "clone")
    (above.parent / "clone" / NOTEBOOK).write_text(MINE)
    return above.parent / "clone"


def test_a_changed_notebook_is_kept_and_the_new_one_comes(above, clone):
    for n, name in enumerate(("04_attention.ipynb", "04_attention-2.ipynb"), start=1):
        (clone / NOTEBOOK).write_text(MINE)
        commit(above, {NOTEBOOK: OURS + "\n" * n})
        assert run(clone) == f"Updated, new commits: 1; yours: mine/{name}."
        assert (clone / NOTEBOOK).read_text() == OURS + "\n" * n and (clone / "mine" / name).read_text() == MINE
    assert git(clone, "status", "--porcelain") == ""
    assert git(clone, "rev-parse", "HEAD") == git(above, "rev-parse", "HEAD")
    (found,) = (work for work in earlier_work(clone / "notebooks") if work.name == "multi_head")
    assert found.source and found.written in {"yes, in mine/04_attention.ipynb", "yes, in mine/04_attention-2.ipynb"}


def test_what_stands_in_the_way_is_kept_too(above, clone):
    (clone / "notebooks/13.ipynb").write_text("mine")
    (clone / "build").write_text("ignored, and mine")
    commit(above, {"notebooks/13.ipynb": "new"})
    (above / "build").mkdir()
    (above / "build/x").write_text("new")
    git(above, "add", "--force", "build/x")
    git(above, "commit", "--quiet", "--message", "more")
    assert run(clone) == "Updated, new commits: 2; yours: mine/04_attention.ipynb, mine/build, mine/13.ipynb."
    assert (clone / "mine/13.ipynb").read_text() == "mine" and (clone / "notebooks/13.ipynb").read_text() == "new"
    assert (clone / "mine/build").read_text() == "ignored, and mine" and (clone / "build/x").read_text() == "new"


def state(clone):
    """Every file of the folder, and what git says of them."""
    files = [path for path in clone.rglob("*") if path.is_file() and ".git" not in path.parts]
    return {path: path.read_bytes() for path in files}, git(clone, "status", "--short"), git(clone, "rev-parse", "HEAD")


def commit_of_ones_own(above, clone):
    commit(above, {"a.py": "new"})
    commit(clone, {"b.py": "mine"})


def the_same_file(above, clone):
    commit(above, {"a.py": "new"})
    (clone / "a.py").write_text("mine")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda above, clone: shutil.rmtree(above), "Nothing of yours was lost"),  # as without a network
        (lambda above, clone: git(clone, "remote", "remove", "origin"), "Nothing of yours was lost"),
        (commit_of_ones_own, "You have commits of your own"),
        (the_same_file, "You and the course have changed a.py"),
        (lambda above, clone: None, "Nothing new"),
    ],
)
def test_where_it_cannot_go_on_all_stays_as_it_was(above, clone, change, said):
    change(above, clone)
    before = state(clone)
    assert run(clone).startswith(said)
    assert state(clone) == before


def test_one_notebook_is_set_back(clone):
    git(clone, "add", NOTEBOOK)
    assert run(clone, "04") == f"{NOTEBOOK} is as it came; yours: mine/04_attention.ipynb."
    assert (clone / NOTEBOOK).read_text() == OURS and (clone / "mine/04_attention.ipynb").read_text() == MINE
    assert run(clone, "04") == f"{NOTEBOOK} was as it came." and "got '9'" in run(clone, "9")
