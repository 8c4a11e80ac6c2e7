"""Whatever a learner's code sets globally or prints, the kernel and the page are afterwards as they were before."""

import contextlib
import random
import sys
import threading
import time
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from answers import ANSWERS

from encoder_lib.course import checks
from encoder_lib.course.kit.checking import sandbox, verdict
from encoder_lib.course.kit.checking.verdict import Probe, diagnose

CHANGES = {  # what a learner's code does -> how it is noticed
    "gradients": (lambda: torch.set_grad_enabled(False), torch.is_grad_enabled),
    "gradients, by a context": (lambda: torch.no_grad().__enter__(), torch.is_grad_enabled),
    "default dtype": (lambda: torch.set_default_dtype(torch.float16), torch.get_default_dtype),
    "default device": (lambda: torch.set_default_device("meta"), torch.get_default_device),
    "threads": (lambda: torch.set_num_threads(torch.get_num_threads() + 1), torch.get_num_threads),
    "print options": (lambda: torch.set_printoptions(precision=1, sci_mode=True), lambda: repr(torch.tensor(1 / 3))),
    "NumPy's print options": (lambda: np.set_printoptions(precision=1), lambda: repr(np.array(1 / 3))),
    "NumPy's errors": (lambda: np.seterr(all="raise"), lambda: np.geterr()["divide"]),
    "torch's random numbers": (lambda: torch.manual_seed(9), lambda: torch.get_rng_state().tolist()),
    "NumPy's random numbers": (lambda: np.random.seed(9), lambda: np.random.get_state()[1].tolist()),
    "Python's random numbers": (lambda: random.seed(9), random.getstate),
    "stdout": (lambda: setattr(sys, "stdout", None), lambda: sys.stdout),
    "stderr": (lambda: setattr(sys, "stderr", None), lambda: sys.stderr),
    "stdin": (lambda: setattr(sys, "stdin", None), lambda: sys.stdin),
    "input": (lambda: setattr(sys.modules["builtins"], "input", None), lambda: input),
    "warning filters": (lambda: warnings.simplefilter("ignore"), lambda: warnings.filters[:]),
    "deterministic": (
        lambda: torch.use_deterministic_algorithms(True, warn_only=True),
        torch.are_deterministic_algorithms_enabled,
    ),
    "anomaly mode": (lambda: torch.autograd.set_detect_anomaly(True), torch.is_anomaly_enabled),
    "precision": (lambda: torch.set_float32_matmul_precision("medium"), torch.get_float32_matmul_precision),
    "recursion limit": (lambda: sys.setrecursionlimit(5000), sys.getrecursionlimit),
}


@pytest.fixture
def ask(monkeypatch):
    """Give some code to a check, and get its verdict."""
    monkeypatch.setitem(verdict.HINTS, "t", {"hints": ["first", "second"]})
    monkeypatch.setattr(verdict, "PATIENCE", 0.3)

    def asked(code):
        return diagnose("t", code, [Probe("it runs", lambda thing: (thing(), "")[1])])

    return asked


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
def test_a_setting_that_code_changes_is_restored(name, ask):
    change, read = CHANGES[name]
    before, inside = read(), []

    def code():
        inside.append(read())
        change()
        inside.append(read())

    assert ask(code).correct
    assert inside[0] != inside[1]
    assert read() == before


def test_a_setting_is_restored_before_the_next_question(monkeypatch):
    monkeypatch.setitem(verdict.HINTS, "t", {"hints": ["first", "second"]})
    probes = [Probe("one", lambda thing: thing()), Probe("two", lambda thing: str(torch.get_default_dtype()))]
    before = str(torch.get_default_dtype())
    said = diagnose("t", lambda: torch.set_default_dtype(torch.float16) or "", probes)
    assert said.passed == ("one",) and said.problem == f"two: {before}"


def test_what_stays_as_it_was_is_not_set_again(ask, monkeypatch):
    """Setting the deterministic algorithms, for instance, loads torch's compiler, which takes seconds."""
    refused = {name: sandbox.Setting(setting.read, None) for name, setting in sandbox.SETTINGS.items()}
    monkeypatch.setattr(sandbox, "SETTINGS", refused)
    assert ask(lambda: 1).correct


def test_settings_are_restored_after_an_error_too(ask):
    def code():
        torch.set_default_dtype(torch.float16)
        torch.set_grad_enabled(False)
        raise ValueError("no")

    before = torch.get_default_dtype()
    assert not ask(code).correct
    assert torch.get_default_dtype() == before and torch.is_grad_enabled()


def test_gradients_are_on_and_the_verdict_says_if_they_were_off(ask):
    def code():
        assert torch.is_grad_enabled() and not torch.is_inference_mode_enabled()

    assert "Gradients are off" not in repr(ask(code))
    for mode in (torch.no_grad(), torch.inference_mode()):
        with mode:
            said = ask(code)
            assert not torch.is_grad_enabled()
        assert said.correct and "Gradients are off in this kernel" in repr(said)
        assert "torch.set_grad_enabled(True)" in said._repr_html_()


def test_random_numbers_of_all_kinds_are_the_same_in_each_check(ask):
    drawn = []
    for _ in range(2):
        ask(lambda: drawn.append((random.random(), np.random.rand(), torch.rand(()).item())))
        random.random(), np.random.rand(), torch.rand(())
    assert drawn[0] == drawn[1]


def test_what_code_prints_is_shown_after_the_verdict_alone(ask, capsys):
    def code():
        print("to stdout <b>")
        print("to stderr", file=sys.stderr)

    said = ask(code)
    assert said.lines()[-1] == "Printed:\nto stdout <b>\nto stderr"
    assert said._repr_html_().index("✓ it runs") < said._repr_html_().index("to stdout &lt;b&gt;")
    assert capsys.readouterr() == ("", "")


def test_the_first_of_many_lines_are_shown_and_the_rest_counted(ask):
    said = ask(lambda: [print("line", i, 200 * "x") for i in range(5000)])
    lines = said.printed.split("\n")
    assert lines[0].startswith("line 0 xxx") and len(lines) == 9 and all(len(line) <= 88 for line in lines)
    assert lines[-1] == "… and 4,992 more lines"


def test_output_without_end_takes_no_memory():
    printed = sandbox.Printed()
    for _ in range(1000):
        assert printed.write(1000 * "x" + "\n") == 1001
    assert len(printed.kept) == sandbox.MAX_CHARACTERS and printed.n_lines == 1000


@pytest.mark.parametrize("catches", [(), Exception], ids=["plain", "catching"])
def test_an_endless_loop_that_prints_is_cut_short(ask, catches):
    def code():
        while True:
            with contextlib.suppress(catches):
                print("again", flush=True)

    said = ask(code)
    assert (
        "still running" in said.problem and said.printed.startswith("again\nagain\n") and "more lines" in said.printed
    )


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # pytest alone tells of the end
def test_a_thread_that_goes_on_printing_is_stopped(ask):
    threads = []

    def prints():
        while True:
            print("again")
            time.sleep(0.001)

    def code():
        threads.append(threading.Thread(target=prints, daemon=True))
        threads[0].start()
        time.sleep(0.05)

    assert ask(code).printed.startswith("again")
    threads[0].join(10)
    assert not threads[0].is_alive()


def test_input_is_refused_at_once(ask):
    def code():
        while True:
            with contextlib.suppress(Exception):
                int(input("a number? "))

    assert "it calls input(), which a check cannot answer" in ask(code).problem
    assert sys.stdin is not None


def test_right_answers_are_right_when_gradients_are_off():
    torch.set_grad_enabled(False)
    for check in (checks.check_learn, checks.check_own_norm, checks.check_padded_embedding):
        assert check(next(iter(ANSWERS[check][0].values()))).correct


def test_what_code_displays_is_collected_too(ask, monkeypatch):
    publisher = object()
    shell = SimpleNamespace(display_pub=publisher)
    monkeypatch.setattr(sandbox, "get_ipython", lambda: shell)

    def code():
        shell.display_pub.publish({"text/plain": "a figure"}, metadata={})
        shell.display_pub.clear_output(wait=True)

    assert ask(code).printed == "a figure" and shell.display_pub is publisher
