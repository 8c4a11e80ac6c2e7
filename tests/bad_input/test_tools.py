"""Bad input to the teaching tools: for every parameter of every public function, every wrong kind of value."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from bad_values import (
    cases,
    check_refusal,
    snapshot,
)
from hostile_texts import HOSTILE
from matplotlib.figure import Figure
from tables_tools import ENTRIES, INF, NAN, minilm

from encoder_lib import (
    plots,
    seeded,
)
from encoder_lib.training import tasks


@pytest.mark.parametrize("entry", ENTRIES, ids=repr)
def test_the_arguments_that_are_right_are_taken(entry):
    """Without this, a wrong value could be refused for another's sake."""
    entry.function(**entry.good())
    plt.close("all")


@pytest.mark.parametrize(("entry", "name", "wrong"), cases(ENTRIES))
def test_a_wrong_value_is_refused_in_words_and_nothing_else_happens(entry, name, wrong, capsys):
    """The exception names the parameter, what was expected and what came; inputs, figures and random numbers stay."""
    check_refusal(entry, name, wrong)
    assert capsys.readouterr() == ("", "")


# ---- what is taken, and what becomes of it ----

PLOTS = [entry for entry in ENTRIES if "title" in entry.anything]


@pytest.mark.parametrize("entry", PLOTS, ids=repr)
def test_any_title_is_drawn_as_one_plain_text(entry):
    """Hostile texts, numbers, None and objects: cut, without formulas, on as few lines as a title has room for."""
    figure = Figure(figsize=(2, 2))
    good = entry.good() | ({"ax": figure.add_subplot()} if "ax" in entry.wrong else {})
    for title in ("\n".join(HOSTILE.values())[:900], HOSTILE["formula that is wrong"], "$" * 999, 3, None, object):
        picture = entry.function(**good, title=title)
        axes = picture if not isinstance(picture, Figure) else None
        text = axes.title if axes else picture._suptitle
        shown = text.get_text().replace("\n", "")
        assert len(shown) <= plots.TITLE and shown.isprintable() and not text.get_parse_math()
        picture.get_figure(root=True).draw_without_rendering() if title == "$" * 999 else None
    plt.close("all")


DEFINED = {
    "NaN and infinity are grey": (plots.plot_heatmap, {"values": [[NAN, INF], [-INF, 1.0]]}),
    "a heatmap of nothing finite": (plots.plot_heatmap, {"values": [[NAN]], "cmap": "coolwarm"}),
    "numbers at the end of float64": (plots.plot_heatmap, {"values": [[1.7e308, -1.7e308]]}),
    "half precision": (plots.plot_heatmap, {"values": torch.ones(2, 2, dtype=torch.float16)}),
    "booleans": (plots.plot_heatmap, {"values": torch.ones(2, 2).bool()}),
    "a line with a gap": (plots.plot_lines, {"lines": {"a": [1.0, NAN, 2.0], "b": [INF, 1.0, 2.0]}}),
    "zero on a logarithmic scale": (plots.plot_lines, {"lines": {"a": [0.0, 1.0]}, "y_scale": "log"}),
    "a line of one point": (plots.plot_lines, {"lines": {"": [1.0]}, "x": [5]}),
    "names that begin with an underscore": (plots.plot_lines, {"lines": {"_a": [1.0], "_": [2.0]}}),
    "bars of zero": (plots.plot_bars, {"values": {"a": 0, "b": -0.0}}),
    "bars of numpy and torch": (plots.plot_bars, {"values": {"a": np.float32(1), "b": torch.tensor(2.0)}}),
    "one number": (plots.plot_histogram, {"values": [1.0], "marks": {}}),
    "vectors of zeros": (plots.plot_word_vectors, {"vectors": [[0.0, 0.0]], "words": ["a"], "kinds": ["b"]}),
    "weights of zero": (plots.plot_weighted_mean, {"values": [[1.0, 2.0]], "weights": [0.0], "words": "a"}),
    "limits of numpy": (plots.plot_heatmap, {"values": [[1.0]], "limits": np.array([0, 2])}),
    "labels of any kind": (plots.plot_heatmap, {"values": [[1.0, 2.0]], "x_ticks": [None, object()]}),
}


@pytest.mark.parametrize(("draw", "arguments"), DEFINED.values(), ids=DEFINED)
def test_odd_numbers_are_drawn_without_a_warning(draw, arguments):
    """They have a picture: nothing is changed on the way, and nothing complains while it is rendered."""
    before = snapshot(arguments)
    ax = draw(**arguments)
    ax.figure.canvas.draw()
    assert snapshot(arguments) == before and (ax.images or ax.lines or ax.patches or ax.collections)
    plt.close("all")


def test_sentences_that_mean_harm_are_words_like_others():
    assert minilm().encode(list(HOSTILE.values())).isfinite().all()


@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1, np.int64(3)])
def test_seeds_at_both_ends_are_seeds(seed):
    """NumPy's own integers too."""
    with seeded.seeded(seed):
        first = torch.rand(1)
    with seeded.seeded(int(seed)):
        assert torch.equal(torch.rand(1), first)


def test_long_values_are_cut_in_messages():
    """A million numbers, an integer of thousands of digits and an object without a text all have messages."""

    class Mute:
        def __repr__(self):
            raise RuntimeError("no words")

    for value in ([0] * 1_000_000, -(10**5000), Mute(), "x" * 1_000_000):
        with pytest.raises((TypeError, ValueError), match=r"n_sentences: expected an integer.*, got ") as error:
            tasks.kinds_corpus(value)
        assert len(str(error.value)) < 250
