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
    git(folder, "add", "--force", *files)
    git(folder, "commit", "--quiet", "--message", "news")


def run(folder, *words):
    """The one line that the tool prints, or what it ends with."""
    done = subprocess.run([sys.executable, folder / TOOL, *words], capture_output=True, text=True)
    return (done.stdout + done.stderr).strip()


@pytest.fixture
def repositories(tmp_path):
    """A repository, and a reader's clone of it with a changed notebook."""
    above, clone = tmp_path / "above", tmp_path / "clone"
    git(tmp_path, "init", "--quiet", "above")
    commit(above, {TOOL: (ROOT / TOOL).read_text(), ".gitignore": "mine/\nbuild", NOTEBOOK: OURS, "a.py": ""})
    git(tmp_path, "clone", "--quiet", "above", "clone")
    (clone / NOTEBOOK).write_text(MINE)
    return above, clone


def test_a_changed_notebook_is_kept_and_the_new_one_comes(repositories):
    above, clone = repositories
    for n, name in enumerate(("04_attention.ipynb", "04_attention-2.ipynb"), start=1):
        (clone / NOTEBOOK).write_text(MINE)
        commit(above, {NOTEBOOK: OURS + "\n" * n})
        assert run(clone) == f"Updated, new commits: 1; yours: mine/{name}."
        assert (clone / NOTEBOOK).read_text() == OURS + "\n" * n and (clone / "mine" / name).read_text() == MINE
    assert git(clone, "status", "--short") == "" and (clone / "mine/04_attention.ipynb").read_text() == MINE
    (found,) = (work for work in earlier_work(clone / "notebooks") if work.name == "multi_head")
    assert found.source and found.written.startswith("yes, in mine/04_attention")


def test_what_stands_in_the_way_is_kept_too(repositories):
    above, clone = repositories
    (clone / "notebooks/13.ipynb").write_text("mine")
    (clone / "build").write_text("ignored, and mine")
    commit(above, {"notebooks/13.ipynb": "new", "build/x": "new"})
    assert run(clone) == "Updated, new commits: 1; yours: mine/04_attention.ipynb, mine/build, mine/13.ipynb."
    assert (clone / "mine/13.ipynb").read_text() == "mine" and (clone / "mine/build").read_text()[-4:] == "mine"
    assert (clone / "notebooks/13.ipynb").read_text() == (clone / "build/x").read_text() == "new"


@pytest.mark.parametrize(
    ("new", "change", "said"),
    [
        ({}, lambda above, clone: shutil.rmtree(above), "Nothing of yours was lost"),  # as without a network
        ({}, lambda above, clone: None, "Nothing new"),
        ({"a.py": "new"}, lambda above, clone: (clone / "a.py").write_text("mine"), "You and the course have changed"),
        ({"a.py": "new"}, lambda above, clone: commit(clone, {"b.py": "mine"}), "You have commits of your own"),
    ],
)  # fmt: skip
def test_where_it_cannot_go_on_all_stays_as_it_was(repositories, new, change, said):
    above, clone = repositories
    if new:
        commit(above, new)
    change(above, clone)
    before = {path: path.read_bytes() for path in (clone / TOOL, clone / NOTEBOOK, clone / "a.py")}
    assert run(clone).startswith(said)
    assert before == {path: path.read_bytes() for path in before}
    assert not (clone / "mine").exists()


def test_one_notebook_is_set_back(repositories):
    clone = repositories[1]
    git(clone, "add", NOTEBOOK)
    assert run(clone, "04") == f"{NOTEBOOK} is as it came; yours: mine/04_attention.ipynb."
    assert (clone / NOTEBOOK).read_text() == OURS and (clone / "mine/04_attention.ipynb").read_text() == MINE
    assert run(clone, "04") == f"{NOTEBOOK} was as it came." and "got '9'" in run(clone, "9")
