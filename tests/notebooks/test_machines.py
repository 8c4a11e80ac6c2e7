"""The machines on which `make test-long` runs the notebooks again are as poor, or as busy, as they say."""

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path
from tempfile import TemporaryDirectory

import machines
import pytest
from machines import GIB
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook
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
        found = machines.working_way(folder)
    if found is None:
        (pytest.fail if os.environ.get("GITHUB_ACTIONS") else pytest.skip)(machines.NO_WAY)
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
    found = probe(door, sys.executable, str(ROOT / "tests/tools/machines.py"), "poorest")
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
    assert [machines.poorest(["sh", "-c", f"exit {status}"]) for status in (0, 3)] == [0, 3]


def test_a_machine_that_cannot_be_made_does_not_pass_unnoticed(monkeypatch, capfd):
    """It is said at the end, and on GitHub it is an error."""
    monkeypatch.setattr(machines, "ways", lambda: [["false"]])
    monkeypatch.setattr(machines.resource, "setrlimit", lambda *limits: None)  # this process would keep it
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    assert machines.poorest(["true"]) == 0 and "NOT CHECKED" in capfd.readouterr().err
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert "NOT CHECKED" in machines.poorest(["true"])


def run_cell(source):
    """What the one cell of a notebook prints."""
    notebook = new_notebook(cells=[new_code_cell(source)])
    NotebookClient(notebook, timeout=60, kernel_name="python3", extra_arguments=["--log-level=ERROR"]).execute()
    return "".join(output.text for output in notebook.cells[0].outputs)


@pytest.mark.long
def test_on_the_busiest_machine_torch_keeps_four_threads(monkeypatch, tmp_path):
    """Without that the run would say nothing about threads: `setup` takes one."""
    source = "import torch\nfrom encoder_lib.notebook import setup\nsetup()\nprint(torch.get_num_threads())"
    for name, value in machines.busy_environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    assert run_cell(source) == f"{machines.THREADS}\n"
    shutil.rmtree(tmp_path / "ipython" / "profile_default" / "startup")
    assert run_cell(source) == "1\n"  # what readers get


KERNEL = "import sys, time; assert 'ipykernel_launcher' in sys.argv; room = b'x' * int(sys.argv[1]); time.sleep(60)"


@pytest.fixture
def kernels():
    """Start processes that look like kernels and take so many bytes; they are ended after the test."""
    started = []

    def start(size, notebook):
        command = [sys.executable, "-c", KERNEL, str(size), "ipykernel_launcher"]
        environment = os.environ | {"PYTEST_CURRENT_TEST": f"notebooks/{notebook}.ipynb::Cell 0 (setup)"}
        started.append(subprocess.Popen(command, env=environment))

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.skipif(
    not Path("/proc/self/smaps_rollup").exists(), reason="this system does not say what a process takes"
)
def test_the_watch_sees_what_each_kernel_takes(kernels):
    """How many there are, which notebooks they run, and what each takes; and it complains of what is too much."""
    small, large = 20 << 20, 200 << 20
    kernels(small, "01_small")
    kernels(large, "02_large")
    watch = machines.Watch(os.getpid())
    deadline = threading.Event()
    for _ in range(200):
        watch.look()
        sizes = {name: size for (_, name), size in watch.peaks.items()}
        if sizes.get("01_small", 0) > small and sizes.get("02_large", 0) > large:
            break
        deadline.wait(0.05)
    assert small < sizes["01_small"] < small + (60 << 20) and large < sizes["02_large"] < large + (60 << 20)
    assert watch.at_once == 2 and watch.together > small + large
    assert "02_large" in watch.table() and "2 kernels at once" in watch.table()
    assert list(watch.complaints()) == ["2 kernels ran at once, expected at least 8"]
    watch.peaks[1, "03_huge"] = 2 * GIB
    assert "03_huge took 2.00 GiB, expected at most 1" in list(watch.complaints())


def test_a_run_without_eight_kernels_fails(capfd):
    """The busiest machine notices that it was not busy."""
    assert "0 kernels ran at once" in machines.busiest(["true"])
    assert machines.busiest(["sh", "-c", "exit 4"]) == 4
    assert "together, at the most" in capfd.readouterr().out
