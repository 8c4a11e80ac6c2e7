"""The controls: what each takes, refuses, rounds or cuts."""

import numpy as np
import pytest
from small_explorers import HOSTILE, Counted

from encoder_lib.explore import Checkbox, Explorer, Heatmap, Number, Range, Select, Text, View

# ---- controls ----

ALL = [
    (Range("a", 3, min=1, max=9, step=2), 1, 9),
    (Range("a", 0.3, min=0.1, max=0.9, step=0.1), 0.1, 0.9),
    (Range("a", 10_000, min=2, max=20_000, log=True), 2, 20_000),
    (Range("a", 1e-5, min=1e-12, max=1.0, step=None, log=True), 1e-12, 1.0),
    (Number("a", 0, min=-5, max=5), -5, 5),
    (Select("a", "x", options=["x", "y", 3]), "x", 3),
    (Checkbox("a", False), False, True),
    (Text("a", "dog"), "", "w" * 200),
]


@pytest.mark.parametrize(("control", "first", "last"), ALL, ids=lambda value: type(value).__name__)
def test_both_ends_of_every_control_reach_show(control, first, last):
    show = Counted()
    explorer = Explorer(show, control, title="Ends")
    assert show.calls == [{"a": control.value}]
    for value in (first, last):
        explorer.a = value
        assert explorer.a == show.calls[-1]["a"] == value


@pytest.mark.parametrize(
    ("control", "bad", "error"),
    [
        (ALL[0][0], 0, ValueError),
        (ALL[0][0], 10, ValueError),
        (ALL[0][0], float("nan"), ValueError),
        (ALL[0][0], float("inf"), ValueError),
        (ALL[0][0], "3", TypeError),
        (ALL[0][0], True, TypeError),
        (ALL[0][0], None, TypeError),
        (ALL[4][0], 6, ValueError),
        (ALL[5][0], "z", ValueError),
        (Select("a", 1, options=[0, 1]), True, ValueError),
        (ALL[6][0], 1, TypeError),
        (ALL[7][0], 3, TypeError),
        (ALL[7][0], None, TypeError),
    ],
)
def test_a_bad_value_is_refused_and_the_old_one_stays(control, bad, error):
    show = Counted()
    explorer = Explorer(show, control, title="Bad")
    with pytest.raises(error, match=r"a: expected .* got"):
        explorer.a = bad
    with pytest.raises(error):
        explorer.set(a=bad)
    assert explorer.a == control.value
    assert len(show.calls) == 1


def test_a_value_between_two_steps_moves_to_the_nearer():
    explorer = Explorer(Counted(), Range("a", 0.1, min=0, max=1, step=0.1), Range("n", 1, min=1, max=9), title="Steps")
    explorer.a = 0.1 + 0.2
    assert explorer.a == 0.3
    explorer.n = 3.0
    assert explorer.n == 3 and isinstance(explorer.n, int)
    explorer.n = np.int64(5)
    assert type(explorer.n) is int


def test_long_text_is_cut_before_computing():
    show = Counted()
    explorer = Explorer(show, Text("a", "x" * 50, max_length=10), title="Cut")
    explorer.a = "y" * 1_000_000
    assert show.calls == [{"a": "x" * 10}, {"a": "y" * 10}]


@pytest.mark.parametrize("text", HOSTILE)
def test_typed_text_is_fit_for_the_wire(text):
    explorer = Explorer(lambda a: View(Heatmap([[1.0]], title=a), description=a or "-"), Text("a", ""), title=text)
    explorer.a = text
    bundle = explorer._repr_mimebundle_()[0]
    for sent in (explorer.title, explorer.a, explorer.description, explorer._panels[0]["title"], bundle["text/html"]):
        sent.encode()
    assert bundle["text/html"].count("<") == 1


@pytest.mark.parametrize(
    "make",
    [
        lambda: Range("a", 5, min=0, max=4),
        lambda: Range("a", 0, min=4, max=0),
        lambda: Range("a", 0, min=0, max=float("inf")),
        lambda: Range("a", 0, min=0, max=10, step=3),
        lambda: Range("a", 0, min=0, max=10, step=0),
        lambda: Range("a", 0, min=0, max=10, log=True),
        lambda: Range("a", 0, min=0, max=10, step=None),
        lambda: Select("a", "z", options=["x"]),
        lambda: Select("a", "z", options=[]),
        lambda: Number("two words", 0, min=0, max=1),
        lambda: Checkbox("class", True),
        lambda: Checkbox("_hidden", True),
    ],
)
def test_a_control_that_makes_no_sense_is_refused(make):
    with pytest.raises(ValueError, match="expected"):
        make()
