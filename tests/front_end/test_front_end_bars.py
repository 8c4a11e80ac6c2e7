"""Bars on the page: their numbers, cut off at the edge, and the title of each step."""

import pytest
from front_end_page import text

from encoder_lib.course.explore import Explorer, Range, View
from encoder_lib.course.kit.widget.bars import Bars, decimals

pytestmark = pytest.mark.browser
WRITTEN = """async (n) => {
  const { fillText } = CanvasRenderingContext2D.prototype, texts = [];
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) { texts.push([text, y]); };
  model.set('n', n);
  await new Promise((done) => setTimeout(done, 400));
  CanvasRenderingContext2D.prototype.fillText = fillText;
  const height = document.querySelector('canvas').clientHeight;
  return { texts, height };
}"""


def test_numbers_are_written_as_on_the_stored_picture(modules):
    numbers = [1.239, -0.001, -2, 0]
    assert modules.call("format.js", "fixed", [[n, 2] for n in numbers]) == [decimals(n) for n in numbers]


def test_bars_glide_and_stay_in_the_picture(modules, start):
    """Each step has its title; on the way a number passes through others; a bar that is too tall keeps its number."""
    values = [[1.0, 1.0], [3.0, 90.0]]
    show = lambda n: View(  # noqa: E731
        Bars(values, ["a", "b"], limits=(-1, 5), titles=["first", "second"], outlines=values[0]),
        frames="n",
        description=["First.", "Second."],
    )
    start(Explorer(show, Range("n", 0, min=0, max=1, label="step"), title="Bars"))
    assert text(modules, "figcaption") == "firststep 0"
    found = modules.page.evaluate(WRITTEN, 1)
    assert text(modules, "figcaption") == "secondstep 1"
    written = [word for word, _ in found["texts"]]
    assert "3.00" in written and "90.00" in written and len({word for word in written if "." in word}) > 8
    assert all(-10 <= y <= found["height"] for _, y in found["texts"])


def test_a_number_below_its_bar_leaves_the_name_of_the_bar_alone(modules, start):
    values = [[1.0, 1.0], [-90.0, 1.0]]
    show = lambda n: View(  # noqa: E731
        Bars(values, ["a", "b"], limits=(-1, 5), titles=["first", "second"], outlines=values[0]),
        frames="n",
        description=["First.", "Second."],
    )
    start(Explorer(show, Range("n", 0, min=0, max=1, label="step"), title="Bars"))
    texts = modules.page.evaluate(WRITTEN, 1)["texts"]
    (name, *_), *_, number = [y for word, y in texts if word == "a"], *[y for word, y in texts if word == "−90.00"]
    assert name - number >= 12, "a line of text apart"
