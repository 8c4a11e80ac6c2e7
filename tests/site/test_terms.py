"""Words in reach: terms that were explained earlier show their row of the glossary, by mouse, keyboard and touch."""

import re

import pytest
from bs4 import BeautifulSoup
from places import NOTEBOOKS
from playwright.sync_api import expect

pytestmark = [pytest.mark.long, pytest.mark.browser]
LESSON = "notebooks/06_encoder_block.html"
QUERY = "a.term[href='glossary.html#term-query']"
MEANS = "what it looks for, what it is found by, and what it has to give."


@pytest.fixture(params=[False, True], ids=["desk", "phone"])
def page(request, browser, address):
    """A lesson, with all problems of its scripts, and how far it has moved."""
    size = {"width": 390 if request.param else 1280, "height": 900}
    context = browser.new_context(viewport=size, has_touch=request.param, reduced_motion="reduce")
    page = context.new_page()
    page.problems, page.phone = [], request.param
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.goto(address + LESSON)
    yield page
    assert page.problems == []
    context.close()


def heights(page):
    """The height of the page, and where the term is."""
    return page.evaluate(
        "q => [document.body.scrollHeight, document.querySelector(q).getBoundingClientRect().y]", QUERY
    )


def test_pointing_or_tapping_shows_the_meaning_and_moves_nothing(page):
    term, note = page.locator(QUERY).first, page.locator(".term-note")
    term.scroll_into_view_if_needed()
    before = heights(page)
    term.tap() if page.phone else term.hover()
    expect(note).to_contain_text(MEANS)
    expect(note.get_by_role("link")).to_have_text("Explained in 00 Start here")
    assert heights(page) == before
    box, width = note.bounding_box(), page.evaluate("document.documentElement.clientWidth")
    assert box["x"] >= 0 and box["x"] + box["width"] <= width
    page.get_by_role("heading", level=1).evaluate("e => e.click()")
    expect(note).to_have_count(0)


def test_the_keyboard_reaches_the_note_and_its_link_and_escape_closes_it(page):
    term, note = page.locator(QUERY).first, page.locator(".term-note")
    term.focus()
    expect(note).to_contain_text(MEANS)
    expect(term).to_have_accessible_description(re.compile(MEANS))
    page.keyboard.press("Tab")
    expect(note.get_by_role("link")).to_be_focused()
    page.keyboard.press("Escape")
    expect(note).to_have_count(0)
    expect(term).to_be_focused()
    page.keyboard.press("Enter")
    expect(note).to_contain_text(MEANS)
    note.get_by_role("link").press("Enter")
    page.wait_for_url("**/00_start_here.html#term-query")


def test_only_one_note_is_open(page):
    terms, note = page.locator("a.term"), page.locator(".term-note")
    terms.nth(0).focus()
    expect(note).to_have_count(1)
    first = note.text_content()
    other = page.locator(f"a.term:not([href='{terms.nth(0).get_attribute('href')}'])").first
    other.focus()
    expect(note).not_to_have_text(first)
    expect(note).to_have_count(1)


def test_without_the_glossary_the_link_leads_there(page):
    page.route("**/glossary.html", lambda route: route.abort())
    page.locator(QUERY).first.focus()
    page.wait_for_timeout(300)
    page.unroute("**/glossary.html")
    assert page.locator(".term-note").count() == 0
    page.locator(QUERY).first.click()
    expect(page.locator(".term-note")).to_contain_text(MEANS)


def terms_of(html, path):
    """The terms of a page in the sections between its headings of level 2."""
    soup = BeautifulSoup((html / "notebooks" / f"{path.stem}.html").read_text(encoding="utf-8"), "html.parser")
    sections = [[]]
    for tag in soup.article.find_all(["h2", "a"]):
        if tag.name == "h2":
            sections.append([])
        elif "term" in tag.get("class", []):
            sections[-1].append(tag)
    return sections


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_term_is_marked_once_a_section_in_prose_alone(html, path):
    sections = terms_of(html, path)
    for marked in sections:
        links = [link["href"] for link in marked]
        assert len(links) == len(set(links))
        assert not [
            link for link in marked if link.find_parent(["pre", "h1", "h2", "h3", "details", "strong", "summary"])
        ]
    assert any(sections)


def test_no_lesson_marks_what_a_later_one_explains(html):
    """By the glossary, whose rows lead to the place of the explanation."""
    soup = BeautifulSoup((html / "notebooks/glossary.html").read_text(encoding="utf-8"), "html.parser")
    where = {row["id"]: row.find_all("a")[-1]["href"] for row in soup.select("tr[id]") if row.find("a", href=True)}
    assert where["term-query"] == "00_start_here.html#term-query" and where["term-stack"] == "07_encoder_stack.html"
    for path in NOTEBOOKS:
        used = {link["href"].partition("#")[2] for marked in terms_of(html, path) for link in marked}
        assert [name for name in used if where.get(name, "")[:2] > path.stem[:2]] == []
