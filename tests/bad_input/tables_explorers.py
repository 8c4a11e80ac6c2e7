"""Bad input to what makes explorers: for every parameter of every public function, every wrong kind of value."""

import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from bad_values import (
    AXES,
    FLAG,
    FUNCTION,
    HUGE,
    LIMITS,
    LONG,
    NO_INTEGER,
    TEXT,
    Entry,
    Wrong,
    labels,
    numbers,
    optional,
    types,
)
from explorers import EXPLORERS, SENTENCE, minilm, recording
from matplotlib.figure import Figure

from encoder_lib import explore
from encoder_lib.explore import Heatmap, Question, Range, Tokens, View

NAN, INF = math.nan, math.inf
NO_NUMBER = types("3", None, True, [1], 1j, b"3", {}, torch.tensor(3.0), np.array([1, 2]), np.bool_(True))
NO_TEXT = types(None, 3, b"text", ["text"], 1.5, {}, True)
NO_FLAG = types(1, 0, None, "yes", "", [], np.bool_(True), NAN)
NO_OPTION = numbers("?", "", None, [], {}, 1j, True, NAN, HUGE, "x" * 1000, "\ud800", torch.tensor([1, 2]), np.eye(2))
SLOW = ("depth", "fit_curve", "training_maps", "block_steps", "normalise")  # a second or more to make, or to draw
NAMES = [n for n in EXPLORERS if n not in ("atlas", "attend without masks")]  # the same controls a second time


# ---- what makes them: every parameter of every public function ----


def heatmap(**options) -> Heatmap:
    """Two words that look at each other."""
    return Heatmap([[0.5, 0.5], [0.0, 1.0]], **{"x_ticks": ["a", "b"], "y_ticks": ["a", "b"]} | options)


def framed() -> View:
    """Three frames."""
    return View(Heatmap(np.zeros((3, 2, 2))), description="Zeros.", frames="step")


def shown(**_) -> View:
    """What a small explorer shows."""
    return View(heatmap(), description="Two words.")


def tables() -> torch.Tensor:
    """Three steps of a table of two words."""
    return torch.arange(12.0).view(3, 2, 2)


QUESTION = Question("Which?", ("a", "b"), 0, "Because.")
CONTROL = Range("length", 4, min=1, max=8)
NO_MODEL = types(None, 3, "minilm", torch.nn.Linear(2, 2))
SLIDER = [*types("3", None, True, [1], 1j), *numbers(10**6, -(10**6), NAN, INF, LONG)]
OPTION = numbers("?", "", None, -3, ["x"], {})
BOUND = [*types("3", None, True, [1]), *numbers(NAN, INF, HUGE)]
DRAWN = dict.fromkeys(("title", "x_label", "y_label", "missing"), "any object is drawn as one line of its text")
LABEL = {"label": "any object is shown as one line of its text"}
TWO_TEXTS = [*types(None, 3, "ab", [1, 2]), *numbers([], ["a"], ["a"] * 3)]
NO_CHOICE = [*types(None, "0", 0.5, True), *(Wrong(n, IndexError) for n in (2, -1, HUGE))]
NO_ROWS = [*types(3, 1.5, True), *numbers([], ["a", "b"])]
NO_VALUES = [
    *types("text", None, [[1, "a"]], [[1j]], object(), torch.zeros(2, 2, device="meta")),
    *numbers([1.0], np.zeros((2, 2, 2, 2)), np.zeros((0, 2)), np.zeros((513, 2)), [[1], [1, 2]]),
]
NOTHING_TO_SEE = [
    *types(None, [1.0], {}, b"text", 1j, object(), np.zeros(2), torch.zeros(2, device="meta"), torch.tensor(1j)),
    *numbers("", " \n", "x" * 5000, "x\n" * 50, torch.zeros(2, 2, 2), torch.zeros(300)),
    *numbers(pd.DataFrame(), pd.DataFrame({"a": range(61)}), pd.DataFrame([range(21)])),
]
NO_FRAME = [*types(None, "0", 0.5, True, [0]), *(Wrong(n, IndexError) for n in (3, -1, HUGE))]

ENTRIES = [
    Entry(
        "explore.attend",
        lambda: {"sentence": "a b"},
        {"sentence": NO_TEXT, "similarity": SLIDER, "masks": FLAG},
    ),
    Entry(
        "explore.head_slices",
        lambda: {},
        {"n_heads": numbers("?", "3", None, ["x"], {}, 5, 0, NAN, -1), "head": SLIDER},
    ),
    Entry(
        "explore.heads",
        lambda: {"model": minilm(), "sentence": SENTENCE},
        {"model": NO_MODEL, "sentence": NO_TEXT, "layer": SLIDER, "head": SLIDER, "atlas": FLAG},
    ),
    Entry(
        "explore.block_steps",
        lambda: {"model": minilm(), "sentence": SENTENCE},
        {"model": NO_MODEL, "sentence": NO_TEXT, "step": SLIDER, "layer": SLIDER, "order": OPTION},
    ),
    Entry("explore.look_up", lambda: {}, dict.fromkeys(("first", "second", "third"), SLIDER), draws=True),
    Entry(
        "explore.similarity",
        lambda: {"tables": tables(), "words": ["a", "b"], "kinds": ["x", "y"]},
        {
            "tables": [*types(None, 3, [[1.0]], tables().long()), *numbers(tables()[0], tables()[:1], tables()[None])],
            "words": TWO_TEXTS,
            "kinds": TWO_TEXTS,
        },
    ),
    Entry("explore.positional", lambda: {}, dict.fromkeys(("length", "d_model", "base", "shift"), SLIDER)),
    Entry("explore.clocks", lambda: {}, dict.fromkeys(("position", "shift"), SLIDER)),
    Entry(
        "explore.normalise",
        lambda: {},
        {"method": OPTION} | dict.fromkeys(("mean", "spread", "outlier", "mates", "gain", "bias", "eps"), SLIDER),
    ),
    Entry(
        "explore.cost",
        lambda: {},
        {"number": OPTION, "balance": [*types("10", None, [10], True), *numbers(0, -1, NAN, INF)]}
        | dict.fromkeys(("tokens", "batch", "width", "padding"), SLIDER),
    ),
    Entry("explore.depth", lambda: {}, {"depth": SLIDER, "order": OPTION, "init": OPTION}),
    Entry("explore.fit_curve", lambda: {}, {"width": SLIDER, "unit": SLIDER, "activation": OPTION, "curve": OPTION}),
    Entry(
        "explore.training_maps",
        lambda: {"recording": recording()},
        {"recording": types(None, 3, "maps", [1]), **dict.fromkeys(("sequence", "layer", "head"), SLIDER)},
        long=True,
    ),
    # ---- controls ----
    Entry(
        "explore.Checkbox",
        lambda: {"name": "value", "value": True},
        {
            "name": [*types(None, 3, b"a", ["a"]), *numbers("", "two words", "class", "_a", "\ud800", "1a")],
            "value": NO_FLAG,
        },
        LABEL,
    ),
    Entry(
        "explore.Text",
        lambda: {"name": "value", "value": "b"},
        {"name": TEXT, "value": NO_TEXT, "max_length": [*NO_INTEGER, *numbers(0, -1)]},
        LABEL,
    ),
    Entry(
        "explore.Select",
        lambda: {"name": "value", "value": "x", "options": ["x", "y"]},
        {
            "name": TEXT,
            "value": NO_OPTION,
            "options": [*types(None, 3, "xy", [None, "x"], [["x"]]), *numbers([], ["y"])],
        },
        LABEL,
    ),
    Entry(
        "explore.Number",
        lambda: {"name": "value", "value": 1, "min": 0, "max": 4},
        {
            "name": TEXT,
            "value": [*NO_NUMBER, *numbers(-1, 5, NAN, INF, HUGE)],
            "min": [*BOUND, *numbers(4, 9, 2)],
            "max": [*BOUND, *numbers(0, -1)],
            "step": [*BOUND, *numbers(0, -1, 3)],
        },
        LABEL,
    ),
    Entry(
        "explore.Range",
        lambda: {"name": "value", "value": 1, "min": 0, "max": 4},
        {
            "name": TEXT,
            "value": [*NO_NUMBER, *numbers(-1, 5, NAN, INF, HUGE)],
            "min": [*BOUND, *numbers(4, 9, 2)],
            "max": [*BOUND, *numbers(0, -1)],
            "step": [*optional(BOUND), *numbers(0, -1, 3, None)],
            "log": FLAG,
        },
        LABEL,
    ),
    # ---- explorers and views ----
    Entry(
        "explore.Explorer",
        lambda: {"show": shown, "title": "Title", "controls": CONTROL},
        {
            "show": [*FUNCTION, *types(lambda **_: None, lambda **_: "words", lambda **_: heatmap())],
            "controls": [
                *types(None, 3, "length", Range, {"name": "a"}),
            ],
            "figure": types(3, "figure", [], plt),
        },
        {"title": "any object is shown as one line of its text"},
        call=lambda show, controls, **options: explore.Explorer(show, controls, **options),
    ),
    Entry(
        "explore.Heatmap",
        lambda: {"values": [[0.0, 1.0]]},
        {
            "values": NO_VALUES,
            "x_ticks": labels(2),
            "y_ticks": NO_ROWS,
            "limits": LIMITS,
            "cmap": numbers("?", "", 3, None, ["viridis"]),
            "window": [*types("1", 1.5, True, [1]), *numbers(0, 2, -1)],
            "tile": [*types("1", 1.5, True, [1]), *numbers(0, 3, -1)],
        },
        DRAWN,
    ),
    Entry("explore.Heatmap.frame", lambda: {"index": 1}, {"index": NO_FRAME}, call=framed().panels[0].frame),
    Entry(
        "explore.Heatmap.draw",
        lambda: {"index": 1, "ax": Figure().add_subplot()},
        {"index": NO_FRAME, "ax": AXES},
        call=framed().panels[0].draw,
    ),
    Entry(
        "explore.Tokens",
        lambda: {"weights": heatmap()},
        {
            "weights": types(None, 3, [[1.0]]),
            "chosen": NO_CHOICE,
        },
        {"title": "any object is shown as one line of its text"},
    ),
    Entry(
        "explore.Tokens.draw",
        lambda: {"index": 0, "ax": Figure().add_subplot()},
        {"ax": AXES},
        {"index": "without frames there is one matrix"},
        call=Tokens(heatmap()).draw,
    ),
    Entry(
        "explore.View",
        lambda: {"panels": heatmap(), "description": "Words."},
        {
            "panels": types(None, 3, [[1.0]], Heatmap),
            "description": [*types(None, 3, [3], [None], b"words"), *numbers("", " \n", [], ["a", ""], ["a", "b"])],
            "frames": [*types(3, ["step"], True), *numbers("step")],
            "tokens": types(3, "tokens", heatmap()),
        },
        call=lambda panels, **options: View(panels, **options),
    ),
    Entry(
        "explore.View.draw",
        lambda: {"index": 1},
        {"index": NO_FRAME},
        call=View(Heatmap(np.zeros((3, 2, 2))), description="A.", frames="step").draw,
    ),
    # ---- questions ----
    Entry(
        "explore.predict",
        lambda: {"name": "alike"},
        {"name": [Wrong(v, KeyError) for v in ("?", "", None, 3, ["alike"], {})], "show": optional(FUNCTION)},
    ),
    Entry(
        "explore.Prediction",
        lambda: {"question": QUESTION},
        {"question": types(None, 3, "alike", {}), "show": optional(FUNCTION)},
    ),
    Entry(
        "explore.widget.result.as_result",
        lambda: {"result": 3, "finding": "Because."},
        {"result": NOTHING_TO_SEE, "finding": TEXT},
    ),
    Entry(
        "explore.widget.result.plain",
        lambda: {"number": 0.5},
        {"number": [*types(None, "3", 1j, [1], torch.tensor(3.0)), *numbers(HUGE, -HUGE, LONG)]},
    ),
    Entry(
        "explore.judge",
        lambda: {"question": QUESTION, "choice": 0},
        {
            "question": types(None, 3, "alike"),
            "choice": [*types(None, "0", 0.5, True), *(Wrong(n, IndexError) for n in (2, -1, HUGE))],
        },
    ),
    Entry(
        "explore.Question",
        lambda: {"prompt": "Which?", "choices": ("a", "b"), "answer": 0, "finding": "Because."},
        {
            "prompt": TEXT,
            "finding": TEXT,
            "choices": [*types(None, 3, "ab", [1, 2]), *numbers((), ("a",))],
            "answer": NO_CHOICE,
        },
    ),
]
