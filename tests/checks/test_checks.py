"""Each check accepts right answers in more than one style and rejects what learners get wrong."""

import pytest
import torch
from answers import ANSWERS

from encoder_lib import checks

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
