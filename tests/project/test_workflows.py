"""Each workflow is one that GitHub takes, by the schema that check-jsonschema carries with it."""

import subprocess
import sys

import pytest
from places import ROOT

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def validated(path):
    """What the validator says of a workflow, and whether it is content."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_keeps_to_the_schema(path):
    said = validated(path)
    assert said.returncode == 0, said.stdout + said.stderr


def test_a_fault_is_noticed(tmp_path):
    text = WORKFLOWS[0].read_text(encoding="utf-8")
    assert "runs-on:" in text
    (tmp_path / "broken.yml").write_text(text.replace("runs-on:", "runs_on:"), encoding="utf-8")
    said = validated(tmp_path / "broken.yml")
    assert said.returncode == 1 and "runs_on" in said.stdout + said.stderr
