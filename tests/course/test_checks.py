"""Each check accepts right answers in more than one style and rejects what learners get wrong."""

import pytest
import torch
from answers import ANSWERS

from encoder_lib.course import checks
from encoder_lib.course import debugging_clinic as clinic
from encoder_lib.course.kit.checking import verdict

RIGHT = [pytest.param(c, f, id=f"{c.__name__}: {n}") for c, (right, _) in ANSWERS.items() for n, f in right.items()]
WRONG = [pytest.param(c, f, id=f"{c.__name__}: {n}") for c, (_, wrong) in ANSWERS.items() for n, f in wrong.items()]
GENERAL = {"everywhere", "mistakes", "symptoms"}  # tables of hints that belong to no single exercise


def test_every_check_is_tried_here_with_enough_mistakes():
    assert set(checks.CHECKS.values()) == set(ANSWERS)
    assert all(len(right) >= 2 and len(wrong) >= 5 for right, wrong in ANSWERS.values())


@pytest.mark.parametrize(("check", "answer"), RIGHT)
def test_a_right_answer_is_accepted(check, answer, default_dtype):
    verdict = check(answer)
    assert verdict.correct, verdict
    assert len(verdict.passed) >= 2 and not verdict.hint


@pytest.mark.parametrize(("check", "answer"), WRONG)
def test_a_wrong_answer_is_rejected_with_an_example_and_a_hint(check, answer):
    verdict = check(answer)
    assert not verdict.correct
    assert verdict.problem and verdict.hint


@pytest.mark.parametrize("check", [pytest.param(c, id=c.__name__) for c in ANSWERS])
@pytest.mark.parametrize("attempt", [lambda *_: ..., lambda *_: None])
def test_a_placeholder_is_not_a_mistake(check, attempt):
    verdict = check(attempt)
    assert not verdict.correct and "nothing yet" in verdict.problem and not verdict.hint


def test_every_hint_is_given_by_some_case(monkeypatch):
    met = {}

    def note(exercise, looks, _):
        met[exercise] = [(look.label, look.hint) for look in looks]
        return verdict.Verdict(exercise, ())

    monkeypatch.setattr(verdict, "_first_problem", note)
    clinic_checks = [getattr(clinic, name) for name in clinic.__all__ if name.startswith("check_")]
    for check in (*checks.CHECKS.values(), *clinic_checks):
        check(lambda *_: torch.zeros(1))
    texts = {name: text for name, text in verdict.HINTS.items() if name not in GENERAL | {"my_name"}}
    assert met.keys() == texts.keys()  # my_name is a workshop's
    everywhere, given = verdict.HINTS["everywhere"], set()
    for exercise, text in texts.items():
        own, names = text.get("inputs", {}), {hint or label for label, hint in met[exercise]}
        assert 2 <= len(text["hints"]) <= 3 and own.keys() <= names, exercise
        assert all(hint in own or hint in everywhere for _, hint in met[exercise] if hint), exercise
        given |= names - own.keys()
    assert everywhere.keys() <= given
