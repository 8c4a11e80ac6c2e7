"""Bad input to the checks: whatever a learner's function is, does or gives back, the answer is a verdict in words."""

import warnings

import pytest
import torch
from answers import ANSWERS
from hostile_texts import HOSTILE
from tables_checks import ATTEMPTS, CHECKS, again, gives, raises, scribbles

from encoder_lib import checks
from encoder_lib.checks import verdict
from encoder_lib.checks.verdict import Verdict

each_check = pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)


@pytest.fixture(autouse=True)
def memory(monkeypatch):
    """What checks remember of earlier tries is what it was, before and after each test."""
    monkeypatch.setattr(verdict, "_tries", type(verdict._tries)())


@each_check
def test_whatever_an_attempt_is_or_does_the_answer_is_a_verdict(check, capsys):
    """Not right, said in words that can be shown, without markup, and not too many; random numbers stay."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "<b>careful</b>")
        warnings.filterwarnings("ignore", "coroutine .* was never awaited")  # so says Python to who writes `async`
        for name, attempt in ATTEMPTS.items():
            random = torch.get_rng_state()
            said = check(attempt)
            assert type(said) is Verdict and not said.correct and said.problem, name
            text, page = repr(said), said._repr_html_()
            text.encode()
            page.encode()
            assert len(text) < 4000 and not {"\x00", "\x1b"} & set(text), name
            assert "<b>" not in page and "<img" not in page and "<script" not in page, name
            assert torch.equal(torch.get_rng_state(), random), name
    capsys.readouterr()


@each_check
def test_after_the_worst_attempts_a_right_one_is_right(check):
    """Nothing of what an attempt did is left: the check's own inputs are whole."""
    if check in ANSWERS:
        check(scribbles)
        check(again)
        assert check(next(iter(ANSWERS[check][0].values()))).correct
    else:
        assert (
            not check(scribbles).correct and not check(scribbles).correct
        )  # the clinic's answers have their own tests


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_words_of_an_attempt_are_quoted_and_nothing_more(text):
    """In an exception, in a result, and in the place of a function."""
    for attempt in (raises(ValueError(text)), raises(SystemExit(text)), gives(text), text):
        said = checks.check_unit(attempt)
        said._repr_html_().encode()
        assert not said.correct and len(repr(said)) < 4000
        assert said._repr_html_().count("<") == checks.check_unit(gives(3))._repr_html_().count("<")


@pytest.mark.long
@pytest.mark.parametrize("name", ["check_unit", "check_split"])
def test_a_loop_without_end_takes_five_seconds_and_no_more(name):
    """With the limit that readers have."""

    def forever(*_):
        while True:
            pass

    said = CHECKS[name](forever)
    assert not said.correct and "still running after 5 seconds" in said.problem
