"""What the code host runs, updates and opens: by the schemas in `make lint`, and here by what they name."""

import json
import re

import pytest
import yaml
from places import ROOT, tracked

WORKFLOWS = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / ".github/workflows").glob("*.yml")}


@pytest.mark.parametrize("name", WORKFLOWS)
def test_an_action_is_one_commit_and_tells_its_version(name):
    """A tag can be moved to other code, a commit cannot."""
    used = re.findall(r"uses: (.+)", WORKFLOWS[name])
    assert used
    assert [line for line in used if not re.fullmatch(r"\./\S+|[\w/-]+@[0-9a-f]{40}  # v[\d.]+", line)] == []


def test_the_web_edition_is_published_when_all_else_has_passed():
    jobs = yaml.safe_load(WORKFLOWS["ci.yml"])["jobs"]
    (publishing,) = (name for name, job in jobs.items() if job.get("uses") == "./.github/workflows/site.yml")
    assert sorted([publishing, *jobs[publishing]["needs"]]) == sorted(jobs)
    assert jobs[publishing]["if"] == "github.event_name == 'push'"
    assert yaml.safe_load(WORKFLOWS["site.yml"])[True] == {"workflow_call": None}  # YAML reads the key `on` as true


def test_the_bot_knows_every_folder_that_pins():
    updates = yaml.safe_load((ROOT / ".github/dependabot.yml").read_text())["updates"]
    known = {update["package-ecosystem"]: update.get("directories") for update in updates}
    files = "\n".join(tracked())
    for ecosystem, name in (("pip", "requirements.txt"), ("npm", "package.json")):
        assert known[ecosystem] == ["/" + folder for folder in re.findall(rf"(?m)^(?:(.*)/)?{name}$", files)]
    assert all(update["groups"] for update in updates) and "github-actions" in known


def test_the_container_has_the_pins_of_binder_and_opens_the_first_notebook():
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
    command, opened = container["postCreateCommand"], container["customizations"]["codespaces"]["openFiles"]
    assert re.findall(r"[\w/]+/[\w.]+", command) == ["binder/requirements.txt", "binder/postBuild"]
    assert all((ROOT / name).is_file() for name in ["binder/postBuild", *opened])
    python = re.search(r":([\d.]+)", container["image"])[1]
    assert (ROOT / "binder/runtime.txt").read_text().strip() == f"python-{python}"
