"""What the checks of the exercises cost: no question to a right answer takes more than a tenth of its limit."""

import time

import pytest
from answers import ANSWERS

from encoder_lib.course.kit.checking import verdict

RIGHT = [pytest.param(c, f, id=f"{c.__name__}: {n}") for c, (right, _) in ANSWERS.items() for n, f in right.items()]


@pytest.mark.parametrize(("check", "answer"), RIGHT)
def test_a_right_answer_takes_a_tenth_of_the_limit_at_most(check, answer, monkeypatch):
    spent = []

    def timed(seconds, function, *arguments, run=verdict.run_within):
        start = time.process_time()
        try:
            return run(seconds, function, *arguments)
        finally:
            spent.append(time.process_time() - start)

    check(answer)  # loads what torch imports at its first use, which the limit doesn't count
    monkeypatch.setattr(verdict, "run_within", timed)
    assert check(answer).correct
    assert max(spent) <= verdict.PATIENCE / 10
