"""Checks of answers that are used in training: after the numbers, the gradients must be right as well."""

from collections.abc import Callable, Sequence

from encoder_lib.course.kit.checking.verdict import Case, Verdict, examine


def examine_trained(exercise: str, attempt: Callable, reference: Callable, cases: Sequence[Case]) -> Verdict:
    """Try `attempt` on every case against `reference`, then compare gradients in every case.

    The gradients come last because a wrong formula may give the right number in a simple case; its wrong gradient there
    should not be reported as a detached tensor.
    """
    verdict = examine(exercise, attempt, reference, cases)
    return examine(exercise, attempt, reference, cases, gradients=True) if verdict.correct else verdict
