"""The workflows on GitHub, beyond what the schemas in `make lint` check."""

import re

import yaml
from places import ROOT

WORKFLOWS = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / ".github/workflows").glob("*.yml")}


def test_actions_are_pinned_to_a_commit_with_its_version():
    """A tag can be moved to other code, a commit cannot."""
    used = re.findall(r"uses: (.+)", "\n".join(WORKFLOWS.values()))
    assert used and [line for line in used if not re.fullmatch(r"\./\S+|[\w/-]+@[0-9a-f]{40}  # v[\d.]+", line)] == []


def test_the_web_edition_waits_for_all_other_jobs():
    jobs = yaml.safe_load(WORKFLOWS["ci.yml"])["jobs"]
    (publishing,) = (name for name, job in jobs.items() if job.get("uses") == "./.github/workflows/site.yml")
    assert {publishing, *jobs[publishing]["needs"]} == set(jobs)
