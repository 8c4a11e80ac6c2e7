"""A query and keys as arrows: their tips, their colours, and names that no arrow covers."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex

from encoder_lib.course.attention.plots import BESIDE, plot_query
from encoder_lib.course.kit.palette import WORDS
from encoder_lib.course.kit.plots.style import WIDTH


@pytest.fixture
def ax():
    drawn = plot_query([1.0, 2.0], [[2.0, 0.0], [0.0, 2.0], [1.0, 0.0]], ["query", "long", "up", "short"], title="T")
    yield drawn
    plt.close(drawn.figure)


def test_arrows_lead_from_the_origin_each_in_a_colour_of_words(ax):
    arrows = [note for note in ax.texts if note.arrow_patch]
    assert [tuple(arrow.xy) for arrow in arrows] == [(2, 0), (0, 2), (1, 0), (1, 2)]
    assert all(arrow.xyann == (0, 0) for arrow in arrows)
    hues = [to_hex(arrow.arrow_patch.get_edgecolor()) for arrow in arrows]
    assert hues == [*WORDS]


def test_every_name_stands_at_its_tip_and_below_a_longer_arrow(ax):
    names = {note.get_text(): note for note in ax.texts if note.get_text()}
    assert {name: tuple(note.xy) for name, note in names.items()} == {
        "long": (2, 0), "up": (0, 2), "short": (1, 0), "query": (1, 2)
    }  # fmt: skip
    assert [name for name, note in names.items() if note.xyann[1] < 0] == ["short"]
    assert names["up"].xyann[1] > 0 and names["long"].xyann[1] > 0 and names["query"].xyann[0] > 0


def test_an_arrow_along_a_longer_one_is_beside_it_with_the_same_stroke(ax):
    long, _, short, _ = (note for note in ax.texts if note.arrow_patch)
    ax.figure.draw_without_rendering()
    above, below = (note.arrow_patch.get_window_extent() for note in (long, short))
    apart = (above.y0 + above.y1 - below.y0 - below.y1) / 2 * 72 / ax.figure.dpi
    assert apart == pytest.approx(BESIDE, abs=0.1)
    assert (
        long.arrow_patch.get_linewidth() == short.arrow_patch.get_linewidth() and short.arrow_patch.get_alpha() is None
    )


def test_two_equal_arrows_are_both_seen():
    drawn = plot_query([0.0, 1.0], [[3.0, -1.0], [3.0, -1.0]], ["query", "one", "other"])
    drawn.figure.draw_without_rendering()
    boxes = [note.arrow_patch.get_window_extent() for note in drawn.texts if note.arrow_patch]
    plt.close(drawn.figure)
    assert boxes[0].y0 > boxes[1].y0 + 3 and boxes[0].x0 > boxes[1].x0


@pytest.mark.parametrize(
    "tips", [[[2, 0], [0, 2]], [[-2, 0], [-1, 0]], [[-2, 1], [0, -2]], [[3, -1], [3, -1]], [[0, 0]]]
)
def test_names_stay_in_the_plot(tips):
    drawn = plot_query([1.0, 1.5], tips, ["query of bank", *["key of money, score 1.41"] * len(tips)])
    drawn.figure.draw_without_rendering()
    plot = drawn.get_window_extent()
    boxes = [note.get_window_extent() for note in drawn.texts if note.get_text()]
    plt.close(drawn.figure)
    assert all(plot.x0 < box.x0 and box.x1 < plot.x1 and box.y1 < plot.y1 for box in boxes)


def test_a_picture_is_as_wide_as_what_it_shows(ax):
    ax.figure.draw_without_rendering()
    assert ax.get_window_extent().width > 0.8 * ax.figure.bbox.width
    assert ax.figure.get_figwidth() < 0.67 * WIDTH


def test_all_tips_are_in_view_and_both_axes_have_one_scale(ax):
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    assert left < 0 and right > 2 and low < 0 and high > 2 and ax.get_aspect() == 1


@pytest.mark.parametrize(
    ("query", "keys", "problem"),
    [
        ([1.0, 2.0, 3.0], [[1.0, 2.0]], r"a query \(2,\) and keys \(N, 2\), got \(3,\), \(1, 2\)"),
        ([1.0, 2.0], [[1.0]], r"got \(2,\), \(1, 1\)"),
        ([1.0, np.nan], [[1.0, 2.0]], "finite"),
    ],
)
def test_what_is_not_in_the_plane_is_refused(query, keys, problem):
    with pytest.raises(ValueError, match=problem):
        plot_query(query, keys, ["query", "key"])
