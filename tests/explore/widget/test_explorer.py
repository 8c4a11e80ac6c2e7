"""The explorer without a browser: its controls are traits, its data arrive whole, and it computes only when it must."""

import base64
import html
import io

import ipywidgets
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from PIL import Image

from encoder_lib.explore import Checkbox, Explorer, Heatmap, Number, Range, Select, Text, View
from encoder_lib.explore.widget.views import colour_table

HOSTILE = ["$x^$", "<b>", "<img src=x onerror=alert(1)>", "😀", "你好", "\ud800", "", "a\nb\x00", "w" * 1_000_000]
LENGTH = Range("length", 4, min=1, max=8)


def numbers(explorer, panel=0, frame=0):
    """Decode the matrix that the front end draws for one frame, as the front end does."""
    data = np.frombuffer(explorer._data, dtype=np.float32)
    for spec in explorer._panels[:panel]:
        data = data[(spec["frames"] - 1) * spec["stride"] + spec["rows"] * spec["columns"] :]
    spec = explorer._panels[panel]
    start = min(frame, spec["frames"] - 1) * spec["stride"]
    return data[start : start + spec["rows"] * spec["columns"]].reshape(spec["rows"], spec["columns"])


def view_of(values, **heatmap):
    return View(Heatmap(values, **heatmap), description="A picture.")


def still(values, **heatmap):
    """An explorer without controls."""
    return Explorer(lambda: view_of(values, **heatmap), title="Still")


class Counted:
    """A `show` that remembers what it was called with."""

    def __init__(self):
        self.calls = []

    def __call__(self, **values):
        self.calls.append(values)
        return View(Heatmap(np.full((2, 3), len(self.calls))), description=f"Call {len(self.calls)}.")


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


@pytest.mark.parametrize("name", ["title", "error", "layout", "keys", "observe", "comm", "values"])
def test_a_name_that_the_widget_uses_is_refused(name):
    with pytest.raises(ValueError, match=name):
        Explorer(Counted(), Checkbox(name, True), title="Names")


def test_two_controls_of_one_name_are_refused():
    with pytest.raises(ValueError, match="length"):
        Explorer(Counted(), LENGTH, LENGTH, title="Twice")


# ---- traits and computing ----


def test_each_change_computes_once():
    show = Counted()
    explorer = Explorer(show, LENGTH, Checkbox("mask", False), title="Count")
    explorer.length = 5
    explorer.length = 5
    assert len(show.calls) == 2
    explorer.set(length=6, mask=True)
    assert show.calls[2:] == [{"length": 6, "mask": True}]
    assert explorer.values == {"length": 6, "mask": True}
    assert explorer.description == "Call 3."


def test_set_is_all_or_nothing():
    show = Counted()
    explorer = Explorer(show, LENGTH, Checkbox("mask", False), title="Set")
    for bad, error in [({"length": 5, "mask": 3}, TypeError), ({"length": 5, "mas": True}, KeyError)]:
        with pytest.raises(error):
            explorer.set(**bad)
    assert explorer.values == {"length": 4, "mask": False}
    assert len(show.calls) == 1


def test_one_message_of_the_front_end_computes_once():
    show = Counted()
    explorer = Explorer(show, LENGTH, Checkbox("mask", False), title="Message")
    explorer.set_state({"length": 7, "mask": True})
    assert show.calls[1:] == [{"length": 7, "mask": True}]


def test_values_can_be_observed_and_linked():
    first, second = (Explorer(Counted(), LENGTH, title="Linked") for _ in range(2))
    slider = ipywidgets.IntSlider(value=2, min=1, max=8)
    seen = []
    first.observe(lambda change: seen.append(change["new"]), "length")
    ipywidgets.link((slider, "value"), (first, "length"))
    ipywidgets.link((first, "length"), (second, "length"))
    slider.value = 6
    assert (first.length, second.length, second.description) == (6, 6, "Call 3.")
    second.length = 3
    assert slider.value == 3
    assert seen == [2, 6, 3]


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


def test_an_error_at_the_start_is_raised():
    with pytest.raises(ZeroDivisionError):
        Explorer(lambda: 1 / 0, title="Error")


@pytest.mark.parametrize("shown", [None, "words", Heatmap([[1.0]])])
def test_show_must_return_a_view(shown):
    with pytest.raises(TypeError, match="expected it to return a View"):
        Explorer(lambda: shown, title="Wrong")


# ---- heatmaps ----


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (64, 128), (512, 512)])
def test_the_front_end_gets_the_matrix(shape):
    values = np.random.default_rng(0).normal(size=shape)
    np.testing.assert_array_equal(numbers(still(values)), values.astype(np.float32))


def test_panels_stand_one_after_another():
    first, second = np.eye(3), np.arange(8.0).reshape(2, 4)
    explorer = Explorer(lambda: View(Heatmap(first), Heatmap(second), description="Two."), title="Two")
    np.testing.assert_array_equal(numbers(explorer, panel=0), first)
    np.testing.assert_array_equal(numbers(explorer, panel=1), second)


def test_a_half_precision_tensor_with_gradient_converts_and_stays_as_it_was():
    values = torch.tensor([[0.5, -1.0]], dtype=torch.bfloat16, requires_grad=True)
    np.testing.assert_array_equal(numbers(still(values)), [[0.5, -1]])
    assert values.requires_grad and values.dtype == torch.bfloat16


def test_an_array_is_copied():
    values = np.ones((2, 2), dtype=np.float32)
    panel = Heatmap(values)
    values[:] = 7
    assert (panel.values == 1).all()


def test_nan_and_infinity_travel_but_do_not_count():
    values = np.array([[np.nan, np.inf], [-np.inf, 2.0], [1.0, 1.5]])
    explorer = still(values)
    np.testing.assert_array_equal(numbers(explorer), values)
    assert explorer._limits == [[1, 2]]


@pytest.mark.parametrize(
    ("values", "cmap", "limits"),
    [
        (np.zeros((2, 2)), "viridis", [-0.5, 0.5]),
        (np.zeros((2, 2)), "coolwarm", [-1, 1]),
        ([[-2.0, 1.0]], "PuOr", [-2, 2]),
    ],
)
def test_limits_fit_the_data(values, cmap, limits):
    assert still(values, cmap=cmap)._limits == [limits]


def test_what_float32_cannot_hold_is_infinite():
    assert numbers(still([[1e300, 1.0]]))[0, 0] == np.inf


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (3,), (2, 3, 4, 5), (513, 2), (2, 513)])
def test_other_shapes_are_refused(shape):
    with pytest.raises(ValueError, match="expected"):
        Heatmap(np.zeros(shape))


@pytest.mark.parametrize(
    "wrong",
    [
        {"x_ticks": ["a"]},
        {"y_ticks": list("abc")},
        {"limits": (1, 0)},
        {"cmap": "rainbowish"},
        {"window": 3},
        {"window": 0},
    ],
)
def test_settings_that_do_not_fit_are_refused(wrong):
    with pytest.raises(ValueError, match="expected"):
        Heatmap(np.zeros((2, 2)), **wrong)


@pytest.mark.parametrize("text", HOSTILE)
def test_labels_are_cut_and_fit_for_the_wire(text):
    spec = Heatmap([[1.0]], title=text, x_label=text, y_label=text, x_ticks=[text], y_ticks=[text]).wire()
    for sent in (spec["title"], spec["x_label"], spec["y_label"], *spec["x_ticks"], *spec["y_ticks"]):
        assert len(sent.encode()) <= 500


def test_a_colour_table_holds_256_colours():
    table = np.frombuffer(colour_table("viridis"), dtype=np.uint8).reshape(256, 3)
    np.testing.assert_array_equal(table[[0, -1]], [[68, 1, 84], [253, 231, 36]])
    assert still([[1.0]], cmap="coolwarm")._colours == {"coolwarm": colour_table("coolwarm")}


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
    for k in range(5):
        np.testing.assert_array_equal(numbers(explorer, panel=1, frame=k), stack[k])
        np.testing.assert_array_equal(numbers(explorer, panel=0, frame=k), flat)
        np.testing.assert_array_equal(explorer._view.panels[1].frame(k), stack[k])
        explorer.shift = k
        assert explorer.description == f"Frame {k}."


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


@pytest.mark.parametrize(
    "make",
    [
        lambda: View(description="No panel."),
        lambda: View(Heatmap([[1.0]]), description=""),
        lambda: View(Heatmap([[1.0]]), description=[]),
        lambda: View(Heatmap([[1.0]]), description=["a", "b"]),
        lambda: View(Heatmap([[1.0]]), description="Nothing framed.", frames="shift"),
        lambda: View(Heatmap(np.zeros((5, 1, 1))), description="No control."),
        lambda: View(Heatmap(np.zeros((5, 1, 1))), description=["a", "b"], frames="shift"),
        lambda: View(Heatmap(np.zeros((5, 1, 1))), Heatmap(np.zeros((4, 1, 1))), description="Odd.", frames="shift"),
    ],
)
def test_a_view_that_does_not_fit_together_is_refused(make):
    with pytest.raises(ValueError, match="expected"):
        make()


@pytest.mark.parametrize("control", [Range("shift", 0, min=0, max=5), Checkbox("shift", True), Checkbox("other", True)])
def test_frames_need_a_range_with_as_many_steps(control):
    stack = View(Heatmap(np.zeros((5, 1, 1))), description="Five.", frames="shift")
    with pytest.raises(ValueError, match="frames: expected"):
        Explorer(lambda **_: stack, control, title="Frames")


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


def test_with_a_figure_show_returns_words():
    with pytest.raises(TypeError, match="expected it to return a str"):
        Explorer(lambda: None, title="Wrong", figure=plt.figure())


@pytest.mark.parametrize("make", [lambda: still(np.eye(3)), lambda: sine()[0]])
def test_readers_without_a_kernel_see_the_picture_and_its_description(make):
    explorer = make()
    data, _ = explorer._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert Image.open(io.BytesIO(base64.b64decode(data["image/png"]))).format == "PNG"
    assert data["text/html"].startswith(f'<img alt="{html.escape(explorer.description)}" src="data:image/png;base64,')
    assert data["text/plain"] == f"<picture: {explorer.description}>"


def test_the_static_picture_shows_the_current_frame():
    stack = np.stack([np.zeros((2, 2)), np.eye(2)])
    explorer = Explorer(
        lambda shift: View(Heatmap(stack), description=["Zeros.", "Ones."], frames="shift"),
        Range("shift", 0, min=0, max=1),
        title="Frames",
    )
    first = explorer._repr_mimebundle_()[0]
    explorer.shift = 1
    second = explorer._repr_mimebundle_()[0]
    assert second["text/plain"] == "<picture: Ones.>"
    assert first["image/png"] != second["image/png"]


def test_the_front_end_reaches_for_nothing_outside():
    sources = str(Explorer._esm) + str(Explorer._css)
    for word in ("http", "import ", "fetch(", "innerHTML", "insertAdjacentHTML", "eval(", "url("):
        assert word not in sources


@pytest.mark.parametrize("text", ["$x^$", "<b>", "\ud800", "你好"])
def test_tiles_are_named_by_any_text(text):
    panel = Heatmap(torch.eye(2), x_ticks=[text, "b"], y_ticks=["a", text], tile=1)
    figure = View(panel, description="Two tiles.").draw(0)
    figure.canvas.draw()
    (x, _), (_, y) = figure.axes[0].get_xticklabels(), figure.axes[0].get_yticklabels()
    assert x.get_text() == y.get_text() != "" and not x.get_parse_math() and not y.get_parse_math()
