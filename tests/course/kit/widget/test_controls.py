"""The controls: what each takes, rounds or cuts. What each refuses, tests/bad_input/test_explorers.py tries."""

import numpy as np
import pytest
from small_explorers import HOSTILE, Counted

from encoder_lib.course.explore import Explorer, Heatmap, Range, Text, View
from encoder_lib.course.kit.widget.web import RUN


def test_a_value_between_two_steps_moves_to_the_nearer():
    tenths, free = Range("a", 0.1, min=0, max=1, step=0.1), Range("free", 1.0, min=0.5, max=9, step=None, log=True)
    explorer = Explorer(Counted(), tenths, free, Range("n", 1, min=1, max=9), title="Steps")
    explorer.a = 0.1 + 0.2
    assert explorer.a == 0.3
    explorer.free = np.float32(0.7)  # which JSON would not take
    assert type(explorer.free) is float
    for value, taken in ((3.0, 3), (np.int64(5), 5), (7.6, 8)):
        explorer.n = value
        assert explorer.n == taken and type(explorer.n) is int


@pytest.mark.parametrize("text", HOSTILE)
def test_typed_text_is_fit_for_the_wire(text):
    explorer = Explorer(lambda a: View(Heatmap([[1.0]], x_ticks=[a]), description=a or "-"), Text("a", ""), title="T")
    explorer.a = text
    bundle = explorer._repr_mimebundle_()[0]
    for sent in (explorer.a, explorer.description, *explorer._panels[0]["x_ticks"], bundle["text/html"]):
        sent.encode()
    assert bundle["text/html"].removeprefix(RUN).count("<") == 1
