"""Explorers and prediction questions: `explore.attend()` shows one, `explore.predict("name", show)` asks one.

The explorers are the functions in the lessons' `explorers` modules that return an `Explorer`. `alive` and
`search` belong to several lessons.
"""

from typing import Any

from encoder_lib.course.kit import lessons
from encoder_lib.course.kit.questions import predict
from encoder_lib.course.kit.widget.alive import Alive, alive
from encoder_lib.course.kit.widget.controls import Checkbox, Control, Range, Select, Text
from encoder_lib.course.kit.widget.explorer import Explorer, returns_explorer
from encoder_lib.course.kit.widget.prediction import Prediction, Question
from encoder_lib.course.kit.widget.search import Search, search
from encoder_lib.course.kit.widget.views import Heatmap, View

__all__ = [
    "EXPLORERS", "Alive", "Checkbox", "Control", "Explorer", "Heatmap", "Prediction", "Question", "Range", "Search",
    "Select", "Text", "View", "alive", "predict", "search",
]  # fmt: skip

EXPLORERS = lessons.functions("explorers", returns_explorer)


def __getattr__(name: str) -> Any:
    if name not in EXPLORERS:
        raise AttributeError(f"expected one of the explorers {', '.join(sorted(EXPLORERS))}, got {name!r}")
    return EXPLORERS[name]


def __dir__() -> list[str]:
    return [*__all__, *EXPLORERS]
