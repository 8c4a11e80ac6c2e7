"""Boxes on the page: where they are, how they glide, and in which colours."""

import pytest

from encoder_lib.course.explore import Explorer, Range, View
from encoder_lib.course.kit.palette import LIGHT
from encoder_lib.course.kit.widget import front_end
from encoder_lib.course.kit.widget.boxes import Boxes

pytestmark = pytest.mark.browser
PLACES = [[[0, 0, 1, 1, 1], [0, 1, 4, 1, 1]], [[3, 0, 1, 1, 0.5], [0, 1, 4, 1, 1]]]
LABELS = [["a", "0"], ["a", "1"]]
WHERE = """() => [...home.querySelectorAll('.explorer-boxes div')].map((box) => {
  const [{left}, whole] = [box, box.parentElement].map((e) => e.getBoundingClientRect());
  return [Math.round(100 * (left - whole.left) / whole.width), box.textContent, getComputedStyle(box).opacity];
})"""
EDGE = """() => {
  const { left, top, height } = home.querySelector('.explorer-boxes div').getBoundingClientRect();
  return document.elementFromPoint(left - 4, top + height / 2).textContent;
}"""
GROUND = "() => getComputedStyle(home.querySelector('.explorer-boxes div')).backgroundColor"


@pytest.fixture
def page(modules, start):
    """Two frames of two boxes, with the style sheet."""
    boxes = Boxes(PLACES, ["cat", "note"], size=(4, 2), labels=LABELS, title="Two boxes")
    view = View(boxes, frames="n", description=["Left.", "Right."])
    start(Explorer(lambda n: view, Range("n", 0, min=0, max=1), title="Boxes"))
    tag = modules.page.add_style_tag(content=front_end.STYLE)
    yield modules.page
    tag.evaluate("(tag) => tag.remove()")


def test_words_that_are_wider_than_a_box_at_the_edge_are_whole(modules, start):
    """As numbers beside bars are on a phone: what is four pixels to the left of the picture belongs to the box."""
    boxes = Boxes([[[0, 0, 0.1, 1, 1]]], ["note"], size=(4, 2), labels=[["80 %"]], title="One box")
    view = View(boxes, frames="n", description=["One."])
    start(Explorer(lambda n: view, Range("n", 0, min=0, max=0), title="Boxes"))
    tag = modules.page.add_style_tag(content=front_end.STYLE)
    assert modules.page.evaluate(EDGE) == "80 %"
    tag.evaluate("(tag) => tag.remove()")


def test_boxes_take_their_places_and_have_words(page):
    """The picture is named by its title and what it shows; there are no cells to read out."""
    assert page.evaluate(WHERE) == [[0, "a", "1"], [0, "0", "1"]]
    picture = page.locator(".explorer-boxes[role=img]")
    assert picture.get_attribute("aria-label") == "Two boxes. Left."
    page.evaluate("() => model.set('n', 1)")
    page.wait_for_timeout(400)
    assert page.evaluate(WHERE) == [[75, "a", "0.5"], [0, "1", "1"]]
    assert picture.get_attribute("aria-label") == "Two boxes. Right."
    assert page.locator(".explorer-readout").is_hidden()


def test_boxes_glide_unless_little_motion_is_wanted(page):
    """A change of place is a transition; with reduced motion the box is there at once."""
    moving = """async () => {
      model.set('n', 1 - model.get('n'));
      await painted();
      const box = home.querySelector('.explorer-boxes div');
      return box.getAnimations().map((glide) => glide.transitionProperty).includes('left');
    }"""
    slow = page.add_style_tag(content=".explorer-boxes div { transition-duration: 20s; }")  # also on a busy machine
    assert page.evaluate(moving)
    slow.evaluate("(tag) => tag.remove()")
    page.emulate_media(reduced_motion="reduce")
    assert not page.evaluate(moving)
    page.emulate_media(reduced_motion="no-preference")


def test_colours_of_boxes_follow_the_theme(page):
    """A word's colour in the light and in the dark; a role is a custom property, and a look needs none."""
    found = []
    for light in ("true", "false"):
        page.evaluate("(light) => { document.body.dataset.jpThemeLight = light; }", light)
        found.append(page.evaluate(GROUND))
    page.evaluate("() => { delete document.body.dataset.jpThemeLight; }")
    assert found == ["rgb(26, 79, 184)", "rgb(111, 168, 255)"]


def test_a_box_is_filled_with_its_role_or_not_at_all(modules):
    fills = modules.call("boxes.js", "fillOf", [["value", ""], ["value", "v"], ["note", "n"], [4, ""]])
    mixed = [f"color-mix(in srgb, var(--value) {share}%, var(--ground))" for share in (100, 14)]
    assert fills == [*mixed, "", "var(--ink)"]


def test_a_circle_is_round_in_any_box_and_large_texts_are_larger(modules, start):
    """Its ground is a gradient around the middle; an arrowhead has the colour of the residual stream."""
    look = """() => [...home.querySelectorAll('.explorer-boxes div')].map((box) => {
      const { backgroundImage, backgroundColor, fontSize } = getComputedStyle(box);
      return [backgroundImage.split('(')[0], backgroundColor, fontSize];
    })"""
    found = []
    for large in (False, True):
        boxes = Boxes(
            [[0, 0, 1, 1, 1], [1, 0, 1, 1, 1]], ["round", "right"], size=(4, 2), labels=["+", ""], large=large
        )
        start(Explorer(lambda n, boxes=boxes: View(boxes, description="One."), Range("n", 0, min=0, max=1), title="B"))
        tag = modules.page.add_style_tag(content=front_end.STYLE)
        found.append(modules.page.evaluate(look))
        tag.evaluate("(tag) => tag.remove()")
    stream = f"rgb({', '.join(str(int(LIGHT['stream'][i : i + 2], 16)) for i in (1, 3, 5))})"
    for size, (circle, arrow) in zip(("12px", "15px"), found, strict=True):
        assert circle == ["radial-gradient", "rgba(0, 0, 0, 0)", size] and arrow == ["none", stream, size]


def test_a_click_on_a_box_leads_to_its_frame(modules, start):
    boxes = Boxes(PLACES, ["cat", "dog"], size=(4, 2), steps=[-1, 1])
    view = View(boxes, frames="n", description=["Left.", "Right."])
    start(Explorer(lambda n: view, Range("n", 3, min=3, max=4), title="Boxes"))
    tag = modules.page.add_style_tag(content=front_end.STYLE)
    found = []
    for box in (0, 1):
        modules.page.locator(".explorer-boxes div").nth(box).click()
        found.append(modules.page.evaluate("() => [model.get('n'), model.sent.length]"))
    assert found == [[3, 0], [4, 1]]
    tag.evaluate("(tag) => tag.remove()")


def test_bars_may_be_slimmer_than_the_words_beside_them(modules, start):
    """A box without a label is in the middle of its place."""
    boxes = Boxes([[0, 0, 2, 2, 1], [2, 0, 2, 2, 1]], ["note", "cat"], size=(4, 2), labels=["a", ""], slim=0.5)
    start(Explorer(lambda n: View(boxes, description="One."), Range("n", 0, min=0, max=0), title="Boxes"))
    places = "() => [...home.querySelectorAll('.explorer-boxes div')].map(({ style }) => [style.top, style.height])"
    assert modules.page.evaluate(places) == [["0%", "100%"], ["25%", "50%"]]
