"""The explorer without a browser: its controls are traits, its data arrive whole, and it computes only when it must."""

import html
import io

import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image
from small_explorers import Counted, numbers, still, view_of

from encoder_lib.course.explore import Checkbox, Explorer, Heatmap, Range, View
from encoder_lib.course.kit.widget.web import RUN

LENGTH = Range("length", 4, min=1, max=8)


# ---- traits and computing ----


def test_each_change_computes_once():
    show = Counted()
    explorer = Explorer(show, LENGTH, Checkbox("mask", False), title="Count")
    explorer.length = 5
    explorer.length = 5
    assert len(show.calls) == 2
    explorer.set(length=6, mask=True)
    explorer.set_state({"length": 7, "mask": False})
    assert show.calls[2:] == [{"length": 6, "mask": True}, {"length": 7, "mask": False}]
    assert explorer.values == {"length": 7, "mask": False}
    assert explorer.description == "Call 4."


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("From -2.5 to (-1, -.5).", "From −2.5 to (−1, −.5)."),
        ("“-5” in 2-3 steps of word-2, 1e-05.", "“-5” in 2-3 steps of word-2, 1e-05."),
    ],
)
def test_negative_numbers_have_a_real_minus_and_other_hyphens_stay(said, shown):
    view = View(Heatmap(np.eye(2)), description=said)
    figure = plt.figure()
    assert Explorer(lambda: view, title="T").description == shown
    assert Explorer(lambda: said, title="T", figure=figure).description == shown


def test_set_is_all_or_nothing():
    show = Counted()
    explorer = Explorer(show, LENGTH, Checkbox("mask", False), title="Set")
    for bad, error in [({"length": 5, "mask": 3}, TypeError), ({"length": 5, "mas": True}, KeyError)]:
        with pytest.raises(error):
            explorer.set(**bad)
    assert explorer.values == {"length": 4, "mask": False}
    assert len(show.calls) == 1


def test_what_did_not_change_is_not_sent_again():
    explorer = Explorer(lambda length: view_of(np.eye(4) * length, limits=(0, 9)), LENGTH, title="Traffic")
    sent = []
    explorer.observe(lambda change: sent.append(change["name"]), ["_data", "_panels", "_limits", "_colours"])
    explorer.length = 5
    assert sent == ["_data"]


def test_an_error_shows_keeps_the_picture_and_is_raised():
    def show(length):
        if length == 5:
            raise ZeroDivisionError("five <b>")
        return View(Heatmap(np.full((1, 1), length)), description=f"Length {length}.")

    explorer = Explorer(show, LENGTH, title="Error")
    with pytest.raises(ZeroDivisionError):
        explorer.length = 5
    assert explorer.error == "ZeroDivisionError: five <b>"
    assert explorer.description == "Length 4."
    assert numbers(explorer) == 4
    explorer.length = 6
    assert explorer.error == ""
    assert numbers(explorer) == 6


# ---- frames ----

SHIFT = Range("shift", 0, min=0, max=4)


def test_a_stack_has_one_matrix_for_each_frame():
    stack = np.random.default_rng(0).normal(size=(5, 2, 3)).astype(np.float32)
    flat = np.eye(2)
    explorer = Explorer(
        lambda shift: View(
            Heatmap(flat), Heatmap(stack), description=[f"Frame {k}." for k in range(5)], frames="shift"
        ),
        SHIFT,
        title="Stack",
    )
    pictures = set()
    for k in range(5):
        np.testing.assert_array_equal(numbers(explorer, panel=1, frame=k), stack[k])
        np.testing.assert_array_equal(numbers(explorer, panel=0, frame=k), flat)
        np.testing.assert_array_equal(explorer._view.panels[1].frame(k), stack[k])
        explorer.shift = k
        assert explorer.description == f"Frame {k}."
        pictures.add(explorer._repr_mimebundle_()[0]["text/html"])
    assert len(pictures) == 5


def test_a_window_slides_over_the_rows_and_their_labels():
    tall = np.arange(14.0).reshape(7, 2)
    panel = Heatmap(tall, window=3, y_ticks="abcdefg")
    explorer = Explorer(lambda shift: View(panel, description="Slides.", frames="shift"), SHIFT, title="Window")
    for k in range(5):
        np.testing.assert_array_equal(numbers(explorer, frame=k), tall[k : k + 3])
        np.testing.assert_array_equal(panel.frame(k), tall[k : k + 3])
    assert explorer._panels[0]["y_ticks"] == list("abcdefg")
    assert len(explorer._data) == tall.size * 4
    ax = plt.figure().subplots()
    panel.draw(4, ax)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["e", "f", "g"]
    plt.close("all")


def test_stepping_through_frames_computes_nothing():
    calls = []

    def show(shift, length):
        calls.append(length)
        return View(Heatmap(np.full((5, 2, 2), length)), description="Frames.", frames="shift")

    explorer = Explorer(show, SHIFT, LENGTH, title="Frames")
    for k in (3, 1, 4):
        explorer.shift = k
    explorer.set_state({"shift": 2})
    assert calls == [4]
    explorer.length = 5
    explorer.set(shift=0, length=6)
    assert calls == [4, 5, 6]


# ---- figures and the static picture ----


def sine():
    """An explorer on one kept figure, and the line that it updates."""
    figure, ax = plt.subplots(figsize=(3, 2))
    (line,) = ax.plot([0, 1], [0, 1])

    def show(k):
        line.set_ydata([0, k])
        return f"A line that climbs to {k}."

    return Explorer(show, Range("k", 1, min=0, max=2), title="Line", figure=figure), line


def test_a_kept_figure_is_drawn_again():
    explorer, line = sine()
    before = explorer._picture
    explorer.k = 2
    assert list(line.get_ydata()) == [0, 2]
    assert explorer._picture != before
    assert Image.open(io.BytesIO(explorer._picture)).size == (300, 200)
    assert explorer.description == "A line that climbs to 2."
    assert plt.get_fignums() == []  # or the notebook would draw it a second time


@pytest.mark.parametrize("make", [lambda: still(np.eye(3)), lambda: sine()[0]])
def test_without_a_kernel_picture_and_description_remain(make):
    explorer = make()
    data, _ = explorer._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    image = f'<img alt="{html.escape(explorer.description)}" src="data:image/svg+xml;'
    assert data["text/html"].startswith(RUN + image)
    assert data["text/plain"] == f"<picture: {explorer.description}>"
