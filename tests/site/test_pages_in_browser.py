"""The web edition as its reader meets it: at a desk and on a phone, by mouse, keyboard and screen reader."""

import gzip
import os
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import pytest
from accessibility import AXE
from notebook_page import STATE, ExplorerOnPage
from notebook_rules import code_cells, is_explorer
from places import NOTEBOOKS
from spoilers import answers_in, asked, normal

pytestmark = [pytest.mark.long, pytest.mark.browser]
FIRST = 550_000  # bytes that a page may fetch before one scrolls
REQUESTS = 25  # that it takes for them
WIDTHS = {"desk": 1280, "phone": 390}
OTHERS = ("index", "search", "CONTRIBUTING", "tests/benchmarks/RESULTS", "reference/encoder_lib.model")
GLOSSARY = "notebooks/glossary"
PAGES = [*OTHERS, GLOSSARY, *(f"notebooks/{path.name}" for path in NOTEBOOKS)]  # the ending lets processes share them
# There is no kernel to wait for. What moves on the page is added up, but for what the reader moves, and what glides
# inside an explorer, whose room stays.
DRAWN = """window.kernelIdle = () => !document.querySelector('[aria-busy="true"]');
window.shifted = 0;
new PerformanceObserver((list) => {
  for (const { value, hadRecentInput, sources } of list.getEntries()) {
    const outside = sources.some(({ node }) => !node?.parentElement?.closest('.recorded'));
    if (outside && !hadRecentInput) shifted += value;
  }
}).observe({type: 'layout-shift', buffered: true});"""
# Left out is what is the theme's, the navigation and a field for searching that names its keys, and that a table in
# Markdown has an empty cell in its corner.
ASK = """async () => (await axe.run(
  {exclude: [['.bd-sidebar-primary'], ['.search-button-field']]},
  {resultTypes: ['violations'], rules: {'empty-table-header': {enabled: false}}})).violations
  .flatMap(({id, nodes}) => nodes.map(({html, any, none}) => `${id}: ${html.slice(0, 160)}: ${
    (any[0] ?? none[0])?.message ?? ''}`))"""
# Bring every explorer into view, as one who reads on does; gives which do not play, and which do not take the room that
# waited for them, to a tenth or 60 pixels.
READ = """async () => {
  const found = [];
  for (const place of document.querySelectorAll('.recorded')) {
    const room = place.offsetHeight;
    place.scrollIntoView({block: 'center'});
    for (let wait = 0; wait < 600 && !('playing' in place.dataset); wait++) await new Promise(requestAnimationFrame);
    let taken = 0; // a picture comes after its controls, and a layer glides open
    for (let wait = 0; wait < 20 && taken !== place.offsetHeight; wait++) {
      taken = place.offsetHeight;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    const name = place.dataset.recording;
    if (!('playing' in place.dataset)) found.push(`${name} does not play`);
    if (Math.abs(taken - room) > Math.max(60, room / 10)) found.push(`${name} takes ${taken} pixels, not ${room}`);
  }
  return found;
}"""
# The names of cells in tables, and of lines of code to put in order, that are on more than one line.
BROKEN = """() => [...document.querySelectorAll('td .pre, .order [data-line] code')].flatMap((code) => {
  const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT), broken = [];
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    for (const { 0: name, index } of text.data.matchAll(/[\\w.]+/g)) {
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + name.length);
      if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) broken.push(name);
    }
  }
  return broken;
})"""
# Whether the folds between a question and the next one are open.
FOLDS = """(question) => {
  const parts = [...document.querySelectorAll('.prediction, details.after')];
  const below = parts.slice(parts.indexOf(question) + 1), next = below.findIndex((e) => e.matches('.prediction'));
  return below.slice(0, next < 0 ? below.length : next).map((e) => e.open);
}"""


class SitePage:
    """A page in a window of its own, with all that goes wrong there."""

    def __init__(self, browser, address, name, width, theme="light"):
        self.problems, self.played, self.minilm = [], [], []
        self.page = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme).new_page()
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("console", lambda said: said.type == "error" and self.problems.append(said.text))
        self.page.on("request", lambda request: self._note(request.url, address))
        self.page.add_init_script(STATE + DRAWN)
        self.page.goto(f"{address}{name.removesuffix('.ipynb')}.html")
        self.unplayed = self.page.evaluate(READ)

    def _note(self, url, address):
        if not url.startswith((address, "data:", "blob:")):
            self.problems.append(f"a request leaves the site: {url}")
        if url in self.played:
            self.problems.append(f"fetched twice: {url}")
        if url.endswith(".recording"):
            self.played.append(url)
        if "/minilm/" in url:
            self.minilm.append(url)

    def check_predictions(self, steps):
        """Answer every question by keyboard, by the steps in turn; gives what is wrong."""
        for place, question in enumerate(self.page.locator(".prediction").all()):
            step, message = steps[place % len(steps)], question.locator(".prediction-message")
            if message.text_content().strip() or question.locator(".prediction-result, .prediction-right").count():
                yield "an answer is there before it is asked for"
            if any(question.evaluate(FOLDS)):
                yield "a fold below a question is open"
            question.locator("input").first.focus()
            self.page.keyboard.press("Space")
            button = question.get_by_role("button", name=step)
            button.focus()
            self.page.keyboard.press("Enter")
            verdict = {"Commit": "^(Correct|Not this one)\\.", "Show me": "^ *The answer is: "}[step]
            self.page.wait_for_function("([e, text]) => e.textContent.match(text)", arg=[
                message.element_handle(), verdict])  # fmt: skip
            if question.locator(".prediction-right").count() != 1:
                yield "the right choice is not marked"
            question.locator(".prediction-result").wait_for()  # a picture takes its room once it is decoded
            if not all(question.evaluate(FOLDS)):
                yield f"after {step} a fold is still closed"
            if question.get_by_role("button").count() or question.locator("input:enabled").count():
                yield f"after {step} the question can be answered again"


@pytest.fixture(scope="module", params=PAGES)
def pages(request, browser, address):
    """The same page at a desk and on a phone, there in the dark."""
    both = {
        "desk": SitePage(browser, address, request.param, WIDTHS["desk"]),
        "phone": SitePage(browser, address, request.param, WIDTHS["phone"], theme="dark"),
    }
    both["name"] = request.param
    yield both
    for place in WIDTHS:
        both[place].page.context.close()


@pytest.mark.parametrize("place", WIDTHS)
def test_a_page_works(pages, place):
    """Every explorer plays, nothing is said in the console or asked of others, and one scrolls downwards alone."""
    site = pages[place]
    if folder := os.environ.get("SCREENSHOTS"):
        name = pages["name"].replace("/", "-")
        site.page.screenshot(path=Path(folder) / f"site-{name}-{place}.png", full_page=True)
    assert (site.unplayed, site.problems) == ([], [])
    assert site.page.evaluate("shifted") < 0.1 or not cells_of(pages["name"])  # a lesson stays where it is
    assert site.page.evaluate("[document.documentElement.scrollWidth, innerWidth]") == [WIDTHS[place]] * 2


@pytest.mark.parametrize("place", WIDTHS)
def test_the_code_of_a_picture_is_folded_on_a_phone_alone(pages, place):
    drawing = pages[place].page.locator(".draws pre").all()
    assert {code.is_visible() for code in drawing} <= {place == "desk"}


@pytest.mark.parametrize("place", WIDTHS)
def test_letters_of_pictures_stay_large_enough(pages, place):
    """At a desk a picture is a little smaller than it was drawn; on a phone it was drawn anew, or it scrolls."""
    pictures = pages[place].page.locator("img.figure, .prediction-result img")
    scales = pictures.evaluate_all("(pictures) => pictures.map((e) => e.width / e.naturalWidth)")
    assert min(scales, default=1) > {"desk": 0.89, "phone": 0.97}[place]


def test_letters_at_a_desk_are_at_least_eleven_pixels_high(pages):
    """In drawings, and in figures that an explorer shows, whose numbers are 9.5 points high at 100 dots per inch."""
    page = pages["desk"].page
    drawn = """(all) => all.map((e) => parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().a)"""
    heights = page.locator(".drawing text").evaluate_all(drawn)
    scaled = "(all) => all.map((e) => e.width / e.naturalWidth)"
    scales = page.locator(".explorer-pictures img").evaluate_all(scaled)
    assert min([*heights, *(9.5 / 72 * 100 * scale for scale in scales)], default=11) >= 11


def test_tables_have_no_stripes_and_no_lines_between_columns(pages):
    """As in JupyterLab, where cells have no room at their edges for them."""
    looks = """() => [...new Set([...document.querySelectorAll('table.dataframe td')].map((cell) => {
      const row = getComputedStyle(cell.parentElement);
      return `${row.backgroundColor} ${getComputedStyle(cell).borderLeftWidth}`;
    }))]"""
    assert set(pages["desk"].page.evaluate(looks)) <= {"rgba(0, 0, 0, 0) 0px"}


def test_names_in_tables_and_in_lines_to_order_stay_whole_on_a_phone(pages):
    """Where there is no room for one, the table or the list of lines scrolls."""
    assert pages["phone"].page.evaluate(BROKEN) == []


def test_a_note_does_not_repeat_the_sentences_of_a_menu(pages):
    page = pages["phone"].page
    notes = " ".join(page.locator(".recorded-note").all_text_contents())
    assert [
        text for text in page.locator(".recorded option").all_text_contents() if len(text) > 12 and text in notes
    ] == []


def has_figures(name):
    """Whether a page has a figure that is neither an explorer's nor the answer to a question."""
    plain = [cell for cell in cells_of(name) if not is_explorer(cell) and "explore.predict(" not in cell.source]
    return any('class="figure"' in str(output.get("data", "")) for cell in plain for output in cell.outputs)


def test_pictures_have_the_theme_of_their_page(pages):
    scheme = (
        "() => [...new Set([...document.querySelectorAll('img.figure')].map((e) => getComputedStyle(e).colorScheme))]"
    )
    found = [pages[place].page.evaluate(scheme) for place in ("phone", "desk")]
    assert found == ([["dark"], ["light"]] if has_figures(pages["name"]) else [[], []])
    own = ".bd-content img:not(.explorer-picture)"  # what an explorer draws on white has a filter of its own
    filters = f"() => [...document.querySelectorAll('{own}')].map((e) => getComputedStyle(e).filter)"
    assert {name for place in WIDTHS for name in pages[place].page.evaluate(filters)} <= {"none"}


@pytest.mark.parametrize("place", WIDTHS)
def test_axe_finds_nothing(pages, place):
    """By all of its rules, in the light at a desk and in the dark on a phone."""
    page = pages[place].page
    page.evaluate(AXE)
    assert page.evaluate(ASK) == []


def test_every_explorer_follows_its_controls(pages):
    """By keyboard to both ends of each, on a phone: picture, words and number change, and come back."""
    site = pages["phone"]
    explorers = explorers_of(site)
    expected = expected_of(pages["name"], is_explorer) - expected_of(pages["name"], has_no_controls)
    assert len(explorers) == expected
    found = []
    for explorer in explorers:
        found += explorer.check_at_rest()
        found += [words for name in moving(explorer) for words in explorer.check_control(name)]
        found += explorer.check_cells()
    assert found == []
    assert site.problems == []


@pytest.mark.parametrize("place", WIDTHS)
def test_the_whole_encoder_is_there_before_minilm(pages, place):
    """The first page has both sentences side by side at a desk; MiniLM is not fetched before a change."""
    site, name = pages[place], pages["name"]
    pictures = site.page.locator("section.alive")
    assert pictures.count() == (expected_of(name, is_whole) or name == "index")
    for picture in pictures.all():
        assert picture.get_by_text("This was computed beforehand").count() == 1
        assert picture.locator("svg [role=button]").count() > 20
    if name == "index":
        tab = pictures.get_by_role("button", name="Sentence 2", exact=True)
        assert tab.is_visible() == (place == "phone")
    assert site.minilm == []


@pytest.mark.parametrize("place", WIDTHS)
def test_a_search_shows_its_recorded_question(pages, place):
    searches = pages[place].page.locator("section.search-bars")
    assert searches.count() == expected_of(pages["name"], is_search)
    for search in searches.all():
        cosines = [float(text.replace("−", "-")) for text in search.locator("li data").all_text_contents()]
        assert len(cosines) >= 3 and cosines == sorted(cosines, reverse=True)
        assert search.get_by_role("button", name="Type your own").is_visible()


def test_an_arrow_key_moves_to_the_next_stop(pages):
    """Every slider, at a desk: an arrow to the right from its lower end moves it, one to the left undoes that."""
    found, page = [], pages["desk"].page
    for slider in page.locator(".explorer input[type=range]").all():
        output = slider.locator("xpath=../output")
        slider.press("Home")
        numbers = [output.text_content()]
        for key in ("ArrowRight", "ArrowLeft"):
            for _ in range(20):  # presses: the whole numbers of a logarithmic slider are wide at its lower end
                slider.press(key)
                if output.text_content() != numbers[-1]:
                    break
            numbers.append(output.text_content())
        if numbers[0] == numbers[1] or numbers[0] != numbers[2]:
            found.append((slider.get_attribute("data-control"), numbers))
    assert found == []


@pytest.mark.parametrize("place", WIDTHS)
def test_no_answer_is_in_sight_of_its_question(pages, place):
    """With the question at the upper edge of the window: what is below it is what the reader sees first."""
    page, found = pages[place].page, []
    names = [name for cell in cells_of(pages["name"]) for name, _ in asked(cell)]
    for name, question in zip(names, page.locator(".prediction").all(), strict=True):
        question.evaluate("e => e.scrollIntoView({block: 'start', behavior: 'instant'})")
        found += [f"{name}: {words!r}" for words in answers_in(normal(page.evaluate("inSight()")), name)]
    assert found == []


def test_a_question_without_its_answer_says_so(pages):
    """Offline, after two seconds, and can be asked again; at a desk, on a page of its own."""
    if not pages["desk"].page.locator(".prediction").count():
        return
    page = pages["desk"].page.context.new_page()
    page.goto(pages["desk"].page.url)
    page.context.set_offline(True)
    question = page.locator(".prediction").first
    question.get_by_role("button", name="Show me").click()
    question.get_by_text("You may be offline: try again").wait_for(timeout=5000)
    page.context.set_offline(False)
    question.get_by_role("button", name="Show me").click()
    question.locator(".prediction-right").wait_for()
    page.close()


def test_every_question_hides_and_reveals(pages):
    """At a desk by a commitment first, on a phone by "Show me"; by turns."""
    expected = expected_of(pages["name"], lambda cell: "explore.predict(" in cell.source)
    for place, steps in (("desk", ("Commit", "Show me")), ("phone", ("Show me", "Commit"))):
        site = pages[place]
        assert site.page.locator(".prediction").count() == expected
        assert list(site.check_predictions(steps)) == []
        assert site.problems == []


def test_a_page_is_light(pages, browser):
    """What is fetched until it is there, packed as web hosts do: no icons by the thousand, no search where none is."""
    page = browser.new_context(viewport={"width": WIDTHS["desk"], "height": 900}).new_page()
    answers = []
    page.on("response", lambda answer: answers.append(answer))
    page.goto(pages["desk"].page.url, wait_until="networkidle")
    sizes = {urlsplit(answer.url).path: len(gzip.compress(answer.body())) for answer in answers}
    page.context.close()
    assert 10 < len(sizes) <= REQUESTS and sum(sizes.values()) <= FIRST, sizes
    assert pages["name"] == "search" or not any("fontawesome" in path or "/pagefind/" in path for path in sizes)


@pytest.mark.parametrize(("scripts", "ground"), [(True, "rgb(18, 18, 18)"), (False, "rgb(255, 255, 255)")])
def test_a_page_has_colours_before_the_theme_s_script(pages, browser, scripts, ground):
    """In the dark, where that script comes last; and where none may run, the page is light. All have one layout."""
    if pages["name"] != "index":
        return
    page = browser.new_context(color_scheme="dark", java_script_enabled=scripts).new_page()
    page.route("**/_static/scripts/*", lambda route: route.abort())
    page.goto(pages["desk"].page.url)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == ground
    page.context.close()


def test_the_search_finds_sections(pages):
    """As one types, by keyboard alone, what is best first; it says how much it has found."""
    if pages["name"] != "search":
        return
    page = pages["desk"].page
    page.keyboard.type("layer norm eps")  # the field has the focus
    page.get_by_role("status").get_by_text("The best of").wait_for()
    results = page.locator("#search-results li")
    assert "03 Layer normalisation" in results.first.text_content()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/notebooks/03_layer_norm.html#*")
    page.go_back()


def cells_of(name):
    """The cells of code of the notebook of that page; none of another page."""
    paths = [path for path in NOTEBOOKS if f"notebooks/{path.name}" == name]
    return [cell for path in paths for cell in code_cells(nbformat.read(path, as_version=4))]


def expected_of(name, kind):
    """How many of them are of one kind."""
    return sum(bool(kind(cell)) for cell in cells_of(name))


def explorers_of(site):
    """The explorers of a page, from top to bottom."""
    sections = site.page.locator(".recorded section.explorer")
    return [ExplorerOnPage(site, sections.nth(place)) for place in range(sections.count())]


def is_whole(cell):
    """Whether a cell shows the picture of the whole encoder."""
    return "explore.alive(" in cell.source


def is_search(cell):
    """Whether a cell shows a live search."""
    return "explore.search(" in cell.source


def has_no_controls(cell):
    """Whether a cell shows a widget of its own kind, without the controls of other explorers."""
    return is_whole(cell) or is_search(cell)


def moving(explorer):
    """The controls that can be moved: not a choice of one sentence."""
    only = "e => e.tagName === 'SELECT' && e.options.length < 2"
    return [name for name in explorer.controls() if not explorer.control(name).evaluate(only)]
