"""Points in a plane: what the front end gets of them, and the stored picture."""

import numpy as np
import pytest
import torch
from small_explorers import numbers

from encoder_lib.course.explore import Explorer, Heatmap, Range, View
from encoder_lib.course.kit.plots.style import GROUND
from encoder_lib.course.kit.widget.plane import LABEL, Plane, beside_longer, spread

LIMITS = {"x_limits": (-2.0, 2.0), "y_limits": (-1.0, 1.0)}
FRAMES = torch.arange(12.0).view(3, 2, 2) / 12


def test_frames_and_colours_travel_beside_a_heatmap():
    """A colour for each kind, in the order of the kinds; the points are the rows, and the heatmap's colours its own."""
    points = Plane(FRAMES, ["a", ""], kinds=["x", "y"], paths=[(0, 1)], cut=(1, 0), **LIMITS)
    view = View(points, Heatmap(np.eye(2)), frames="n", description=["0.", "1.", "2."])
    explorer = Explorer(lambda n: view, Range("n", 0, min=0, max=2), title="Points")
    for n in range(3):
        np.testing.assert_allclose(numbers(explorer, 0, n), FRAMES[n], rtol=1e-6)
    np.testing.assert_array_equal(numbers(explorer, 1), np.eye(2))
    spec = explorer._panels[0]["plane"]
    assert (spec["names"], spec["colours"]) == (["a", ""], [0, 1])
    assert spec["paths"] == [([0, 1], "thin"), ([1, 0], "dashed")]
    assert set(explorer._colours) == {"sequential"} and "plane" not in explorer._panels[1]


@pytest.mark.parametrize(
    ("values", "options", "words"),
    [
        (np.zeros((2, 3)), {}, "points of two numbers"),
        (np.zeros(2), {}, "2 or 3"),
        (np.full((2, 2), np.nan), {}, "finite"),
        (np.zeros((3, 2)), {}, "3"),
        (np.zeros((2, 2)), {"kinds": ["x"]}, "2"),
    ],
)
def test_other_shapes_and_labels_are_refused(values, options, words):
    with pytest.raises(ValueError, match=words):
        Plane(values, ["a", "b"], **LIMITS, **options)


@pytest.mark.parametrize("looks", [{"arrows": True}, {"circle": 1.0, "angle": (0, 1)}, {"cut": (0, 1)}], ids=str)
def test_the_stored_picture_names_the_points_of_its_frame(looks):
    """A name without a formula or markup in it, and none for a point without one."""
    points = np.array([[[0.5, 0.5], [-0.5, 0.5], [0, 1]], [[1, 0], [0, 1], [0, 0]]])
    view = View(Plane(points, ["$x^$", "<b>", ""], title="T", **LIMITS, **looks), frames="n", description="Points.")
    for n in (0, 1):
        figure = view.draw(n)
        figure.canvas.draw()
        (ax,) = figure.axes
        written = {note.get_text(): note.xy for note in ax.texts if note.get_text() in ("$x^$", "<b>")}
        assert ax.get_title() == "T" and ax.get_aspect() == 1
        assert {name: tuple(xy) for name, xy in written.items()} == {
            "$x^$": tuple(points[n, 0]),
            "<b>": tuple(points[n, 1]),
        }


def test_an_angle_is_written_in_degrees():
    hands = [[1.0, 0.0], [0.0, -1.0]]
    figure = View(Plane(hands, ["a", "b"], angle=(0, 1), **LIMITS), description="Hands.").draw(0)
    assert "−90°" in [note.get_text() for note in figure.axes[0].texts]


@pytest.mark.parametrize("turn", [12, -12, 80])
def test_the_number_of_a_narrow_angle_is_beside_its_arrows(turn):
    """Between them there is no room for it; between those of a wide angle there is."""
    ends = np.radians([30, 30 + turn])
    hands = np.stack([np.cos(ends), np.sin(ends)], axis=1)
    figure = View(Plane(hands, ["a", "b"], angle=(0, 1), **LIMITS), description="Hands.").draw(0)
    (number,) = [text for text in figure.axes[0].texts if text.get_text().endswith("°")]
    place = np.degrees(np.arctan2(*number.get_position()[::-1]))
    assert (min(30, 30 + turn) < place < max(30, 30 + turn)) == (abs(turn) > 40)


def test_only_points_that_are_there_can_be_dragged():
    assert Plane(np.eye(2), "ab", drags={1: ("x", "y")}, **LIMITS).to_spec()["plane"]["drags"] == [[1, "x", "y"]]
    with pytest.raises(ValueError, match="drags: expected points from 0 to 1, got 2"):
        Plane(np.eye(2), "ab", drags={2: ("x", "y")}, **LIMITS)


def test_labels_at_one_place_end_below_each_other():
    heights = sorted(spread([(0.0, 10.0, 0.0)] * 5))
    np.testing.assert_allclose(np.diff(heights), LABEL, atol=0.1)
    assert abs(sum(heights)) < 1e-6


def test_nameless_points_are_dots_where_they_are_asked_for():
    points = [[0.5, 0.5], [-0.5, 0.5], [0, 1]]
    for dots in (True, False):
        plane = Plane(points, ["a", "", ""], kinds=["x", "x", "y"], dots=dots, **LIMITS)
        figure = View(plane, description="Dots.").draw(0)
        drawn = [each for each in figure.axes[0].collections if len(each.get_offsets()) == 2]
        assert plane.to_spec()["plane"]["dots"] is dots and len(drawn) == dots
        if dots:
            np.testing.assert_allclose(drawn[0].get_offsets(), points[1:])
            assert len(np.unique(drawn[0].get_facecolors(), axis=0)) == 2


def test_rings_are_open_and_an_area_is_filled():
    points = [[0.5, 0.5], [-0.5, 0.5], [0, 0.75]]
    plane = Plane(points, ["a", "", "b"], kinds="xyz", rings=[0, 1], area=[0, 1, 2], **LIMITS)
    figure = View(plane, description="Rings.").draw(0)
    marks = {tuple(line.get_xydata()[0]): line for line in figure.axes[0].lines if line.get_marker() == "o"}
    assert [marks[x, y].get_markerfacecolor() == GROUND for x, y in points] == [True, True, False]
    (area,) = figure.axes[0].patches
    np.testing.assert_allclose(area.get_xy()[:3], points)
    assert plane.to_spec()["plane"]["rings"] == [0, 1] and plane.to_spec()["plane"]["area"] == [0, 1, 2]


def test_an_arrow_along_a_longer_one_is_beside_it():
    assert beside_longer([(2, 0), (1, 0), (0, 1), (0, 0)]) == [(0, 0), (0, 7), (0, 0), (0, 0)]
    assert beside_longer([(0, 1), (0, 1), (0, 2)]) == [(7, 0), (14, 0), (0, 0)]


def test_names_of_arrows_that_are_dragged_are_on_no_arrow():
    tips = {"long": (2, 0), "up": (0, 2), "short": (1, 0), "query": (1, 2)}
    drags = {i: ("x", "y") for i in range(4)}
    plane = Plane([*tips.values()], [*tips], x_limits=(-2, 3), y_limits=(-2, 3), arrows=True, drags=drags)
    figure = View(plane, description="Arrows.").draw(0)
    figure.draw_without_rendering()
    names = {text.get_text(): text.get_window_extent() for text in figure.axes[0].texts if text.get_text()}
    ways = [figure.axes[0].transData.transform(np.linspace((0, 0), tip, 50)) for tip in tips.values()]  # (50, 2) each
    assert [*names] == [*tips]
    assert not [name for name, box in names.items() for way in ways if any(box.contains(*place) for place in way)]
