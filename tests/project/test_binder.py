"""Binder and Codespaces get the same Python and the same pins as everyone else."""

import json
import subprocess

from pins import REQUIRED, pins, version
from places import ROOT

BINDER = ROOT / "binder/requirements.txt"


def test_binder_installs_the_pins_with_the_cpu_build():
    """A package has one version everywhere; of two builds of one version pip takes the one with a local label."""
    assert {name: version(pin) for name, pin in pins(BINDER).items()} == REQUIRED
    assert "--extra-index-url https://download.pytorch.org/whl/cpu" in BINDER.read_text().splitlines()


def test_codespaces_has_binders_python_and_opens_a_notebook():
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
    python = (ROOT / "binder/runtime.txt").read_text().strip().replace("-", ":")
    assert f"/{python}-" in container["image"]
    assert all((ROOT / name).exists() for name in container["customizations"]["codespaces"]["openFiles"])


def test_the_start_script_runs_the_command_with_one_thread():
    command = ["bash", str(ROOT / "binder/start"), "bash", "-c", "echo threads=$OMP_NUM_THREADS"]
    assert subprocess.check_output(command, text=True) == "threads=1\n"
