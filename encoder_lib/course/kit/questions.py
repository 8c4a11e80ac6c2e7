"""The prediction questions of all lessons, by name, and `predict`, which asks one.

A lesson's questions are in its questions.toml. `answer` is the index of the right choice, counted from 0, and `finding`
says what one sees, and why. Each text is on one line, so that a translation can be compared line by line.
"""

from collections.abc import Callable
from typing import Any

from encoder_lib import expect
from encoder_lib.course.kit import lessons
from encoder_lib.course.kit.widget.prediction import Prediction, Question

QUESTIONS = {name: Question(**texts) for name, texts in lessons.texts("questions.toml").items()}


def predict(name: str, show: Callable[[], Any] | None = None) -> Prediction:
    """Ask the question `name` of `QUESTIONS`; the result of `show()` (see `Prediction`) is shown after the commitment.

    Raises KeyError for an unknown name; TypeError if `show` is not a function, or if its result cannot be shown.
    """
    if not isinstance(name, str) or name not in QUESTIONS:
        raise KeyError(f"name: expected one of {sorted(QUESTIONS)}, got {expect.short_repr(name)}")
    return Prediction(QUESTIONS[name], show)
