"""The page remembers what its reader has done, in the browser alone, shows it in the menu, and can forget it."""

import json
import re

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.long, pytest.mark.browser]
LESSON = "notebooks/04_attention.html"
# A browser that stores nothing: whoever asks for the storage gets an error, as where cookies are blocked.
NO_STORAGE = """Object.defineProperty(window, 'localStorage', {
  get() { throw new DOMException('denied', 'SecurityError'); },
});"""


@pytest.fixture
def reader(browser, address):
    """A reader with an empty storage, who opens a page; all that is asked for is noted."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.asked = []
    context.on("request", lambda request: context.asked.append(request))

    def open_page(name=LESSON, script=""):
        page = context.new_page()
        page.add_init_script(script)
        page.goto(address + name)
        return page

    yield open_page
    assert {request.method for request in context.asked} == {"GET"}
    assert [url for request in context.asked if not (url := request.url).startswith((address, "data:", "blob:"))] == []
    context.close()


def answer(page, place=0):
    """Answer a question of the page."""
    question = page.locator(".asked").nth(place)
    question.get_by_role("radio").first.check()
    question.get_by_role("button", name="Commit").click()
    expect(question.locator(".prediction-right")).to_have_count(1)


def marks(page):
    """What the menu says about the lessons."""
    links = page.locator("nav.bd-docs-nav a, .lessons a").filter(has=page.locator(".done"))
    return {link.text_content().strip()[:2]: link.locator(".done").text_content() for link in links.all()}


def total(page):
    return json.loads(page.locator("#totals").text_content())["04_attention"]


def test_a_page_says_what_one_can_do_here_and_what_needs_python(reader):
    """In numbers that are those of the page."""
    page = reader()
    words = page.locator(".ways").first.text_content()
    numbers = re.findall(r"(\d+) (?:explorer|question|exercise)s?\b", words)
    explorers, questions, inline, exercises = map(int, numbers)
    assert explorers == page.locator(".recorded").count() and exercises == page.locator(".live").count() > 0
    assert questions == page.locator(".asked").count() and inline == page.locator(".exercise").count() == 3
    assert questions + inline == total(page)
    assert "you need Python" in words


def test_nothing_is_stored_before_something_is_done(reader):
    page = reader()
    assert page.evaluate("Object.keys(localStorage).filter((key) => key !== 'mode' && key !== 'theme')") == []
    assert marks(page) == {} and page.get_by_role("button", name="Forget it").count() == 0


def test_an_answer_is_remembered_on_every_page_and_forgotten(reader):
    page = reader()
    answer(page)
    answer(page, 1)
    expected = {"04": f"2 of {total(page)}"}
    assert marks(page) == expected
    again = reader()
    assert marks(again) == expected
    assert again.get_by_text("You have answered this before.").count() == 2
    expect(again.locator(".prediction-right")).to_have_count(0)  # the question can be asked again
    first = reader("index.html")
    assert marks(first) == expected
    first.get_by_role("button", name="Forget it").click()
    assert marks(first) == {} and first.evaluate("localStorage.getItem('course-done')") is None
    expect(again.locator(".done")).to_have_count(0)  # a page that is open hears of it
    answer(again, 2)
    assert marks(again) == {"04": f"1 of {total(again)}"}


def test_only_names_are_stored(reader):
    page = reader()
    answer(page)
    stored = json.loads(page.evaluate("localStorage.getItem('course-done')"))
    names = [place.get_attribute("data-answer") for place in page.locator(".asked").all()]
    assert len(stored) == 1 and names[0].endswith(f"/{stored[0]}.html")


def test_a_lesson_in_which_all_is_done_says_so(reader):
    page = reader("notebooks/03_layer_norm.html")
    for place in range(page.locator(".asked").count()):
        answer(page, place)
    assert marks(page) == {"03": "all done"}


def test_an_exercise_is_remembered(reader):
    page = reader()
    page.locator(".order").get_by_role("button", name="Show me").click()
    expect(page.locator(".order")).to_contain_text("multi_head: right.")
    assert marks(page) == {"04": f"1 of {total(page)}"}
    assert reader().get_by_text("You have answered this before.").count() == 1


@pytest.mark.parametrize("stored", ["{", "null", '"x"', "{}", "[1]"])
def test_other_things_in_the_storage_do_no_harm(reader, stored):
    page = reader(script=f"localStorage.setItem('course-done', {json.dumps(stored)})")
    assert marks(page) == {}
    answer(page)
    assert marks(page) == {"04": f"1 of {total(page)}"}


def test_without_a_storage_the_page_works(reader):
    """What is done is then known until the page is left."""
    page = reader(script=NO_STORAGE)
    answer(page)
    assert marks(page) == {"04": f"1 of {total(page)}"}
    page.reload()
    assert marks(page) == {}
    answer(page)
