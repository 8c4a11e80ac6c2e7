"""Pictures for a phone: plots below one another, with text of the same size, beside the pictures for wider pages."""

import re
from itertools import pairwise

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
from explorers import minilm
from matplotlib.patches import ConnectionPatch
from pages import _with_files
from phone import WIDE, catching, narrowed
from pictures import DRAWN, figure_of
from places import NOTEBOOKS
from record_all import Recorder, name_on_phone

from encoder_lib.course import explore
from encoder_lib.course.kit import plots
from encoder_lib.course.kit.plots import plot_bars, plot_dots, plot_heatmap, plot_lines, plot_panels, show

TITLE = "A title that takes nearly the whole width of an ordinary picture"


def boxes(figure):
    """Where the plots are: left, lower, right and upper edges."""
    figure.draw_without_rendering()
    return [ax.get_window_extent().extents for ax in figure.axes]


@pytest.mark.parametrize("name", DRAWN)
def test_every_kind_of_picture_fits_on_a_phone(name):
    kept = {}
    catching(kept.__setitem__)(figure_of(name), alt="One.")
    for svg in kept.values():
        width = int(re.search(r'width="(\d+)"', svg)[1])
        assert width <= 96 * WIDE + 40, f"{width} pixels"


def test_names_that_would_run_into_each_other_are_slanted():
    for names, slant in ((["one", "two", "three"], 0.0), (["sentence"] * 8, 40.0)):
        ax = plot_heatmap(np.zeros((2, len(names))), x_ticks=names, y_ticks=["a", "b"])
        narrowed(ax.figure)
        turned = {label.get_rotation() for label in ax.get_xticklabels()}
        assert turned == {slant}


def test_plots_stand_below_one_another():
    figure, axes = plt.subplots(1, 3, figsize=plots.figure_size(3), sharey=True, layout="constrained")
    for ax in axes:
        plot_heatmap(np.eye(3), title=TITLE, x_ticks="abc", y_ticks="abc", colorbar=False, ax=ax)
    narrowed(figure)
    first, second, third = boxes(figure)
    assert first[1] > second[3] and second[1] > third[3]
    assert figure.get_figwidth() == WIDE
    for ax in axes:
        assert [label.get_visible() for label in ax.get_yticklabels()] == [True] * 3
        title = ax.title.get_window_extent()
        assert title.x1 < figure.bbox.x1 and "\n" in ax.get_title()
    plt.close(figure)


def test_no_line_runs_across_plots_that_stand_below_one_another():
    figure = figure_of("plot_reordering")
    assert figure.findobj(ConnectionPatch)
    narrowed(figure)
    assert not figure.findobj(ConnectionPatch)
    plt.close(figure)


def test_curves_are_named_below_their_plot():
    ax = plot_lines({"a curve": [1, 2, 3], "another curve": [3, 2, 1]})
    assert ax.get_legend() is None
    narrowed(ax.figure)
    ax.figure.draw_without_rendering()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a curve", "another curve"]
    assert ax.get_legend().get_window_extent().y1 < ax.get_window_extent().y0
    assert ax.get_window_extent().width > 0.75 * ax.figure.bbox.width
    plt.close(ax.figure)


def test_long_names_of_curves_take_a_line_each():
    ax = plot_lines({f"0.0{n} throughout: {n}0% accuracy": [n, 2, 3] for n in range(3)}, title=TITLE)
    narrowed(ax.figure)
    ax.figure.draw_without_rendering()
    lines = [text.get_window_extent() for text in ax.get_legend().get_texts()]
    assert all(upper.y0 >= lower.y1 for upper, lower in pairwise(lines))
    assert ax.get_window_extent().width > 0.7 * ax.figure.bbox.width
    plt.close(ax.figure)


def test_the_figure_that_was_shown_stays_as_it_was():
    ax = plot_heatmap(np.eye(2), y_ticks=["two words in one row", "a word"], title=TITLE)
    width, title, names = ax.figure.get_figwidth(), ax.get_title(), [label.get_text() for label in ax.get_yticklabels()]
    catching(print)(ax, alt="Four cells.")
    assert ax.figure.get_figwidth() == width and ax.get_title() == title
    assert [label.get_text() for label in ax.get_yticklabels()] == names


def test_long_names_of_rows_take_more_lines():
    names = [f"The {word} was bought by another." for word in ("small bank", "old bank")]
    ax = plot_bars(dict.fromkeys(names, 1.0))
    narrowed(ax.figure)
    ax.figure.draw_without_rendering()
    lower, upper = sorted((label.get_window_extent() for label in ax.get_yticklabels()), key=lambda box: box.y0)
    assert lower.y1 < upper.y0 and lower.width < 0.4 * ax.figure.bbox.width
    plt.close(ax.figure)


def test_numbers_beside_dots_stay_clear_of_the_names_of_rows():
    ax = plot_dots({f"The {word} is open on Sunday.": {"left": 0.2, "right": 0.9} for word in ("shop", "bank")})
    narrowed(ax.figure)
    ax.figure.draw_without_rendering()
    edge = max(label.get_window_extent().x1 for label in ax.get_yticklabels())
    assert all(edge < number.get_window_extent().x0 for number in ax.texts) and len(ax.texts) == 4
    plt.close(ax.figure)


@pytest.mark.parametrize(("columns", "turned"), [(3, {0}), (12, {90})])
def test_numbers_wider_than_their_cells_are_rotated(columns, turned):
    ax = plot_heatmap(np.full((5, columns), -0.25))
    narrowed(ax.figure)
    assert {number.get_rotation() for number in ax.texts} == turned
    plt.close(ax.figure)


@pytest.mark.parametrize("count", [2, 16])
def test_a_legend_stands_right_below_its_plot(count):
    ax = plot_dots({f"The {row}th of the sentences": {"its own kind": 0.2, "the other": 0.9} for row in range(count)})
    narrowed(ax.figure)
    ax.figure.draw_without_rendering()
    legend, axis = (part.get_tightbbox() for part in (ax.get_legend(), ax.xaxis))
    assert 0 < axis.y0 - legend.y1 < 20
    assert legend.x0 < ax.bbox.x0 < ax.figure.bbox.x1 / 2
    plt.close(ax.figure)


def test_only_wide_pictures_are_drawn_anew():
    kept, before = {}, plt.get_fignums()
    drawing = catching(kept.__setitem__)
    small = show(plt.subplots(figsize=(4, 3))[1], alt="Small.")
    assert drawing(plt.subplots(figsize=(4, 3))[1], alt="Small.") == small
    wide = drawing(plot_panels({name: {"y": [1, 2]} for name in ("left", "right")}), alt="Two.")
    assert kept == {"Two.": wide.svg} and plt.get_fignums() == before
    width, height = map(int, re.search(r'width="(\d+)" height="(\d+)"', kept["Two."]).groups())
    assert width <= 96 * WIDE + 12 and height > 1.5 * width


def test_the_recorder_keeps_them_and_the_page_offers_them(tmp_path):
    (tmp_path / "recordings").mkdir()
    with pytest.raises(RuntimeError), Recorder(NOTEBOOKS[0], tmp_path / "recordings"):
        shown = plots.show(plot_lines({"y": [1, 2]}), alt="A “line”.")
        raise RuntimeError
    assert plots.show is show
    page = _with_files(shown._repr_mimebundle_()["text/html"], tmp_path, NOTEBOOKS[0].stem)
    name = name_on_phone(NOTEBOOKS[0].stem, "A “line”.")
    assert "<picture><source height=" in page and f'srcset="../_static/recordings/{name}"' in page
    assert (tmp_path / "recordings" / name).exists()
    assert "<picture>" not in _with_files(shown._repr_mimebundle_()["text/html"], tmp_path, NOTEBOOKS[1].stem)


def test_an_open_layer_of_the_whole_encoder_is_drawn_for_a_phone(tmp_path):
    cell = nbformat.v4.new_code_cell("explore.alive(model, text, open=1)")
    shown = explore.alive(minilm(), "The bank was flooded.", open=1)
    with Recorder(NOTEBOOKS[0], tmp_path) as recorder:
        recorder(cell, shown)
    svg = (tmp_path / name_on_phone(NOTEBOOKS[0].stem, shown.description)).read_text(encoding="utf-8")
    assert int(re.search(r'width="(\d+)"', svg)[1]) <= 96 * WIDE + 12


def test_a_narrow_explorer_follows_its_controls():
    explorer = explore.fit_curve()
    narrowed(explorer._figure)
    before = boxes(explorer._figure)
    explorer.set(width=8)
    assert np.allclose(boxes(explorer._figure), before, atol=30)
    assert all(upper[1] > lower[3] for upper, lower in pairwise(before)) and len(before) > 1
