"""An explorer without a kernel: what it draws when messages come, and what it sends."""

import numpy as np
import pytest
from front_end_page import send, text, traits

from encoder_lib.course.explore import Checkbox, Explorer, Heatmap, Range, Select, Text, View
from encoder_lib.course.kit.plots.colour_maps import colour_map
from encoder_lib.course.kit.widget import front_end

pytestmark = pytest.mark.browser
# How often numbers have become colours since.
COUNT = """() => {
  const put = CanvasRenderingContext2D.prototype.putImageData;
  window.drawn = 0;
  CanvasRenderingContext2D.prototype.putImageData = function (image, ...rest) {
    if (image.width > 1) window.drawn++; // the colour bar is one pixel wide
    return put.call(this, image, ...rest);
  };
}"""


def sized(size):
    """A panel whose size, numbers, labels and limits depend on a control."""
    ticks = [f"{size}:{i}" for i in range(size)]
    return View(
        Heatmap(np.eye(size) * size, x_ticks=ticks, title=f"{size}", limits=(0, size)), description=f"Size {size}."
    )


LATER = """async (active) => {
  home.className = 'jp-Cell';
  const above = document.createElement('div'), next = document.createElement('div');
  above.style.height = next.style.height = '4000px';
  next.className = active;
  document.body.prepend(above);
  document.body.append(next);
  scrollTo(0, 0);
  home.replaceChildren();
  const explorer = await import('/explorer.js');
  explorer.default.render({model, el: home});
  await new Promise((done) => setTimeout(done, 150));
  const {top, bottom} = home.getBoundingClientRect();
  above.remove();
  next.remove();
  return top < innerHeight && bottom > 0;
}"""


@pytest.mark.parametrize(("active", "seen"), [("jp-mod-active", True), ("", False)])
def test_a_new_explorer_is_in_view_after_its_cell_was_run(modules, start, active, seen):
    """The reader has gone on to the next cell. Wherever else the reader is, the page stays."""
    start(Explorer(sized, Range("size", 3, min=1, max=9), title="Sizes"))
    assert modules.page.evaluate(LATER, active) == seen


def test_a_message_that_changes_all_draws_once(modules, start):
    """New panels, numbers, limits and words, whatever comes first; and the picture is the new one."""
    explorer = start(Explorer(sized, Range("size", 3, min=1, max=9), title="Sizes"))
    modules.page.evaluate(COUNT)
    for size in (7, 2, 9):
        changed, drawn = send(modules, explorer, size=size)
        assert {"_panels", "_data", "_descriptions"} <= changed.keys()
        assert drawn == 1
        assert text(modules, "figcaption") == str(size) and text(modules, ".explorer-description") == f"Size {size}."
    modules.page.locator("canvas").focus()
    for key in ("Home", "Control+End"):
        modules.page.keyboard.press(key)
    assert text(modules, ".explorer-readout") == "row 8, column 9:8: 9"


def test_traits_in_any_order_give_the_same_picture(modules, start):
    """The kernel decides on the order in which a message lists them."""
    explorer = start(Explorer(sized, Range("size", 3, min=1, max=9), title="Sizes"))
    script = """async (changed) => {
      for (const name of Object.keys(changed)) changed[name] = revive(changed[name]);
      const old = Object.fromEntries(Object.keys(changed).map((name) => [name, model.get(name)]));
      const names = Object.keys(changed), pictures = new Set();
      for (const order of [names, names.toReversed(), names.toSorted()]) {
        model.message(old);
        await painted();
        model.message(Object.fromEntries(order.map((name) => [name, changed[name]])));
        await painted();
        pictures.add(home.querySelector('canvas').toDataURL());
      }
      return pictures.size;
    }"""
    before = traits(explorer)
    explorer.size = 8
    changed = {name: value for name, value in traits(explorer).items() if value != before[name]}
    assert len(changed) > 4 and modules.page.evaluate(script, changed) == 1


def test_panels_and_words_can_be_added_and_removed(modules, start):
    """In the order of the view, and the page keeps no panel that has gone."""

    def show(panels):
        words = ["a", "b"]
        maps = [Heatmap(np.eye(2), title=f"{i}", x_ticks=words, y_ticks=words) for i in range(panels)]
        return View(*maps, description=f"{panels}.", tokens=maps[0] if panels > 1 else None)

    explorer = start(Explorer(show, Range("panels", 2, min=1, max=4), title="Panels"))
    for panels in (4, 1, 3):
        send(modules, explorer, panels=panels)
        assert modules.page.locator("figcaption").all_text_contents() == [str(i) for i in range(panels)]
        assert modules.page.locator(".explorer-words button").count() == (2 if panels > 1 else 0)


@pytest.mark.parametrize(("others", "framed"), [(["a", "b,c"], True), (["a,b", "c"], False), (["c", "a"], False)])
def test_a_word_is_framed_only_among_the_same_words(modules, start, others, framed):
    """Words with commas are not taken for other words."""
    looks = Heatmap(np.eye(2), x_ticks=["a", "b,c"], y_ticks=["a", "b,c"])
    other = Heatmap(np.eye(2), y_ticks=others)
    start(Explorer(lambda: View(looks, other, description="Words.", tokens=looks), title="Words"))
    canvas = "() => home.querySelectorAll('canvas.explorer-picture')[1].toDataURL()"
    before = modules.page.evaluate(canvas)
    modules.page.locator(".explorer-words button").first.focus()
    assert (modules.page.evaluate(canvas) != before) == framed
    assert text(modules, ".explorer-readout") == "“a” attends to a 100 %"


def test_an_explorer_that_is_hidden_draws_when_it_is_shown(modules, start):
    """Messages, a step of the frame and a choice come before there is any room; nothing fails."""
    words = ["a", "b"]

    def show(size, frame):
        looks = Heatmap(np.stack([np.eye(2), np.ones((2, 2)) / 2]), x_ticks=words, y_ticks=words)
        return View(looks, Heatmap(np.eye(size)), description=f"{size}.", tokens=looks, frames="frame")

    controls = Range("size", 2, min=1, max=5), Range("frame", 0, min=0, max=1)
    explorer = Explorer(show, *controls, title="Hidden")
    modules.page.add_style_tag(content=".explorer-pictures { display: none }")
    start(explorer)
    send(modules, explorer, size=4)
    modules.page.evaluate("() => { model.set('frame', 1); document.querySelector('canvas').focus(); }")
    assert modules.page.evaluate("() => home.querySelector('canvas.explorer-picture').style.width") == ""
    modules.page.evaluate("() => { document.querySelector('style').remove(); return painted(); }")
    assert modules.page.evaluate("() => parseFloat(home.querySelector('canvas.explorer-picture').style.width)") > 100
    assert text(modules, ".explorer-words small") == "50 %"


def test_every_kind_of_control_sends_what_python_takes(modules, start):
    """Moved on the page, the value passes Python's check unchanged; set from Python, it shows."""
    controls = [
        Range("even", 0.3, min=0.1, max=0.9, step=0.1),
        Range("rate", 1e-3, min=1e-6, max=10, step=None, log=True),
        Select("select", "a", options=("a", 3)),
        Checkbox("checkbox", False),
        Text("text", "hello", max_length=20),
    ]
    explorer = start(Explorer(lambda **v: View(Heatmap(np.eye(2)), description=str(v)), *controls, title="Controls"))
    page = modules.page
    for name in ("even", "rate"):
        page.locator(f"[data-control={name}]").press("ArrowUp")
    page.locator("[data-control=select]").select_option(index=1)
    page.locator("[data-control=checkbox]").check()
    for _ in range(2):
        page.locator("[data-control=text]").fill("<b>")
    assert page.evaluate("() => model.sent.length") == len(controls)  # a value that is there already has no echo
    sent = page.evaluate("() => model.sent.at(-1)")
    values = {control.name: sent[control.name] for control in controls}
    assert values == {control.name: control.check(values[control.name]) for control in controls}
    assert values == {"even": 0.4, "rate": 0.00111, "select": 3, "checkbox": True, "text": "<b>"}
    explorer.set(**values)
    send(modules, explorer, even=0.9, rate=10, select="a", checkbox=True, text="x")
    shown = dict(zip(values, page.locator("output").all_text_contents(), strict=True))
    assert shown == {"even": "0.9", "rate": "10", "select": "a", "checkbox": "on", "text": "x"}


def test_a_removed_view_stops_listening(modules, start):
    start(Explorer(sized, Range("size", 3, min=1, max=9), title="Sizes"))
    listening = "() => [...model.listeners.values()].reduce((sum, all) => sum + all.size, 0)"
    assert modules.page.evaluate(listening) > 5
    modules.page.evaluate("() => stop()")
    assert modules.page.evaluate(listening) == 0


# ---- the words of a sentence ----

# The theme of the page, and the colour of its text.
TURNED = """([theme, ink]) => {
  home.style.color = home.firstChild.style.color = ink;
  document.body.setAttribute('data-jp-theme-light', theme);
  return painted();
}"""
# What is written in the middle of cells, and not beside them or at the colour bar.
WRITTEN = """() => {
  const write = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
    const inside = this.textAlign === 'center' && this.textBaseline === 'middle' && this.getTransform().b === 0;
    if (inside) window.written.push(text);
    return write.call(this, text, ...place);
  };
}"""
NAMES = ["the", "<b>", "a,b", "dog", "dog", "bites", "it", "now", "x", "y", "z"]


def sentence(words, power):
    """Row 0 runs through every shade, the others are as that, turned; the last word attends to nothing."""
    weights = np.stack([np.roll(np.linspace(0, 1, words) ** power, k) for k in range(words)])
    weights[-1] = 0
    looks = Heatmap(weights, x_ticks=NAMES[:words], y_ticks=NAMES[:words])
    return View(looks, Heatmap(-weights, limits=(-1, 0)), description="Looks.", tokens=looks)


@pytest.fixture
def words(modules, start):
    """An explorer of eleven words, and their buttons; the second one is chosen."""
    controls = Range("words", 11, min=1, max=11), Range("power", 1, min=1, max=3)
    return start(Explorer(sentence, *controls, title="Looks")), modules.page.locator(".explorer-words button")


def chosen(buttons):
    """Which buttons are pressed; Tab goes to these, and to no others."""
    pressed, stops = (buttons.evaluate_all(f"all => all.map((e) => {e})") for e in ("e.ariaPressed", "e.tabIndex"))
    assert [state == "true" for state in pressed] == [stop == 0 for stop in stops]
    return [i for i, state in enumerate(pressed) if state == "true"]


def test_arrow_keys_read_each_words_attention(modules, words):
    """Arrows, Home and End move the focus; the largest weight is read first; a dead row attends to nothing."""
    buttons = words[1]
    assert buttons.locator("span").all_text_contents() == NAMES and chosen(buttons) == [1]
    row = modules.page.locator(".explorer-words[role=toolbar]")
    assert row.get_attribute("aria-label").startswith("Point at a word")
    buttons.nth(1).focus()
    readings = []
    for key in ("ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp", "Home", "ArrowLeft", "End", "ArrowRight"):
        modules.page.keyboard.press(key)
        readings.append((*chosen(buttons), text(modules, ".explorer-readout[aria-live=polite]")))
    assert [place for place, _ in readings] == [2, 3, 2, 1, 0, 0, 10, 10]
    assert readings[4][1].startswith("“the” attends to z 100 %, y 90 %, x 80 %") and "the 0 %" not in readings[4][1]
    assert readings[-1][1] == "“z” attends to nothing"
    assert row.evaluate("e => e.contains(document.activeElement)")
    for key in ("Control+ArrowLeft", "Control+Home", "Meta+ArrowLeft"):  # the browser's own keys
        modules.page.keyboard.press(key)
        assert chosen(buttons) == [10]


def test_mouse_and_focus_choose_a_word_and_survive_a_new_sentence(modules, words):
    """Shades and numbers change without a message; a sentence that is cut keeps its last word lit, until it grows."""
    explorer, buttons = words
    shades = "all => all.map((e) => e.style.background)"
    before = buttons.evaluate_all(shades)
    buttons.nth(0).hover()
    assert buttons.locator("small").all_text_contents() == [f"{10 * n} %" for n in range(11)]
    assert len(set(buttons.evaluate_all(shades))) == 11 and buttons.evaluate_all(shades) != before
    modules.page.mouse.move(0, 0)
    assert chosen(buttons) == [0] and modules.page.evaluate("() => model.sent.length") == 0
    buttons.nth(4).hover()
    send(modules, explorer, power=3)
    assert buttons.locator("small").all_text_contents()[5] == "< 1 %" and chosen(buttons) == [4]
    send(modules, explorer, words=3)
    assert buttons.locator("span").all_text_contents() == NAMES[:3] and chosen(buttons) == [2]
    assert text(modules, ".explorer-readout") == "“a,b” attends to nothing"
    send(modules, explorer, words=11)
    assert chosen(buttons) == [4]


def test_cells_and_words_follow_the_theme_of_the_page(modules, words):
    """Number by number the colours of that theme's map, from the least to the largest weight."""
    buttons, page = words[1], modules.page
    buttons.nth(0).hover()
    found = []
    for theme, ink in (("true", "black"), ("false", "white"), ("true", "black")):
        page.evaluate(TURNED, [theme, ink])
        found.append(buttons.evaluate_all("all => all.map((e) => getComputedStyle(e).backgroundColor)"))
    weights = np.linspace(0, 1, 11)
    maps = [colour_map("sequential", dark=dark)(weights, bytes=True)[:, :3].tolist() for dark in (False, True)]
    light, dark = ([f"rgb({r}, {g}, {b})" for r, g, b in colours] for colours in maps)
    assert found == [light, dark, light]


def test_numbers_are_written_where_they_fit(modules, start):
    """With two decimals, in less room without their zero or with one; none where they don't fit or aren't numbers."""
    page, widths = modules.page, (*[[0.125, -0.5, 1]] * 2, *[[0.125, -2, 1]] * 2)
    page.evaluate(WRITTEN)
    found = []
    for few, values in enumerate([[3, 40], [np.nan, 0.5], [0.25] * 61, *widths]):
        page.evaluate("() => { window.written = []; }")
        panels = [Heatmap([[*values, *[np.nan] * (0, 0, 0, 0, 20, 0, 20)[few]]], limits=(-2, 2))]
        start(Explorer(lambda panels=panels: View(*panels, description="0"), title="Cells"))
        found.append(page.evaluate("() => [...new Set(written)]"))
    assert found[:3] == [["3", "40"], ["0.50"], []]
    assert found[3:] == [
        ["0.13", "−0.50", "1.00"],
        [".13", "−.50", "1.0"],
        ["0.13", "−2.00", "1.00"],
        ["0.1", "−2.0", "1.0"],
    ]


def test_a_click_and_enter_open_the_tile_they_are_on(modules, start):
    """Both of its controls are set and sent; what is read out names the tile."""
    nan = np.full((2, 3, 2, 2), 0.5)
    tiles = np.pad(nan, ((0, 0), (0, 0), (0, 1), (0, 1)), constant_values=np.nan)
    atlas = Heatmap(
        tiles.transpose(0, 2, 1, 3).reshape(6, 9)[:-1, :-1],
        x_label="head",
        y_label="layer",
        x_ticks=[str(i // 3 + 1) for i in range(8)],
        y_ticks=[str(i // 3 + 1) for i in range(5)],
        tile=3,
        picks=("layer", "head"),
    )
    controls = Range("layer", 1, min=1, max=2), Range("head", 1, min=1, max=3)
    start(Explorer(lambda **_: View(atlas, Heatmap(np.eye(2)), description="Atlas."), *controls, title="Atlas"))
    canvas, sent = modules.page.locator("canvas").first, "() => [model.sent.at(-1).layer, model.sent.at(-1).head]"
    canvas.focus()
    for key in ("ArrowRight", "ArrowDown"):
        canvas.press(key)
    said = "layer 2, head 2. Click it, or press Enter, to see it large."
    assert text(modules, ".explorer-readout") == said
    assert modules.page.evaluate("() => model.sent.length") == 0
    canvas.press("Enter")
    assert modules.page.evaluate(sent) == [2, 2]
    box = canvas.bounding_box()
    canvas.click(position={"x": box["width"] - 75, "y": 20})
    assert modules.page.evaluate(sent) == [1, 3]


def test_a_click_and_enter_switch_the_cell_they_are_on(modules, start):
    names = [["a", "b"], ["c", "d"]]
    controls = [Checkbox(name, True) for name in "abcd"]
    start(Explorer(lambda **_: View(Heatmap(np.eye(2), toggles=names), description="Mask."), *controls, title="Mask"))
    canvas, state = modules.page.locator("canvas").first, "() => [...'abcd'].map((name) => model.get(name))"
    for key in ("Home", "ArrowRight", "Enter", "ArrowDown", " "):
        canvas.press("Space" if key == " " else key)
    assert modules.page.evaluate(state) == [True, False, True, False]
    assert text(modules, ".explorer-readout") == "row 1, column 1: 1. A click, or Enter, switches it."
    canvas.press("Enter")
    canvas.click(position={"x": 60, "y": 20})
    assert modules.page.evaluate(state) == [False, False, True, True]
    assert modules.page.locator("input").evaluate_all("all => all.map((e) => e.checked)") == [False, False, True, True]


def test_a_number_and_its_percent_sign_stay_on_one_line(modules, start):
    view = View(Heatmap(np.ones((2, 2))), description="It gets 55 % of it.")
    start(Explorer(lambda n: view, Range("n", 0, min=0, max=2), title="Weights"))
    assert text(modules, ".explorer-description") == "It gets 55\N{NO-BREAK SPACE}% of it."


def test_a_shorter_description_takes_as_much_room_as_the_longest(modules, start):
    """So that nothing below it moves when a slider does; the words themselves are those of the moment."""
    modules.page.set_viewport_size({"width": 1280, "height": 900})
    tag = modules.page.add_style_tag(content=front_end.STYLE)
    words = ["Short.", "Longer than one line. " * 12, "Short again."]
    view = View(Heatmap(np.ones((3, 2, 2))), frames="n", description=words)
    start(Explorer(lambda n: view, Range("n", 0, min=0, max=2), title="Frames"))
    found = []
    for n in range(3):
        modules.page.evaluate("async (n) => { model.set('n', n); await painted(); }", n)
        found.append(modules.page.evaluate("() => home.querySelector('.explorer-description').offsetHeight"))
        assert text(modules, ".explorer-description") == words[n]
    tag.evaluate("e => e.remove()")
    assert found[0] == found[1] == found[2] > 50
