"""A button that lets the kernel go on: one round at a time, until it's pressed again, and as far as there are any."""

import pytest
from front_end_page import send, text
from small_explorers import Heatmap

from encoder_lib.course.explore import Explorer, Range, View
from encoder_lib.course.kit.widget.controls import Rounds

pytestmark = pytest.mark.browser


def growing(rounds=0):
    """An explorer of three frames, and one more after each of up to four rounds."""

    def show(step, rounds):
        words = [f"After {n} steps." for n in range(3 + rounds)]
        return View(Heatmap([[[n]] for n in range(3 + rounds)]), frames="step", description=words)

    return Explorer(show, Range("step", 2, min=0, max=2), Rounds("rounds", rounds, max=4, label="Train on"), title="On")


def asked(modules):
    """The numbers of rounds that the kernel has been asked for."""
    return modules.page.evaluate("() => model.sent.map(({ rounds }) => rounds)")


def test_it_asks_for_the_next_round_when_one_is_over(modules, start):
    """The slider grows along; a press in the middle of a round stops, two presses go on without a second request."""
    explorer = growing()
    start(explorer)
    button = modules.page.get_by_role("button", name="Train on")
    button.click()
    assert asked(modules) == [1] and text(modules, ".explorer-rounds") == "Stop"
    send(modules, explorer, rounds=1)
    assert asked(modules) == [1, 2]
    slider = modules.page.locator("input")
    assert (slider.get_attribute("max"), slider.input_value()) == ("3", "3")
    assert text(modules, ".explorer-description") == "After 3 steps."
    stop = modules.page.get_by_role("button", name="Stop")
    stop.click()
    button.click()
    assert asked(modules) == [1, 2]
    stop.click()
    send(modules, explorer, rounds=2)
    assert asked(modules) == [1, 2] and button.is_enabled()


def test_it_ends_with_the_last_round_an_error_or_its_view(modules, start):
    explorer = growing(3)
    start(explorer)
    button = modules.page.locator(".explorer-rounds")
    button.click()
    send(modules, explorer, rounds=4)
    assert asked(modules) == [4] and button.is_disabled() and button.text_content() == "Train on"
    for ends in ("model.message({ error: 'Out of memory' })", "home.remove()"):
        start(growing())
        button.click()
        modules.page.evaluate(f"() => {{ {ends}; model.message({{ _controls: [...model.get('_controls')] }}); }}")
        assert asked(modules) == [1]
