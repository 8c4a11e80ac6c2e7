"""The web edition has one address, and a workflow that publishes what `make site` writes."""

import importlib

import address
import pytest
import yaml
from pins import REQUIRED, pins, version
from places import ROOT

WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/site.yml").read_text())


@pytest.fixture
def fork(monkeypatch):
    """The addresses as a workflow of a fork has them."""
    monkeypatch.setenv("GITHUB_REPOSITORY", "Somebody/their-course")
    yield importlib.reload(address)
    monkeypatch.delenv("GITHUB_REPOSITORY")
    importlib.reload(address)


def test_a_fork_publishes_its_own_links(fork):
    assert fork.REPOSITORY == "https://github.com/Somebody/their-course"
    assert fork.HOME == "https://somebody.github.io/their-course/"
    for link in (fork.binder("notebooks/x.ipynb"), fork.colab("notebooks/x.ipynb"), fork.source("encoder_lib")):
        assert "/Somebody/their-course/" in link
    assert fork.source("encoder_lib").endswith("/tree/main/encoder_lib")
    assert fork.source("README.md").endswith("/blob/main/README.md")


def test_workflow_publishes_the_output_of_make_site():
    steps = WORKFLOW["jobs"]["build"]["steps"]
    (path,) = (step["with"]["path"] for step in steps if "pages-artifact" in step.get("uses", ""))
    assert f"site/build.py {path.removesuffix('/html')} " in (ROOT / "Makefile").read_text()


def test_site_packages_are_pinned_and_not_the_courses():
    """Each to one version; what the course pins is pinned there alone."""
    own = {name: version(pin) for name, pin in pins(ROOT / "site/requirements.txt").items()}
    assert own and not set(own) & {*REQUIRED, *pins(ROOT / "tests/requirements.txt")}
