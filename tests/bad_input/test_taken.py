"""Odd input that is taken: what plots make of it, and what becomes of sentences that mean harm."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from explorers import minilm
from hostile_texts import HOSTILE
from pictures import plots

NAN, INF = float("nan"), float("inf")
DEFINED = {
    "a line with a gap": (plots.plot_lines, {"lines": {"a": [1.0, NAN, 2.0], "b": [INF, 1.0, 2.0]}}),
    "zero on a logarithmic scale": (plots.plot_lines, {"lines": {"a": [0.0, 1.0]}, "y_scale": "log"}),
    "a line of one point": (plots.plot_lines, {"lines": {"": [1.0]}, "x": [5]}),
    "bars of zero": (plots.plot_bars, {"values": {"a": 0, "b": -0.0}}),
    "bars of numpy and torch": (plots.plot_bars, {"values": {"a": np.float32(1), "b": torch.tensor(2.0)}}),
    "one number": (plots.plot_histogram, {"values": [1.0], "marks": {}}),
    "vectors of zeros": (plots.plot_word_vectors, {"vectors": [[0.0, 0.0]], "words": ["a"], "kinds": ["b"]}),
}


@pytest.mark.parametrize(("draw", "arguments"), DEFINED.values(), ids=DEFINED)
def test_odd_numbers_are_drawn_without_a_warning(draw, arguments):
    ax = draw(**arguments)
    ax.figure.canvas.draw()
    assert ax.images or ax.lines or ax.patches or ax.collections
    plt.close("all")


def test_hostile_sentences_are_encoded_like_others():
    assert minilm().encode(list(HOSTILE.values())).isfinite().all()
