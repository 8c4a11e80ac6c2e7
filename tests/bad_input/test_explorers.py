"""Bad input to the explorers: from Python to each control, from a front end that means harm, and to what makes them."""

import inspect
import logging
import math

import numpy as np
import pytest
from bad_values import HUGE, LONG, complete, numbers, types
from explorers import EXPLORERS, ends_of, picture

from encoder_lib.course import explore
from encoder_lib.course.explore import Text

SLOW = ("depth", "fit_curve", "training_maps")  # a second or more to make, or to draw
ARRAY = np.array([1, 2])
NUMBER = [*types("3", None, True, [1], ARRAY), *numbers(-1e9, math.nan, math.inf, HUGE, LONG)]
WRONG = {  # what each kind of control does not take
    "Range": NUMBER,
    "Select": numbers("?", None, [], 1j, True, HUGE, ARRAY),
    "Checkbox": types(1, None, "yes", np.bool_(True)),
    "Text": types(None, 3, b"text", ["text"]),
}


@pytest.fixture(params=["attend", "cost"])
def explorer(request):
    """One with a control of each kind and heatmaps, and one with a figure; each still works in the end."""
    explorer = EXPLORERS[request.param]()
    start = explorer.values
    yield explorer
    assert explorer.values == start
    name, control = list(explorer._by_name.items())[1]
    pictures = set()
    for value in ends_of(control):
        send(explorer, {"method": "update", "state": {name: value}})
        pictures.add(picture(explorer))
        assert explorer.error == "" and explorer.description
    assert len(pictures) == 2


def seen(explorer):
    """All that a reader sees, and the values of the controls."""
    return explorer.values, picture(explorer), explorer._descriptions, explorer.error, explorer.title


def send(widget, data):
    """A message from the front end, as the kernel hands it on."""
    widget._handle_msg({"content": {"data": data}, "buffers": []})


def test_a_wrong_value_of_a_control_changes_nothing(explorer):
    """Each control, each wrong value, as a trait and by `set`: refused in words, and all goes on."""
    before = seen(explorer)
    for trait, control in explorer._by_name.items():
        for value, kind in WRONG[type(control).__name__]:
            for put in (lambda v, t=trait: setattr(explorer, t, v), lambda v, t=trait: explorer.set(**{t: v})):
                with pytest.raises(kind) as error:
                    put(value)
                assert type(error.value) is kind and not (lacks := complete(error.value, value, trait)), lacks
        assert seen(explorer) == before


def test_a_refused_value_shows_as_an_error_and_is_reset(explorer, monkeypatch):
    """The reader is told, the picture stays, and the front end gets the value that counts."""
    before, returned = seen(explorer), []
    monkeypatch.setattr(explorer, "send_state", lambda key=None: returned.append(key))
    for trait, control in explorer._by_name.items():
        for value, _ in WRONG[type(control).__name__]:
            send(explorer, {"method": "update", "state": {trait: value}})
            assert explorer.error.startswith(f"{trait}: expected") and returned.pop() == [trait]
            assert len(explorer.error) <= 500 and explorer.error.isprintable()
    explorer.error = ""
    assert seen(explorer) == before


# ---- messages of a front end that means harm ----

FORGED = {
    "_esm": "alert(1)",
    "_controls": [{"kind": "range", "name": "x"}],
    "_panels": [{}] * 9,
    "_data": b"\x00" * 64,
    "title": "<img src=x onerror=alert(1)>",
    "error": "<script>alert(1)</script>",
    "layout": "IPY_MODEL_nothing",
    "_show": "print(1)",
}
MALFORMED = {
    "no method": {},
    "state is a list": {"method": "update", "state": [1, 2]},
    "buffer into a control": {"method": "update", "state": {"x": {}}, "buffer_paths": [["x", "y"]]},
    "unknown method": {"method": "eval", "state": {}},
    "command": {"method": "custom", "content": {"kind": "anywidget-command", "name": "_compute", "msg": {}, "id": 1}},
}


def test_the_front_end_can_only_change_controls(explorer):
    """Forged traits are left alone, all together, and with the controls' own values among them."""
    names = [name for name in FORGED if hasattr(explorer, name)]
    before, traits = seen(explorer), [getattr(explorer, name) for name in names]
    for state in (FORGED, FORGED | explorer.values):
        send(explorer, {"method": "update", "state": dict(state)})
        assert seen(explorer) == before and [getattr(explorer, name) for name in names] == traits


@pytest.mark.parametrize("message", MALFORMED.values(), ids=MALFORMED)
def test_malformed_messages_raise_nothing_and_change_nothing(message, caplog):
    """Keys that are missing, types that are wrong: an explorer and a question both live on."""
    explorer, question = EXPLORERS["look_up"](), explore.predict("alike")
    before = seen(explorer)
    with caplog.at_level(logging.CRITICAL):
        send(explorer, message)
        send(question, message)
    assert seen(explorer) == before and (question.choice, question.committed, question._outcome) == (None, False, {})


WRONG_STEPS = [
    {"choice": 99}, {"choice": -1}, {"choice": "0"}, {"choice": HUGE}, {"committed": True}, {"committed": "yes"},
    {"revealed": None}, {"choice": 7, "committed": True}, {"_outcome": {"verdict": "right!"}}, {"_choices": []},
    {"_esm": "alert(1)"}, {"question": None},
]  # fmt: skip


@pytest.mark.parametrize("state", WRONG_STEPS, ids=str)
def test_a_question_keeps_its_steps_whatever_it_is_sent(state):
    """Nothing is chosen, locked or revealed; the right steps then still work, and no step goes back."""
    question = explore.predict("alike")
    front_end = question._esm, question._choices
    send(question, {"method": "update", "state": dict(state)})
    assert (question.choice, question.committed, question.revealed, question._outcome) == (None, False, False, {})
    send(question, {"method": "update", "state": {"choice": 0, "committed": True}})
    for back in ({"choice": 1}, {"choice": None}, {"committed": False}, {"revealed": False}):
        send(question, {"method": "update", "state": back})
        assert question.choice == 0 and question.committed and question.revealed
    assert question._outcome["answer"] == question.question.answer
    assert (question._esm, question._choices) == front_end


# ---- to what makes them ----


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.long) if n in SLOW else n for n in EXPLORERS])
def test_initial_values_of_controls_are_checked(name):
    """Every parameter that is called as a control, but for sentences, which EXPLORERS hands in."""
    make = EXPLORERS[name]
    controls = {name: control for name, control in make()._by_name.items() if not isinstance(control, Text)}
    for place in controls.keys() & inspect.signature(getattr(explore, name, make)).parameters.keys():
        end = ends_of(controls[place])[1]
        assert make(**{place: end}).values[place] == end
        with pytest.raises((TypeError, ValueError), match=f"{place}: expected"):
            make(**{place: 1j})
