"""Answers that training goes through: once their numbers are right, their gradients have to be right as well."""

from collections.abc import Callable, Sequence

from encoder_lib.course.kit.checking.verdict import Case, Verdict, examine


def examine_trained(exercise: str, attempt: Callable, reference: Callable, cases: Sequence[Case]) -> Verdict:
    """Try `attempt` on every case against `reference`, then compare gradients in every case.

    In that order, since a wrong formula may give the right number in a simple case, and no wrong gradient there should
    be taken for a detached tensor.
    """
    verdict = examine(exercise, attempt, reference, cases)
    return examine(exercise, attempt, reference, cases, gradients=True) if verdict.correct else verdict
