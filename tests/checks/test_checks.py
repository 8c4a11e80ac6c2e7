"""Each check accepts right answers in more than one style and rejects what learners get wrong."""

import contextlib
import threading
import time

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from answers import ANSWERS
from answers.embedding import rows
from answers.positional import interleave, table_by_loop

from encoder_lib import checks
from encoder_lib.checks import verdict
from encoder_lib.checks.limit import TimeUp, run_within

RIGHT = [pytest.param(c, f, id=f"{c.__name__}: {n}") for c, (right, _) in ANSWERS.items() for n, f in right.items()]
WRONG = [pytest.param(c, f, id=f"{c.__name__}: {n}") for c, (_, wrong) in ANSWERS.items() for n, f in wrong.items()]
CHECKS = [pytest.param(c, id=c.__name__) for c in ANSWERS]


def test_every_check_is_tried_here_with_enough_mistakes():
    assert {name for name in dir(checks) if name.startswith("check_")} == {check.__name__ for check in ANSWERS}
    assert all(len(right) >= 2 and len(wrong) >= 8 for right, wrong in ANSWERS.values())


@pytest.mark.parametrize(("check", "answer"), RIGHT)
def test_a_right_answer_is_accepted(check, answer):
    verdict = check(answer)
    assert verdict.correct, verdict
    assert len(verdict.passed) >= 5 and not verdict.hint


@pytest.mark.parametrize(("check", "answer"), WRONG)
def test_a_wrong_answer_is_rejected_with_an_example_and_a_hint(check, answer):
    verdict = check(answer)
    assert not verdict.correct
    assert verdict.problem and verdict.hint


@pytest.mark.parametrize("check", CHECKS)
def test_right_answers_pass_whatever_the_default_dtype(check, default_dtype):
    assert all(check(answer).correct for answer in ANSWERS[check][0].values())


def _fails(*_):
    raise RuntimeError("<b>no</b>")


def _leaves(*_):
    raise SystemExit("bye")


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(
    "attempt",
    [
        _fails, _leaves, lambda: 1, lambda *_: "text", lambda *_: object(), lambda *_: torch.tensor(float("nan")),
        lambda *_: torch.empty(0),
        lambda *_: torch.ones(1, dtype=torch.complex64), lambda *_: torch.ones(1, device="meta"),
        lambda *_: [], 3, "look_up",
    ],
)  # fmt: skip
def test_nothing_that_an_attempt_does_makes_a_check_raise(check, attempt):
    verdict = check(attempt)
    assert not verdict.correct and verdict.problem


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("attempt", [lambda *_: ..., lambda *_: None])
def test_a_placeholder_is_not_a_mistake(check, attempt):
    verdict = check(attempt)
    assert not verdict.correct and "nothing yet" in verdict.problem and not verdict.hint


def test_hints_grow_stronger_and_start_over_after_success():
    verdict._tries.clear()
    wrong, right = lambda table, ids: table[:1], lambda table, ids: table[ids]
    first, second, third, fourth = (checks.check_look_up(wrong).hint for _ in range(4))
    assert len({first, second, third}) == 3 and fourth == third
    assert checks.check_look_up(right).correct
    assert checks.check_look_up(wrong).hint == first


def test_a_verdict_shows_the_smallest_input_with_expected_and_got():
    text = repr(checks.check_look_up(lambda table, ids: table[: len(ids)]))
    assert "with table [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], ids [1]\n" in text
    assert "expected [[3.0, 4.0]]" in text and "got      [[1.0, 2.0]]" in text


class _HidesWhatItTakes:
    """A callable whose signature cannot be asked for."""

    @property
    def __signature__(self):
        raise RuntimeError("no")

    def __call__(self, table, ids):
        return table[: len(ids)]


@pytest.mark.parametrize(
    "attempt",
    [lambda *both: both[0][:1], lambda table, *more: table[:1], _HidesWhatItTakes()],
    ids=["stars", "a star", "hidden"],
)
def test_a_verdict_shows_the_bare_input_where_its_parts_have_no_names(attempt):
    assert "with [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [1]\n" in checks.check_look_up(attempt).problem


def test_a_verdict_is_escaped_text_for_screen_readers():
    html = checks.check_look_up(_fails)._repr_html_()
    assert html.startswith('<div role="status"') and "&lt;b&gt;no&lt;/b&gt;" in html and "<b>" not in html


def test_keyboard_interrupts_pass_through():
    def interrupted(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        checks.check_look_up(interrupted)


def _never_ends(*_):
    while True:
        pass


def _never_ends_and_catches(*_):
    while True:
        try:  # noqa: SIM105
            sum(range(100))
        except Exception:
            pass


def _never_ends_and_catches_everything(*_):
    while True:
        try:  # noqa: SIM105
            sum(range(100))
        except:  # noqa: E722
            pass


@pytest.mark.parametrize("attempt", [_never_ends, _never_ends_and_catches, _never_ends_and_catches_everything])
def test_a_loop_without_end_is_cut_short(attempt, monkeypatch):
    monkeypatch.setattr(verdict, "PATIENCE", 0.2)
    problem = checks.check_mean_vector(attempt).problem
    assert "one token: with [[1.0, 2.0, 3.0]] it was still running" in problem and "loop" in problem


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


def test_endless_recursion_is_named():
    def again(*arguments):
        return again(*arguments)

    assert "RecursionError" in checks.check_mean_vector(again).problem


def test_a_branch_without_return_is_a_mistake():
    verdict = checks.check_gets_gradient(lambda ids, v, p: rows(ids, v, p) if p is None else None)
    assert len(verdict.passed) == 3 and "returns nothing; is a `return` missing" in verdict.problem and verdict.hint


@pytest.mark.parametrize("number", [float, np.float64, np.float32, torch.tensor, lambda x: x])
def test_a_single_number_may_come_as_any_kind_of_number(number):
    assert checks.check_cross_entropy(lambda s, t: number(F.cross_entropy(s, t).item())).correct
    assert checks.check_flops(lambda t, d, f: number(2 * t * (4 * d**2 + 2 * d * f) + 4 * t**2 * d)).correct


def test_what_is_no_number_is_told_what_is_expected():
    assert "expected a tensor or a number, got str" in checks.check_cross_entropy(lambda s, t: "0").problem
    assert "expected a tensor, got float" in checks.check_look_up(lambda table, ids: 1.0).problem


def test_an_answer_in_float32_is_right_too():
    def in_float32(length, d_model, base):
        speed = base ** (-torch.arange(0, d_model, 2, dtype=torch.float32) / d_model)
        angles = torch.arange(length, dtype=torch.float32)[:, None] * speed
        return interleave(angles.sin(), angles.cos())

    assert checks.check_sinusoidal_table(in_float32).correct


def test_a_large_result_is_shown_where_it_differs_most():
    problem = checks.check_sinusoidal_table(lambda n, d, base: table_by_loop(n, d, base) + (n > 100)).problem
    assert "at (" in problem and "expected" in problem and "got" in problem
