"""The sandbox in which `make test-long` runs the notebooks again restricts what it says."""

import json
import os
import socket
import subprocess
import sys

import pytest
from places import ROOT

SANDBOX = str(ROOT / "tests/tools/sandbox")
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
    "server": attempt(lambda: socket.create_connection(("127.0.0.1", port), timeout=5)),
    "internet": attempt(lambda: socket.create_connection(("192.0.2.1", 80), timeout=5)),
    "write here": attempt(lambda: open(here, "a")),
    "temporary file": attempt(tempfile.mkdtemp),
    "512 MiB": attempt(lambda: bytearray(1 << 29)),
    "2 GiB": attempt(lambda: bytearray(1 << 31)),
    "2 GiB of numbers": attempt(lambda: torch.zeros(1 << 28, dtype=torch.float64) is not None),
    "arithmetic": torch.backends.cpu.get_cpu_capability(),
    "GPUs": torch.cuda.device_count(),
    "threads": torch.get_num_threads(),
}))
"""


def probe(*launcher):
    """What a program finds that is started in this way, beside a server that accepts every call."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        command = [*launcher, sys.executable, "-c", PROBE, __file__, str(server.getsockname()[1])]
        return json.loads(subprocess.check_output(command, text=True, timeout=120))


@pytest.mark.long
def test_every_restriction_holds_in_the_sandbox_alone():
    found = probe(SANDBOX)
    assert "MemoryError" in found["2 GiB"] and "can't allocate memory" in found["2 GiB of numbers"]
    assert found["temporary file"] == found["512 MiB"] == "done"
    assert (found["arithmetic"], found["GPUs"], found["threads"]) == ("DEFAULT", 0, 1)
    usual = probe()
    assert usual["server"] == usual["write here"] == usual["2 GiB"] == usual["2 GiB of numbers"] == "done"
    if "NOT CHECKED" in subprocess.run([SANDBOX, "true"], capture_output=True, text=True).stderr:
        pytest.skip("NOT CHECKED: no network and a read-only disk")
    assert "ConnectionRefused" in found["server"] and "Network is unreachable" in found["internet"]
    assert "Read-only file system" in found["write here"]


@pytest.mark.parametrize("status", [0, 3])
def test_the_sandbox_returns_the_exit_status(status):
    assert subprocess.call([SANDBOX, "sh", "-c", f"exit {status}"]) == status


def test_missing_isolation_is_reported(tmp_path):
    """The command runs all the same, and on GitHub the lack is an error."""
    (tmp_path / "unshare").symlink_to("/bin/false")
    for github, status in (("", 0), ("true", 1)):
        environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "GITHUB_ACTIONS": github}
        done = subprocess.run([SANDBOX, "echo", "ran"], env=environment, capture_output=True, text=True)
        assert (done.stdout, done.returncode) == ("ran\n", status) and "NOT CHECKED" in done.stderr
