"""The limit on an attempt's time: a loop without end is cut short, and nothing of it is left."""

import contextlib
import threading
import time

import pytest

from encoder_lib.course import checks
from encoder_lib.course.checks import verdict
from encoder_lib.course.checks.limit import TimeUp, run_within


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
def test_a_loop_without_end_is_cut_short(check, attempt, monkeypatch):
    monkeypatch.setattr(verdict, "PATIENCE", 0.2)
    problem = check(attempt).problem
    assert ": it was still running" in problem and "loop" in problem


@pytest.mark.parametrize("function", [_never_ends, _never_ends_and_catches_everything])
def test_time_up_is_raised_in_the_function_and_comes_out(function):
    begun = time.monotonic()
    with pytest.raises(TimeUp):
        run_within(0.2, function)
    assert 0.1 < time.monotonic() - begun < 30


def test_the_limit_leaves_no_thread_and_no_late_interruption(monkeypatch):
    monkeypatch.setattr(verdict, "PATIENCE", 0.05)
    before = threading.active_count()
    for i in range(-3, 4):  # it ends about when the time is up
        with contextlib.suppress(TimeUp):
            run_within(0.02, time.sleep, 0.02 + i / 1000)
    for _ in range(20):
        checks.check_table_gradient(_never_ends)
    assert threading.active_count() == before
    assert sum(i for i in range(200_000)) == 19_999_900_000  # nothing is raised into later work


def test_the_time_begins_with_the_function_on_a_machine_however_busy(monkeypatch):
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
