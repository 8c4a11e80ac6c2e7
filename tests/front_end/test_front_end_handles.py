"""Points of a plane that are dragged or moved by keys: what is sent, and what is painted before an answer comes."""

import pytest
from front_end_page import text

from encoder_lib.course.explore import Explorer, Range, View
from encoder_lib.course.kit.widget.plane import Plane

pytestmark = pytest.mark.browser
LIMITS = {"x_limits": (-2.0, 2.0), "y_limits": (-2.0, 2.0)}


@pytest.fixture
def handle(modules, start):
    """The handle of an arrow from the origin to (1, 0), which reaches from −1 to 1; the other point is fixed."""

    def show(x, y):
        plane = Plane([[x, y], [1, 1]], ["tip", "fixed"], arrows=True, drags={0: ("x", "y")}, **LIMITS)
        return View(plane, description=f"{x}, {y}.")

    controls = [Range("x", 1.0, min=-1, max=1, step=0.1), Range("y", 0.0, min=-1, max=1, step=0.1)]
    start(Explorer(show, *controls, title="A point"))
    return modules.page.locator(".explorer-handles button")


def values(modules):
    return modules.page.evaluate("() => [model.get('x'), model.get('y'), model.sent.length]")


def test_a_handle_follows_the_pointer_at_once(modules, handle):
    """Half-way to the origin and up; without a kernel, arrow, name and sliders are there in the next frame."""
    box, canvas = handle.bounding_box(), modules.page.locator("canvas").bounding_box()
    x, y = canvas["x"] + 8 + 170, canvas["y"] + 6 + 170  # the origin, where 85 pixels are a unit
    picture = "() => home.querySelector('canvas').toDataURL()"
    before = modules.page.evaluate(picture)
    modules.page.mouse.move(box["x"] + 5, box["y"] + 5)
    modules.page.mouse.down()
    modules.page.mouse.move(x + 43, y - 43)
    modules.page.evaluate("() => painted()")
    assert modules.page.evaluate(picture) != before
    modules.page.mouse.up()
    modules.page.mouse.move(x, y)
    right, up, sent = values(modules)
    assert 0.4 <= right <= 0.6 and 0.4 <= up <= 0.6 and sent == 1
    assert handle.get_attribute("aria-label") == f"tip: {right:.1f}, {up:.1f}"
    assert float(text(modules, "output")) == right


def test_arrow_keys_move_a_handle_to_its_limits(modules, handle):
    """By one step of its sliders, by five with Shift, and not further; a key that moves nothing sends nothing."""
    handle.press("ArrowUp")
    assert values(modules) == [1, 0.1, 1]
    handle.press("Shift+ArrowLeft")
    assert values(modules) == [0.5, 0.1, 2]
    for _ in range(3):
        handle.press("Shift+ArrowUp")
    assert values(modules) == [0.5, 1, 4]


def test_only_points_that_can_be_dragged_have_handles(handle):
    assert handle.count() == 1
