"""Bad input to what makes explorers and asks questions: for what a cell hands in beside the controls' values."""

import math

import numpy as np
import pandas as pd
import torch
from bad_values import Entry, Wrong, numbers, types
from explorers import PAIR, SENTENCE, minilm, recording

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
    Entry(explore.one_row, lambda: {"model": minilm(), "sentence": SENTENCE}, {"model": NO_MODEL}),
    Entry(
        explore.alive,
        lambda: {"model": minilm(), "first": PAIR[0], "second": PAIR[1]},
        {
            "model": NO_MODEL,
            "first": [*types(3, b"text", ["text"]), *numbers("a " * 70, "x" * 501)],
            "second": [*types(3, b"text"), *numbers("a " * 70)],
            "word": [*types(3, ["bank"]), *numbers("river", "?")],
            "open": [*types("1", 1.5, True), *numbers(0, 7)],
            "predict": types(1, None, "yes"),
        },
    ),
    Entry(
        explore.search,
        lambda: {"model": minilm(), "texts": ["a", "b", "c"], "question": SENTENCE},
        {
            "model": NO_MODEL,
            "texts": [*types(3, "a", None, [1, 2, 3]), *numbers([], ["a", "b"], ["a"] * 9, ["a", "b", " "])],
            "question": [*types(3, None, b"text"), *numbers("", " \n", "x" * 201)],
        },
    ),
    Entry(
        explore.similarity,
        lambda: {"tables": tables(), "words": ["a", "b"], "kinds": ["x", "y"]},
        {"tables": [*types(None, [[1.0]], tables().long()), *numbers(tables()[0], tables()[:1])]},
    ),
    Entry(
        explore.who_notices,
        lambda: {"noticed": pd.DataFrame({"test": [True, False]})},
        {
            "noticed": [
                *types(None, [[True]], np.eye(2), pd.Series([True]), pd.DataFrame({"test": [1]})),
                *numbers(pd.DataFrame(), pd.DataFrame({"test": [True] * 13})),
            ]
        },
    ),
    Entry(
        explore.word_arrows,
        lambda: {"runs": [tables(), tables()], "words": ["a", "b"], "kinds": ["x", "y"]},
        {
            "runs": [
                *types(None, [[1.0]], [tables().long()]),
                *numbers([], [tables()[:1]], [tables(), tables()[:2]], [tables()[0]]),
            ],
            "kinds": numbers(["x"]),
        },
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
