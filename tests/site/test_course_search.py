"""The search of the web edition: questions find the section that answers them, from the first page on."""

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.long, pytest.mark.browser]
FIRST = {  # what a reader may ask, and the page that answers it best
    "why divide by sqrt K": "04_attention",
    "Why do we divide by the square root of d_k?": "04_attention",
    "what is a query": "04_attention",
    "scaled dot-product attention": "04_attention",
    "backpropagation": "01_embedding",
    "skip connection": "06_encoder_block",
    "vanishing gradients": "07_encoder_stack",
    "learning rate warmup": "07_encoder_stack",
    "RoPE": "02_positional_encoding",
    "semantic search": "00_start_here",
    "attention sink": "09_pretrained",
}
RESULT = "#search-results li:first-child a"


@pytest.fixture(scope="module")
def page(browser, address):
    """The page of the search, with all problems of its scripts."""
    page = browser.new_page()
    page.problems = []
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.goto(f"{address}search.html")
    yield page
    assert page.problems == []
    page.close()


def ask(page, question):
    """Type a question in place of the last one, and wait for what was found."""
    page.evaluate("document.getElementById('search-status').textContent = ''")
    page.locator(".bd-article input").fill(question)
    expect(page.get_by_role("status")).not_to_be_empty()


@pytest.mark.parametrize(("question", "lesson"), FIRST.items())
def test_a_question_finds_the_lesson_that_answers_it(page, question, lesson):
    ask(page, question)
    assert f"/notebooks/{lesson}.html" in page.locator(RESULT).get_attribute("href")


@pytest.mark.parametrize(
    ("question", "section"),
    [("why divide by sqrt K", "Why the root?"), ("backpropagation", "Where does backward get a gradient from?")],
)
def test_a_question_finds_the_section(page, question, section):
    ask(page, question)
    assert section in page.locator("#search-results li a").all_text_contents()


def test_pages_with_most_of_the_words_come_first_where_none_has_all(page):
    ask(page, "backpropagation, RoPE and gradients")
    expect(page.get_by_role("status")).to_contain_text("No page contains all of these words.")
    assert "/01_embedding.html" in page.locator(RESULT).get_attribute("href")
    ask(page, "日本語")
    expect(page.get_by_role("status")).to_have_text("No page contains “日本語”.")
    assert page.locator("#search-results li").count() == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Why do we divide by sqrt(K)?", ["divide", "√K)?"]),
        ("the square root of d_k", ["√d_k"]),
        ("what is it?", ["what", "is", "it?"]),
        ("  ", []),
    ],
)
def test_filling_words_are_left_out_unless_there_are_no_others(player, text, words):
    page, _ = player
    found = "async (text) => (await import('/player/search_words.js')).wordsOf(text)"
    assert page.evaluate(found, text) == words


def test_the_first_page_leads_to_the_search(browser, address):
    """By keyboard, with what was typed there."""
    page = browser.new_page()
    page.goto(address)
    field = page.get_by_role("main").get_by_role("searchbox", name="Search the course")
    field.fill("backpropagation")
    field.press("Enter")
    page.wait_for_url("**/search.html?q=backpropagation")
    expect(page.locator(RESULT)).to_contain_text("Where does backward get a gradient from?")
    page.close()
