"""Bad input to what makes explorers and asks questions: for what a cell hands in beside the controls' values."""

import math

import numpy as np
import pandas as pd
import torch
from bad_values import Entry, Wrong, numbers, types
from explorers import PAIR, SENTENCE, classifiers, minilm, recording

from encoder_lib.course import explore
from encoder_lib.course.kit.widget.result import as_result

NO_MODEL = types(None, torch.nn.Linear(2, 2))
NOTHING_TO_SEE = [
    *types(None, [1.0], b"text", 1j, np.zeros(2)),
    *numbers(" \n", "x" * 5000, "x\n" * 50, torch.zeros(20, 20, 20)),
    *numbers(pd.DataFrame(), pd.DataFrame({"a": range(61)}), pd.DataFrame([range(21)])),
]


def tables() -> torch.Tensor:
    """Three steps of a table of two words."""
    return torch.arange(12.0).view(3, 2, 2)


ENTRIES = [
    Entry(explore.heads, lambda: {"model": minilm(), "sentence": SENTENCE}, {"model": NO_MODEL}),
    Entry(explore.block_steps, lambda: {"model": minilm(), "sentence": SENTENCE}, {"model": NO_MODEL}),
    Entry(explore.walk, lambda: {"model": minilm(), "first": PAIR[0], "second": PAIR[1]}, {"model": NO_MODEL}),
    Entry(
        explore.similarity,
        lambda: {"tables": tables(), "words": ["a", "b"], "kinds": ["x", "y"]},
        {"tables": [*types(None, [[1.0]], tables().long()), *numbers(tables()[0], tables()[:1])]},
    ),
    Entry(
        explore.which_library,
        lambda: {"model": minilm(), "classifiers": classifiers(), "sentence": SENTENCE},
        {"model": NO_MODEL, "classifiers": numbers(classifiers()[:1])},
    ),
    Entry(explore.cost, dict, {"balance": [*types("10"), *numbers(0, math.nan)]}),
    Entry(explore.training_maps, lambda: {"recording": recording()}, {"recording": types(None)}, long=True),
    Entry(
        explore.predict,
        lambda: {"name": "alike"},
        {"name": [Wrong(v, KeyError) for v in ("?", None, ["alike"])], "show": types(3)},
    ),
    Entry(as_result, lambda: {"result": 3, "finding": "Because."}, {"result": NOTHING_TO_SEE}),
]
