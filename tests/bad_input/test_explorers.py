"""Bad input to the explorers: from Python to each control, from a front end that means harm, and to what makes them."""

import logging
from functools import lru_cache

import matplotlib.pyplot as plt
import numpy as np
import pytest
from bad_values import (
    HUGE,
    LONG,
    Wrong,
    cases,
    check_refusal,
    complete,
    numbers,
)
from explorers import EXPLORERS, ends_of, picture
from tables_explorers import ENTRIES, INF, NAMES, NAN, NO_FLAG, NO_NUMBER, NO_OPTION, NO_TEXT, SLOW

from encoder_lib import explore
from encoder_lib.explore import Checkbox, Range, Select


def wrong_for(control) -> list[Wrong]:
    """What a control does not take."""
    if isinstance(control, Range):
        beyond = (control.min - 1, control.max + 1, NAN, INF, -INF, HUGE, -HUGE, LONG, np.float64(NAN))
        return [*NO_NUMBER, *numbers(*beyond)]
    if isinstance(control, Select):
        return NO_OPTION
    return NO_FLAG if isinstance(control, Checkbox) else NO_TEXT


made = lru_cache(lambda name: EXPLORERS[name]())
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
    {"committed": True}, {"committed": "yes"}, {"revealed": "yes"}, {"revealed": None},
    {"choice": 7, "committed": True}, {"_told": {"verdict": "right!"}}, {"_room": {"kind": "text", "lines": 10**9}},
    {"message": "right!"}, {"_prompt": "<b>"}, {"_choices": []}, {"_esm": "alert(1)"}, {"question": None},
]  # fmt: skip


@pytest.mark.parametrize("state", WRONG_STEPS, ids=str)
def test_a_question_keeps_to_its_steps_whatever_the_front_end_sends(state):
    """Nothing is chosen, locked or told; the right steps then still work, and no step goes back."""
    question = explore.predict("alike")
    front_end = question._esm, question._prompt, question._choices, question._room
    send(question, {"method": "update", "state": dict(state)})
    assert (question.choice, question.committed, question.revealed, question.message) == (None, False, False, "")
    send(question, {"method": "update", "state": {"choice": 0, "committed": True}})
    assert question.committed and question.message.startswith("You said")
    for back in ({"choice": 1}, {"choice": None}, {"committed": False}, {"revealed": False}):
        send(question, {"method": "update", "state": back})
        assert question.choice == 0 and question.committed and question.revealed
    assert "but the answer is" in question.message
    assert (question._esm, question._prompt, question._choices, question._room) == front_end


def test_a_question_that_has_shown_its_answer_takes_none():
    """Steps after "show me" change nothing."""
    question = explore.predict("alike", lambda: 3)
    send(question, {"method": "update", "state": {"revealed": True}})
    told = question.message
    assert told.startswith("The answer is")
    for step in ({"choice": 1}, {"choice": 1, "committed": True}, {"committed": True}, {"revealed": False}):
        send(question, {"method": "update", "state": step})
        assert (question.choice, question.committed, question.revealed, question.message) == (None, False, True, told)


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
