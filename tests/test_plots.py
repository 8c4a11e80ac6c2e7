"""The static pictures: what the artists hold, which input is refused, and which alt text survives."""

import io
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.colors import to_rgba
from matplotlib.patches import ConnectionPatch
from PIL import Image

from encoder_lib import plots
from encoder_lib.plots import NOT_FINITE, TICK, Picture, plot_heatmap, show

HOSTILE = ["$x^$", "<b>", "<img src=x onerror=alert(1)>", "😀", "你好", "\ud800", "", "a\nb\x00", "w" * 1_000_000]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def drawn(ax):
    """The numbers that an Axes shows as colours."""
    return ax.images[0].get_array()


def test_the_picture_holds_the_matrix():
    values = torch.arange(12.0).reshape(3, 4)
    ax = plot_heatmap(values, title="A finding", x_label="key", y_label="query")
    np.testing.assert_array_equal(drawn(ax), values)
    assert (ax.get_title(), ax.get_xlabel(), ax.get_ylabel()) == ("A finding", "key", "query")
    assert ax.images[0].get_clim() == (0, 11)
    assert ax.get_ylim() == (2.5, -0.5)  # row 0 at the top


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.int64, torch.bool])
def test_every_real_dtype_converts(dtype):
    values = torch.tensor([[0, 1], [1, 0]]).to(dtype)
    np.testing.assert_array_equal(drawn(plot_heatmap(values)), [[0, 1], [1, 0]])


def test_a_tensor_with_gradient_converts_and_stays_as_it_was():
    values = torch.tensor([[1.0, float("nan")]], requires_grad=True)
    before = values.detach().clone()
    plot_heatmap(values)
    assert values.requires_grad
    torch.testing.assert_close(values.detach(), before, equal_nan=True)


def test_an_array_is_not_modified_and_not_kept():
    values = np.array([[1.0, 2.0]])
    ax = plot_heatmap(values)
    values[:] = 0
    np.testing.assert_array_equal(drawn(ax), [[1, 2]])


def test_nan_and_infinity_stand_apart():
    ax = plot_heatmap([[0.0, float("nan")], [float("inf"), -float("inf")]])
    np.testing.assert_array_equal(drawn(ax).mask, [[False, True], [True, True]])
    assert tuple(ax.images[0].cmap.get_bad()) == to_rgba(NOT_FINITE)


@pytest.mark.parametrize(
    ("values", "cmap", "limits"),
    [
        ([[-1.0, 3.0]], "coolwarm", (-3, 3)),
        ([[-4.0, 3.0]], "PuOr_r", (-4, 4)),
        ([[0.0, 0.0]], "RdBu_r", (-1, 1)),
        ([[-1.0, 3.0]], "viridis", (-1, 3)),
        ([[1.0, float("inf"), 2.0]], "viridis", (1, 2)),
        ([[float("nan")]], "viridis", (0, 1)),
    ],
)
def test_limits_fit_the_data(values, cmap, limits):
    assert plot_heatmap(values, cmap=cmap).images[0].get_clim() == limits


@pytest.mark.parametrize("constant", [0.0, 5.0, -1e-9, 1e30])
def test_one_value_everywhere_takes_the_middle_of_the_map(constant):
    low, high = plot_heatmap(np.full((2, 2), constant)).images[0].get_clim()
    assert low < high
    assert (low + high) / 2 == pytest.approx(constant)


def test_given_limits_win():
    assert plot_heatmap([[5.0]], limits=(0, 1), cmap="coolwarm").images[0].get_clim() == (0, 1)


@pytest.mark.parametrize("limits", [(1, 1), (2, 1), (0, float("nan")), (float("-inf"), 0)])
def test_limits_that_do_not_increase_are_refused(limits):
    with pytest.raises(ValueError, match="low < high"):
        plot_heatmap([[1.0]], limits=limits)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (3,), (2, 3, 4), ()])
def test_other_shapes_are_refused(shape):
    with pytest.raises(ValueError, match=r"expected .* got shape"):
        plot_heatmap(torch.zeros(shape))


@pytest.mark.parametrize("values", [np.array([["a"]]), torch.zeros(2, 2, dtype=torch.complex64), [[None]]])
def test_values_that_are_not_real_numbers_are_refused(values):
    with pytest.raises(TypeError, match="real numbers"):
        plot_heatmap(values)


@pytest.mark.parametrize("ticks", [{"x_ticks": ["a"]}, {"y_ticks": ["a", "b", "c"]}, {"x_ticks": []}])
def test_labels_that_do_not_match_are_refused(ticks):
    with pytest.raises(ValueError, match=r"labels for [xy]_ticks"):
        plot_heatmap(np.zeros((2, 2)), **ticks)


def test_labels_stand_at_their_rows_and_columns():
    ax = plot_heatmap(np.zeros((2, 3)), x_ticks=["the", "dog", 7], y_ticks=["a", "b"])
    assert list(ax.get_xticks()) == [0, 1, 2]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["the", "dog", "7"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]


def test_many_labels_are_thinned():
    ax = plot_heatmap(np.zeros((100, 2)), y_ticks=range(100))
    shown = {place: label.get_text() for place, label in zip(ax.get_yticks(), ax.get_yticklabels(), strict=True)}
    assert 10 <= len(shown) <= 24
    assert all(str(place) == text for place, text in shown.items())


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_crashes_or_warns(text):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax = plot_heatmap([[1.0]], title=text, x_label=text, y_label=text, x_ticks=[text], y_ticks=[text])
        picture = show(ax, alt=text or "a picture")
    assert Image.open(io.BytesIO(picture.png)).size < (2000, 2000)
    assert len(ax.get_xticklabels()[0].get_text()) <= TICK
    picture._repr_mimebundle_()["text/html"].encode()  # no lone surrogate is left


def test_dollar_signs_are_text():
    ax = plot_heatmap([[1.0]], title="$x^$", x_ticks=["$y_$"])
    assert ax.get_title() == "$x^$"
    assert not ax.title.get_parse_math()
    assert not ax.get_xticklabels()[0].get_parse_math()


def test_it_draws_on_the_given_axes():
    _, (left, right) = plt.subplots(1, 2)
    assert plot_heatmap([[1.0]], ax=right, colorbar=False) is right
    assert not left.images
    assert len(right.figure.axes) == 2
    plot_heatmap([[1.0]], ax=left)
    assert len(right.figure.axes) == 3  # and its colour bar


def test_show_renders_once_and_closes():
    ax = plot_heatmap([[1.0, 2.0]])
    picture = show(ax, alt="Two cells.")
    assert plt.get_fignums() == []
    assert Image.open(io.BytesIO(picture.png)).format == "PNG"
    assert len(picture.png) < 30_000
    assert show(plt.figure(), alt="An empty figure.").alt == "An empty figure."


def test_a_picture_carries_its_alt_text():
    bundle = Picture(b"png", 'rows of "dog" <b> & more')._repr_mimebundle_()
    assert bundle["image/png"] == "cG5n"
    assert bundle["text/plain"] == '<picture: rows of "dog" <b> & more>'
    assert bundle["text/html"].startswith('<img alt="rows of &quot;dog&quot; &lt;b&gt; &amp; more" src="data:image/png')


@pytest.mark.parametrize("alt", ["", "  "])
def test_an_empty_alt_text_is_refused(alt):
    with pytest.raises(ValueError, match="alt text"):
        show(plt.figure(), alt=alt)


def test_show_refuses_what_is_no_picture():
    with pytest.raises(TypeError, match="expected an Axes or a Figure"):
        show([[1.0]], alt="numbers")


# --- curves, words, reorderings and clocks ---------------------------------------------------------------------------


def test_lines_hold_the_data_and_are_told_apart_without_colour():
    ax = plots.plot_lines({"a": [1.0, 2.0], "b": torch.tensor([3.0, 4.0])}, x=[10, 20], title="t", x_label="x")
    first, second = ax.lines
    assert first.get_xydata().tolist() == [[10, 1], [20, 2]] and second.get_ydata().tolist() == [3, 4]
    assert first.get_linestyle() != second.get_linestyle() and first.get_color() != second.get_color()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]
    assert ax.get_title() == "t" and ax.get_xlabel() == "x"


def test_a_single_line_needs_no_legend_and_scales_are_passed_on():
    ax = plots.plot_lines({"a": [1.0, 2.0, 4.0]}, x_scale="log", y_scale="log")
    assert ax.get_legend() is None and ax.get_xscale() == ax.get_yscale() == "log"
    assert ax.lines[0].get_xdata().tolist() == [0, 1, 2]


@pytest.mark.parametrize("lines", [{}, {"a": []}, {"a": [1.0], "b": [1.0, 2.0]}, {"a": [[1.0]]}])
def test_lines_of_different_lengths_or_none_are_refused(lines):
    with pytest.raises(ValueError, match=r"expected .* got"):
        plots.plot_lines(lines)


def test_words_of_one_kind_share_colour_and_marker():
    points = torch.tensor([[1.0, 0.0], [2.0, 1.0], [0.0, -3.0]], requires_grad=True)
    ax = plots.plot_words(points, ["cat", "dog", "$x^$"], ["animal", "animal", "sign"], limit=4)
    animals, signs = [c for c in ax.collections if len(c.get_offsets()) and c.get_label() in ("animal", "sign")]
    assert animals.get_offsets().tolist() == [[1, 0], [2, 1]] and signs.get_offsets().tolist() == [[0, -3]]
    assert animals.get_facecolor().tolist() != signs.get_facecolor().tolist()
    assert not np.array_equal(animals.get_paths()[0].vertices, signs.get_paths()[0].vertices)
    assert {text.get_text() for text in ax.texts} == {"cat", "dog", "$x^$"}
    assert ax.get_xlim() == ax.get_ylim() == (-4, 4)
    ax.figure.canvas.draw()


@pytest.mark.parametrize(
    ("vectors", "words", "kinds"),
    [
        (torch.zeros(2, 3), ["a", "b"], ["x", "y"]),
        (torch.zeros(2, 2), ["a"], ["x", "y"]),
        (torch.zeros(2, 2), ["a", "b"], ["x"]),
        (torch.zeros(0, 2), [], []),
    ],
)
def test_words_that_do_not_match_their_vectors_are_refused(vectors, words, kinds):
    with pytest.raises(ValueError, match=r"expected .* got"):
        plots.plot_words(vectors, words, kinds)


def test_a_reordering_joins_every_row_to_where_it_went():
    before, order = torch.arange(6.0).reshape(3, 2), [2, 0, 1]
    figure = plots.plot_reordering(before, before[order], order, ["a", "b", "c"], title="moved")
    left, right = figure.axes[:2]
    assert [label.get_text() for label in left.get_yticklabels()] == ["a", "b", "c"]
    assert [label.get_text() for label in right.get_yticklabels()] == ["c", "a", "b"]
    assert left.images[0].get_clim() == right.images[0].get_clim()
    joins = [artist for artist in figure.artists if isinstance(artist, ConnectionPatch)]
    assert [(join.xy1[1], join.xy2[1]) for join in joins] == [(2, 0), (0, 1), (1, 2)]


@pytest.mark.parametrize("order", [[0, 1], [0, 0, 1], [1, 2, 3]])
def test_an_order_that_is_no_permutation_is_refused(order):
    with pytest.raises(ValueError, match="order"):
        plots.plot_reordering(torch.zeros(3, 2), torch.zeros(3, 2), order, ["a", "b", "c"])


def test_clocks_draw_sine_up_and_cosine_right():
    ax = plots.plot_clocks([0.0, 1.0, 1.0, 0.0], [1.0, 0.0, 0.6, 0.8])
    tips = [line.get_xydata()[1].tolist() for line in ax.lines]
    assert tips == [[1, 0], [0, 1], [3, 1], [3.8, 0.6]]
    assert len(ax.patches) == 2


@pytest.mark.parametrize(("before", "after"), [([0.0] * 3, [0.0] * 3), ([0.0] * 4, [0.0] * 2), ([], [])])
def test_clocks_need_two_rows_of_one_even_width(before, after):
    with pytest.raises(ValueError, match=r"expected .* got"):
        plots.plot_clocks(before, after)


def test_axes_without_labels_have_whole_numbers():
    ax = plots.plot_heatmap(torch.zeros(2, 3))
    assert all(tick == int(tick) for tick in [*ax.get_xticks(), *ax.get_yticks()])


def test_bars_hold_their_numbers_in_order_and_write_them_beside():
    ax = plots.plot_bars({"a": 3.0, "$x^$": 1500.0}, title="t", x_label="n")
    assert [bar.get_width() for bar in ax.patches] == [3, 1500]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "$x^$"]
    assert [text.get_text() for text in ax.texts] == ["3", "1,500"]
    assert ax.yaxis_inverted() and ax.get_title() == "t"
    ax.figure.canvas.draw()


@pytest.mark.parametrize("values", [{}, {"a": float("nan")}, {"a": 1.0, "b": float("inf")}])
def test_bars_of_nothing_or_infinity_are_refused(values):
    with pytest.raises(ValueError, match="finite number"):
        plots.plot_bars(values)


def test_a_spread_counts_every_number_and_marks_places():
    ax = plots.plot_spread(torch.tensor([1.0, 1.0, 2.0, 5.0]), {"here": 3.0})
    assert sum(bar.get_height() for bar in ax.patches) == 4
    assert list(ax.lines[0].get_xdata()) == [3, 3]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["here"]


def test_a_spread_of_nothing_is_refused():
    with pytest.raises(ValueError, match=r"expected .* got"):
        plots.plot_spread([], {})
