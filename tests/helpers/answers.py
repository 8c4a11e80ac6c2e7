"""What learners answer, from each lesson's file of answers: check -> (right answers, wrong ones), each by name."""

import sys
from functools import lru_cache
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType

from places import ROOT


@lru_cache
def answers_of(lesson: str) -> ModuleType:
    """The lesson's file of answers as a module."""
    spec = spec_from_file_location(f"answers_{lesson}", ROOT / f"tests/course/{lesson}/answers.py")
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ANSWERS = {}
for file in sorted((ROOT / "tests/course").glob("*/answers.py")):
    ANSWERS.update(getattr(answers_of(file.parent.name), "ANSWERS", {}))
