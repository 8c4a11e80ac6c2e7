"""Playing a slider: the pace, where it begins and ends, what stops it, what is sent, and what a screen reader hears."""

import numpy as np
import pytest
from front_end_page import text
from small_explorers import still

from encoder_lib.course.explore import Explorer, Heatmap, Range, View

pytestmark = pytest.mark.browser
LAST = 150
SEEN = "() => { window.seen = []; model.on('change:step', () => seen.push(model.get('step'))); }"


def stepped(step=0, title="One cell"):
    """An explorer of 151 frames, which play in six seconds."""
    values = np.arange(LAST + 1.0).reshape(-1, 1, 1)
    words = [f"After {n} steps." for n in range(LAST + 1)]
    show = lambda step: View(Heatmap(values, title=title, limits=(0, LAST)), frames="step", description=words)  # noqa: E731
    return Explorer(show, Range("step", step, min=0, max=LAST), title="Steps")


def button(modules):
    return modules.page.get_by_role("button", name=": step")


def paused(modules):
    """Wait until nothing plays; gives the step where it rests."""
    modules.page.locator(".explorer-play[aria-pressed=false]").wait_for()
    return modules.page.evaluate("() => model.get('step')")


def test_a_run_takes_six_seconds_or_700_ms_a_step(modules):
    """25 pictures a second at most; with little motion wanted, 12 larger steps or as many as there are."""
    calls = [[150, False], [600, False], [20, False], [3, False], [150, True], [5, True]]
    expected = [(40, 1), (40, 1), (300, 1), (700, 1), (700, 13), (700, 1)]
    assert [tuple(pace.values()) for pace in modules.call("play.js", "paceOf", calls)] == expected


def test_a_value_is_written_after_its_name(modules):
    """With an equals sign after a letter that is a symbol, and as many decimals as the steps have."""
    specs = {"label": "step", "step": 1}, {"label": "shift s", "step": 1}, {"label": "stage", "step": 0.05}
    calls = [[spec, value] for spec, value in zip(specs, (37, 4, 1.5), strict=True)]
    assert modules.call("play.js", "valueInWords", calls) == ["step 37", "s = 4", "stage 1.50"]


def test_it_plays_from_where_the_slider_is_to_its_end(modules, start):
    """Upwards, without a message on the way, and the kernel gets the last step."""
    start(stepped(step=140))
    page = modules.page
    page.evaluate(SEEN)
    assert button(modules).get_attribute("aria-label") == "Play: step"
    button(modules).click()
    assert button(modules).get_attribute("aria-pressed") == "true" and text(modules, ".explorer-play") == "Pause"
    assert button(modules).get_attribute("aria-label") == "Pause: step"
    assert page.locator(".explorer-description").get_attribute("aria-live") == "off"  # it would talk without an end
    assert page.evaluate("() => model.sent.length") == 0
    assert paused(modules) == LAST
    seen = page.evaluate("() => seen")
    assert seen == sorted(set(seen)) and len(seen) > 2 and seen[0] > 140
    assert page.evaluate("() => model.sent.map(({ step }) => step)") == [LAST]
    assert text(modules, ".explorer-description") == "After 150 steps."
    assert page.locator(".explorer-description").get_attribute("aria-live") == "polite"
    assert page.locator("input").input_value() == str(LAST) and text(modules, ".explorer-play") == "Play"


def test_at_the_end_it_begins_anew_and_a_key_pauses(modules, start):
    """Enter and the space bar; where it rests, the kernel knows, and the next press goes on from there."""
    start(stepped(step=LAST))
    page = modules.page
    page.evaluate(SEEN)
    button(modules).press("Enter")
    page.wait_for_function("() => seen.length > 3")
    button(modules).press("Space")
    rested = paused(modules)
    seen = page.evaluate("() => seen")
    assert seen[0] == 0 and seen[-1] == rested < LAST
    assert page.evaluate("() => model.sent.map(({ step }) => step)") == [rested]
    page.wait_for_timeout(200)
    assert page.evaluate("() => model.get('step')") == rested
    button(modules).press("Enter")
    page.wait_for_function("(rested) => model.get('step') > rested", arg=rested)
    assert page.evaluate("() => seen.at(-1)") > rested
    button(modules).press("Enter")
    assert paused(modules) >= rested


@pytest.mark.parametrize("touch", ["key", "mouse", "kernel"])
def test_it_stops_when_the_slider_is_moved(modules, start, touch):
    """By the reader, or by the kernel; the value is then theirs."""
    start(stepped())
    page, slider = modules.page, modules.page.locator("input")
    button(modules).click()
    page.wait_for_function("() => model.get('step') > 1")
    if touch == "key":
        slider.press("End")
    elif touch == "mouse":
        box = slider.bounding_box()
        page.mouse.click(box["x"] + box["width"] - 8, box["y"] + box["height"] / 2)
    else:
        page.evaluate("() => model.set('step', 150)")
    assert paused(modules) == LAST
    page.wait_for_timeout(150)
    assert page.evaluate("() => model.get('step')") == LAST


def test_with_little_motion_wanted_it_takes_large_steps(modules, start):
    start(stepped())
    page = modules.page
    page.emulate_media(reduced_motion="reduce")
    page.evaluate(SEEN)
    button(modules).click()
    page.wait_for_function("() => seen.length >= 2")
    button(modules).click()
    page.emulate_media(reduced_motion="no-preference")
    assert page.evaluate("() => seen") == [13, 26]


def test_it_stops_with_its_view(modules, start):
    start(stepped())
    button(modules).click()
    modules.page.evaluate("() => { stop(); window.last = model.get('step'); }")
    modules.page.wait_for_timeout(200)
    assert modules.page.evaluate("() => model.get('step') === last")


def test_no_explorer_without_frames_gets_a_button(modules, start):
    start(still([[1.0]]))
    assert modules.page.locator(".explorer-play").count() == 0 == modules.page.locator(".explorer-frame").count()


def test_the_step_is_written_above_the_picture(modules, start):
    """Unless the title has its number; the picture's name stays the title."""
    start(stepped(step=7))
    assert text(modules, ".explorer-frame") == "step 7"
    assert modules.page.locator("canvas").get_attribute("aria-label") == "One cell. After 7 steps."
    modules.page.evaluate("() => { model.set('step', 120); return painted(); }")
    assert text(modules, ".explorer-frame") == "step 120"


def test_a_title_with_its_number_is_enough(modules, start):
    start(stepped(step=7, title="Head {frame}"))
    assert text(modules, "figcaption") == "Head 8" and modules.page.locator(".explorer-frame").count() == 0
