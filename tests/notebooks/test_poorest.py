"""The machine on which `make test-long` runs the notebooks again is as poor as it says."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import poorest
import pytest
from places import ROOT

PROBE = """
import json, os, socket, sys, tempfile
import torch

def attempt(action):
    try:
        return action() and "done"
    except Exception as error:
        return type(error).__name__ + ": " + str(error)

here, port = sys.argv[1], int(sys.argv[2])
print(json.dumps({
    "the tests": attempt(lambda: socket.create_connection(("127.0.0.1", port), timeout=5)),
    "the world": attempt(lambda: socket.create_connection(("192.0.2.1", 80), timeout=5)),
    "write here": attempt(lambda: open(here, "a")),
    "write at home": attempt(lambda: tempfile.mkdtemp(dir=os.path.expanduser("~"))),
    "write a temporary file": attempt(tempfile.mkdtemp),
    "half of the limit": attempt(lambda: bytearray(1 << 29)),
    "2 GiB": attempt(lambda: bytearray(1 << 31)),
    "2 GiB of numbers": attempt(lambda: torch.zeros(1 << 28, dtype=torch.float64) is not None),
    "arithmetic": torch.backends.cpu.get_cpu_capability(),
    "GPUs": torch.cuda.device_count(),
    "threads": torch.get_num_threads(),
}))
"""


@pytest.fixture(scope="module")
def way():
    """How the poorest machine is made here; where it cannot be made, its tests say so, and on GitHub they fail."""
    with TemporaryDirectory() as folder:
        found = poorest.working_way(folder)
    if found is None:
        (pytest.fail if os.environ.get("GITHUB_ACTIONS") else pytest.skip)(poorest.NO_WAY)
    return found


@pytest.fixture
def door():
    """The port of a server of this test that accepts every call."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def probe(door, *launcher):
    """What a program that is started so finds."""
    command = [*launcher, sys.executable, "-c", PROBE, str(Path(__file__)), str(door)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return json.loads(done.stdout)


@pytest.mark.long
def test_each_restriction_of_the_poorest_machine_bites(way, door):
    """What it lacks is refused there and there alone; what it has is enough for a notebook."""
    found = probe(door, sys.executable, str(ROOT / "tests/tools/poorest.py"))
    assert "ConnectionRefused" in found["the tests"]
    assert "Network is unreachable" in found["the world"]
    assert "Read-only file system" in found["write here"]
    assert "Read-only file system" in found["write at home"] or "Permission" in found["write at home"]
    assert "MemoryError" in found["2 GiB"] and "can't allocate memory" in found["2 GiB of numbers"]
    assert found["write a temporary file"] == found["half of the limit"] == "done"
    assert (found["arithmetic"], found["GPUs"], found["threads"]) == ("DEFAULT", 0, 1)
    usual = probe(door)
    assert usual["the tests"] == usual["write here"] == usual["2 GiB"] == usual["2 GiB of numbers"] == "done"


def test_the_exit_status_of_a_command_is_that_of_its_machine(way):
    """A notebook that fails there fails the whole run."""
    assert [poorest.poorest(["sh", "-c", f"exit {status}"]) for status in (0, 3)] == [0, 3]


def test_a_machine_that_cannot_be_made_does_not_pass_unnoticed(monkeypatch, capfd):
    """It is said at the end, and on GitHub it is an error."""
    monkeypatch.setattr(poorest, "ways", lambda: [["false"]])
    monkeypatch.setattr(poorest.resource, "setrlimit", lambda *limits: None)  # this process would keep it
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    assert poorest.poorest(["true"]) == 0 and "NOT CHECKED" in capfd.readouterr().err
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert "NOT CHECKED" in poorest.poorest(["true"])
