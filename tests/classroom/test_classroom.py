"""A class on one machine: students log in to a JupyterHub at once, run a notebook to its end and move its explorer.

Run by `make classroom`, which sets the hub up; it prints what a student takes. STUDENTS=12 invites more.
"""

import contextlib
import json
import os
import secrets
import shutil
import statistics
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import psutil
import pytest
from labserver import SETTINGS, free_port
from notebook_page import CODE_CELLS, FINISHED, STATE, NotebookPage
from places import ROOT

from encoder_lib.course import explore

HERE = Path(__file__).parent
CLASSROOM = ROOT / ".classroom"
HUB_PYTHON, PROXY = CLASSROOM / "venv/bin/python", CLASSROOM / "node_modules/.bin/configurable-http-proxy"
NOTEBOOK = "02_positional_encoding.ipynb"
STUDENTS = int(os.environ.get("STUDENTS", "8"))
LATE = "[anywidget] Failed to initialize model."  # it took more than two seconds, and anywidget gave up: see dom.js
PATIENCE = 600  # seconds that the whole class may take for one step
PRESSES = [31 - number * (31 // STUDENTS) for number in range(STUDENTS)]  # of the key that makes the table wider


def call(hub, path):
    """What the hub's API says."""
    request = urllib.request.Request(f"{hub.api}{path}", headers={"Authorization": f"token {hub.token}"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


class Hub:
    """A JupyterHub with its proxy, on ports and in a folder of its own."""

    def __init__(self, folder):
        self.folder, self.token, self.password = folder, secrets.token_hex(32), secrets.token_hex(16)
        ports = [str(free_port()) for _ in range(3)]
        self.url, self.api = f"http://127.0.0.1:{ports[0]}", f"http://127.0.0.1:{ports[1]}/hub/api"
        packages = subprocess.check_output(
            [HUB_PYTHON, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], text=True
        )
        self.environment = os.environ | {
            "CLASSROOM": str(folder),
            "CLASSROOM_PORTS": " ".join(ports),
            "CLASSROOM_PROXY": str(PROXY),
            "CLASSROOM_PYTHON": sys.executable,
            "CLASSROOM_PACKAGES": packages.strip(),
            "CLASSROOM_PASSWORD": self.password,
            "CLASSROOM_TOKEN": self.token,
        }
        (folder / "config/labconfig").mkdir(parents=True)
        (folder / "config/labconfig/default_setting_overrides.json").write_text(json.dumps(SETTINGS))
        command = [HUB_PYTHON, "-m", "jupyterhub", "-f", HERE / "jupyterhub_config.py"]
        with (folder / "log").open("w") as log:
            self.process = psutil.Popen(command, cwd=folder, env=self.environment, stdout=log, stderr=subprocess.STDOUT)
        self.wait()

    def wait(self):
        """Until the hub answers."""
        for _ in range(600):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{self.url}/hub/login", timeout=2).close()
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        raise RuntimeError((self.folder / "log").read_text()[-4000:])

    def stop(self):
        """End the hub, and what it has started and left behind."""
        children = self.process.children(recursive=True)
        self.process.terminate()
        _, left = psutil.wait_procs([self.process, *children], timeout=30)
        for process in left:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()

    def processes(self):
        """The student's servers and kernels by name, as lists; and the proxy."""
        found = {"proxy": [], "server": [], "kernel": []}
        for process in self.process.children(recursive=True):
            command = " ".join(process.cmdline())
            kinds = {"configurable-http-proxy": "proxy", "jupyterhub.singleuser": "server", "ipykernel": "kernel"}
            kind = next((kind for words, kind in kinds.items() if words in command), None)
            if kind:
                found[kind].append(process)
        return found


class Student(NotebookPage):
    """A student in a page of their own, who logs in and opens the notebook."""

    def __init__(self, browser, hub, name):
        self.name, self.host = name, hub.url.removeprefix("http://")
        self.page_errors, self.external, self.own = [], [], 0
        home = hub.folder / name
        home.mkdir()
        shutil.copy(ROOT / "notebooks" / NOTEBOOK, home)
        self.page = browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
        self.page.on("pageerror", lambda error: self.page_errors.append(str(error)))
        self.page.on("request", lambda request: self._note(request.url))
        self.page.on("websocket", lambda socket: self._note(socket.url))
        self.page.add_init_script(STATE)
        self.page.goto(f"{hub.url}/hub/login?next=/hub/user-redirect/lab/tree/{NOTEBOOK}%3Freset")
        self.page.fill("[name=username]", name)
        self.page.fill("[name=password]", hub.password)

    def log_in(self):
        """Press the button and wait for nothing: others press it too."""
        self.page.locator("[type=submit]").click(no_wait_after=True)

    def wait_for_notebook(self):
        """Until the server has started and the notebook's kernel waits."""
        self.page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=PATIENCE * 1000)
        self.page.wait_for_function("kernelIdle()", timeout=PATIENCE * 1000)

    def start_all_cells(self):
        """Run every cell, and wait for nothing."""
        self.ran = self.page.evaluate(CODE_CELLS)
        self.page.evaluate("() => { jupyterapp.commands.execute('notebook:run-all-cells'); }")

    def wait_for_all_cells(self):
        """Until every cell has run, or one has failed."""
        self.page.wait_for_function(FINISHED, arg=self.ran, timeout=PATIENCE * 1000)

    def press(self, key, control):
        """Press a key on a control of the notebook's first explorer."""
        self.page.locator(f'section.explorer [data-control="{control}"]').first.press(key)


class Lesson:
    """What happened: how long each step took, what everybody saw in the end, and what it took."""

    def __init__(self, hub, browser):
        self.hub, self.seconds, self.start = hub, {}, time.monotonic()
        self.students = [Student(browser, hub, f"student{number}") for number in range(STUDENTS)]
        self.do("all have logged in", *[student.log_in for student in self.students])
        self.do("notebook is open", *[student.wait_for_notebook for student in self.students])
        for student in self.students:
            student.start_all_cells()
        self.do("all cells have run", *[student.wait_for_all_cells for student in self.students])
        self.errors = [student.errors() for student in self.students]
        self.do("explorers are moved", self.move)
        self.states = [student.explorers()[0].state(rest=1000) for student in self.students]
        running = hub.processes() | {"hub": [hub.process]}
        self.memory = {kind: [pss(process) for process in processes] for kind, processes in running.items()}
        self.work = {kind: statistics.median(map(work, running[kind])) for kind in ("server", "kernel")}

    def do(self, name, *steps):
        """Do something, and note when it was done."""
        for step in steps:
            step()
        self.seconds[name] = time.monotonic() - self.start

    def move(self):
        """All students drag the same slider at once, each to another place: one step each, in turn."""
        for student in self.students:
            student.press("Home", "d_model")
        for turn in range(max(PRESSES)):
            for student, presses in zip(self.students, PRESSES, strict=True):
                if turn < presses:
                    student.press("ArrowRight", "d_model")
        for number, student in enumerate(self.students):
            for _ in range(number):
                student.press("ArrowRight", "shift")

    def report(self):
        """What a student takes, in a table."""
        mb = {kind: [size / 1e6 for size in sizes] for kind, sizes in self.memory.items()}
        each = [server + kernel for server, kernel in zip(mb["server"], mb["kernel"], strict=True)]
        rows = [f"{STUDENTS} students on {os.cpu_count()} cores, {NOTEBOOK}"]
        rows += [f"  {name:<22}{seconds:6.0f} s after the first login page" for name, seconds in self.seconds.items()]
        for name, sizes in {**mb, "student (both)": each}.items():
            spread = f"{min(sizes):.0f} to {max(sizes):.0f}"
            rows.append(f"  {name:<22}{statistics.median(sizes):6.0f} MB (PSS; {len(sizes)} of them, {spread})")
        rows.append(f"  {'all together':<22}{sum(map(sum, mb.values())):6.0f} MB")
        server, kernel = self.work["server"], self.work["kernel"]
        rows.append(f"  each student has kept a core busy for {server:.0f} s (server) and {kernel:.0f} s (kernel)")
        late = sum(errors.count(LATE) for errors in self.errors)
        rows.append(f"  {late} widgets took more than two seconds to load")
        return "\n".join(rows)


def pss(process):
    """The memory of a process in bytes, pages that it shares counted in parts."""
    return process.memory_full_info().pss


def work(process):
    """How many seconds a process has kept a core busy."""
    times = process.cpu_times()
    return times.user + times.system


@pytest.fixture(scope="module")
def lesson(browser, tmp_path_factory):
    """A hub, and the lesson that was held on it."""
    if not (HUB_PYTHON.exists() and PROXY.exists()):
        pytest.fail("the hub is not set up: run `make classroom`")
    hub = Hub(tmp_path_factory.mktemp("classroom"))
    try:
        held = Lesson(hub, browser)
        print(f"\n{held.report()}")
        yield held
    finally:
        hub.stop()


def test_every_cell_runs_for_every_student(lesson):
    assert [set(errors) - {LATE} for errors in lesson.errors] == [set() for _ in lesson.students]
    assert [student.external for student in lesson.students] == [[] for _ in lesson.students]


def test_no_student_sees_what_another_set(lesson):
    """Each explorer stands where its student left it, and says what the library says of these values."""
    widths = [8 + 8 * presses for presses in PRESSES]
    assert len(set(widths)) == STUDENTS
    for number, (state, width) in enumerate(zip(lesson.states, widths, strict=True)):
        assert (state["outputs"]["d_model"], state["outputs"]["shift"]) == (str(width), str(number))
        assert state["description"] == explore.positional(d_model=width, shift=number).description
        assert state["errors"] == []


def test_a_student_fits_into_what_the_teachers_page_plans(lesson):
    """binder/README.md plans 1 GB for each: a second open notebook fits as well."""
    memory = lesson.memory
    assert len(memory["server"]) == len(memory["kernel"]) == STUDENTS and len(memory["proxy"]) == 1
    both = [server + kernel for server, kernel in zip(memory["server"], memory["kernel"], strict=True)]
    assert max(both) < 600e6
    assert sum(memory["hub"] + memory["proxy"]) < 400e6


def test_servers_end_when_the_students_have_gone(lesson):
    """The culler ends what nobody uses, and the memory is free again."""
    for student in lesson.students:
        student.page.context.close()
    assert len(call(lesson.hub, "/users?state=active")) == STUDENTS
    command = [HUB_PYTHON, "-m", "jupyterhub_idle_culler", "--timeout=10", "--cull-every=2", f"--url={lesson.hub.api}"]
    environment = lesson.hub.environment | {"JUPYTERHUB_API_TOKEN": lesson.hub.token}
    culler = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 120
        while call(lesson.hub, "/users?state=active") and time.monotonic() < deadline:
            time.sleep(1)
    finally:
        culler.terminate()
        culler.wait(10)
    assert call(lesson.hub, "/users?state=active") == []
    left = lesson.hub.processes()
    assert (left["server"], left["kernel"]) == ([], [])
