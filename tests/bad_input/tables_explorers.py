"""Bad input to what makes explorers and asks questions: for every parameter that a cell hands in, what is refused."""

import math

import numpy as np
import pandas as pd
import torch
from bad_values import FUNCTION, Entry, Wrong, numbers, optional, types
from explorers import EXPLORERS, PAIR, SENTENCE, minilm, recording

NAMES = [n for n in EXPLORERS if n not in ("atlas", "attend without masks")]  # the same controls a second time
# The value that a control starts with goes to the control, which test_explorers.py tries with more
SLIDER, OPTION, TEXT = numbers(1e9), numbers("?"), types(3)
NO_MODEL = types(None, torch.nn.Linear(2, 2))
SWITCH = "what counts as true switches it on"
NOTHING_TO_SEE = [
    *types(None, [1.0], b"text", 1j, np.zeros(2)),
    *numbers(" \n", "x" * 5000, "x\n" * 50, torch.zeros(20, 20, 20)),
    *numbers(pd.DataFrame(), pd.DataFrame({"a": range(61)}), pd.DataFrame([range(21)])),
]


def tables() -> torch.Tensor:
    """Three steps of a table of two words."""
    return torch.arange(12.0).view(3, 2, 2)


def sliders(*names: str) -> dict:
    """Parameters that are values of a slider."""
    return dict.fromkeys(names, SLIDER)


ENTRIES = [
    Entry(
        "explore.attend", lambda: {"sentence": "a b"}, {"sentence": TEXT, **sliders("similarity")}, {"masks": SWITCH}
    ),
    Entry("explore.head_slices", dict, {"n_heads": numbers(5), **sliders("head")}),
    Entry(
        "explore.heads",
        lambda: {"model": minilm(), "sentence": SENTENCE},
        {"model": NO_MODEL, "sentence": TEXT, **sliders("layer", "head")},
        {"atlas": SWITCH},
    ),
    Entry(
        "explore.block_steps",
        lambda: {"model": minilm(), "sentence": SENTENCE},
        {"model": NO_MODEL, "sentence": TEXT, "order": OPTION, **sliders("step", "layer")},
    ),
    Entry(
        "explore.walk",
        lambda: {"model": minilm(), "first": PAIR[0], "second": PAIR[1]},
        {"model": NO_MODEL, **dict.fromkeys(("first", "second", "word"), TEXT), **sliders("station")},
    ),
    Entry("explore.look_up", dict, sliders("first", "second", "third"), draws=True),
    Entry(
        "explore.similarity",
        lambda: {"tables": tables(), "words": ["a", "b"], "kinds": ["x", "y"]},
        {"tables": [*types(None, [[1.0]], tables().long()), *numbers(tables()[0], tables()[:1])]},
        dict.fromkeys(("words", "kinds"), "another number of them is refused by the heatmap, or by torch"),
    ),
    Entry("explore.positional", dict, sliders("length", "d_model", "base", "shift")),
    Entry("explore.clocks", dict, sliders("position", "shift")),
    Entry(
        "explore.normalise",
        dict,
        {"method": OPTION, **sliders("mean", "spread", "outlier", "mates", "gain", "bias", "eps")},
    ),
    Entry(
        "explore.cost",
        dict,
        {
            "number": OPTION,
            "balance": [*types("10"), *numbers(0, math.nan)],
            **sliders("tokens", "batch", "width", "padding"),
        },
    ),
    Entry("explore.depth", dict, {"order": OPTION, "init": OPTION, **sliders("depth")}),
    Entry("explore.fit_curve", dict, {"activation": OPTION, "curve": OPTION, **sliders("width", "unit")}),
    Entry(
        "explore.training_maps",
        lambda: {"recording": recording()},
        {"recording": types(None), **sliders("sequence", "layer", "head")},
        long=True,
    ),
    Entry(
        "explore.predict",
        lambda: {"name": "alike"},
        {"name": [Wrong(v, KeyError) for v in ("?", None, ["alike"])], "show": optional(FUNCTION)},
    ),
    Entry(
        "explore.widget.result.as_result",
        lambda: {"result": 3, "finding": "Because."},
        {"result": NOTHING_TO_SEE},
        {"finding": "a text of the library"},
    ),
]
