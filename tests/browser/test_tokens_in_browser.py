"""The words above a heatmap, by keyboard and by mouse: each shows where it looks, and nothing is computed for it."""

import nbformat
import pytest
from labserver import lab
from notebook_page import NotebookPage
from specimens import notebook_of

pytestmark = pytest.mark.long

# Row 0 runs through every shade; the description counts how often the kernel was asked.
LOOKS = """
import numpy as np
from encoder_lib.course import explore

names, asked = ["the", "<b>", "a,b", "dog", "dog", "bites", "it", "now", "x", "y", "z"], []


def show(words, power):
    asked.append(words)
    ticks = names[:words]
    weights = np.stack([np.roll(np.linspace(0, 1, words) ** power, k) for k in range(words)])
    weights[-1] = 0
    looks = explore.Heatmap(weights, x_ticks=ticks, y_ticks=ticks)
    minus = explore.Heatmap(-weights, limits=(-1, 0))
    return explore.View(looks, minus, description=f"Asked {len(asked)} times.", tokens=looks)


controls = explore.Range("words", 11, min=1, max=11), explore.Range("power", 1, min=1, max=3)
explore.Explorer(show, *controls, title="Looks")
"""


@pytest.fixture(scope="module")
def looks(browser, tmp_path_factory):
    """The explorer, run once."""
    folder = tmp_path_factory.mktemp("tokens")
    nbformat.write(notebook_of(LOOKS), folder / "tokens.ipynb")
    with lab(folder) as server:
        notebook = NotebookPage(browser, server, "tokens.ipynb")
        notebook.run_all()
        assert notebook.errors() == []
        yield notebook.explorer("Looks")
        assert notebook.errors() == []
        notebook.close()


@pytest.fixture
def words(looks):
    """The buttons, with the second one chosen and all eleven words there."""
    looks.control("words").fill("11")
    looks.control("power").fill("1")
    buttons = looks.root.locator(".explorer-words button")
    looks.state_when(lambda _: buttons.count() == 11)
    buttons.nth(1).hover()
    looks.page.mouse.move(0, 0)
    looks.state()
    return buttons


def shares(words):
    """The per cent on every button."""
    return words.locator("small").all_text_contents()


def shades(words):
    """The background of every button."""
    return words.evaluate_all("all => all.map(e => e.style.background)")


def chosen(words):
    """Which buttons are pressed."""
    return [i for i, state in enumerate(words.evaluate_all("all => all.map(e => e.ariaPressed)")) if state == "true"]


def test_the_words_are_text_and_one_of_them_is_lit(looks, words):
    """Nothing that is typed becomes markup; the chosen word is the one that Tab goes to."""
    assert words.locator("span").all_text_contents()[:4] == ["the", "<b>", "a,b", "dog"]
    assert chosen(words) == [1]
    assert words.evaluate_all("all => all.map(e => e.tabIndex)") == [-1, 0, *[-1] * 9]
    row = looks.root.locator(".explorer-words")
    assert row.get_attribute("role") == "toolbar" and row.get_attribute("aria-label").startswith("Point at a word")


def test_keys_walk_along_the_words_and_read_where_each_looks(looks, words):
    """Arrows, Home and End move the focus; the reading names the strongest look first; a dead row looks at nothing."""
    words.nth(1).focus()
    readings = []
    for key in ("ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp", "Home", "ArrowLeft", "End", "ArrowRight"):
        looks.page.keyboard.press(key)
        readings.append((*chosen(words), looks.state()["readout"]))
    assert [place for place, _ in readings] == [2, 3, 2, 1, 0, 0, 10, 10]
    first, last = readings[4][1], readings[-1][1]
    assert first.startswith("“the” looks at z 100 %, y 90 %, x 80 %") and "the 0 %" not in first
    assert last == "“z” looks at nothing"
    assert looks.root.evaluate("e => e.querySelector('.explorer-words').contains(document.activeElement)")
    assert looks.root.locator(".explorer-readout").get_attribute("aria-live") == "polite"
    for key in ("Control+ArrowLeft", "Control+Home", "Meta+ArrowLeft"):  # the browser's own keys
        looks.page.keyboard.press(key)
        assert chosen(words) == [10]


def test_pointing_changes_shades_and_numbers_without_the_kernel(looks, words):
    """The mouse does what the focus does; the choice stays when the mouse has gone; nothing is computed."""
    before, picture = shades(words), looks.state()["pictures"]
    asked = looks.state()["description"]
    words.nth(0).hover()
    assert shares(words) == [f"{10 * n} %" for n in range(11)]
    assert len(set(shades(words))) == 11 and shades(words) != before
    looks.page.mouse.move(0, 0)
    state = looks.state()
    assert chosen(words) == [0] and state["readout"].startswith("“the” looks at z")
    assert state["pictures"][0] != picture[0]  # its row is framed in the map of the same words
    assert state["pictures"][1] == picture[1]  # and in no other
    assert state["description"] == asked


def test_the_choice_follows_the_sentence(looks, words):
    """New weights show at once; a sentence that is cut keeps its last word lit, and the choice when it grows again."""
    words.nth(4).hover()
    looks.control("power").fill("3")
    looks.state_when(lambda _: "< 1 %" in shares(words))
    assert shares(words)[5] == "< 1 %" and chosen(words) == [4]
    looks.control("words").fill("3")
    looks.state_when(lambda _: words.count() == 3)
    assert words.locator("span").all_text_contents() == ["the", "<b>", "a,b"] and chosen(words) == [2]
    assert looks.state()["readout"] == "“a,b” looks at nothing"
    looks.control("words").fill("11")
    looks.state_when(lambda _: words.count() == 11)
    assert chosen(words) == [4]
