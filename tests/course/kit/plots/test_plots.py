"""The static pictures: what the artists hold, which input is refused, and which alt text survives."""

import base64
import io
import itertools
import re
import warnings

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import torch
from matplotlib.colors import to_hex, to_rgba
from matplotlib.patches import ConnectionPatch, FancyArrowPatch, FancyBboxPatch
from pictures import DRAWN, figure_of, plots
from PIL import Image
from small_explorers import HOSTILE

from encoder_lib.course import explore
from encoder_lib.course.kit.measure import Profile
from encoder_lib.course.kit.notebook import setup
from encoder_lib.course.kit.palette import DARK, FOLLOWED, LIGHT
from encoder_lib.course.kit.plots import NOT_FINITE, TICK, Picture, plot_heatmap, show, style
from encoder_lib.course.kit.plots.colour_maps import colour_map
from encoder_lib.course.kit.plots.names import Name, apart


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


def test_nan_and_infinity_are_distinguished():
    ax = plot_heatmap([[0.0, float("nan")], [float("inf"), -float("inf")]])
    np.testing.assert_array_equal(drawn(ax).mask, [[False, True], [True, True]])
    assert ax.images[0].cmap.get_bad()[3] == 0  # what is behind shows: grey stripes
    assert ax.patch.get_facecolor() == to_rgba(NOT_FINITE) and ax.patch.get_hatch()


def cell(ax):
    """Width and height of a cell on the picture, in pixels."""
    box, (rows, columns) = ax.get_window_extent(), drawn(ax).shape
    return box.width / columns, box.height / rows


def drawn_axes(figure):
    """The Axes of a figure that hold a matrix, where `show` puts them."""
    show(figure, alt="Maps.")
    return [ax for ax in figure.axes if ax.images and ax.get_label() != "<colorbar>"]


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
        figure = plots.plot_attention(np.eye(4), np.eye(4), np.ones((4, width)), "abcd", titles="123")
        scores, weights, output = drawn_axes(figure)
        for ax in (scores, weights):
            assert cell(ax)[0] == pytest.approx(cell(ax)[1])
        sizes = [ax.get_window_extent().size for ax in (scores, weights, output)]
        assert np.array(sizes) == pytest.approx(np.array([sizes[0]] * 3), rel=0.02)


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


def test_small_cells_have_two_decimals_without_the_zero_in_front():
    """So the weights of a row can be added up; numbers above 1 lose a decimal."""
    for numbers, written in {
        (0.474, 0.026, 1.0): [".47", ".03", "1.0"],
        (0.5, -0.002, 0.0): [".50", ".00", ".00"],
        (2.474, 0.026, 0.5): ["2.5", "0.0", "0.5"],
    }.items():
        ax = plot_heatmap([numbers], ax=plt.subplots(figsize=(1.85, 2.6))[1])
        assert [text.get_text() for text in ax.texts] == written


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


def test_labels_stand_at_their_rows_and_columns():
    ax = plot_heatmap(np.zeros((2, 3)), x_ticks=["the", "dog", 7], y_ticks=["a", "b"])
    assert list(ax.get_xticks()) == [0, 1, 2]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["the", "dog", "7"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]


def test_many_labels_are_thinned():
    ax = plot_heatmap(np.zeros((100, 2)), y_ticks=range(100))
    shown = {place: label.get_text() for place, label in zip(ax.get_yticks(), ax.get_yticklabels(), strict=True)}
    assert 10 <= len(shown) <= 24 and min(shown) == 0
    assert all(str(place) == text for place, text in shown.items())


@pytest.mark.parametrize(("shape", "lines"), [((3, 4), [2, 3]), ((1, 2), [0, 1]), ((15, 15), [14, 14]), ((16, 16), [])])
def test_few_cells_have_lines_between_them(shape, lines):
    ax = plot_heatmap(np.ones(shape))
    assert [len(drawn.get_segments()) for drawn in ax.collections] == lines
    assert ax.get_xlim() == (-0.5, shape[1] - 0.5) and ax.get_ylim() == (shape[0] - 0.5, -0.5)


def test_a_mask_marks_what_is_out():
    ax = plots.plot_mask(torch.tensor([[True, False, True], [False, False, True]]), names=("in", "out"), title="t")
    runs = [path.get_extents().intervalx.tolist() for row in ax.collections[2:4] for path in row.get_paths()]
    assert runs == [[-0.5, 0.5], [1.5, 2.5], [1.5, 2.5]], "what is visible; the ground is grey"
    assert ax.lines[0].get_xydata().tolist() == [[1, 0], [0, 1], [1, 1]]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["in", "out"] and not ax.images
    assert (ax.get_title(), ax.get_xlim(), ax.get_ylim()) == ("t", (-0.5, 2.5), (1.5, -0.5))
    assert not plots.plot_mask(torch.ones(20, 20, dtype=torch.bool).tril()).lines, "no sign in a tiny cell"


def test_masks_side_by_side_share_a_legend():
    causal = torch.ones(3, 3, dtype=torch.bool).tril()
    figure = plots.plot_masks(
        {"p": causal, "q": ~causal}, ticks={"p": "abc", "q": "def"}, x_label="key", y_label="query"
    )
    left, right = figure.axes
    assert [ax.get_title() for ax in (left, right)] == ["p", "q"] and not right.get_legend()
    assert [label.get_text() for label in right.get_yticklabels()] == [*"def"]
    assert [text.get_text() for text in left.get_legend().get_texts()] == ["True: visible", "False: masked out"]
    figure.draw_without_rendering()
    legend, names = left.get_legend().get_window_extent(), left.xaxis.get_tightbbox()
    assert legend.y1 < names.y0 and abs(legend.x0 - left.get_window_extent().x0) < 8, (
        "below the first, from its edge on"
    )
    with pytest.raises(KeyError, match="q"):
        plots.plot_masks({"q": causal}, ticks={"p": "abc"})


def test_heatmaps_side_by_side_share_their_colours_and_one_bar():
    figure = plots.plot_heatmaps(
        {"p": [[1.0, -4.0] * 31], "$x^$": [[0.0, 2.0] * 31]}, cmap="diverging", y_ticks=["row"]
    )
    left, right, bar = figure.axes
    assert [ax.get_title() for ax in (left, right)] == ["p", "$x^$"] and bar.get_label() == "<colorbar>"
    assert [ax.images[0].get_clim() for ax in (left, right)] == [(-4, 4)] * 2
    assert drawn(right).tolist() == [[0, 2] * 31]
    show(figure, alt="Two maps.")
    assert [ax.yaxis.get_tick_params()["labelleft"] for ax in (left, right)] == [True, False]


def names_in(ax):
    """The names at the ends of curves, from the top."""
    names = [text for text in ax.texts if isinstance(text, Name)]
    return [name.get_text() for name in sorted(names, key=lambda name: -name.get_position()[1])]


@pytest.mark.parametrize("name", ["_x", "__init__", ""])
def test_a_legend_names_everything(name):
    assert [text.strip() for text in names_in(plots.plot_lines({name: [1.0], "b": [2.0]}))] == ["b", name]
    marked = plots.plot_histogram([1.0, 2.0], {name: 1.0, "b": 2.0})
    assert [text.get_text() for text in marked.texts] == [name, "b"]
    legends = [
        plots.plot_word_vectors(torch.eye(2), ["a", "b"], [name, "b"]).get_legend(),
        plots.plot_dots({"row": {name: 1.0, "b": 2.0}}).get_legend(),
        plots.plot_profiles({name: _profile(2), "b": _profile(2)}).legends[0],
    ]
    for legend in legends:
        assert [text.get_text().strip() for text in legend.get_texts()] == [name, "b"]


FIT = {"x": np.arange(5.0), "target": np.zeros(5), "units": np.zeros((5, 2)), "constant": 0.0}
FIT |= {"breakpoints": [1.0, 2.0], "unit": 0, "titles": ("a", "b")}
REFUSED = {
    "ticks across": (lambda: plot_heatmap(np.zeros((2, 2)), x_ticks=["a"]), "2 labels for x_ticks"),
    "ticks down": (lambda: plot_heatmap(np.zeros((2, 2)), y_ticks="abc"), "2 labels for y_ticks"),
    "a flat map beside others": (lambda: plots.plot_heatmaps({"a": np.eye(2), "b": [1.0]}), "b: expected 2 axes"),
    "a flat map": (lambda: plot_heatmap([1.0]), "expected 2 axes"),
    "steps of attention": (lambda: plots.plot_attention(*[np.eye(2)] * 3, "abc", titles="123"), "3|2 labels"),
    "lines of a row": (lambda: plots.plot_attention_lines(np.ones((2, 3)), "ab"), "T, T"),
    "lines of NaN": (lambda: plots.plot_attention_lines([[np.nan]], "a"), "finite"),
    "lines of words": (lambda: plots.plot_attention_lines(np.eye(2), "a"), "2 labels for words"),
    "bars": (lambda: plots.plot_bars({"a": np.inf}), "finite"),
    "no bars": (lambda: plots.plot_bars({}), "at least one"),
    "cards": (lambda: plots.plot_cards("ab", [0]), "1 labels"),
    "answers": (lambda: plots.plot_cards("ab", [1, 0], "a"), "2 labels"),
    "no bar panels": (lambda: plots.plot_bar_panels({}, []), "at least one"),
    "bars without names": (lambda: plots.plot_bar_panels({"t": [1.0, 2.0]}, ["a"]), r"1 numbers.*got \[2\]"),
    "bars of two lengths": (lambda: plots.plot_bar_panels({"t": [1.0], "u": [1.0, 2.0]}, ["a"]), r"got \[1, 2\]"),
    "bars up to infinity": (lambda: plots.plot_bar_panels({"t": [np.inf]}, ["a"]), "finite"),
    "dots": (lambda: plots.plot_dots({"a": {"x": np.nan}}), "finite"),
    "no dots": (lambda: plots.plot_dots({}), "at least one"),
    "a row without dots": (lambda: plots.plot_dots({"a": {"x": 1.0}, "b": {}}), r"\[1, 0\]"),
    "a dot at 0": (lambda: plots.plot_dots({"a": {"x": 0.0}}, log=True), "positive"),
    "no shapes": (lambda: plots.plot_shapes({}), "at least one"),
    "a fit": (lambda: plots.plot_fit(**FIT | {"target": np.zeros(4)}), "one length"),
    "a fit of NaN": (lambda: plots.plot_fit(**FIT | {"units": np.full((5, 2), np.nan)}), "units: .* finite"),
    "a spread": (lambda: plots.plot_histogram([1.0, np.nan], {}), "finite"),
    "a ladder": (lambda: plots.plot_ladder([("a", 0.5, np.nan)]), "rungs: .* finite"),
    "no ladder": (lambda: plots.plot_ladder([]), "axes"),
    "no curves": (lambda: plots.plot_learning_curves(CURVES[:0]), "curves: expected .* got no rows"),
    "curves without seeds": (lambda: plots.plot_learning_curves(CURVES.drop(columns="seed")), "got no column seed"),
    "a curve": (lambda: plots.plot_lines({"a": [1.0], "b": [1.0, 2.0]}), "same first dimension"),
    "a curve without points": (lambda: plots.plot_lines({"a": []}), "lines: a: expected at least one"),
    "panels": (lambda: plots.plot_panels({"one": {"a": [1.0]}, "other": {"a": []}}), "lines: a: expected at least one"),
    "a reordering": (lambda: plots.plot_reordering(np.eye(2), np.eye(3), [0, 1], "ab"), "one shape"),
    "a part of an order": (lambda: plots.plot_reordering(np.eye(2), np.eye(2), [0], "ab"), "2 labels for y_ticks"),
    "looks": (lambda: plots.plot_token_attention([0, np.inf], "ab", chosen=0), "weights: .* finite"),
    "looks of words": (lambda: plots.plot_token_attention([0, 1], "a", chosen=0), "2 labels for words"),
    "words in space": (lambda: plots.plot_word_vectors(np.ones((2, 3)), "ab", "xy"), "width of 2"),
    "words of NaN": (lambda: plots.plot_word_vectors([[0, np.nan]], "a", "x"), "finite"),
    "kinds of words": (lambda: plots.plot_word_vectors(np.eye(2), "ab", "x"), "2 labels for kinds"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_arguments_leave_no_open_figure(case):
    draw, words = REFUSED[case]
    with pytest.raises(ValueError, match=words):
        draw()
    assert plt.get_fignums() == []


@pytest.mark.parametrize("name", DRAWN)
def test_any_text_names_what_is_drawn(name):
    """No text crashes, warns, is a formula or pushes the picture out of its place."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "constrained_layout not applied")  # a legend of 80 letters has no room
        for texts in (HOSTILE[:3], HOSTILE[3:6], HOSTILE[6:]):
            picture = DRAWN[name](texts, texts[2])
            figure = picture if isinstance(picture, plt.Figure) else picture.figure
            stored = show(picture, alt=texts[2])
            assert max(map(int, re.findall(r'(?:width|height)="(\d+)"', stored.svg)[:2])) < 2500
            stored._repr_mimebundle_()["text/html"].encode()  # no lone surrogate is left
            for written in figure.findobj(mpl.text.Text):
                assert not (written.get_parse_math() and "$" in written.get_text())
                assert len(written.get_text().replace("\n", "")) <= plots.TITLE + 9  # and “: 12 means”
            ticks = [tick for ax in figure.axes for tick in (*ax.get_xticklabels(), *ax.get_yticklabels())]
            assert max((len(tick.get_text().replace("\n", "")) for tick in ticks), default=0) <= plots.LABEL


LABELS = {
    **dict.fromkeys(("heatmap", "mask", "lines", "histogram"), "t | t"),
    **dict.fromkeys(("bars", "dots"), "t | "),
    "query": "first number | second number",
    "word_vectors": "first number | second number",
    **dict.fromkeys(("attention_lines", "token_attention", "names"), " | "),
    "shapes": "numbers in the tensor | ",
    "normalisations": " | ,  | ,  | ",
    "bar_panels": " | ,  | ,  | ",
    "heatmaps": "t | t, t | , t | ",
    "masks": "t | t, t | t",
    "panels": " | t,  | ,  | ",
    "attention": "key | query, key | query, dimension | ",
    "cards": "position | ",
    "ladder": " | accuracy (%)",
    "learning_curves": "step | accuracy (%), step | ",
    "reordering": "dimension | , dimension | ",
    "fit": "x | y, x | what each unit adds",
    "profiles": "layer | , layer | , layer | ",
}


def test_every_plot_is_drawn_here():
    assert {f"plot_{name}" for name in LABELS} == DRAWN.keys() == {n for n in dir(plots) if n.startswith("plot_")}


@pytest.mark.parametrize("name", LABELS)
def test_plots_name_their_axes(name):
    axes = [ax for ax in figure_of(f"plot_{name}").axes if ax.get_label() != "<colorbar>"]
    assert ", ".join(f"{ax.get_xlabel()} | {ax.get_ylabel()}" for ax in axes) == LABELS[name]


def whole(axis):
    """Whether an axis has several ticks and all are whole numbers."""
    low, high = axis.get_view_interval()
    ticks = [tick for tick in axis.get_majorticklocs() if low <= tick <= high]
    return len(ticks) > 1 and all(float(tick).is_integer() for tick in ticks)


@pytest.mark.parametrize("most", [1, 2, 3, 4, 7, 9, 80])
def test_what_is_counted_has_whole_ticks(most):
    """Layers, steps, positions and heads: there is no layer 1.5, and no half of a head."""
    assert whole(plots.plot_lines({"a": np.zeros(most + 1)}).xaxis)
    assert whole(plots.plot_lines({"a": np.zeros(most + 1)}, x=range(-most, 1)).xaxis)
    assert whole(plot_heatmap(np.zeros((2, most + 1))).xaxis)
    assert all(whole(ax.xaxis) for ax in plots.plot_profiles({"a": _profile(most + 1)}).axes)
    counted = plots.plot_histogram(np.repeat([0, 1], most), {}, discrete=True)
    assert whole(counted.xaxis) and whole(counted.yaxis)
    assert whole(plots.plot_histogram([0.25] * most + [0.5], {}).yaxis)


def test_what_is_measured_may_have_ticks_in_between():
    assert not whole(plots.plot_lines({"a": [1.0, 2.0, 3.0]}, x=[0.0, 0.5, 1.0]).xaxis)
    assert not whole(plots.plot_lines({"a": [0.0, 1.0]}).yaxis)
    assert not whole(plots.plot_histogram([0.25, 0.5], {}).xaxis)
    assert plots.plot_lines({"a": [1.0, 2.0, 3.0]}, x=[1, 10, 100], x_scale="log").get_xscale() == "log"


def test_ticks_are_cut_and_stand_at_their_places():
    _, ax = plt.subplots()
    plots.label_ticks(ax.yaxis, [0, 2], ["the", "w" * 99])
    assert list(ax.get_yticks()) == [0, 2]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["the", "w" * (TICK - 1) + "…"]


def test_it_draws_on_the_given_axes():
    _, (left, right) = plt.subplots(1, 2)
    assert plot_heatmap([[1.0]], ax=right, colorbar=False) is right
    assert not left.images
    assert len(right.figure.axes) == 2
    plot_heatmap(np.eye(9), ax=left)
    assert len(right.figure.axes) == 3  # and its colour bar


def test_show_renders_once_and_closes():
    ax = plot_heatmap([[1.0, 2.0]])
    picture = show(ax, alt="Two cells.")
    assert plt.get_fignums() == []
    assert picture.svg.startswith("<svg") and len(picture.svg) < 30_000
    assert show(plt.figure(), alt="An empty figure.").alt == "An empty figure."


def test_colours_of_the_palette_follow_the_theme_and_others_stay():
    ax = plt.subplots()[1]
    ax.plot([0, 1], color=LIGHT["attention"])
    ax.plot([1, 0], color="#123456")
    svg = show(ax, alt="Two lines.").svg
    light, dark = svg.partition("@media(prefers-color-scheme:dark)")[::2]
    assert DARK["attention"] in dark and DARK["attention"] not in light
    assert svg.count(LIGHT["attention"]) == 1 and svg.count("#123456") == 1


def test_heatmaps_follow_the_theme_and_other_images_stay():
    values = [[0.0, 0.5, np.nan], [1.0, 0.9, 0.1]]
    for cmap, themes in (("sequential", ["light", "dark"]), ("viridis", [])):
        svg = show(plot_heatmap(values, limits=(0, 1), cmap=cmap), alt="Six cells.").svg
        groups = re.findall(r'<g class="(light|dark)"><image[^>]*base64,([^"]*)"', svg)
        assert [theme for theme, _ in groups] == themes and svg.count("<image") == max(1, len(themes))
        for theme, png in groups:
            pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(png))).convert("RGBA"))
            expected = colour_map(cmap, dark=theme == "dark")(np.ma.masked_invalid(values), bytes=True)
            np.testing.assert_array_equal(pixels[..., 3] > 0, np.isfinite(values))
            np.testing.assert_array_equal(pixels[np.isfinite(values)], expected[np.isfinite(values)])


def test_numbers_in_cells_are_read_in_both_themes():
    svg = show(plot_heatmap([[0.0, 1.0]], limits=(0, 1)), alt="Two cells.").svg
    light, dark = (re.findall(r"--(\w+):(#\w+)", part) for part in svg.split("@media")[:2])
    inks = re.findall(r'<text style="[^"]*fill:var\(--(\w+)\)"[^>]*>[01]<', svg)
    assert [dict(dark)[ink] for ink in inks] == ["#ffffff", "#000000"]
    assert [dict(light)[ink] for ink in inks] == [style.INKS["#000000", "#ffffff"], style.INKS["#ffffff", "#000000"]]


def test_a_colour_bar_stands_where_no_numbers_do():
    few, many = plot_heatmap(np.eye(3)), plot_heatmap(np.eye(9))
    assert (len(few.figure.axes), len(many.figure.axes)) == (1, 2)
    (shades,) = many.figure.axes[1].images
    assert shades.get_clim() == (0, 1) and shades.get_array()[0] == 1 and shades.get_array()[-1] == 0


def test_black_takes_the_colour_of_text_in_the_dark():
    """Matplotlib writes no fill for it."""
    figure, ax = plt.subplots()
    ax.text(0, 0, "black", color="black")
    dark = show(figure, alt="A word.").svg.partition("@media(prefers-color-scheme:dark)")
    assert "fill:var(--ink)" in dark[0] and f"--ink:{DARK['ink']}" in dark[2]


def test_a_picture_is_the_same_each_time_and_small():
    first, second = (show(plot_heatmap(np.eye(30), title="A title"), alt="x").svg for _ in range(2))
    assert first == second and len(first) < 40_000 and "<!--" not in first
    body = re.sub(r"(scale|matrix)\([^)]*\)", "", first.partition("</style>")[2])
    assert re.findall(r"\d\.\d{3,}", body) == [], "no digit that nobody sees"


def test_lines_across_and_down_and_bare_groups_take_little_room():
    ax = plt.figure(figsize=(1, 1), dpi=72).add_axes((0, 0, 1, 1), xlim=(0, 72), ylim=(72, 0))
    ax.axis("off")
    ax.add_patch(mpl.patches.Polygon([(0, 0), (9, 0), (9, 9), (4, 5)], color="#123456"))
    svg = show(ax, alt="A polygon.").svg
    paths = re.findall(r'<path d="([^"]*)"', svg)
    assert any(re.fullmatch(r"M[\d.]+ [\d.]+H[\d.]+V[\d.]+L[\d.]+ [\d.]+z", path) for path in paths)
    assert "<g>" not in svg and svg.count("<g") == svg.count("</g>")


def test_a_picture_carries_its_alt_text():
    bundle = Picture("svg", 'rows of "dog" <b> & more')._repr_mimebundle_()
    assert "base64,c3Zn" in bundle["text/html"]
    assert bundle["text/plain"] == '<picture: rows of "dog" <b> & more>'
    assert bundle["text/html"].startswith('<img alt="rows of &quot;dog&quot; &lt;b&gt; &amp; more" src="data:image/svg')


# --- sizes and margins -----------------------------------------------------------------------------------------------


def test_the_set_up_makes_every_picture_of_one_family():
    with mpl.rc_context():
        setup()
        assert plt.rcParams["figure.figsize"] == [*plots.figure_size(1)] and plt.rcParams["figure.dpi"] == 100
        ax = plots.plot_lines({"a": [1.0, 2.0], "b": [2.0, 1.0]}, title="t", x_label="x", y_label="y")
        texts = [
            ax.title,
            ax.xaxis.label,
            ax.get_xticklabels()[0],
            next(text for text in ax.texts if isinstance(text, Name)),
        ]
        assert [text.get_fontsize() for text in texts] == [11.5, 10, 9.5, 9.5]
        figure = plots.plot_reordering(np.eye(2), np.eye(2), [0, 1], "ab", title="t")
        assert figure.get_suptitle() == "t" and figure._suptitle.get_fontsize() == 11.5


SEVERAL = ("attention", "heatmaps", "reordering", "normalisations", "panels", "profiles", "fit")


def test_pictures_of_several_plots_are_equally_wide():
    figures = [figure_of(f"plot_{name}") for name in SEVERAL]
    figures += [make()._figure for make in (explore.cost, explore.fit_curve, explore.depth)]
    figures += [make()._view.draw(0) for make in (explore.look_up, explore.attend, explore.positional)]
    assert {figure.get_figwidth() for figure in figures} == {plots.figure_size(2)[0]}


@pytest.mark.parametrize("label", ["", "looks"])
def test_square_panels_move_together(label):
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for ax in axes:
        plot_heatmap(np.eye(4), colorbar=False, ax=ax)
    figure.supylabel(label)
    show(figure, alt="Two maps.")
    left, right = (ax.get_window_extent() for ax in axes)
    assert (right.x0 - left.x1 < left.width / 4) == (label == "")
    assert left.height == pytest.approx(left.width) and left.y0 == pytest.approx(right.y0)


@pytest.mark.parametrize(("labels", "slanted"), [("abcdefghijkl", False), (["word"] * 12, True), (["word"] * 3, False)])
def test_labels_are_slanted_where_they_would_overlap(labels, slanted):
    _, axes = plt.subplots(1, 3, figsize=plots.figure_size(3, 3.0), layout="constrained")
    ax = plot_heatmap(np.eye(len(labels)), x_ticks=labels, y_ticks=labels, ax=axes[0])
    assert all((label.get_rotation() > 0) == slanted for label in ax.get_xticklabels())


@pytest.mark.parametrize(("plots_beside", "lines"), [(1, 1), (4, 3)])
def test_a_title_is_broken_where_its_plot_ends(plots_beside, lines):
    ax = plt.subplots(1, plots_beside, figsize=plots.figure_size(plots_beside), squeeze=False)[1][0, 0]
    plot_heatmap([[1.0, 2.0]], title="A title of sixty letters which a narrow plot has no room for", ax=ax)
    assert len(ax.get_title().splitlines()) == lines


# --- names of curves -------------------------------------------------------------------------------------------------


def test_names_stand_at_the_ends_of_their_curves_without_overlap():
    ends = {"a": 0.0, "b": 0.02, "c": 0.01, "d": 10.0, "two lines that are long": 5.0}
    ax = plots.plot_lines({name: [1.0, end] for name, end in ends.items()})
    ax.set_ylim(-1, 11)  # which a cell may do after the plot
    show(ax, alt="Curves.")
    boxes = {text.curve.get_label(): text.get_window_extent() for text in ax.texts if isinstance(text, Name)}
    assert sorted(boxes, key=lambda name: boxes[name].y0) == ["a", "c", "b", "two lines that are long", "d"]
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes.values(), 2))
    for name in ("d", "two lines that are long"):
        height = ax.transData.transform((0, ends[name]))[1]
        assert boxes[name].y0 <= height <= boxes[name].y1


def test_more_curves_than_have_room_get_a_legend():
    ax = plots.plot_lines({str(i): [1.0, 2.0] for i in range(9)})
    assert names_in(ax) == [] and len(ax.get_legend().get_texts()) == 9


def test_what_would_overlap_is_spread_around_its_middle():
    heights = np.array([0.1, 0.1, 0.1, 0.2])
    np.testing.assert_allclose(apart(np.array([0.0, 0.2, 0.6, 0.9]), heights), [0.0, 0.2, 0.6, 0.9])
    np.testing.assert_allclose(apart(np.array([0.5, 0.5, 0.5, 0.9]), heights), [0.4, 0.5, 0.6, 0.9])


# --- curves, words and reorderings ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "text"), [(0.01, "0.01"), (2000, "2,000"), (1e9, "10⁹"), (1.25e6, "1.25 · 10⁶")])
def test_labels_of_a_log_axis_are_exact(number, text):
    ax = plots.plot_lines({"y": [1.0, 2.0]}, x=[1e-3, number * 10], x_scale="log")
    assert ax.xaxis.get_major_formatter()(number) == text


def test_a_log_axis_of_many_decades_names_powers_of_ten_alone():
    ax = plots.plot_lines({"a": [2e5, 5e11]}, y_scale="log")
    assert all(f"{tick:e}".startswith("1.0") for tick in ax.get_yticks())
    plt.close(ax.figure)


def test_lines_hold_the_data_and_differ_without_colour():
    (line,) = plots.plot_lines({"a": [1.0, 2.0, 4.0]}, x_scale="log", y_scale="log").lines
    assert line.axes.get_legend() is None and line.axes.get_xscale() == line.axes.get_yscale() == "log"
    assert line.get_xdata().tolist() == [0, 1, 2]
    ax = plots.plot_lines({"a": [1.0, 2.0], "b": torch.tensor([3.0, 4.0])}, x=[10, 20], title="t", x_label="x")
    first, second = ax.lines
    assert first.get_xydata().tolist() == [[10, 1], [20, 2]] and second.get_ydata().tolist() == [3, 4]
    assert first.get_linestyle() != second.get_linestyle() and first.get_color() != second.get_color()
    assert names_in(ax) == ["b", "a"] and ax.get_legend() is None
    assert ax.get_title() == "t" and ax.get_xlabel() == "x"


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


def test_labels_of_nearly_equal_points_do_not_overlap():
    words = ["horse", "cat", "dog", "bird", "Ana", "Ben"]
    ax = plots.plot_word_vectors([[1.0 + i / 50, 1.0] for i in range(6)], words, words, limit=4)
    ax.figure.canvas.draw()
    boxes = [mpl.text.Text.get_window_extent(text) for text in ax.texts]  # of the word without its line
    assert [text.get_text() for text in sorted(ax.texts, key=lambda text: text.xy[0])] == words
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


def test_a_reordering_joins_every_row_to_where_it_went():
    before, order = torch.arange(6.0).reshape(3, 2), [2, 0, 1]
    figure = plots.plot_reordering(before, -3 * before[order], order, ["a", "b", "c"], title="moved")
    left, right = figure.axes[:2]
    assert [label.get_text() for label in left.get_yticklabels()] == ["a", "b", "c"]
    assert [label.get_text() for label in right.get_yticklabels()] == ["c", "a", "b"]
    assert left.images[0].get_clim() == right.images[0].get_clim() == (-15, 15)
    joins = [artist for artist in figure.artists if isinstance(artist, ConnectionPatch)]
    assert [(join.xy1[1], join.xy2[1]) for join in joins] == [(2, 0), (0, 1), (1, 2)]


def test_the_three_steps_of_attention_stand_side_by_side():
    scores, weights, output = [[1.0, -np.inf], [2.0, -4.0]], [[0.6, 0.4], [0.5, 0.5]], np.ones((2, 5))
    figure = plots.plot_attention(scores, weights, output, ["a", "b"], titles=("one", "two", "three"))
    axes = figure.axes[:3]
    assert [ax.get_title() for ax in axes] == ["one", "two", "three"]
    assert [ax.images[0].get_array().shape for ax in axes] == [(2, 2), (2, 2), (2, 5)]
    assert drawn(axes[0]).mask.tolist() == [[False, True], [False, False]]
    assert [ax.images[0].get_clim() for ax in axes] == [(-4, 4), (0, 1), (-1, 1)]
    for labels in (axes[0].get_xticklabels(), axes[1].get_xticklabels(), *(ax.get_yticklabels() for ax in axes)):
        assert [label.get_text() for label in labels] == ["a", "b"]


def test_attention_weights_are_boxes_in_their_colours():
    words, weights, inks = ["the", "$x^$", "你好"], [0.0, 0.25, 1.0], style.INKS
    ax = plots.plot_token_attention(weights, words, chosen=1, title="A finding")
    assert [box.get_facecolor() for box in ax.patches] == [colour_map("sequential")(w) for w in weights]
    assert [box.get_linewidth() > 0 for box in ax.patches] == [False, True, False]
    assert [text.get_text() for text in ax.texts[1::2]] == ["0 %", "25 %", "100 %"]
    assert ax.texts[0].get_text() == "the" and ax.texts[2].get_text() == "$x^$"
    colours = ax.texts[0].get_color(), ax.texts[4].get_color()
    assert colours == (inks[style.BLACK, style.WHITE], inks[style.WHITE, style.BLACK])
    starts = [box.get_x() for box in ax.patches]
    assert starts == sorted(starts) and len({box.get_y() for box in ax.patches}) == 1
    assert starts[0] == ax.get_xlim()[0], "the first box is below the beginning of the title"


SHARES = [[0.9, 0.1, 0.0], [0.04, 0.06, 0.9], [0.0, 1.0, 0.0]]


def test_attention_lines_are_as_thick_as_the_weights():
    ax = plots.plot_attention_lines(torch.tensor(SHARES, requires_grad=True), ["the", "$x^$", "the"], title="t")
    drawn = {tuple(line.get_ydata()): line.get_linewidth() for line in ax.lines}
    assert drawn == {pair: pytest.approx(4.5 * SHARES[pair[0]][pair[1]]) for pair in
                     [(0, 0), (0, 1), (1, 1), (1, 2), (2, 1)]}, "weights below 0.05 are left out"  # fmt: skip
    assert all(list(line.get_xdata()) == [0, 1] for line in ax.lines) and ax.get_title() == "t"
    places = {text.get_position(): text.get_text() for text in ax.texts}
    assert [places[-0.06, i] for i in range(3)] == [places[1.06, i] for i in range(3)] == ["the", "$x^$", "the"]
    assert ax.get_ylim()[0] > ax.get_ylim()[1], "the first word is on top"
    assert [label.get_text() for label in ax.get_xticklabels()] == ["query", "key"]


@pytest.mark.parametrize(("only", "lit"), [(None, set()), ([1], {1}), ((0, 2), {0, 2}), ([], set())])
def test_lines_of_some_words_are_lit(only, lit):
    """In front of the others and thicker; the words themselves have a frame, and so have the keys of their weight."""
    ax = plots.plot_attention_lines(SHARES, "abc", only=only)
    blue = {line.get_ydata()[0] for line in ax.lines if line.get_color() == LIGHT[FOLLOWED]}
    assert blue == lit and len({line.get_color() for line in ax.lines}) == 1 + bool(lit)
    depths = {row: {line.get_zorder() for line in ax.lines if line.get_ydata()[0] == row} for row in range(3)}
    assert all(min(depths[row]) > max(depths[other]) for row in lit for other in {0, 1, 2} - lit)
    reached = {(1.06, key) for row in lit for key in range(3) if SHARES[row][key] >= 0.5}
    framed = {text.get_position() for text in ax.texts if text.get_bbox_patch()}
    assert framed == {(-0.06, row) for row in lit} | reached
    widths = {line.get_ydata()[0] in lit: line.get_linewidth() / SHARES[line.get_ydata()[0]][line.get_ydata()[1]]
              for line in ax.lines}  # fmt: skip
    assert len(widths) < 2 or widths[True] > 2 * widths[False]


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


def test_one_card_or_some_may_have_their_arrows_lit():
    colours = []
    for only in (None, 1, [0, 2], []):
        patches = plots.plot_cards(["a", "b", "c"], [1, 2, 0], only=only).patches
        colours.append([patch.get_edgecolor() for patch in patches if isinstance(patch, FancyArrowPatch)])
    lit, grey = to_rgba(LIGHT["sentence-1"]), to_rgba(plots.GREY)
    assert colours == [[lit] * 3, [grey, lit, grey], [lit, grey, lit], [grey] * 3]
    texts = [text.get_text() for text in plots.plot_cards(["a", "b"], [1, 0]).texts]
    assert sorted(texts) == ["", "", "a", "b", "→ 0", "→ 1"], "no answers, none drawn"


RUNGS = [("chance", 0.12, 0.125), ("embedding", 0.125, 0.125), ("attention", 0.5, 0.5), ("$x^$", 0.986, 1.0)]


def test_ladder_has_a_bar_and_an_upper_bound_for_each_rung():
    ax = plots.plot_ladder(RUNGS)
    assert [bar.get_height() for bar in ax.patches] == pytest.approx([12, 12.5, 50, 98.6])
    assert [text.get_text() for text in ax.texts] == ["12.0 %", "12.5 %", "50.0 %", "98.6 %"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["upper bound of such a model"]
    ceilings = [lines.get_segments()[0] for lines in ax.collections if lines.get_segments()]
    assert [ceiling[:, 1].tolist() for ceiling in ceilings] == [[12.5] * 2, [12.5] * 2, [50] * 2, [100] * 2]
    assert [ceiling[:, 0].mean() for ceiling in ceilings] == pytest.approx(range(4))
    assert [label.get_text() for label in ax.get_xticklabels()] == ["chance", "embedding", "+ attention", "+ $x^$"]
    assert (
        ax.get_ylabel() == "accuracy (%)"
        and ax.get_ylim()[0] == 0
        and ax.get_title() == "The ladder so far: accuracy on the card task"
    )


CURVES = pd.DataFrame(
    [("a", 0, 0, 10.0), ("a", 0, 100, 50.0), ("a", 0, 200, 60.0), ("b + c", 0, 100, 90.0), ("b + c", 1, 100, 95.0)],
    columns=["model", "seed", "step", "accuracy"],
)


def test_learning_curves_have_a_panel_a_model_a_line_a_seed_and_a_median():
    figure = plots.plot_learning_curves(CURVES)
    left, right = figure.axes
    assert [ax.get_title() for ax in (left, right)] == ["a", "b + c"]
    level, curve, median = (line.get_xydata().tolist() for line in left.lines)
    assert [y for _, y in level] == [50, 50] and curve == [[100, 50], [200, 60]], "step 0 has no place on a log axis"
    assert median == curve and [line.get_ydata().tolist() for line in right.lines[1:]] == [[90], [95], [92.5]]
    assert left.get_xscale() == "log" and left.get_ylabel() == "accuracy (%)"
    names = ["letter right, case guessed", "each seed", "median of the seeds"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == names
    bare = plots.plot_learning_curves(CURVES, level=None)
    assert len(bare.axes[0].lines) == 2 and [text.get_text() for text in bare.legends[0].get_texts()] == names[1:]


def test_learning_curves_say_how_many_seeds_end_where():
    ends = [(seed, end) for seed, end in enumerate((50.0, 98.8, 49.6, 55.0, 100.0, 75.0))]
    rows = [("a", seed, step, end) for seed, end in ends for step in (100, 8000)]
    (ax,) = plots.plot_learning_curves(pd.DataFrame(rows, columns=CURVES.columns)).axes
    assert [text.get_text() for text in ax.texts] == ["3 seeds: 50 to 55 %", "1 seed: 75 %", "2 seeds: 99 to 100 %"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["100", "1,000", "8,000"]


def test_four_models_make_a_square():
    models = pd.concat(CURVES[CURVES["model"] == "a"].assign(model=name) for name in "pqrs")
    places = [ax.get_subplotspec() for ax in plots.plot_learning_curves(models).axes]
    assert [(place.rowspan.start, place.colspan.start) for place in places] == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_learning_curves_of_one_model_have_one_title():
    figure = plots.plot_learning_curves(CURVES[CURVES["model"] == "a"], title="t")
    assert [ax.get_title() for ax in figure.axes] == ["t"] and figure.get_suptitle() == ""


def test_a_long_sentence_is_wrapped():
    words = ["word"] * 40
    ax = plots.plot_token_attention([1 / 40] * 40, words, chosen=0)
    lines = {box.get_y() for box in ax.patches}
    assert len(lines) > 2
    height = plots.token_attention_height
    assert height(words, 7) > height(words, 14) > height(["word"], 7)


def test_token_attention_in_a_part_of_a_figure():
    """A part of a figure has a width of its own: half of it has room for half as many words on a line."""
    whole, parts = plt.figure(figsize=(8, 4)), plt.figure(figsize=(8, 4)).subfigures(1, 2)
    lines = []
    for place in (whole, parts[0]):
        ax = plots.plot_token_attention([1 / 20] * 20, ["word"] * 20, chosen=0, ax=place.subplots())
        lines.append(len({box.get_y() for box in ax.patches}))
    assert lines == [2, 3]
    plt.close("all")


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


def test_bars_hold_their_numbers_in_order_and_write_them_beside():
    ax = plots.plot_bars({"a": 3.0, "$x^$": 11_720_448.0}, title="t", x_label="n")
    assert [bar.get_width() for bar in ax.patches] == [3, 11_720_448]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "$x^$"]
    assert [text.get_text() for text in ax.texts] == ["3", "11,720,448"]
    assert ax.yaxis_inverted() and ax.get_title() == "t"
    assert ax.get_xticklabels() == []


def test_bars_side_by_side_have_their_numbers():
    left, right = plots.plot_bar_panels({"p": [1.0, -2.0], "$x^$": [0.254, 8.0]}, ["a", "b"]).axes
    assert [bar.get_width() for bar in right.patches] == [0.254, 8]
    assert [text.get_text() for ax in (left, right) for text in ax.texts] == ["1.00", "−2.00", "0.25", "8.00"]
    assert [label.get_text() for label in left.get_yticklabels()] == ["a", "b"] and left.yaxis_inverted()
    assert [ax.get_title() for ax in (left, right)] == ["p", "$x^$"]


def test_a_spread_counts_every_number_and_marks_places():
    ax = plots.plot_histogram(torch.tensor([1.0, 1.0, 2.0, 5.0]), {"here": 3.0})
    assert sum(bar.get_height() for bar in ax.patches) == 4
    assert list(ax.lines[0].get_xdata()) == [3, 3]
    assert [text.get_text() for text in ax.texts] == ["here"]
    ax = plots.plot_histogram([1.0, 1.0, 2.0, 4.0], {}, discrete=True)
    assert [bar.get_x() + bar.get_width() / 2 for bar in ax.patches] == pytest.approx([1, 2, 3, 4])
    assert [bar.get_height() for bar in ax.patches] == [2, 1, 0, 1]


def test_each_tensor_has_its_size_and_its_shape():
    """Below the name of its part. A part's last step, which is its output, is drawn once, under the part's name."""
    last = torch.ones(2, 5)
    tensors = {
        "$input$": torch.ones(4),
        "attention.q_proj": torch.ones(1, 3),
        "attention.out_proj": last,
        "attention": last,
    }
    ax = plots.plot_shapes(tensors, title="t")
    assert [label.get_text() for label in ax.get_yticklabels()] == ["$input$", "attention.q_proj", "attention"]
    assert [bar.get_width() for bar in ax.patches] == [4, 3, 10] and ax.yaxis_inverted()
    assert {text.get_text() for text in ax.texts} == {"(4)", "(1, 3)", "(2, 5)", "Attention"}
    heading = [text.get_position()[1] for text in ax.texts if text.get_text() == "Attention"]
    rows = [bar.get_y() + bar.get_height() / 2 for bar in ax.patches]
    before, within = heading[0] - rows[0], rows[2] - rows[1]
    assert before > 1.5 * within and rows[1] - heading[0] <= within, "a part's name stands nearer to its own bars"
    roles = [LIGHT[role] for role in ("stream", "query", "attention")]
    assert [to_hex(bar.get_facecolor()) for bar in ax.patches] == roles
    scores = plots.plot_shapes({"attention.scores": last, "attention.weights": torch.ones(2, 5)})
    assert [to_hex(bar.get_facecolor()) for bar in scores.patches] == roles[::2], "scores aren't weights yet"


def _profile(n_layers):
    return Profile(torch.arange(1.0, n_layers + 1), torch.arange(1.0, n_layers + 2), torch.linspace(0, 1, n_layers + 1))


def test_profiles_stand_side_by_side_with_layer_0_as_the_input():
    figure = plots.plot_profiles({"a": _profile(3), "$x^$": _profile(2)})
    assert max(len(ax.get_title()) for ax in figure.axes) <= 26, "a third of the width, in the wider fonts of a page"
    gradient, size, similarity = figure.axes
    assert [list(line.get_xdata()) for line in gradient.lines] == [[1, 2, 3], [1, 2]]
    assert [list(line.get_ydata()) for line in size.lines] == [[1, 2, 3, 4], [1, 2, 3]]
    assert list(similarity.lines[1].get_ydata()) == [0, 0.5, 1]
    assert [ax.get_yscale() for ax in figure.axes] == ["log", "log", "linear"]
    assert similarity.get_ylim() == (-0.05, 1.05)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a", "$x^$"]
    figure.canvas.draw()


def test_panels_share_their_scale_and_name_curves_once():
    panels = {"p": {"a": [1.0, 2.0], "b": [3.0, 4.0]}, "q": {"a": [0.0, 9.0], "b": [1.0, 1.0]}}
    figure = plots.plot_panels(panels, x=[1, 2])
    left, right = figure.axes
    assert left.get_ylim() == right.get_ylim() and (left.get_title(), right.get_title()) == ("p", "q")
    assert names_in(left) == [] and names_in(right) == ["a", "b"]
    assert list(right.lines[0].get_ydata()) == [0, 9] and list(right.lines[0].get_xdata()) == [1, 2]


def test_panels_may_have_scales_of_their_own():
    panels = {"p": {"$a$": [1.0, 2.0, 3.0]}, "q": {"$a$": [10.0, 90.0, 50.0]}}
    style = {"x": [1, 10, 100], "x_label": "K", "x_scale": "log"}
    left, right = plots.plot_panels(panels, share_y=False, **style).axes
    assert left.get_ylim()[1] < 5 < 80 < right.get_ylim()[1]
    assert [ax.get_xscale() for ax in (left, right)] == ["log", "log"] and left.get_xlabel() == "K"
    assert {1, 10, 100} == {place for place in left.get_xticks() if 1 <= place <= 100}


def test_blocks_highlight_cubes_that_share_a_mean():
    dims = {"Layer norm": 2, "$x^$": (0, 1), "sequence": (1, 2), "last": -1, "all": [0, 1, 2]}
    figure, sizes = plots.plot_normalisations(dims), [6, 12, 24, 6, 72]
    assert [ax.get_title().replace("\n", " ") for ax in figure.axes] == [
        f"{name}: {72 // size} mean{'s' * (size < 72)}" for name, size in zip(dims, sizes, strict=True)
    ]
    for ax, size in zip(figure.axes, sizes, strict=True):
        colours = [tuple(colour) for colour in ax.collections[0].get_facecolor()]
        counts = [colours.count(to_rgba(shade)) for shade in ("#d55e00", "#f0a05f", "#a34700")]
        assert len(colours) == 4 * 6 + 3 * 6 + 3 * 4 and size / 3 <= max(counts) <= min(size, 24), "what is outside"
    assert figure.axes[0].texts[0].get_text() == "D = 6 numbers"


def test_a_fit_is_drawn_with_its_units_and_then_updated():
    x, units = torch.linspace(-1, 1, 5), torch.arange(10.0).reshape(5, 2) / 10
    figure = plots.plot_fit(x, x, units, 0.5, breakpoints=[-2.0, 0.25], unit=1, titles=("A", "B"))
    left, right = figure.axes
    np.testing.assert_allclose(left.lines[0].get_ydata(), x)
    np.testing.assert_allclose(left.lines[1].get_ydata(), units.sum(dim=1) + 0.5, rtol=1e-6)
    assert left.lines[2].get_xdata().tolist() == [0.25], "bends out of view are left out"
    np.testing.assert_allclose(right.lines[0].get_ydata(), units[:, 1], rtol=1e-6)
    assert len(right.collections[0].get_paths()) == 1 and right.get_ylim() == (-2.4, 2.4)
    assert plots.plot_fit(x, x, 100 * units[:, :1], 0.0, breakpoints=[0.0], unit=0, titles=(), figure=figure) is figure
    assert not right.collections[0].get_paths() and right.get_ylim() == pytest.approx((-80, 80))
    assert (left.get_title(), right.get_title()) == ("A", "B")


def test_dots_of_one_name_share_a_line():
    ax = plots.plot_dots({"$x^$": {"a": 1.0, "b": 3.0}, "<b>": {"a": 2.0, "b": 0.5}}, title="T")
    assert [label.get_text() for label in ax.get_yticklabels()] == ["$x^$", "<b>"]
    kinds = {dots.get_label(): dots.get_offsets().tolist() for dots in ax.collections[1:]}
    assert kinds == {"a": [[1.0, 0.0], [2.0, 1.0]], "b": [[3.0, 0.0], [0.5, 1.0]]}
    assert ax.get_ylim()[0] > ax.get_ylim()[1], "the first name is on top"


@pytest.mark.parametrize(("names", "numbers"), [("ab", ["3.00", "1.00", "−0.50"] * 2), ("abcdefghi", [])])
def test_few_rows_of_dots_have_their_numbers_beside_them(names, numbers):
    ax = plots.plot_dots({name: {"x": 3.0, "y": 1.0, "z": -0.5} for name in names})
    assert [text.get_text() for text in ax.texts] == numbers


def test_dots_of_one_kind_have_no_legend_and_as_many_decimals_as_asked_for():
    ax = plots.plot_dots({"a": {"x": 0.12345}, "b": {"x": 1.0}}, decimals=3)
    assert [text.get_text() for text in ax.texts] == ["0.123", "1.000"] and ax.get_legend() is None


def test_a_row_of_dots_need_not_have_every_kind():
    ax = plots.plot_dots({"a": {"x": 1.0}, "b": {"y": 2.0}})
    assert [text.get_text() for text in ax.texts] == ["1.00", "2.00"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["x", "y"]
    assert [len(dots.get_offsets().compressed()) // 2 for dots in ax.collections[1:]] == [1, 1]


def test_of_many_dots_each_has_a_line_of_its_own_with_its_kind_and_number():
    """The first kind alone is blue. A logarithmic axis is labelled in plain numbers."""
    many = {"w": 1.0, "x": 0.2, "y": 0.21, "z": 11.0}
    ax = plots.plot_dots({"a": many, "b": {"w": 0.2}}, log=True)
    ax.figure.draw_without_rendering()
    assert [text.get_text() for text in ax.texts] == ["w 1.00", "x 0.20", "y 0.21", "z 11.00", "w 0.20"]
    places = np.array([text.xy for text in ax.texts])
    np.testing.assert_allclose(places[:, 0], [*many.values(), 0.2])
    dots = [dots.get_offsets().compressed().reshape(-1, 2) for dots in ax.collections]
    np.testing.assert_allclose(np.concatenate([*(kind[:1] for kind in dots), dots[0][1:]]), places)
    assert all(upper + 0.15 < lower for upper, lower in itertools.pairwise(places[:, 1]))
    assert places[3, 1] < 0.5 < places[4, 1], "each row keeps its lines together"
    boxes = [text.get_window_extent() for text in ax.texts]
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2)) and ax.get_legend() is None
    assert {"0.5", "1", "10"} <= {label.get_text() for label in ax.get_xticklabels()} and ax.get_xscale() == "log"
    edges = [to_hex(dots.get_edgecolor()[0]) for dots in ax.collections]
    assert edges.count(plots.COLOURS[0]) == 1 and edges[0] == plots.COLOURS[0]


def test_a_path_joins_the_dots_of_the_first_kind():
    """Below the dots and their numbers; faint lines reach from the least number of a name to its largest."""
    steps = {"a": {"w": 1.0, "x": 0.2, "y": 0.3, "z": 2.0}, "b": {"w": 3.0, "x": 0.4, "y": 0.5, "z": 0.6}}
    ax = plots.plot_dots(steps, path=True)
    first = ax.collections[1]
    ground, path = (line for line in ax.lines if len(line.get_xdata()) == 2 and line.get_xdata()[1] == 3)
    np.testing.assert_allclose(path.get_xydata(), first.get_offsets())
    assert path.get_color() == plots.COLOURS[0] and ground.get_linewidth() > 2 * path.get_linewidth()
    assert path.get_zorder() < min(first.get_zorder(), *(text.get_zorder() for text in ax.texts))
    ranges = [[x for x, _ in segment] for segment in ax.collections[0].get_segments()]
    assert ranges == [[0.2, 2.0], [0.4, 3.0]]
    assert len(plots.plot_dots(steps).lines) == len(ax.lines) - 2


def test_dots_that_overlap_can_be_seen():
    """All stand on the line of their name; those of the first kind are filled, and in front of the others."""
    ax = plots.plot_dots({"near": {"x": 0.99, "y": 1.0, "z": 2.0}, "far": {"x": 1.0, "y": 0.0, "z": 2.0}})
    first, *others = ax.collections[1:]
    assert all(dots.get_offsets()[:, 1].tolist() == [0.0, 1.0] for dots in (first, *others))
    filled, ground = to_hex(first.get_facecolor()[0]), [to_hex(dots.get_facecolor()[0]) for dots in others]
    assert filled == plots.COLOURS[0] and set(ground) == {plots.style.GROUND}
    assert all(first.zorder > dots.zorder for dots in others)


def test_a_poorer_font_face_loses_no_characters(monkeypatch):
    """Debian's DejaVu Sans has an extra light face without √, which may stand last in matplotlib's list."""
    manager = mpl.font_manager.fontManager
    few = next(font.fname for font in manager.ttflist if font.name == "DejaVu Sans Display")
    light = mpl.font_manager.FontEntry(fname=few, name="DejaVu Sans", weight=200)
    monkeypatch.setattr(manager, "ttflist", [*manager.ttflist, light])
    monkeypatch.setattr(style, "fonts", style.fonts.__wrapped__)
    assert style.drawable("√6 ✗", 9) == "√6 ✗" and style.drawable("\U0010ffff", 9) == "□"
