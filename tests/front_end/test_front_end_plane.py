"""Points in a plane on the page: labels that do not overlap, glides, and marks in colours that can be read."""

import math

import numpy as np
import pytest
from front_end_page import send, text

from encoder_lib.course.explore import Explorer, Range, View
from encoder_lib.course.kit.widget import plane
from encoder_lib.course.kit.widget.plane import Plane

pytestmark = pytest.mark.browser
LIMITS = {"x_limits": (-1.0, 1.0), "y_limits": (-1.0, 1.0)}
QUARTERS = np.array([[[math.cos(a), math.sin(a)]] for a in np.radians([0, 90, 180, 270])])  # (4, 1, 2)


def pointed(**looks):
    """A point that takes a quarter of a turn from frame to frame."""
    words = [f"Quarter {n}." for n in range(4)]
    show = lambda n: View(Plane(QUARTERS, ["tip"], **LIMITS | looks), frames="n", description=words)  # noqa: E731
    return Explorer(show, Range("n", 0, min=0, max=3, label="quarter"), title="A point")


# The text that is painted, and where the next circle or arrow's head ends, in each picture that is painted from now on.
WATCH = """() => {
  const { prototype } = CanvasRenderingContext2D, { fillText, fill } = prototype;
  window.texts = [];
  prototype.fillText = function (text, x, y) { texts.push([text, Math.round(x), Math.round(y), this.fillStyle]); };
  window.unwatch = () => { prototype.fillText = fillText; };
}"""
PLACES = """async (n) => {
  texts.length = 0;
  model.set('n', n);
  await new Promise((done) => setTimeout(done, 400));
  return texts.filter(([text]) => text === 'tip').map(([, ...place]) => place);
}"""


def test_labels_are_spread_as_on_the_stored_picture(modules):
    """As far as they have to, those above upwards; labels beside each other stay."""
    cases = [
        [[0, 20, 5], [0, 20, 6], [0, 20, 7]],
        [[0, 20, 5], [30, 50, 5]],
        [[i % 3, 30 + i % 5, 7 * i % 11] for i in range(12)],
    ]
    spread = modules.call("plane.js", "spread", [[case] for case in cases])
    for case, heights in zip(cases, spread, strict=True):
        np.testing.assert_allclose(heights, plane.spread(case, height=13))
        for i, (left, right, _) in enumerate(case):
            for j, (other_left, other_right, _) in enumerate(case[:i]):
                beside = right <= other_left or other_right <= left
                assert beside or abs(heights[i] - heights[j]) > 12
    assert spread[1] == [5, 5]


def test_points_glide_straight_or_around_the_origin(modules):
    """Half-way from the right to the top: on the chord, or on the circle; and the shorter way around."""
    right, top, below = [1, 0], [0, 1], [math.cos(-3), math.sin(-3)]
    above = [math.cos(3), math.sin(3)]
    calls = [[right, top, 0.5, False], [right, top, 0.5, True], [above, below, 0.5, True]]
    found = modules.call("plane.js", "between", calls)
    np.testing.assert_allclose(found, [[0.5, 0.5], [0.5**0.5, 0.5**0.5], [-1, 0]], atol=1e-6)


def test_a_new_frame_is_reached_in_a_glide(modules, start):
    """Several pictures lead to the place that a first picture of that frame has; a reader may want none of them."""
    start(pointed(arrows=True))
    page = modules.page
    page.evaluate(WATCH)
    glide = page.evaluate(PLACES, 1)
    page.emulate_media(reduced_motion="reduce")
    back, again = page.evaluate(PLACES, 0), page.evaluate(PLACES, 1)
    page.emulate_media(reduced_motion="no-preference")
    page.evaluate("() => unwatch()")
    assert len({tuple(place) for place in glide}) > 2 and glide[-1] == again[-1] != back[-1]
    assert len({tuple(place) for place in back}) == len({tuple(place) for place in again}) == 1


def test_colours_follow_the_theme_and_the_picture_has_a_name(modules, start):
    """Light and dark have their own; no cells are read out, so there is no word about them."""
    assert modules.run("({ plane }) => plane.WORD_COLOURS.map((pair) => pair?.light ?? '#000000')") == list(
        plane.WORD_COLOURS
    )
    dark = modules.run("({ plane }) => plane.WORD_COLOURS.map((pair) => pair?.dark)")
    start(pointed(title="One point", x_label="first"))
    page = modules.page
    assert text(modules, "figcaption") == "One pointquarter 0"
    assert page.locator("canvas[role=img]").get_attribute("aria-label") == "One point. Quarter 0."
    assert page.locator(".explorer-readout").is_hidden()
    page.evaluate(WATCH)
    found = [page.evaluate(PLACES, 1)[-1][-1]]
    page.evaluate("() => { home.style.color = 'white'; home.firstChild.style.color = 'white'; }")
    found.append(page.evaluate(PLACES, 2)[-1][-1])
    page.evaluate("() => unwatch()")
    assert found == [plane.WORD_COLOURS[0], dark[0]]


def test_an_angle_between_two_arrows_is_written(modules, start):
    """The shorter way around, with its sign, and a minus that looks like one."""

    def show(turned):
        angles = np.radians([170, 170 + turned])
        tips = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        looks = {"arrows": True, "turns": True, "circle": 1.0, "angle": (0, 1)}
        return View(Plane(tips, ["one", "other"], **LIMITS, **looks), description=f"Turned by {turned}.")

    explorer = start(Explorer(show, Range("turned", 30, min=0, max=360, step=30), title="Turned"))
    modules.page.evaluate(WATCH)
    found = []
    for turned in (60, 330):
        modules.page.evaluate("() => { texts.length = 0; }")
        send(modules, explorer, turned=turned)
        modules.page.wait_for_timeout(300)
        found.append(modules.page.evaluate("() => texts.filter(([text]) => text.endsWith('°')).at(-1)[0]"))
    modules.page.evaluate("() => unwatch()")
    assert found == ["60°", "−30°"]


def test_nameless_points_are_painted_as_dots_on_demand(modules, start):
    """Smaller than the mark of a point that has a name."""
    points = [[0.5, 0.5], [-0.5, 0.5], [0.0, -0.5]]
    modules.page.evaluate("""() => {
      const { prototype } = CanvasRenderingContext2D, { arc } = prototype;
      window.radii = [];
      prototype.arc = function (x, y, radius, ...rest) { radii.push(radius); arc.call(this, x, y, radius, ...rest); };
      window.unwatch = () => { prototype.arc = arc; };
    }""")
    found = {}
    for dots in (False, True):
        modules.page.evaluate("() => { radii.length = 0; }")
        view = View(Plane(points, ["a", "", ""], dots=dots, **LIMITS), description="Dots.")
        start(Explorer(lambda n, view=view: view, Range("n", 0, min=0, max=1), title="Dots"))
        modules.page.wait_for_timeout(300)
        found[dots] = modules.page.evaluate("() => [...new Set(radii)]")
    modules.page.evaluate("() => unwatch()")
    assert len(found[False]) == 1 and len(found[True]) == 2 and min(found[True]) < found[False][0]


def test_a_point_outside_the_picture_has_neither_mark_nor_name(modules, start):
    """And the numbers of the axes have a minus that looks like one."""
    places = np.array([[[0.5, 0.5], [-0.5, 0.5]], [[0.5, 0.5], [-9.0, 0.5]]])  # (2, 2, 2)
    limits = {"x_limits": (-3.0, 3.0), "y_limits": (-3.0, 3.0)}
    view = View(Plane(places, ["stays", "goes"], **limits), frames="n", description=["In.", "Out."])
    start(Explorer(lambda n: view, Range("n", 0, min=0, max=1), title="Two points"))
    modules.page.evaluate(WATCH)
    modules.page.evaluate(PLACES, 1)
    written = modules.page.evaluate("() => texts.map(([text]) => text)")
    last = written[len(written) - 1 - written[::-1].index("stays") :]
    modules.page.evaluate("() => unwatch()")
    assert last == ["stays"] and "goes" in written, "it glides out"
    assert any(text.startswith("−") for text in written) and not any(text.startswith("-") for text in written)


ARROWS = [  # tips, in a plane of 300 by 300 pixels whose origin is in its middle
    [(2.0, 0.0), (0.0, 2.0), (1.0, 0.0), (1.0, 2.0)],
    [(-2.0, 1.0), (-1.0, 0.5), (-1.0, 0.5), (0.0, 0.0)],
    [(2.9, 2.9), (2.9, -2.9), (-2.9, -2.9), (-2.9, 0.3)],
]


@pytest.mark.parametrize("tips", ARROWS, ids=["level", "three in one direction", "at the edges"])
def test_names_of_arrows_are_placed_as_on_the_stored_picture(modules, tips):
    """And so are arrows beside longer ones; the names are in the plot and not on each other."""
    moves = plane.beside_longer(tips)
    np.testing.assert_allclose(modules.call("plane.js", "besideLonger", [[tips]])[0], moves)
    arrows = [(*move, 50 * x + move[0], move[1] - 50 * y) for (x, y), move in zip(tips, moves, strict=True)]
    widths, box = [30.0, 40.0, 50.0, 35.0], [-150.0, -150.0, 150.0, 150.0]
    places = plane.names_near_tips(arrows, widths, box)
    np.testing.assert_allclose(modules.call("plane.js", "namesNearTips", [[arrows, widths, box]])[0], places)
    for i, (x, y) in enumerate(places):
        assert box[0] <= x <= box[2] - widths[i] and box[1] <= y <= box[3]
        for (other, height), width in zip(places[:i], widths, strict=False):
            assert x >= other + width or other >= x + widths[i] or abs(y - height) >= plane.LABEL_HIGH


def test_rings_are_open_and_their_area_is_tinted(modules, start):
    """A ring has the colour of its point around the ground; a name beside it is no second mark."""
    modules.page.evaluate("""() => {
      const { prototype } = CanvasRenderingContext2D, { stroke, fill } = prototype;
      window.painted_shapes = [];
      prototype.stroke = function () { painted_shapes.push(['stroke', this.strokeStyle]); stroke.call(this); };
      prototype.fill = function () { painted_shapes.push(['fill', this.globalAlpha]); fill.call(this); };
      window.unwatch = () => Object.assign(prototype, { stroke, fill });
    }""")
    points = [[0.5, 0.5], [-0.5, 0.5], [0.0, -0.5]]
    looks = {"kinds": "abc", "rings": [0, 1], "area": [0, 1, 2]}
    view = View(Plane(points, ["a", "", "c"], **looks, **LIMITS), description="Rings.")
    start(Explorer(lambda n: view, Range("n", 0, min=0, max=1), title="Rings"))
    modules.page.wait_for_timeout(300)
    shapes = [tuple(shape) for shape in modules.page.evaluate("() => painted_shapes")]
    modules.page.evaluate("() => unwatch()")
    assert {("stroke", colour) for colour in plane.WORD_COLOURS[:2]} <= set(shapes)
    tints = [alpha for kind, alpha in shapes if kind == "fill" and alpha < 0.2]
    assert tints and [alpha for kind, alpha in shapes if kind == "fill"].count(1) == 3 * len(tints), (
        "two rings, one dot"
    )
