"""The search's bars: what is drawn, what is asked while the reader types, and what is said."""

import pytest
from accessibility import AXE
from playwright.sync_api import expect

from encoder_lib.course.kit.widget import front_end

pytestmark = pytest.mark.browser
TEXTS = ["a cake", "a cable", "a boat", "<b>a coat</b>"]
COSINES = [0.213, 0.596, -0.2, -0.001]
# A model without weights: `cosines` says what it finds for a question, or how it fails; each answer takes `delay`.
SHOW = """
window.wait = (time) => new Promise((done) => setTimeout(done, time));
window.show = ({search_bars}, {texts, first, locked = false, delay = 0, cosines = {}, silence = 'Silence.'}) => {
  const root = document.createElement('section');
  root.setAttribute('aria-label', 'Sorted');
  document.body.replaceChildren(root);
  Object.assign(window, {asked: [], running: 0, most: 0, cosines, delay});
  const compute = async (query) => {
    asked.push(structuredClone(query));
    most = Math.max(most, ++running);
    await wait(window.delay);
    running--;
    const found = cosines[query.question] ?? query.texts.map((_, i) => i / 10);
    if (typeof found === 'string') throw new Error(found);
    return {cosines: Float32Array.from(found)};
  };
  const query = {question: 'first?', texts};
  const options = {fewest: 3, most: 8, longest: 200};
  const found = {cosines: Float32Array.from(first)};
  window.search = search_bars.mount(root, {compute, query, found, options, title: 'Sorted', silence, locked});
};
"""


@pytest.fixture
def page(modules):
    """A page with the style sheets and the model above; moves take no time unless a test wants them."""
    page = modules.page
    page.emulate_media(reduced_motion="reduce", color_scheme="light")
    page.set_viewport_size({"width": 1000, "height": 900})
    page.evaluate(SHOW + "document.querySelectorAll('style').forEach((style) => style.remove())")
    page.add_style_tag(content=front_end.style("palette.css", "search_bars.css"))
    return page


@pytest.fixture
def show(modules, page):
    """Draw a search."""

    def draw(texts=TEXTS, first=COSINES, **given):
        modules.run("(modules, given) => { show(modules, given); }", {"texts": texts, "first": first, **given})
        return page

    return draw


def rows(page):
    """The texts and numbers as they are listed."""
    return [
        [row.locator(part).text_content() for part in ("span", "data")] for row in page.get_by_role("listitem").all()
    ]


def until(page, condition):
    """Wait for a condition; the page evaluates no strings by itself."""
    for _ in range(200):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(20)
    pytest.fail(f"{condition} did not come true")


def field(page):
    return page.get_by_role("textbox", name="Question")


def editor(page):
    page.evaluate("document.querySelector('details').open = true")
    return page.get_by_role("textbox", name="One text on each line: 3 to 8 texts of at most 200 characters.")


def test_the_highest_cosine_is_first_and_texts_stay_text(show):
    page = show()
    assert rows(page) == [["a cable", "0.60"], ["a cake", "0.21"], ["<b>a coat</b>", "0.00"], ["a boat", "−0.20"]]
    assert page.evaluate("asked") == [] and field(page).input_value() == "first?"
    assert page.get_by_role("list", name="Texts, the highest cosine first").count() == 1


def test_bars_begin_at_one_line_and_are_as_long_as_their_cosines(show):
    page = show()
    bars = page.evaluate("[...document.querySelectorAll('li b')].map((b) => b.getBoundingClientRect().toJSON())")
    whole = page.evaluate("document.querySelector('li i').getBoundingClientRect().toJSON()")
    unit, zero = whole["width"] / 1.2, whole["x"] + whole["width"] / 6
    for bar, cosine in zip(bars, sorted(COSINES, reverse=True), strict=True):
        assert bar["width"] == pytest.approx(abs(cosine) * unit, abs=0.5)
        assert bar["x"] + (bar["width"] if cosine < 0 else 0) == pytest.approx(zero, abs=0.5)


# Letter by letter, faster than an answer comes on any machine.
TYPE = """(text) => {
  const input = document.querySelector('input');
  for (let n = 1; n <= text.length; n++) {
    input.value = text.slice(0, n);
    input.dispatchEvent(new Event('input', {bubbles: true}));
  }
}"""


def test_only_one_question_is_computed_at_a_time_and_the_newest_wins(show):
    page = show(delay=60)
    page.evaluate(TYPE, "newest")
    until(page, "running === 0 && asked.at(-1).question === 'newest'")
    questions = page.evaluate("asked.map(({question}) => question)")
    assert page.evaluate("most") == 1 and len(questions) < 6 and questions == sorted(questions, key=len)
    expect(page.locator("li data").first).to_have_text("0.30")


def test_a_question_that_is_blank_is_not_asked_and_texts_stand_as_given(show):
    page = show()
    field(page).fill("  ")
    expect(page.locator("li span")).to_have_text(TEXTS)
    assert page.evaluate("asked") == [] and page.locator("li data").all_text_contents() == ["", "", "", ""]
    field(page).fill("b")
    expect(page.locator("li span")).to_have_text(TEXTS[::-1])


def test_rows_and_bars_glide_for_150_milliseconds_and_not_with_reduced_motion(show):
    page = show(cosines={"b": [0.9, 0.1, 0.2, 0.3]})
    move = """async (media) => {
      const list = document.querySelector('ol'), input = document.querySelector('input');
      const before = list.firstChild;
      input.value = 'b';
      input.dispatchEvent(new Event('input', {bubbles: true}));
      while (list.firstChild === before) await wait(0);
      const moves = list.getAnimations({subtree: true});
      const way = Math.abs(new DOMMatrix(getComputedStyle(list.firstChild).transform).f);
      return [moves.map((move) => move.effect.getTiming().duration), way > 5];
    }"""
    assert page.evaluate(move) == [[], False]
    page.emulate_media(reduced_motion="no-preference")
    page = show(cosines={"b": [0.9, 0.1, 0.2, 0.3]})
    assert page.evaluate(move) == [[150] * 8, True]
    page.wait_for_timeout(250)
    assert page.evaluate("document.querySelector('ol').getAnimations({subtree: true}).length") == 0


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["a", "", " "], "Write 3 to 8 texts, one on each line. Now there are 1."),
        (list("abcdefghi"), "Write 3 to 8 texts, one on each line. Now there are 9."),
        (["a", "b", "🙂" * 201], "Text 3 has 201 characters, and at most 200 are allowed."),
    ],
)
def test_what_is_wrong_with_the_texts_is_said_and_the_bars_stay(show, texts, words):
    page = show()
    before = rows(page)
    editor(page).fill("\n".join(texts))
    expect(page.get_by_role("alert")).to_have_text(f"{words} The bars show the last answer.")
    assert rows(page) == before and page.evaluate("asked") == []
    field(page).fill("b")  # is asked with the last texts
    until(page, "asked.length && !running")
    assert page.evaluate("asked") == [{"question": "b", "texts": TEXTS}]
    expect(page.get_by_role("alert")).to_contain_text(words)
    editor(page).fill("x\n\n y \nz")
    expect(page.locator("li span")).to_have_text(["z", "y", "x"])
    assert page.get_by_role("alert").is_hidden()


def test_as_many_and_as_long_texts_as_are_allowed_are_asked_for(show):
    page = show()
    texts = [letter * 200 for letter in "abcdefgh"]
    editor(page).fill("\n".join(texts))
    expect(page.locator("li")).to_have_count(8)
    assert page.evaluate("asked.at(-1).texts") == texts
    page.set_viewport_size({"width": 390, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_a_failed_answer_is_told_and_the_next_one_takes_it_away(show):
    page = show(cosines={"b": "out of memory."})
    before = rows(page)
    field(page).fill("b")
    expect(page.get_by_role("alert")).to_have_text("out of memory. The bars show the last answer.")
    assert rows(page) == before
    field(page).fill("c")
    expect(page.get_by_role("alert")).to_be_hidden()
    assert rows(page) != before


def test_the_reader_is_told_when_an_answer_takes_long(show, page):
    """More than four seconds, which pass here in half of one."""
    page.evaluate("""() => {
      const slow = window.setTimeout;
      window.hurry = (on) => { window.setTimeout = on ? (call, time, ...all) => slow(call, time / 8, ...all) : slow; };
      hurry(true);
    }""")
    page = show(delay=20_000, silence="Still waiting.")
    field(page).fill("b")
    expect(page.get_by_role("alert")).to_have_text("Still waiting. The bars show the last answer.")
    expect(page.get_by_role("alert")).to_be_hidden()
    page.evaluate("hurry(false)")
    expect(page.locator("li span").first).to_have_text(TEXTS[3])


def test_the_order_is_read_out_once_the_reader_rests(show):
    page = show(TEXTS[:3], COSINES[:3])
    said = page.get_by_role("status")
    page.evaluate("""() => {
      window.said = [];
      const status = document.querySelector('[role=status]');
      new MutationObserver(() => said.push(status.textContent)).observe(status, {childList: true});
    }""")
    field(page).press_sequentially("abcde", delay=30)
    expect(said).to_have_text("1. a boat 0.20; 2. a cable 0.10; 3. a cake 0.00")
    assert page.evaluate("said.length") == 1


def test_a_locked_search_takes_a_question_once_it_is_unlocked(show):
    page = show(locked=True)
    expect(field(page)).not_to_be_editable()
    assert page.locator("details").is_hidden()
    page.evaluate("search.unlock()")
    expect(field(page)).to_be_focused()
    page.keyboard.type("b")  # in place of the old question, which is selected
    expect(field(page)).to_have_value("b")
    expect(page.locator("li span").first).to_have_text(TEXTS[3])


def test_the_keyboard_reaches_everything_and_keys_stay_inside(show):
    page = show()
    page.evaluate("window.keys = []; document.body.addEventListener('keydown', ({key}) => keys.push(key))")
    field(page).focus()
    reached = []
    for key in ("Tab", "Enter", "Tab"):
        page.keyboard.press(key)
        reached.append(page.evaluate("document.activeElement.localName"))
    assert reached == ["summary", "summary", "textarea"] and page.evaluate("keys") == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1000, 390])
def test_axe_finds_nothing(show, theme, width):
    page = show()
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=theme)
    editor(page).fill("a")
    expect(page.get_by_role("alert")).to_be_visible()
    page.evaluate(AXE)
    ask = """async () => {
      const {violations, incomplete} = await axe.run('section');
      return [...violations, ...incomplete].map(({id, nodes}) => [id, nodes[0].html]);
    }"""
    assert page.evaluate(ask) == []
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_in_a_notebook_the_kernel_answers_and_python_can_ask(modules, page):
    """Messages as the kernel gets and sends them; another view's answers are left alone."""
    script = """async ({search_bars}) => {
      const numbers = (all) => new DataView(Float32Array.from(all).buffer), cosines = {at: 0, size: 3};
      const model = new Model({title: 'Sorted', _question: {question: 'first?', texts: ['a', 'b', 'c']},
        _options: {fewest: 3, most: 8, longest: 200}, _answer: {cosines}, _data: numbers([0.3, 0.2, 0.1])});
      const sent = [];
      model.send = (message) => sent.push(message);
      const tell = (id, all) => {
        for (const hear of model.callbacks('msg:custom')) hear({id, answer: {cosines}}, [numbers(all)]);
      };
      const root = document.createElement('div'), seen = [];
      const see = async () => {
        await new Promise((done) => setTimeout(done, 20));
        seen.push([...root.querySelectorAll('li')].map((row) => row.textContent));
      };
      document.body.replaceChildren(root);
      const stop = search_bars.default.render({model, el: root});
      await see();
      model.set('_question', {question: 'second?', texts: ['x', 'y', 'z']});
      tell('of another view', [0.9, 0.9, 0.9]);
      await see();
      tell(sent[0].id, [0.1, 0.2, 0.3]);
      await see();
      const value = root.querySelector('input').value;
      stop();
      return {seen, value, question: sent[0].question, count: sent.length,
              listening: [...model.listeners.values()].reduce((sum, all) => sum + all.size, 0)};
    }"""
    assert modules.run(script) == {
        "seen": [["a0.30", "b0.20", "c0.10"]] * 2 + [["z0.30", "y0.20", "x0.10"]],
        "value": "second?",
        "question": {"question": "second?", "texts": ["x", "y", "z"]},
        "count": 1,
        "listening": 0,
    }
