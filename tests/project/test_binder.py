"""Binder builds from binder/, with the pins that everyone else has."""

import shutil
import subprocess
import sys
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from pins import REQUIRED, pins, version
from places import ROOT

DEPENDENCIES = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]


@pytest.fixture(scope="module")
def dockerfile(tmp_path_factory):
    """The Dockerfile that repo2docker makes of this repository; needs no container engine."""
    copy = tmp_path_factory.mktemp("repository")
    for name in ("README.md", "pyproject.toml", "requirements.txt"):
        shutil.copy(ROOT / name, copy)
    shutil.copytree(ROOT / "binder", copy / "binder")
    command = ["repo2docker", "--no-build", "--debug", "--user-id", "1000", "--user-name", "jovyan", str(copy)]
    done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    "line",
    [
        "py-2d3-2e11",
        'pip install --no-cache-dir -r "binder/requirements.txt"',
        "RUN ./binder/postBuild",
        "/binder/start",
    ],
)
def test_binder_folder_is_picked_up(dockerfile, line):
    """Python 3.11, our requirements, postBuild and start are all in the image."""
    assert line in dockerfile


@pytest.mark.parametrize("dependency", DEPENDENCIES)
def test_pins_lie_in_the_ranges_of_the_package(dependency):
    """What pyproject.toml asks for is pinned for everyone, and the pin satisfies it."""
    requirement = Requirement(dependency)
    name = canonicalize_name(requirement.name)
    assert requirement.specifier.contains(REQUIRED[name])


def test_binder_installs_the_pins_with_the_cpu_build():
    """A package has one version everywhere; of two builds of one version pip takes the one with a local label."""
    path = ROOT / "binder/requirements.txt"
    assert {name: version(pin) for name, pin in pins(path).items()} == REQUIRED
    assert "--extra-index-url https://download.pytorch.org/whl/cpu" in path.read_text().splitlines()


def test_a_push_installs_the_library_alone(dockerfile):
    """The pins are installed before the repository is copied, so that the image keeps them; the library comes after."""
    installed, copied = dockerfile.index("pip install --no-cache-dir -r"), dockerfile.index("src/ ${REPO_DIR}/")
    assert installed < copied < dockerfile.index("RUN ./binder/postBuild")
    assert dockerfile.count("pip install --no-cache-dir -r") == 1
    assert "pip install --no-cache-dir --no-deps -e .\n" in (ROOT / "binder/postBuild").read_text()


def test_the_start_script_runs_the_command():
    """The server's own command is handed on, with one thread."""
    command = ["bash", str(ROOT / "binder/start"), "bash", "-c", "echo threads=$OMP_NUM_THREADS"]
    assert subprocess.check_output(command, text=True) == "threads=1\n"
