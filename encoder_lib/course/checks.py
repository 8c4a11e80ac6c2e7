"""Checks of the exercises: `checks.check_x(attempt)` tries the learner's code and returns a verdict.

These are the functions in the lessons' `checks` modules whose names begin with `check_`.
"""

from typing import Any

from encoder_lib.course.kit import lessons

CHECKS = lessons.functions("checks", lambda function: function.__name__.startswith("check_"))


def __getattr__(name: str) -> Any:
    if name not in CHECKS:
        raise AttributeError(f"expected one of the checks {', '.join(sorted(CHECKS))}, got {name!r}")
    return CHECKS[name]


def __dir__() -> list[str]:
    return ["CHECKS", *CHECKS]
