"""The repository's address is set in pyproject.toml; one command writes it wherever else it is shown."""

import os
import re
import shutil
import subprocess
import sys
from urllib.parse import parse_qs

import pytest
import yaml
from places import NOTEBOOKS, ROOT

FILES = [ROOT / "README.md", ROOT / "CITATION.cff", *NOTEBOOKS, ROOT / "pyproject.toml"]
FORMS = {path.name: yaml.safe_load(path.read_text()) for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml")}
STORED = re.search('Repository = "(.+)"', FILES[-1].read_text())[1]
SET, UNSET = "https://github.com/Ada/their.course", "https://github.com/OWNER/encoder-course"


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """What the files hold after the command in a copy of the repository: by the address that it was given, in turn."""
    copy = tmp_path_factory.mktemp("copy")
    for path in (*FILES, ROOT / "site/address.py", ROOT / "tests/tools/write_address.py"):
        place = copy / path.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, place)

    def run(*words):
        environment = os.environ | {"GITHUB_REPOSITORY": "", "PYTHONPATH": str(copy / "site")}
        subprocess.run([sys.executable, copy / "tests/tools/write_address.py", *words], env=environment, check=True)
        return {path: (copy / path.relative_to(ROOT)).read_text(encoding="utf-8") for path in FILES}

    return {words: run(*words) for words in ((SET + ".git",), (), (UNSET,), (STORED,))}


def test_stored_files_match_the_command_byte_for_byte(texts):
    assert [path.name for path, text in texts[STORED,].items() if text != path.read_text(encoding="utf-8")] == []


def test_the_address_is_shown_only_once_it_is_set(texts):
    assert [path.name for path in FILES if re.search(r"\]\([^)]*OWNER|repository-code", texts[UNSET,][path])] == []
    assert [path.name for path, text in texts[()].items() if "OWNER" in text or SET not in text] == []
    for link in ("https://ada.github.io/their.course/", "mybinder.org/v2/gh/Ada/their.course/main", f"clone {SET} "):
        assert link in texts[()][ROOT / "README.md"]


def test_notebooks_link_every_issue_form_with_their_name(texts):
    assert all("notebook" in [field["id"] for field in form["body"]] for form in FORMS.values())
    for path in NOTEBOOKS:
        linked = [parse_qs(filled) for filled in re.findall(r"/issues/new\?([\w.=&]+)", texts[()][path])]
        assert sorted(link["template"][0] for link in linked) == sorted(FORMS)
        assert [link["notebook"] for link in linked] == [[path.stem]] * len(FORMS)
