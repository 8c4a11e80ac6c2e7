"""The limit on an attempt's time: an endless loop is cut short, and nothing of it is left."""

import contextlib
import itertools
import queue
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from encoder_lib.course import checks
from encoder_lib.course.kit.checking import limit, verdict
from encoder_lib.course.kit.checking.limit import SIGNAL, TimeUp, run_within


def _never_ends(*_):
    while True:
        pass


def _never_ends_and_catches_everything(*_):
    while True:
        try:  # noqa: SIM105
            sum(range(100))
        except:  # noqa: E722
            pass


@pytest.mark.parametrize("check", [checks.check_table_gradient, checks.check_own_norm], ids=["examine", "diagnose"])
@pytest.mark.parametrize("attempt", [_never_ends, _never_ends_and_catches_everything])
def test_an_endless_loop_is_cut_short(check, attempt, monkeypatch):
    monkeypatch.setattr(verdict, "PATIENCE", 0.2)
    problem = check(attempt).problem
    assert ": it was still running" in problem and "loop" in problem


def _compute(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_the_limit_leaves_no_thread_and_no_late_interruption(monkeypatch):
    monkeypatch.setattr(verdict, "PATIENCE", 0.05)
    threads, handler = threading.active_count(), SIGNAL and signal.getsignal(SIGNAL)
    for i in range(-3, 4):  # it ends about when the time is up
        with contextlib.suppress(TimeUp):
            run_within(0.02, _compute, 0.02 + i / 1000)
    for _ in range(20):
        checks.check_table_gradient(_never_ends)
    assert threading.active_count() == threads and (SIGNAL and signal.getsignal(SIGNAL)) == handler
    assert sum(i for i in range(200_000)) == 19_999_900_000  # nothing is raised into later work


@pytest.mark.parametrize(
    ("processor", "clock", "ends"),
    [(0.0, 0.0, False), (0.01, 0.0, True), (0.0, 0.01, True)],
    ids=["neither", "works", "waits"],
)
def test_processor_time_counts_or_six_times_as_much_by_the_clock(processor, clock, ends, monkeypatch):
    """Both clocks go on by so much between two looks, whatever the machine does."""
    looks = itertools.count()
    clocks = SimpleNamespace(process_time=lambda: next(looks) * processor, monotonic=lambda: next(looks) * clock)
    monkeypatch.setattr(limit, "time", clocks)
    with pytest.raises(TimeUp) if ends else contextlib.nullcontext():
        run_within(0.05, time.sleep, 60 if ends else 0.1)
    assert ends or next(looks) > 6


@pytest.mark.skipif(SIGNAL is None, reason="Windows has no signal that wakes a call")
@pytest.mark.parametrize(
    "wait",
    [
        lambda: time.sleep(600),
        lambda: [lock.acquire() for lock in [threading.Lock()] * 2],
        lambda: queue.Queue().get(),
        lambda: subprocess.run([sys.executable, "-c", "import time; time.sleep(600)"]),
    ],
    ids=["sleep", "deadlock", "queue", "subprocess"],
)
def test_a_call_that_waits_is_woken(wait):
    with pytest.raises(TimeUp):
        run_within(0.03, wait)


def test_the_limit_holds_in_any_thread():
    ended = []

    def work():
        try:
            run_within(0.05, _never_ends)
        except TimeUp:
            ended.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(60)
    assert ended == [True]


def test_the_time_begins_with_the_function(monkeypatch):
    def late(thread, start=threading.Thread.start):
        start(thread)
        while time.monotonic() < begun + 0.3:
            pass

    monkeypatch.setattr(threading.Thread, "start", late)
    begun = time.monotonic()
    assert run_within(0.1, lambda: "in time") == "in time"


def test_an_import_takes_no_time_and_is_never_interrupted(tmp_path, monkeypatch):
    (tmp_path / "slow_to_load.py").write_text("import time\nfor _ in range(30):\n    time.sleep(0.01)\nloaded = True\n")
    monkeypatch.syspath_prepend(tmp_path)

    def answer():
        import slow_to_load

        return slow_to_load.loaded

    assert run_within(0.1, answer)
