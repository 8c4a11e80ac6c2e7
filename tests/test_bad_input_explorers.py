"""Bad input to the explorers: from Python to each control, from a front end that means harm, and to what makes them."""

import logging
import math
from functools import lru_cache

import matplotlib.pyplot as plt
import numpy as np
import pytest
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
    cases,
    check_refusal,
    complete,
    labels,
    numbers,
    optional,
    types,
)
from matplotlib.figure import Figure
from test_live import EXPLORERS, SENTENCE, _minilm, _recording, ends_of, picture

from encoder_lib import explore
from encoder_lib.explore import Checkbox, Heatmap, Question, Range, Select, Tokens, View

NAN, INF = math.nan, math.inf
NO_NUMBER = types("3", None, True, [1], 1j, b"3", {}, torch.tensor(3.0), np.array([1, 2]), np.bool_(True))
NO_TEXT = types(None, 3, b"text", ["text"], 1.5, {}, True)
NO_FLAG = types(1, 0, None, "yes", "", [], np.bool_(True), NAN)
NO_OPTION = numbers("?", "", None, [], {}, 1j, True, NAN, HUGE, "x" * 1000, "\ud800", torch.tensor([1, 2]), np.eye(2))


def wrong_for(control) -> list[Wrong]:
    """What a control does not take."""
    if isinstance(control, Range):
        beyond = (control.min - 1, control.max + 1, NAN, INF, -INF, HUGE, -HUGE, LONG, np.float64(NAN))
        return [*NO_NUMBER, *numbers(*beyond)]
    if isinstance(control, Select):
        return NO_OPTION
    return NO_FLAG if isinstance(control, Checkbox) else NO_TEXT


made = lru_cache(lambda name: EXPLORERS[name]())
SLOW = ("depth", "fit_curve", "training_maps", "block_steps", "normalise")  # a second or more to make, or to draw
NAMES = [n for n in EXPLORERS if n not in ("atlas", "attend without masks")]  # the same controls a second time
each_explorer = pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.long) if n in SLOW else n for n in NAMES]
)


def seen(explorer):
    """All that a reader sees, and the values of the controls."""
    return explorer.values, picture(explorer), explorer._descriptions, explorer.error, explorer.title


def works(explorer) -> None:
    """Each control still moves the picture: the first one is driven to both its ends and back."""
    start, (name, control) = explorer.values, next(iter(explorer._by_name.items()))
    pictures = set()
    for value in ends_of(control):
        explorer.set(**{name: value})
        pictures.add(picture(explorer))
        assert explorer.error == "" and explorer.description
    assert len(pictures) == 2
    explorer.set(**start)


# ---- set from Python ----


@each_explorer
def test_what_a_control_does_not_take_changes_nothing(name):
    """Each control of each explorer, each wrong value, as a trait and by `set`: refused in words, and all goes on."""
    explorer = made(name)
    before, tried = seen(explorer), 0
    for trait, control in explorer._by_name.items():
        for value, kind in wrong_for(control):
            for put in (lambda v, t=trait: setattr(explorer, t, v), lambda v, t=trait: explorer.set(**{t: v})):
                with pytest.raises(kind) as error:
                    put(value)
                assert type(error.value) is kind and not (lacks := complete(error.value, value, trait)), lacks
                tried += 1
            assert explorer.values == before[0] and explorer.error == ""
    assert seen(explorer) == before and tried >= 14 * len(explorer._by_name)
    works(explorer)


@each_explorer
def test_unknown_names_are_refused_and_set_nothing(name):
    """A control that is not there, alone and beside one that is."""
    explorer = made(name)
    before, first = seen(explorer), next(iter(explorer._by_name))
    for values in ({"no_such": 1}, {first: explorer.values[first], "title ": 1}, {"_data": b""}, {"title": "x"}):
        with pytest.raises(KeyError, match=r"expected some of .*, got"):
            explorer.set(**values)
    assert seen(explorer) == before


# ---- messages of a front end that means harm ----

FORGED = {
    "_esm": "alert(1)",
    "_css": "* { display: none }",
    "_controls": [{"kind": "range", "name": "x"}],
    "_descriptions": [],
    "_panels": [{}] * 9,
    "_limits": "none",
    "_colours": {"viridis": b""},
    "_data": b"\x00" * 64,
    "_frames": "nothing",
    "_tokens": {"panel": 99},
    "_picture": b"no picture",
    "title": "<img src=x onerror=alert(1)>",
    "error": "<script>alert(1)</script>",
    "layout": "IPY_MODEL_nothing",
    "comm": None,
    "_model_module": "evil",
    "_view_name": None,
    "_show": "print(1)",
    "__class__": "dict",
    "no_such": [0] * 100_000,
    "values": {},
}
MALFORMED = {
    "no method": {},
    "no state": {"method": "update"},
    "state is a list": {"method": "update", "state": [1, 2]},
    "state is a text": {"method": "update", "state": "length"},
    "state is None": {"method": "update", "state": None},
    "state of numbers": {"method": "update", "state": {"3": 3, "": ""}},
    "buffers that are not there": {"method": "update", "state": {}, "buffer_paths": [["a", 0]]},
    "buffer into a control": {"method": "update", "state": {"x": {}}, "buffer_paths": [["x", "y"]]},
    "unknown method": {"method": "eval", "state": {}},
    "method is a number": {"method": 3},
    "custom without content": {"method": "custom"},
    "custom with markup": {"method": "custom", "content": "<b>"},
    "command": {"method": "custom", "content": {"kind": "anywidget-command", "name": "_compute", "msg": {}, "id": 1}},
}


def send(widget, data, buffers=()):
    """A message from the front end, as the kernel hands it on."""
    widget._handle_msg({"content": {"data": data}, "buffers": list(buffers)})


@each_explorer
def test_a_front_end_moves_controls_and_nothing_else(name):
    """Forged traits are left alone, each alone and all together, and with a control's own value among them."""
    explorer = made(name)
    before, traits = (
        seen(explorer),
        {n: getattr(explorer, n, None) for n in ("_esm", "_css", "_model_module", "layout")},
    )
    controls, panels, colours = explorer._controls, explorer._panels, explorer._colours
    for state in [*({key: value} for key, value in FORGED.items()), FORGED, FORGED | explorer.values]:
        send(explorer, {"method": "update", "state": dict(state)})
        assert seen(explorer) == before
    assert {n: getattr(explorer, n, None) for n in traits} == traits
    assert (explorer._controls, explorer._panels, explorer._colours) == (controls, panels, colours)
    works(explorer)


@each_explorer
def test_a_value_that_a_control_refuses_shows_as_an_error_and_is_taken_back(name, monkeypatch):
    """The reader is told, the picture stays, the front end gets the value that counts, and the next message works."""
    explorer = made(name)
    before, returned = seen(explorer), []
    monkeypatch.setattr(explorer, "send_state", lambda key=None: returned.append(key))
    for trait, control in explorer._by_name.items():
        for value, _ in wrong_for(control):
            send(explorer, {"method": "update", "state": {trait: value}})
            assert explorer.values == before[0]
            assert explorer.error.startswith(f"{trait}: expected") and returned.pop() == [trait]
            assert len(explorer.error) <= 500 and explorer.error.isprintable()
        assert picture(explorer) == before[1]
        low, high = ends_of(control)
        other = high if explorer.values[trait] == low else low
        send(explorer, {"method": "update", "state": {trait: other}})
        assert explorer.values[trait] == control.check(other) and (explorer.error == "" or trait == explorer._frames)
        explorer.set(**before[0])
    explorer.error = ""
    assert explorer.values == before[0] and picture(explorer) == before[1]


@pytest.mark.parametrize("message", MALFORMED.values(), ids=MALFORMED)
def test_malformed_messages_raise_nothing_and_change_nothing(message, caplog):
    """Keys that are missing, types that are wrong: an explorer and a question both live on."""
    explorer, question = made("look_up"), explore.predict("alike")
    before = seen(explorer)
    with caplog.at_level(logging.CRITICAL):
        send(explorer, message)
        send(question, message)
    assert seen(explorer) == before and (question.choice, question.committed, question.message) == (None, False, "")
    works(explorer)


@pytest.mark.parametrize("name", ["heads", "attend", pytest.param("block_steps", marks=pytest.mark.long)])
def test_a_huge_text_is_cut_before_anything_is_computed(name):
    """A megabyte of words, of one letter and of characters that no screen shows; all end as plain text."""
    explorer = made(name)
    start, limit = explorer.values, explorer._by_name["sentence"].max_length
    for text in ("a " * 500_000, "w" * 1_000_000, "\x00\x1b\u202e\ud800" * 250_000, "<b>$x^$" * 100_000):
        send(explorer, {"method": "update", "state": {"sentence": text}})
        assert explorer.error == "" and len(explorer.sentence) <= limit
        assert len(explorer.description) <= 2000 and explorer.description.isprintable()
        explorer.description.encode()
    explorer.set(**start)


WRONG_STEPS = [
    {"choice": 99}, {"choice": -1}, {"choice": "0"}, {"choice": 1.5}, {"choice": [0]}, {"choice": HUGE},
    {"committed": True}, {"committed": "yes"}, {"revealed": True}, {"revealed": 1}, {"choice": 7, "committed": True},
    {"message": "right!"}, {"_prompt": "<b>"}, {"_choices": []}, {"_esm": "alert(1)"}, {"question": None},
]  # fmt: skip


@pytest.mark.parametrize("state", WRONG_STEPS, ids=str)
def test_a_question_keeps_to_its_steps_whatever_the_front_end_sends(state):
    """Nothing is chosen, locked or told; the right steps then still work, and no step goes back."""
    question = explore.predict("alike")
    front_end = question._esm, question._prompt, question._choices
    send(question, {"method": "update", "state": dict(state)})
    assert (question.choice, question.committed, question.revealed, question.message) == (None, False, False, "")
    send(question, {"method": "update", "state": {"choice": 0, "committed": True}})
    assert question.committed and question.message.startswith("You said")
    for back in ({"choice": 1}, {"choice": None}, {"committed": False}):
        send(question, {"method": "update", "state": back})
        assert question.choice == 0 and question.committed
    send(question, {"method": "update", "state": {"revealed": True}})
    assert question.revealed and "but the answer is" in question.message
    assert (question._esm, question._prompt, question._choices) == front_end


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
        lambda: {"model": _minilm(), "sentence": SENTENCE},
        {"model": NO_MODEL, "sentence": NO_TEXT, "layer": SLIDER, "head": SLIDER, "atlas": FLAG},
    ),
    Entry(
        "explore.block_steps",
        lambda: {"model": _minilm(), "sentence": SENTENCE},
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
        lambda: {"recording": _recording()},
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
        {"name": [Wrong(v, KeyError) for v in ("?", "", None, 3, ["alike"], {})]},
    ),
    Entry("explore.Prediction", lambda: {"question": QUESTION}, {"question": types(None, 3, "alike", {})}),
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
        lambda: {"prompt": "Which?", "choices": ("a", "b"), "answer": 0, "because": "Because."},
        {
            "prompt": TEXT,
            "because": TEXT,
            "choices": [*types(None, 3, "ab", [1, 2]), *numbers((), ("a",))],
            "answer": NO_CHOICE,
        },
    ),
]


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.name.removeprefix("explore.") not in SLOW], ids=repr)
def test_the_arguments_that_are_right_are_taken(entry):
    """Without this, a wrong value could be refused for another's sake."""
    entry.function(**entry.good())
    assert plt.get_fignums() == []


@pytest.mark.parametrize(("entry", "name", "wrong"), cases(ENTRIES))
def test_a_wrong_value_is_refused_in_words_and_nothing_else_happens(entry, name, wrong, capsys):
    """The exception names the parameter, what was expected and what came; inputs, figures and random numbers stay."""
    check_refusal(entry, name, wrong)
    assert capsys.readouterr() == ("", "")
