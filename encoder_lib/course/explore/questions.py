"""The prediction questions of all notebooks, by name, and `predict`, which asks one; their texts are questions.toml."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from encoder_lib import expect
from encoder_lib.course.explore.widget.prediction import Prediction, Question

TEXTS = tomllib.loads(Path(__file__).with_name("questions.toml").read_text(encoding="utf-8"))
QUESTIONS = {name: Question(**texts) for name, texts in TEXTS.items()}


def predict(name: str, show: Callable[[], Any] | None = None) -> Prediction:
    """Ask the question `name` of `QUESTIONS`; what `show()` gives (see `Prediction`) is seen after the commitment.

    Raises KeyError for a name that is not there, TypeError for a `show` that is no function or gives nothing to see.
    """
    if not isinstance(name, str) or name not in QUESTIONS:
        raise KeyError(f"name: expected one of {sorted(QUESTIONS)}, got {expect.shown(name)}")
    return Prediction(QUESTIONS[name], show)
