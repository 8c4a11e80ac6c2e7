"""Known mistakes: if one of them explains a wrong result, the verdict names it and gives the hint for it."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial

from encoder_lib.course.kit.checking import verdict
from encoder_lib.course.kit.checking.verdict import HINTS, Case, Verdict, problem_on

Mistakes = Sequence[tuple[str, Callable]]  # name -> a function that makes this mistake
LOW_SCORE = -600.0  # below most finite stand-ins for −∞, and e^−600 is still a number in float64


def examine_with_mistakes(
    exercise: str,
    attempt: Callable,
    reference: Callable,
    cases: Sequence[Case],
    mistakes: Mistakes,
    *,
    with_gradients: Collection[str] = (),
) -> Verdict:
    """Try `attempt` on every case, as `examine` does, and name the known mistake that explains the first wrong result.

    hints.toml has a hint for each mistake under its name. Gradients are compared in the cases whose labels are in
    `with_gradients`.
    """
    found = ""

    def problem_at(case: Case) -> str:
        nonlocal found
        problem = problem_on(attempt, reference, case, gradients=case.label in with_gradients)
        if "expected" in problem:  # otherwise there is no result, or only its gradients are wrong
            found = _explanation(attempt, reference, cases[: cases.index(case) + 1], mistakes)
        return f"{problem}\nThis result comes from {found}." if found else problem

    result = verdict._first_problem(exercise, cases, problem_at)
    return replace(result, hint=HINTS[exercise]["mistakes"][found]) if found else result


def _explanation(attempt: Callable, reference: Callable, cases: Sequence[Case], mistakes: Mistakes) -> str:
    """The known mistake that gives the attempt's results in the last case and in the earlier ones, which are right."""
    *before, last = cases
    for name, mistaken in mistakes:
        right_before = not any(map(partial(problem_on, mistaken, reference), before))
        if right_before and not problem_on(attempt, mistaken, last):
            return name
    return ""
