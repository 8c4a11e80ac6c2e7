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


@pytest.mark.parametrize("check", [checks.check_mean_vector, checks.check_encoder], ids=["examine", "diagnose"])
@pytest.mark.parametrize("attempt", [_never_ends, _never_ends_and_catches_everything])
def test_a_loop_without_end_is_cut_short(check, attempt, monkeypatch):
    monkeypatch.setattr(verdict, "PATIENCE", 0.2)
    problem = check(attempt).problem
    assert problem.startswith("one ") and "it was still running" in problem and "loop" in problem


def test_the_limit_leaves_no_thread_and_no_late_interruption(monkeypatch):
    monkeypatch.setattr(verdict, "PATIENCE", 0.05)
    before = threading.active_count()
    for i in range(-3, 4):  # it ends about when the time is up
        with contextlib.suppress(TimeUp):
            run_within(0.02, time.sleep, 0.02 + i / 1000)
    for _ in range(20):
        checks.check_mean_vector(_never_ends)
    assert threading.active_count() == before
    assert sum(i for i in range(200_000)) == 19_999_900_000  # nothing is raised into later work
