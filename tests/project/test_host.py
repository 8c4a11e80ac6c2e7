"""What the code host runs and opens: by the schemas in `make lint`, and here by what they name."""

import json
import re

import yaml
from places import NOTEBOOKS, ROOT

WORKFLOWS = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / ".github/workflows").glob("*.yml")}


def test_an_action_is_one_commit_and_tells_its_version():
    """A tag can be moved to other code, a commit cannot."""
    used = re.findall(r"uses: (.+)", "\n".join(WORKFLOWS.values()))
    assert used and [line for line in used if not re.fullmatch(r"\./\S+|[\w/-]+@[0-9a-f]{40}  # v[\d.]+", line)] == []


def test_the_web_edition_is_published_when_all_else_has_passed():
    jobs = yaml.safe_load(WORKFLOWS["ci.yml"])["jobs"]
    (publishing,) = (name for name, job in jobs.items() if job.get("uses") == "./.github/workflows/site.yml")
    assert sorted([publishing, *jobs[publishing]["needs"]]) == sorted(jobs)
    assert jobs[publishing]["if"] == "github.event_name == 'push'"
    assert yaml.safe_load(WORKFLOWS["site.yml"])[True] == {"workflow_call": None}  # YAML reads the key `on` as true


def test_the_container_has_the_pins_of_binder_and_opens_the_first_notebook():
    """Its user is not root, so that it cannot run all that Binder runs."""
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
    python = (ROOT / "binder/runtime.txt").read_text().strip().replace("-", ":")
    assert container["postCreateCommand"] == "pip install --user -r binder/requirements.txt -e ."
    assert f"/{python}-" in container["image"]
    assert container["customizations"]["codespaces"]["openFiles"] == [f"notebooks/{NOTEBOOKS[0].name}"]
