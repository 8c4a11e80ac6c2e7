"""The search on a page: a recorded question at once, and what the reader types once MiniLM is in the browser."""

import pytest
from explorers import minilm
from playwright.sync_api import expect

from encoder_lib.course import explore
from encoder_lib.course.kit.widget import front_end

pytestmark = [pytest.mark.long, pytest.mark.browser]
TEXTS = ["Mix flour, butter and sugar.", "Connect the cable to the socket.", "Ships for sale in our harbour."]
QUESTION, OTHER, OWN = "How do I charge my phone?", "Where can I buy a boat?", "Bake it for an hour."
COSINE = 0.003 + 0.005  # the error that the page states, and half of the last digit
PLAY = """async (name) => {
  const [{ fetchRecording }, { playSearch }] = await Promise.all(
    ['recording', 'search_recorded'].map((name) => import(`/player/${name}.js`)));
  playSearch(await fetchRecording(name), document.body.appendChild(document.createElement('div')));
}"""


@pytest.fixture
def page(minilm_player, browser):
    """A fresh page with a recorded search, and the requests that it makes."""
    served, folder = minilm_player
    (folder / "search.recording").write_bytes(explore.search(minilm(), TEXTS, question=QUESTION).record())
    page = browser.new_context(viewport={"width": 1000, "height": 900}, reduced_motion="reduce").new_page()
    page.asked, page.problems = [], []
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.goto(served.url)
    page.add_style_tag(content=front_end.style("palette.css", "search_bars.css"))
    page.evaluate(PLAY, "/search.recording")
    yield page
    page.context.close()
    assert page.problems == []


def expected(question, texts=TEXTS):
    """What the library finds: each text with its cosine, the highest first."""
    cosines = minilm().encode([question]) @ minilm().encode(texts).T
    return sorted(zip(cosines[0].tolist(), texts, strict=True), reverse=True)


def check_bars(page, question, texts=TEXTS):
    """The bars have the order of the library, and its numbers as nearly as the page says."""
    found = expected(question, texts)
    rows = page.get_by_role("listitem")

    def shown():
        return [float(text.replace("−", "-")) for text in rows.locator("data").all_text_contents()]

    numbers = pytest.approx([cosine for cosine, _ in found], abs=COSINE)
    for _ in range(100):  # until the newest question has its answer
        if shown() == numbers:
            break
        page.wait_for_timeout(100)
    assert shown() == numbers
    expect(rows.locator("span")).to_have_text([text for _, text in found])


def fetch(page):
    page.get_by_role("button", name="Type your own").click()
    expect(page.get_by_text("MiniLM runs here in your browser")).to_be_visible(timeout=60_000)


def test_a_recorded_question_is_shown_before_minilm(page, minilm_player):
    check_bars(page, QUESTION)
    field = page.get_by_role("textbox", name="Question")
    expect(field).to_have_value(QUESTION)
    expect(field).not_to_be_editable()
    expect(page.get_by_text("Change the texts")).to_be_hidden()
    assert not any("/minilm/" in url for url in page.asked)
    assert (minilm_player[1] / "search.recording").stat().st_size < 6000


def test_once_fetched_minilm_answers_what_is_typed(page):
    fetch(page)
    field = page.get_by_role("textbox", name="Question")
    expect(field).to_be_focused()
    page.keyboard.type(OTHER)  # in place of the selected question
    expect(field).to_have_value(OTHER)
    expect(page.get_by_role("listitem").first).to_contain_text(TEXTS[2])
    check_bars(page, OTHER)
    page.get_by_text("Change the texts").click()
    page.get_by_role("textbox", name="One text on each line").fill("\n".join([*TEXTS, OWN]))
    expect(page.get_by_role("listitem")).to_have_count(4, timeout=20_000)
    check_bars(page, OTHER, [*TEXTS, OWN])
    assert page.get_by_role("button").count() == 0 and page.get_by_role("alert").is_hidden()


def test_without_a_network_the_recorded_question_stays_and_the_reader_is_told(page):
    """The button works once the network is back."""
    page.evaluate("import('/player/reader.js')")
    page.route("**/minilm/**", lambda route: route.fulfill(status=404))
    page.get_by_role("button", name="Type your own").click()
    expect(page.locator(".recorded-offer")).to_contain_text("The recorded question stays.")
    check_bars(page, QUESTION)
    page.unroute("**/minilm/**")
    fetch(page)
    expect(page.get_by_role("textbox", name="Question")).to_be_editable()
