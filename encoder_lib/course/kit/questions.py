"""The prediction questions of all lessons, by name, and `predict`, which asks one.

A lesson's questions stand in its questions.toml: `answer` is the place of the right choice, counted from 0; `finding`
says what is seen, and why. One line a text, so that a translation stands line by line beside it.
"""

from collections.abc import Callable
from typing import Any

from encoder_lib import expect
from encoder_lib.course.kit import lessons
from encoder_lib.course.kit.widget.prediction import Prediction, Question

QUESTIONS = {name: Question(**texts) for name, texts in lessons.texts("questions.toml").items()}


def predict(name: str, show: Callable[[], Any] | None = None) -> Prediction:
    """Ask the question `name` of `QUESTIONS`; what `show()` gives (see `Prediction`) is seen after the commitment.

    Raises KeyError for a name that is not there, TypeError for a `show` that is no function or gives nothing to see.
    """
    if not isinstance(name, str) or name not in QUESTIONS:
        raise KeyError(f"name: expected one of {sorted(QUESTIONS)}, got {expect.short_repr(name)}")
    return Prediction(QUESTIONS[name], show)
