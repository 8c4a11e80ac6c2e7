"""A query and keys as arrows: their tips, their colours, and names that no arrow covers."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex

from encoder_lib.course.attention.plots import plot_query
from encoder_lib.course.kit.palette import WORDS


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
    assert names["up"].xyann[1] > 0 and names["long"].xyann[0] > 0


def test_an_arrow_along_a_longer_one_is_broader_paler_and_below_it(ax):
    long, _, short, _ = (note for note in ax.texts if note.arrow_patch)
    ax.figure.draw_without_rendering()
    heights = [note.arrow_patch.get_window_extent().height for note in (long, short)]
    assert heights[1] > 1.5 * heights[0] and short.arrow_patch.get_alpha() < 1 and short.zorder < long.zorder


def test_a_picture_of_its_own_fills_its_column(ax):
    ax.figure.draw_without_rendering()
    assert ax.get_window_extent().width > 0.85 * ax.figure.bbox.width


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
