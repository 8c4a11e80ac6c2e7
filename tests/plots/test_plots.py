"""The static pictures: what the artists hold, which input is refused, and which alt text survives."""

import io
import itertools
import warnings

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.colors import to_rgba
from matplotlib.patches import ConnectionPatch, FancyArrowPatch, FancyBboxPatch
from PIL import Image

from encoder_lib import explore, plots
from encoder_lib.lab import ladder
from encoder_lib.lab.measure import Profile
from encoder_lib.notebook import setup
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
    assert ax.images[0].cmap.get_bad()[3] == 0  # what is behind shows: grey stripes
    assert ax.patch.get_facecolor() == to_rgba(NOT_FINITE) and ax.patch.get_hatch()


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


def cell(ax):
    """Width and height of a cell on the picture, in pixels."""
    box, (rows, columns) = ax.get_window_extent(), drawn(ax).shape
    return box.width / columns, box.height / rows


def drawn_axes(figure):
    """The Axes of a figure that hold a matrix, where `show` puts them."""
    show(figure, alt="Maps.")
    return [ax for ax in figure.axes if ax.images]


@pytest.mark.parametrize("size", [(7, 3.6), (3, 6), (9, 2)])
def test_a_matrix_of_tokens_by_tokens_has_square_cells(size):
    for panels in (1, 3):
        figure, axes = plt.subplots(1, panels, figsize=size, squeeze=False, layout="constrained")
        for ax in axes.flat:
            plot_heatmap(np.eye(5), x_ticks="abcde", y_ticks="abcde", x_label="looked at", y_label="looks", ax=ax)
        for ax in drawn_axes(figure):
            width, height = cell(ax)
            assert width == pytest.approx(height)


def test_the_maps_of_attention_are_square_and_equally_high():
    for width in (1, 2, 40):
        figure = plots.plot_attention(np.eye(4), np.eye(4), np.ones((4, width)), ["the", "dog", "bites", "men"])
        scores, weights, output = drawn_axes(figure)
        for ax in (scores, weights):
            assert cell(ax)[0] == pytest.approx(cell(ax)[1])
        heights = [ax.get_window_extent().height for ax in (scores, weights, output)]
        assert heights == pytest.approx([heights[0]] * 3, rel=0.02)


def test_a_reordering_of_a_square_matrix_is_square():
    for ax in drawn_axes(plots.plot_reordering(np.eye(3), np.eye(3)[::-1], [2, 1, 0], "abc")):
        assert cell(ax)[0] == pytest.approx(cell(ax)[1])


def test_the_maps_of_an_explorers_still_picture_are_square():
    for explorer in (explore.attend(), explore.head_slices()):
        maps = [ax for ax in drawn_axes(explorer._view.draw(0)) if drawn(ax).shape == (5, 5)]
        assert maps and all(cell(ax)[0] == pytest.approx(cell(ax)[1]) for ax in maps)


def test_other_matrices_fill_their_room():
    (ax,) = drawn_axes(plot_heatmap(np.ones((3, 9)), ax=plt.subplots(layout="constrained")[1]).figure)
    box, figure = ax.get_window_extent(), ax.figure.bbox
    assert box.width > 0.7 * figure.width and box.height > 0.8 * figure.height


@pytest.mark.parametrize(("shape", "written"), [((5, 12), 60), ((6, 10), 60), ((7, 7), 49), ((1, 61), 0), ((8, 8), 0)])
def test_maps_of_up_to_sixty_cells_have_their_numbers_written_in(shape, written):
    ax = plot_heatmap(np.linspace(0, 1, shape[0] * shape[1]).reshape(shape), ax=plt.subplots(figsize=(7, 3.6))[1])
    assert len(ax.texts) == written


def test_the_number_in_a_cell_is_the_cells_own():
    values = np.array([[0.123, -0.5, 2.0], [np.nan, np.inf, -0.001]])
    ax = plot_heatmap(values)
    written = {text.get_position(): text.get_text() for text in ax.texts}
    assert written == {(0, 0): "0.12", (1, 0): "−0.50", (2, 0): "2.00", (2, 1): "0.00"}


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([[0.0, 1.0, -3.0]], ["0", "1", "−3"]),
        (torch.ones(1, 2).bool(), ["1", "1"]),
        ([[12.34, 5.0]], ["12.3", "5.0"]),
        ([[123.4, 5.0]], ["123.4", "5.0"]),
        ([[1e300, -1.0]], []),
        ([[1e-9, 2e-9]], []),
        ([[np.nan]], []),
    ],
)
def test_numbers_have_the_decimals_that_tell_them_apart(values, texts):
    assert [text.get_text() for text in plot_heatmap(values).texts] == texts


def test_numbers_have_room_in_their_cells_or_are_left_out():
    """In one plot and in several, beside long labels, in flat pictures and in narrow ones."""
    written = 0
    for panels, shape, size in itertools.product((1, 3), ((3, 3), (5, 12), (10, 6)), ((7, 3.6), (9, 2.6))):
        figure, axes = plt.subplots(1, panels, figsize=size, squeeze=False, layout="constrained")
        for ax in axes.flat:
            values = np.random.default_rng(0).normal(size=shape)
            plot_heatmap(values, title="t", x_label="x", y_ticks=["a label"] * shape[0], y_label="y", ax=ax)
        for ax in drawn_axes(figure):
            width, height = cell(ax)
            written += bool(ax.texts)
            for text in ax.texts:
                box = text.get_window_extent()
                assert box.width < width and box.height < 1.3 * height, (panels, shape, size, text.get_text())
        plt.close("all")
    assert written >= 6  # maps with numbers


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


def test_titles_over_several_axes_are_text_too():
    for figure in (
        plots.plot_profiles({"a": _profile(2)}, title="$x^$"),
        plots.plot_reordering([[1.0]], [[1.0]], [0], ["a"], title="$x^$"),
    ):
        figure.canvas.draw()
        assert figure.get_suptitle() == "$x^$"


@pytest.mark.parametrize("name", ["_x", "__init__", ""])
def test_a_legend_names_everything(name):
    legends = [
        plots.plot_lines({name: [1.0], "b": [2.0]}).get_legend(),
        plots.plot_histogram([1.0, 2.0], {name: 1.0, "b": 2.0}).get_legend(),
        plots.plot_word_vectors(torch.eye(2), ["a", "b"], [name, "b"]).get_legend(),
        plots.plot_dots({"row": {name: 1.0, "b": 2.0}}).get_legend(),
        plots.plot_profiles({name: _profile(2), "b": _profile(2)}).legends[0],
    ]
    for legend in legends:
        assert [text.get_text().strip() for text in legend.get_texts()] == [name, "b"]


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


# --- sizes and margins -----------------------------------------------------------------------------------------------


def margins(png):
    """How many white rows and columns surround what a picture shows: left, top, right, bottom."""
    shown = np.argwhere((np.asarray(Image.open(io.BytesIO(png)).convert("RGB")) < 250).any(axis=-1))
    height, width = Image.open(io.BytesIO(png)).size[::-1]
    (top, left), (bottom, right) = shown.min(axis=0), shown.max(axis=0)
    return [left, top, width - 1 - right, height - 1 - bottom]


def test_the_set_up_makes_every_picture_of_one_family():
    with mpl.rc_context():
        setup()
        assert plt.rcParams["figure.figsize"] == [*plots.figure_size(1)] and plt.rcParams["figure.dpi"] == 100
        ax = plots.plot_lines({"a": [1.0, 2.0], "b": [2.0, 1.0]}, title="t", x_label="x", y_label="y")
        texts = [ax.title, ax.xaxis.label, ax.get_xticklabels()[0], ax.get_legend().get_texts()[0]]
        assert [text.get_fontsize() for text in texts] == [11, 10, 9, 9]
        profiles = plots.plot_profiles({"a": _profile(2)}, title="t")
        assert profiles.get_suptitle() and profiles._suptitle.get_fontsize() == 11


@pytest.mark.parametrize(
    "draw",
    [
        lambda: plots.plot_attention(np.eye(3), np.eye(3), np.eye(3), "abc"),
        lambda: plots.plot_reordering(np.eye(3), np.eye(3), [0, 1, 2], "abc"),
        lambda: plots.plot_normalisations({"Layer norm": 2, "Batch norm": (0, 1)}),
        lambda: plots.plot_panels({"p": {"a": [1.0, 2.0]}, "q": {"a": [1.0, 2.0]}}),
        lambda: plots.plot_profiles({"a": _profile(2)}),
        lambda: plots.plot_fit([0.0, 1.0], [0.0, 1.0], np.eye(2), 0.0),
        lambda: plots.plot_clocks([0.0, 1.0] * 2, [1.0, 0.0] * 2).figure,
        lambda: explore.cost()._figure,
        lambda: explore.fit_curve()._figure,
        lambda: explore.depth()._figure,
        lambda: explore.look_up()._view.draw(0),
        lambda: explore.attend()._view.draw(0),
        lambda: explore.positional()._view.draw(0),
    ],
    ids=range(13),
)
def test_pictures_of_several_plots_are_equally_wide(draw):
    assert draw().get_figwidth() == plots.figure_size(2)[0]


def test_pictures_of_one_plot_are_narrower():
    assert plots.figure_size(1)[0] < plots.figure_size(2)[0] == plots.figure_size(4)[0]
    assert plots.figure_size(1, 5)[1] == 5
    for figure in (explore.normalise()._figure, plots.plot_normalisations({"Layer norm": 2})):
        assert figure.get_figwidth() == plots.figure_size(1)[0]


@pytest.mark.parametrize("square", [False, True])
def test_every_picture_has_the_same_margin(square):
    figure, axes = plt.subplots(1, 2, figsize=plots.figure_size(2), layout="constrained")
    for ax in axes:
        plot_heatmap(np.eye(4) if square else np.ones((4, 5)), title="t", x_label="x", y_label="y", ax=ax)
    edges = margins(show(figure, alt="Two maps.").png)
    assert all(8 <= edge <= 13 for edge in edges), edges  # a tenth of an inch, and what letters leave free


def test_squares_side_by_side_move_together():
    figure, axes = plt.subplots(1, 2, figsize=plots.figure_size(2), layout="constrained")
    for ax in axes:
        plot_heatmap(np.eye(4), colorbar=False, ax=ax)
    show(figure, alt="Two maps.")
    left, right = (ax.get_window_extent() for ax in axes)
    assert right.x0 - left.x1 < left.width / 4
    assert left.height == pytest.approx(left.width) and left.y0 == pytest.approx(right.y0)


def test_squares_stay_beside_a_label_of_the_whole_figure():
    figure, axes = plt.subplots(1, 2, figsize=plots.figure_size(2), layout="constrained")
    for ax in axes:
        plot_heatmap(np.eye(4), colorbar=False, ax=ax)
    figure.supylabel("looks")
    show(figure, alt="Two maps.")
    left, right = (ax.get_window_extent() for ax in axes)
    assert right.x0 - left.x1 > left.width / 4


@pytest.mark.parametrize(("labels", "slanted"), [("abcdefghijkl", False), (["word"] * 12, True), (["word"] * 3, False)])
def test_labels_are_slanted_where_they_have_no_room_beside_each_other(labels, slanted):
    _, axes = plt.subplots(1, 3, figsize=plots.figure_size(3, 3.0), layout="constrained")
    ax = plot_heatmap(np.eye(len(labels)), x_ticks=labels, y_ticks=labels, ax=axes[0])
    assert all((label.get_rotation() > 0) == slanted for label in ax.get_xticklabels())


@pytest.mark.parametrize(("plots_beside", "lines"), [(1, 1), (4, 3)])
def test_a_title_is_broken_where_its_plot_ends(plots_beside, lines):
    ax = plt.subplots(1, plots_beside, figsize=plots.figure_size(plots_beside), squeeze=False)[1][0, 0]
    plot_heatmap([[1.0, 2.0]], title="A title of sixty letters which a narrow plot has no room for", ax=ax)
    assert len(ax.get_title().splitlines()) == lines


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


def test_lines_take_styles_of_their_own():
    styles = {"a": {"color": "black", "linestyle": "--"}, "c": {"marker": "s"}}
    ax = plots.plot_lines({"a": [1.0, 2.0], "b": [2.0, 1.0], "c": [1.0, 1.0]}, styles=styles, marker="o")
    assert [line.get_linestyle() for line in ax.lines] == ["--", "--", "-."]
    assert [line.get_color() for line in ax.lines] == ["black", *plots.COLOURS[1:3]]
    assert [line.get_marker() for line in ax.lines] == ["o", "o", "s"]
    with pytest.raises(ValueError, match=r"styles: expected names out of \['a'\], got \['b'\]"):
        plots.plot_lines({"a": [1.0]}, styles={"b": {}})


def test_words_of_one_kind_share_colour_and_marker():
    points = torch.tensor([[1.0, 0.0], [2.0, 1.0], [0.0, -3.0]], requires_grad=True)
    ax = plots.plot_word_vectors(points, ["cat", "dog", "$x^$"], ["animal", "animal", "sign"], limit=4)
    animals, signs = [c for c in ax.collections if len(c.get_offsets()) and c.get_label() in ("animal", "sign")]
    assert animals.get_offsets().tolist() == [[1, 0], [2, 1]] and signs.get_offsets().tolist() == [[0, -3]]
    assert animals.get_facecolor().tolist() != signs.get_facecolor().tolist()
    assert not np.array_equal(animals.get_paths()[0].vertices, signs.get_paths()[0].vertices)
    assert {text.get_text() for text in ax.texts} == {"cat", "dog", "$x^$"}
    assert ax.get_xlim() == ax.get_ylim() == (-4, 4)
    ax.figure.canvas.draw()


def test_words_whose_points_nearly_coincide_are_written_apart():
    words = ["horse", "cat", "dog", "bird", "Ana", "Ben"]
    ax = plots.plot_word_vectors([[1.0 + i / 50, 1.0] for i in range(6)], words, words, limit=4)
    ax.figure.canvas.draw()
    boxes = [mpl.text.Text.get_window_extent(text) for text in ax.texts]  # of the word without its line
    assert [text.get_text() for text in sorted(ax.texts, key=lambda text: text.xy[0])] == words
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


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
        plots.plot_word_vectors(vectors, words, kinds)


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


def test_a_mean_stands_where_its_weights_put_it():
    values = np.array([[4.0, 0.0], [0.0, 3.0], [1.0, 1.0]])
    words, others = ["$x$", "b", "c"], [[1, 1], [2, 2]]
    ax = plots.plot_weighted_mean(values, [0.1, 0.4, 0.5], words, others=others, title="A finding")
    dots, points, star = (collection.get_offsets() for collection in ax.collections)
    np.testing.assert_array_equal(dots, [[1, 1], [2, 2]])
    np.testing.assert_array_equal(points, values)
    np.testing.assert_allclose(star, [[0.9, 1.7]])
    sides, spokes = ax.lines[:3], ax.lines[3:]
    assert {tuple(sorted(map(tuple, line.get_xydata()))) for line in sides} == {
        ((0, 3), (4, 0)), ((1, 1), (4, 0)), ((0, 3), (1, 1))
    }  # fmt: skip
    assert [line.get_linewidth() for line in spokes] == pytest.approx([1.2, 4.8, 6])
    assert [text.get_text() for text in ax.texts] == ["$x$, 10 %", "b, 40 %", "c, 50 %"]
    assert not any(text.get_parse_math() for text in ax.texts)


@pytest.mark.parametrize(
    ("values", "weights", "words"),
    [
        (np.zeros((2, 3)), [1, 0], "ab"),
        (np.zeros((2, 2)), [1], "ab"),
        (np.zeros((2, 2)), [1, 0], "a"),
        (np.zeros((2, 2)), [1, -0.5], "ab"),
        (np.zeros((2, 2)), [1, np.nan], "ab"),
    ],
)
def test_a_mean_of_what_does_not_match_is_refused(values, weights, words):
    with pytest.raises(ValueError, match="expected"):
        plots.plot_weighted_mean(values, weights, words)


def test_the_three_steps_of_attention_stand_side_by_side():
    scores, weights, output = np.array([[1.0, -np.inf], [2.0, -4.0]]), np.eye(2), np.ones((2, 5))
    figure = plots.plot_attention(scores, weights, output, ["a", "b"], titles=("one", "two", "three"))
    axes = figure.axes[:3]
    assert [ax.get_title() for ax in axes] == ["one", "two", "three"]
    assert [ax.images[0].get_array().shape for ax in axes] == [(2, 2), (2, 2), (2, 5)]
    assert drawn(axes[0]).mask.tolist() == [[False, True], [False, False]]
    assert axes[0].images[0].get_clim() == (-4, 4) and axes[1].images[0].get_clim() == (0, 1)
    assert [label.get_text() for label in axes[2].get_yticklabels()] == ["a", "b"]


def test_looks_are_boxes_in_the_colours_of_their_weights():
    words, weights = ["the", "$x^$", "你好"], [0.0, 0.25, 1.0]
    ax = plots.plot_token_attention(weights, words, chosen=1, title="A finding")
    assert [box.get_facecolor() for box in ax.patches] == [mpl.colormaps["viridis"](w) for w in weights]
    assert [box.get_linewidth() > 0 for box in ax.patches] == [False, True, False]
    assert [text.get_text() for text in ax.texts[1::2]] == ["0 %", "25 %", "100 %"]
    assert ax.texts[0].get_text() == "the" and ax.texts[2].get_text() == "$x^$"
    assert (ax.texts[0].get_color(), ax.texts[4].get_color()) == ("white", "black")
    starts = [box.get_x() for box in ax.patches]
    assert starts == sorted(starts) and len({box.get_y() for box in ax.patches}) == 1


SHARES = [[0.9, 0.1, 0.0], [0.04, 0.06, 0.9], [0.0, 1.0, 0.0]]


def test_lines_of_attention_join_the_words_and_are_as_thick_as_the_weights():
    ax = plots.plot_attention_lines(torch.tensor(SHARES, requires_grad=True), ["the", "$x^$", "the"], title="t")
    drawn = {tuple(line.get_ydata()): line.get_linewidth() for line in ax.lines}
    assert drawn == {pair: pytest.approx(5 * SHARES[pair[0]][pair[1]]) for pair in
                     [(0, 0), (0, 1), (1, 1), (1, 2), (2, 1)]}, "weights below 0.05 are left out"  # fmt: skip
    assert all(list(line.get_xdata()) == [0, 1] for line in ax.lines) and ax.get_title() == "t"
    places = {text.get_position(): text.get_text() for text in ax.texts}
    assert [places[-0.04, i] for i in range(3)] == [places[1.04, i] for i in range(3)] == ["the", "$x^$", "the"]
    assert ax.get_ylim()[0] > ax.get_ylim()[1], "the first word is on top"
    assert [label.get_text() for label in ax.get_xticklabels()] == ["looks", "looked at"]


@pytest.mark.parametrize(("only", "rows"), [(None, {0, 1, 2}), ([1], {1}), ((0, 2), {0, 2}), ([], set())])
def test_lines_of_some_words_alone(only, rows):
    ax = plots.plot_attention_lines(SHARES, "abc", only=only)
    assert {line.get_ydata()[0] for line in ax.lines} == rows and len(ax.texts) == 6


def test_lines_of_what_are_no_weights_are_refused():
    for weights, words in [
        (np.ones((2, 3)), "expected .T, T., got .2, 3."),
        ([[2.0]], "numbers from 0 to 1, got 2 to 2"),
        ([[0.5, -0.5], [0, 1]], "numbers from 0 to 1, got -0.5 to 1"),
        ([[np.nan]], "weights: expected finite numbers"),
    ]:
        with pytest.raises(ValueError, match=words):
            plots.plot_attention_lines(weights, ["a"] * len(weights))
    with pytest.raises(ValueError, match="expected 3 labels for words, got 2"):
        plots.plot_attention_lines(SHARES, "ab")
    with pytest.raises(IndexError, match="only: expected a row from 0 to 2, got 3"):
        plots.plot_attention_lines(SHARES, "abc", only=[3])
    plots.plot_attention_lines(np.float32([[1.0000001, 0], [0, 1]]), "ab")  # as a softmax in float32 leaves them


def arrows_of(ax):
    """Where the arrows of a row of cards begin and end."""
    arrows = [patch for patch in ax.patches if isinstance(patch, FancyArrowPatch)]
    return [tuple(round(x) for x, _ in arrow._posA_posB) for arrow in arrows]


def test_cards_lie_in_a_row_with_arrows_to_where_they_point():
    ax = plots.plot_cards(["a", "B", "$x^$"], [2, 0, 1], answers=["c", "A", "b"], title="A row")
    cards = [patch for patch in ax.patches if isinstance(patch, FancyBboxPatch)]
    assert [card.get_x() + card.get_width() / 2 for card in cards] == pytest.approx([0, 1, 2])
    assert arrows_of(ax) == [(0, 2), (1, 0), (2, 1)]
    texts = {text.get_position(): text.get_text() for text in ax.texts}
    rows = [[text for (_, y), text in texts.items() if y == height] for height in sorted({y for _, y in texts})]
    assert rows == [["c", "A", "b"], ["→ 2", "→ 0", "→ 1"], ["a", "B", "$x^$"]]
    assert list(ax.get_xticks()) == [0, 1, 2] and ax.get_title() == "A row"


def test_arrows_bend_upwards_whichever_way_they_point():
    ax = plots.plot_cards(list("abcd"), [3, 0, 1, 0])
    ax.figure.canvas.draw()
    for arrow in (patch for patch in ax.patches if isinstance(patch, FancyArrowPatch)):
        height, start = arrow.get_path().vertices[:, 1], arrow._posA_posB[0][1]
        assert start + 0.3 < height.max() < ax.get_ylim()[1], arrow._posA_posB


def test_one_card_or_some_may_have_their_arrows_lit():
    colours = []
    for only in (None, 1, [0, 2], []):
        patches = plots.plot_cards(["a", "b", "c"], [1, 2, 0], only=only).patches
        colours.append([patch.get_edgecolor() for patch in patches if isinstance(patch, FancyArrowPatch)])
    lit, grey = to_rgba(plots.COLOURS[0]), to_rgba(plots.GREY)
    assert colours == [[lit] * 3, [grey, lit, grey], [lit, grey, lit], [grey] * 3]
    texts = [text.get_text() for text in plots.plot_cards(["a", "b"], [1, 0]).texts]
    assert sorted(texts) == ["", "", "a", "b", "→ 0", "→ 1"], "no answers, none drawn"


def test_cards_of_a_real_row():
    cards, answers = ladder.deal(1)
    letters, arrows = ladder.read_cards(cards[0])
    ax = plots.plot_cards(letters, arrows, ladder.spell(answers[0]))
    assert arrows_of(ax) == list(enumerate(arrows))


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (("ab", [1, 0]), TypeError, "letters: expected a list of texts, got one"),
        ((["a", "b"], [1]), ValueError, "arrows: expected one for each of 2 cards, and a card, got 1"),
        (([], []), ValueError, "and a card, got 0"),
        ((["a", "b"], torch.tensor([1, 0])), TypeError, r"a list of places.*; try arrows.tolist\(\)"),
        ((["a", "b"], [1, 2]), IndexError, "arrows: expected a card from 0 to 1, got 2"),
        ((["a", "b"], [1, 0], ["a"]), ValueError, "expected 2 labels for answers, got 1"),
        (([1, 2], [1, 0]), TypeError, "letters: for each text expected a str, got int"),
    ],
    ids=range(7),
)
def test_what_is_no_row_of_cards_is_refused(arguments, error, words):
    with pytest.raises(error, match=words):
        plots.plot_cards(*arguments)


RUNGS = [("a guess", 0.12, 0.125), ("embedding", 0.125, 0.125), ("attention", 0.5, 0.5), ("$x^$", 0.986, 1.0)]


def test_a_ladder_has_a_bar_and_a_ceiling_for_each_rung():
    ax = plots.plot_ladder(RUNGS)
    assert [bar.get_height() for bar in ax.patches] == pytest.approx([12, 12.5, 50, 98.6])
    assert [text.get_text() for text in ax.texts] == ["12.0 %", "12.5 %", "50.0 %", "98.6 %"]
    ceilings = [lines.get_segments()[0] for lines in ax.collections if lines.get_segments()]
    assert [ceiling[:, 1].tolist() for ceiling in ceilings] == [[12.5] * 2, [12.5] * 2, [50] * 2, [100] * 2]
    assert [ceiling[:, 0].mean() for ceiling in ceilings] == pytest.approx(range(4))
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a guess", "embedding", "+ attention", "+ $x^$"]
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {
        "right answers",
        "best guess from what a card then knows",
    }
    assert ax.get_ylabel() == "right answers (%)" and ax.get_ylim()[0] == 0 and ax.get_title() == "The ladder so far"


def test_a_ladder_is_drawn_of_what_climb_gives():
    ax = plots.plot_ladder(ladder.climb("a guess", progress=False), title="One rung")
    assert len(ax.patches) == 1 and ax.get_title() == "One rung"
    assert plots.plot_ladder([("a", torch.tensor(0.5).item(), np.float64(1))]).patches[0].get_height() == 50


@pytest.mark.parametrize(
    ("rungs", "error", "words"),
    [
        ([], ValueError, "rungs: expected at least one, got none"),
        ([("a", 0.5)], ValueError, r"rungs: expected \(name, right, at most\), got \('a', 0.5\)"),
        ([("a", 50.0, 1.0)], ValueError, "rungs: a: expected a probability from 0 to 1, got 50.0"),
        ([("a", 0.5, float("nan"))], ValueError, "rungs: a: at most: expected a finite number, got nan"),
        ([("a", "50 %", 1.0)], TypeError, "rungs: a: right: expected a finite number, got '50 %'"),
        ([("a", None, 1.0)], TypeError, "rungs: a: right: expected a finite number, got None"),
        ([("a", True, 1.0)], TypeError, "rungs: a: expected a number, got True"),
        (["a guess"], TypeError, "rungs: expected .name, right, at most., got 'a guess'"),
        (3, TypeError, r"rungs: expected a list of rungs, got 3 \(int\); try ladder.climb"),
    ],
    ids=range(9),
)
def test_what_is_no_ladder_is_refused(rungs, error, words):
    with pytest.raises(error, match=words):
        plots.plot_ladder(rungs)


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_names_a_card_a_rung_or_a_word(text):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for ax in (
            plots.plot_cards([text, "b"], [1, 0], [text, text], title=text),
            plots.plot_ladder([(text, 0.5, 1.0), (text, 0.5, 1.0), (text, 0.5, 1.0)], title=text),
            plots.plot_attention_lines(np.eye(2), [text, "b"], title=text),
        ):
            ax.figure.canvas.draw()
            written = [*ax.texts, *ax.get_xticklabels(), ax.title]
            assert not any(label.get_parse_math() for label in written if "$" in label.get_text())
            assert all(len(label.get_text()) <= TICK + 2 for label in written[:-1])


def test_a_long_sentence_runs_over_several_lines_and_asks_for_their_height():
    words = ["word"] * 40
    ax = plots.plot_token_attention([1 / 40] * 40, words, chosen=0)
    lines = {box.get_y() for box in ax.patches}
    assert len(lines) > 2
    height = plots.token_attention_height
    assert height(words, 7) > height(words, 14) > height(["word"], 7)


def test_looks_that_do_not_match_are_refused():
    with pytest.raises(ValueError, match="expected 2 labels"):
        plots.plot_token_attention([0, 1], ["a"], chosen=0)
    for chosen in (2, -1, 0.5):
        with pytest.raises(IndexError, match=f"expected a word from 0 to 1, got {chosen}"):
            plots.plot_token_attention([0, 1], ["a", "b"], chosen=chosen)
    with pytest.raises(ValueError, match=r"weights: expected finite numbers, .*; try"):
        plots.plot_token_attention([0, np.nan], ["a", "b"], chosen=0)


def test_token_attention_in_a_part_of_a_figure():
    """A part of a figure has a width of its own: half of it has room for half as many words on a line."""
    whole, parts = plt.figure(figsize=(8, 4)), plt.figure(figsize=(8, 4)).subfigures(1, 2)
    lines = []
    for place in (whole, parts[0]):
        ax = plots.plot_token_attention([1 / 20] * 20, ["word"] * 20, chosen=0, ax=place.subplots())
        lines.append(len({box.get_y() for box in ax.patches}))
    assert lines == [2, 3]
    plt.close("all")


def test_a_small_look_is_not_rounded_to_nothing():
    ax = plots.plot_token_attention([0.0, 0.003, 0.006, 0.991], ["a", "b", "c", "d"], chosen=0)
    assert [text.get_text() for text in ax.texts[1::2]] == ["0 %", "< 1 %", "1 %", "99 %"]


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.125, "13 %"), (0.375, "38 %"), (0.015, "2 %"), (0.005, "1 %"), (0.0049, "< 1 %"), (0.0, "0 %"),
        (-0.0, "0 %"), (1.0, "100 %"), (0.994, "99 %"), (0.995, "100 %"), (0.285, "28 %"), (-0.125, "-12 %"),
    ],
)  # fmt: skip
def test_halves_of_a_per_cent_are_rounded_up(share, text):
    """As JavaScript's Math.round does: 100 · 0.285 is a little less than 28.5."""
    assert plots.percent(share) == text


def test_pictures_write_shares_alike():
    looks = plots.plot_token_attention([0.125, 0.875], ["a", "b"], chosen=0)
    mean = plots.plot_weighted_mean(np.eye(2), [0.125, 0.875], ["a", "b"])
    assert [text.get_text() for text in looks.texts[1::2]] == ["13 %", "88 %"]
    assert [text.get_text() for text in mean.texts] == ["a, 13 %", "b, 88 %"]


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


def test_the_axis_of_large_bars_writes_its_numbers_out():
    ax = plots.plot_bars({"a": 11_720_448, "b": 9_984})
    ax.figure.canvas.draw()
    written = [label.get_text() for label in ax.get_xticklabels()]
    assert "12,000,000" in written and ax.xaxis.get_offset_text().get_text() == ""


@pytest.mark.parametrize("values", [{}, {"a": float("nan")}, {"a": 1.0, "b": float("inf")}])
def test_bars_of_nothing_or_infinity_are_refused(values):
    with pytest.raises(ValueError, match="finite number"):
        plots.plot_bars(values)


def test_a_spread_counts_every_number_and_marks_places():
    ax = plots.plot_histogram(torch.tensor([1.0, 1.0, 2.0, 5.0]), {"here": 3.0})
    assert sum(bar.get_height() for bar in ax.patches) == 4
    assert list(ax.lines[0].get_xdata()) == [3, 3]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["here"]


def test_a_spread_of_nothing_is_refused():
    with pytest.raises(ValueError, match=r"expected .* got"):
        plots.plot_histogram([], {})


@pytest.mark.parametrize("text", HOSTILE)
def test_ticks_are_named_by_any_text(text):
    _, ax = plt.subplots()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plots.label_ticks(ax.yaxis, [0, 2], ["the", text])
        ax.figure.canvas.draw()
    assert list(ax.get_yticks()) == [0, 2] and ax.get_yticklabels()[0].get_text() == "the"
    assert len(ax.get_yticklabels()[1].get_text()) <= TICK and not ax.get_yticklabels()[1].get_parse_math()


@pytest.mark.parametrize("norm_first", [False, True])
def test_norms_stand_on_the_stream_or_on_the_branches(norm_first):
    ax = plots.plot_residual_stream(norm_first=norm_first, title="t")
    parts = {patch.get_gid(): patch.get_extents().transformed(ax.transData.inverted()) for patch in ax.patches}
    assert sorted(parts) == sorted(plots.BLOCK_PARTS) and ax.get_title() == "t"
    on_stream = {name for name, box in parts.items() if box.x0 < 0 < box.x1}
    assert on_stream == {"x", "sum1", "sum2", "y"} | (set() if norm_first else {"norm1", "norm2"})
    upwards = sorted(parts, key=lambda name: parts[name].y0)
    order = ["x", "norm1", "attention", "sum1", "norm2", "feed_forward", "sum2", "y"]
    post = ["x", "attention", "sum1", "norm1", "feed_forward", "sum2", "norm2", "y"]
    assert upwards == (order if norm_first else post)
    boxes = list(parts.values())
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_one_part_is_lit_and_the_others_are_as_they_were():
    ax = plots.plot_residual_stream(lit="norm1")
    colours = {patch.get_gid(): patch.get_facecolor() for patch in ax.patches}
    plots.light_part(ax, "sum2")
    after = {patch.get_gid(): patch.get_facecolor() for patch in ax.patches}
    assert {name for name in after if after[name] != colours[name]} == {"norm1", "sum2"}
    assert after["sum2"] == colours["norm1"] and after["norm1"] == after["norm2"]
    with pytest.raises(ValueError, match="expected one of"):
        plots.light_part(ax, "softmax")
    with pytest.raises(ValueError, match="expected one of"):
        plots.plot_residual_stream(lit="softmax")


def _profile(n_layers):
    return Profile(torch.arange(1.0, n_layers + 1), torch.arange(1.0, n_layers + 2), torch.linspace(0, 1, n_layers + 1))


def test_profiles_stand_side_by_side_with_layer_0_as_the_input():
    figure = plots.plot_profiles({"a": _profile(3), "$x^$": _profile(2)}, title="t")
    gradient, size, similarity = figure.axes
    assert [list(line.get_xdata()) for line in gradient.lines] == [[1, 2, 3], [1, 2]]
    assert [list(line.get_ydata()) for line in size.lines] == [[1, 2, 3, 4], [1, 2, 3]]
    assert list(similarity.lines[1].get_ydata()) == [0, 0.5, 1]
    assert [ax.get_yscale() for ax in figure.axes] == ["log", "log", "linear"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a", "$x^$"]
    figure.canvas.draw()


def test_panels_share_their_scale_and_one_legend():
    panels = {"p": {"a": [1.0, 2.0], "b": [3.0, 4.0]}, "q": {"a": [0.0, 9.0], "b": [1.0, 1.0]}}
    figure = plots.plot_panels(panels, x=[1, 2])
    left, right = figure.axes
    assert left.get_ylim() == right.get_ylim() and (left.get_title(), right.get_title()) == ("p", "q")
    assert left.get_legend() is None and right.get_legend() is not None
    assert list(right.lines[0].get_ydata()) == [0, 9] and list(right.lines[0].get_xdata()) == [1, 2]


def test_panels_may_have_scales_and_styles_of_their_own():
    panels = {"p": {"$a$": [1.0, 2.0, 3.0]}, "q": {"$a$": [10.0, 90.0, 50.0]}}
    style = {"x": [1, 10, 100], "x_label": "K", "x_scale": "log", "styles": {"$a$": {"linestyle": ":"}}}
    left, right = plots.plot_panels(panels, share_y=False, **style).axes
    assert left.get_ylim()[1] < 5 < 80 < right.get_ylim()[1]
    assert [ax.get_xscale() for ax in (left, right)] == ["log", "log"] and left.get_xlabel() == "K"
    assert left.lines[0].get_linestyle() == right.lines[0].get_linestyle() == ":"
    assert {1, 10, 100} == {place for place in left.get_xticks() if 1 <= place <= 100}


@pytest.mark.parametrize("panels", [{}, {"p": {"a": [1.0]}, "q": {"b": [1.0]}}])
def test_panels_need_the_same_lines(panels):
    with pytest.raises(ValueError, match="same lines"):
        plots.plot_panels(panels)


def test_no_profiles_are_refused():
    with pytest.raises(ValueError, match="at least one profile"):
        plots.plot_profiles({})


def _lit(ax):
    """How many faces of each shade a block shows in colour, the grey ones left out."""
    colours = [tuple(colour) for colour in ax.collections[0].get_facecolor()]
    return [colours.count(to_rgba(shade)) for shade in ("#d55e00", "#f0a05f", "#a34700")]


@pytest.mark.parametrize(("dim", "size"), [(2, 6), ((0, 1), 12), ((1, 2), 24), (-1, 6), (0, 3), ([0, 1, 2], 72)])
def test_a_block_lights_the_cubes_that_share_one_mean(dim, size):
    ax = plots.plot_normalisation_axes(dim, shape=(3, 4, 6), title="Layer norm")
    assert len(ax.collections[0].get_paths()) == 3 * 72 and _lit(ax) == [size] * 3
    assert torch.zeros(3, 4, 6).mean(dim).numel() * size == 72
    assert ax.get_title() == "Layer norm" and ax.texts[0].get_text() == "D = 6 numbers"
    ax.figure.canvas.draw()


def test_blocks_stand_side_by_side_and_count_their_means():
    figure = plots.plot_normalisations({"Layer norm": 2, "$x^$": (0, 1)}, shape=(3, 4, 6))
    assert [ax.get_title() for ax in figure.axes] == ["Layer norm: 12 means", "$x^$: 6 means"]
    assert [_lit(ax) for ax in figure.axes] == [[6] * 3, [12] * 3]
    with pytest.raises(ValueError, match="at least one"):
        plots.plot_normalisations({})


def test_a_block_draws_near_cubes_over_far_ones():
    faces = [path.vertices for path in plots.plot_normalisation_axes(2, shape=(2, 1, 1)).collections[0].get_paths()]
    (far, *_, near, _, _) = faces
    assert far[:, 0].mean() > near[:, 0].mean() and far[:, 1].mean() > near[:, 1].mean()  # up and to the right


@pytest.mark.parametrize(
    ("dim", "shape"), [((), (1, 1, 1)), (3, (1, 1, 1)), ((0, 0), (1, 1, 1)), ((2, -1), (1, 1, 1)), (2, (0, 1, 1)),
                       (2, (1, 1, 13)), (2, (1, 1))],
)  # fmt: skip
def test_a_block_needs_axes_and_sizes(dim, shape):
    with pytest.raises(ValueError, match=r"expected .* got"):
        plots.plot_normalisation_axes(dim, shape=shape)


def test_a_fit_is_drawn_with_its_units_and_then_updated():
    x, units = torch.linspace(-1, 1, 5), torch.arange(10.0).reshape(5, 2) / 10
    figure = plots.plot_fit(x, x, units, 0.5, breakpoints=[-2.0, 0.25], unit=1, titles=("A", "B"))
    left, right = figure.axes
    np.testing.assert_allclose(left.lines[0].get_ydata(), x)
    np.testing.assert_allclose(left.lines[1].get_ydata(), units.sum(dim=1) + 0.5, rtol=1e-6)
    assert left.lines[2].get_xdata().tolist() == [0.25], "bends out of view are left out"
    np.testing.assert_allclose(right.lines[0].get_ydata(), units[:, 1], rtol=1e-6)
    assert len(right.collections[0].get_paths()) == 1 and right.get_ylim() == (-2.4, 2.4)
    assert plots.plot_fit(x, x, 100 * units[:, :1], 0.0, figure=figure) is figure
    assert not right.collections[0].get_paths() and right.get_ylim() == pytest.approx((-80, 80))
    assert (left.get_title(), right.get_title()) == ("A", "B")


@pytest.mark.parametrize(
    ("problem", "units", "unit"), [(ValueError, np.zeros((4, 2)), 0), (IndexError, np.zeros((5, 2)), 2)]
)
def test_a_fit_needs_units_that_match(problem, units, unit):
    with pytest.raises(problem, match="expected"):
        plots.plot_fit(np.zeros(5), np.zeros(5), units, 0.0, unit=unit)


def test_dots_of_one_name_share_a_line():
    ax = plots.plot_dots({"$x^$": {"a": 1.0, "b": 3.0}, "<b>": {"a": 2.0, "b": 0.5}}, title="T", limits=(0, 4))
    assert [label.get_text() for label in ax.get_yticklabels()] == ["$x^$", "<b>"] and ax.get_xlim() == (0, 4)
    kinds = {dots.get_label(): dots.get_offsets().tolist() for dots in ax.collections[1:]}
    assert kinds == {"a": [[1.0, 0.0], [2.0, 1.0]], "b": [[3.0, 0.0], [0.5, 1.0]]}
    assert ax.get_ylim()[0] > ax.get_ylim()[1], "the first name is on top"


@pytest.mark.parametrize(
    "values", [{}, {"a": {}}, {"a": {"x": 1.0}, "b": {"y": 1.0}}, {"a": {"x": float("nan")}}], ids=range(4)
)
def test_dots_that_do_not_compare_are_refused(values):
    with pytest.raises(ValueError, match="expected"):
        plots.plot_dots(values)
