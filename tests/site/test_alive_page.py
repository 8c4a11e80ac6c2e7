"""The picture of the whole encoder on a page: at once from a recording, then computed by MiniLM in the browser."""

import re

import pytest
from explorers import PAIR, minilm
from playwright.sync_api import expect

from encoder_lib.course import explore
from encoder_lib.course.kit.interventions import Intervened, Question
from encoder_lib.course.kit.widget import front_end

pytestmark = [pytest.mark.long, pytest.mark.browser]
OFFER, FETCHES, RUNS = "This was computed beforehand.", "MiniLM is being fetched", "MiniLM now runs in your browser"
PLAY = """async ([name, options]) => {
  const [{ fetchRecording }, { playAlive }] = await Promise.all(
    ['recording', 'alive_recorded'].map((name) => import(`/player/${name}.js`)));
  const place = document.body.appendChild(document.createElement('div'));
  playAlive(await fetchRecording(name), place);
}"""
# What an engine does with questions that come while it computes: which are answered, which are given up.
HURRY = """async (questions) => {
  const { engine } = await import('/player/alive_recorded.js');
  const asked = [], known = [{ question: questions[0], answer: { common: ['bank'] } }];
  const compute = engine(known, (work) => new Promise((resolve) => {
    asked.push(work);
    setTimeout(() => resolve(asked.length), 20);
  }));
  return Promise.all(questions.map((question) => compute(question).then(
    (answer) => (answer === known[0].answer ? 'known' : `computed ${answer}`), (error) => error.message)));
}"""


@pytest.fixture
def page(minilm_player, browser):
    """A fresh page of the folder, and the requests that it makes."""
    served, _ = minilm_player
    page = browser.new_context(viewport={"width": 1000, "height": 900}).new_page()
    page.asked, page.problems = [], []
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.goto(served.url)
    page.add_style_tag(content=front_end.style("explorer.css", "palette.css", "alive.css"))
    yield page
    page.context.close()
    assert page.problems == []


def show(page, folder, name="two", **options):
    """Draw the picture of a recording."""
    texts = PAIR[: options.pop("sentences", 2)]
    recorded = explore.alive(minilm(), *texts, **options).record(())
    (folder / f"{name}.recording").write_bytes(recorded)
    page.evaluate(PLAY, [f"/{name}.recording", {}])
    return page.locator("section.alive")


def fetched(page):
    return [url for url in page.asked if "/minilm/" in url]


def test_the_picture_is_there_before_minilm(page, minilm_player):
    """And so is an opened layer, from a recording small enough for a first page."""
    picture = show(page, minilm_player[1])
    expect(picture).to_contain_text("0.843")
    expect(picture).to_contain_text(OFFER)
    opened = show(page, minilm_player[1], "one", sentences=1, open=1).last
    expect(opened.locator("[aria-expanded=true]")).to_have_count(1)
    page.wait_for_timeout(700)  # after which it is open
    assert fetched(page) == [] and (minilm_player[1] / "two.recording").stat().st_size < 50_000


def test_a_click_on_a_lane_draws_no_frame_around_the_picture(page, minilm_player):
    """The lane takes the click, and the focus goes to the picture as a whole, which is no button."""
    picture = show(page, minilm_player[1])
    picture.locator('.alive-in-hits [data-act="token 0 5"]').click()
    expect(picture.locator(".alive-feet")).to_contain_text("“flooded”, layer")
    focused, outline = page.evaluate(
        "(() => [document.activeElement.localName, getComputedStyle(document.activeElement).outlineStyle])()"
    )
    assert (focused, outline) == ("svg", "none")


def test_an_intervention_fetches_minilm_and_shows_its_numbers(page, minilm_player):
    """The reader sees that it is being fetched; afterwards a change needs no network, and all numbers are its own."""
    picture = show(page, minilm_player[1])
    picture.get_by_text("no attention at all").click()
    expect(picture).to_contain_text(RUNS, timeout=60_000)
    expect(picture).to_contain_text("1.000")
    assert fetched(page)
    before = re.findall(r"before: (0\.\d+)", picture.locator(".alive-story").inner_text())
    page.context.set_offline(True)
    picture.get_by_text("Restore all").click()
    expect(picture.locator(".alive-story")).to_contain_text(f"At the top, their cosine is {before[0]}.")
    expect(picture.locator("svg")).to_contain_text(before[1])
    page.context.set_offline(False)
    assert picture.get_by_role("alert").is_hidden()


def test_without_a_network_the_picture_stays_and_says_why(page, minilm_player):
    """And the same change works when the network is back."""
    picture = show(page, minilm_player[1])
    page.evaluate("import('/player/reader.js')")
    page.route("**/minilm/**", lambda route: route.fulfill(status=404))
    picture.get_by_text("no attention at all").click()
    expect(picture.get_by_role("alert")).to_contain_text("the site answers 404")
    expect(picture).to_contain_text(OFFER)
    expect(picture).to_contain_text("0.843")
    page.unroute("**/minilm/**")
    picture.get_by_text("no attention at all").click()
    expect(picture).to_contain_text(RUNS, timeout=60_000)


def test_typed_sentences_are_computed(page, minilm_player):
    picture = show(page, minilm_player[1])
    picture.get_by_role("textbox").first.fill("The bank of the river was flooded.")
    expect(picture).to_contain_text(RUNS, timeout=60_000)
    texts = "The bank of the river was flooded.", PAIR[1]
    expected = Intervened(minilm()).ask(Question(texts, "bank")).word_cosines[-1].item()
    expect(picture).to_contain_text(f"{expected:.2f}")


def test_only_the_newest_question_waits(page):
    """While MiniLM computes one; what was recorded is answered at once."""
    plain = {"texts": list(PAIR), "word": "bank", "cuts": [], "knockouts": [], "detail": None}
    cut = plain | {"cuts": [{"side": 0, "layer": 0, "head": None, "query": 3, "key": 2}]}
    out = plain | {"knockouts": [{"part": "attention", "layer": None}]}
    got = page.evaluate(HURRY, [plain, cut, out, plain | {"word": "nobody"}, plain | {"detail": [0, 2]}])
    assert got == ["known", "computed 1", "a newer question has been asked", "known", "computed 2"]
