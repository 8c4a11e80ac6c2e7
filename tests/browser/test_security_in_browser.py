"""What a reader types or writes stays text in a real browser, and the course's pages live on what their server has."""

import re
from functools import lru_cache

import nbformat
import pytest
from hostile_texts import HOSTILE
from labserver import lab
from nbformat.v4 import new_code_cell, new_notebook
from notebook_page import NotebookPage

from encoder_lib import load_pretrained
from encoder_lib.plots import TICK, readable

pytestmark = pytest.mark.long

# A page may use what its server gives. JupyterLab itself needs inline styles and, where it checks settings, eval;
# anywidget hands a widget's front end over as a blob. What goes against this is noted, and not stopped.
POLICY = (
    "default-src 'self'; script-src 'self' blob: 'unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data: "
    "blob:; font-src 'self' data:; connect-src 'self' ws:; frame-src 'none'; object-src 'none'; base-uri 'none'; "
    "form-action 'self'"
)
WATCH = """
window.refused = [];
document.addEventListener('securitypolicyviolation', (event) => {
  refused.push(`${event.effectiveDirective} ${event.blockedURI}`);
});
// The elements that came into cells' outputs, and attributes there that run or load.
window.grown = new Set();
const look = (node) => {
  if (node.nodeType !== 1) return;
  for (const e of [node, ...node.querySelectorAll('*')]) {
    grown.add(e.localName);
    for (const { name } of e.attributes) if (/^(on|href|srcdoc|action|xlink)/.test(name)) grown.add(name);
  }
};
new MutationObserver((changes) => changes.forEach(({ target, addedNodes }) => {
  if (target.closest?.('.jp-OutputArea-output')) addedNodes.forEach(look);
})).observe(document, { childList: true, subtree: true });
"""
CELLS = [
    f"""
import anywidget, traitlets
import pandas as pd
from IPython.display import display
from encoder_lib import explore, load_pretrained
from encoder_lib.checks import check_unit
from encoder_lib.explore.widget.prediction import Prediction
from encoder_lib.explore.questions import Question

texts = {list(HOSTILE.values())!a}


class Careless(anywidget.AnyWidget):
    _esm = '''export default {{render({{el}}) {{
      const [input, place] = [document.createElement('input'), document.createElement('p')];
      input.className = 'careless';
      input.addEventListener('input', () => {{ place.innerHTML = input.value; }});
      input.addEventListener('keydown', (event) => event.stopPropagation());
      el.append(input, place);
    }}}}'''


def asked(number, text):
    result = text if number % 2 else pd.DataFrame({{text: [text]}}, [text])
    return Prediction(Question(text, (text, "b"), 0, text), lambda: result)


def raising(text):
    def attempt(*arguments):
        raise ValueError(text)

    return attempt
""",
    "explore.attend()",
    "explore.heads(load_pretrained(), 'a b')",
    "explore.block_steps(load_pretrained(), 'a b')",
    "for text in texts:\n    display(check_unit(raising(text)))",
    "display(*map(asked, range(30), texts))",
    "from IPython.display import HTML\nHTML('<p>$x^2$</p>')",
    "Careless()",
]
VERDICTS, QUESTIONS, FORMULA = 4, 5, 6  # the cells that show them


class Watched:
    """A browser whose pages note what goes against the policy and what grows in them."""

    def __init__(self, browser):
        self.browser = browser

    def new_context(self, **settings):
        context = self.browser.new_context(**settings)
        context.add_init_script(WATCH)
        return context


class HostilePage(NotebookPage):
    """The notebook of the cells above, run, with all that should not happen on it."""

    def __init__(self, browser, server):
        super().__init__(Watched(browser), server, "hostile.ipynb")
        self.asked, self.surprises = [], []
        self.page.context.on("request", lambda request: self.asked.append(request.url))
        self.page.on("dialog", self._dismiss)
        self.page.context.on("page", lambda page: self.surprises.append("a window"))
        self.page.on("download", lambda download: self.surprises.append("a download"))
        self.run_all()

    def _dismiss(self, dialog):
        self.surprises.append(f"a {dialog.type}")
        dialog.dismiss()

    def harm(self):
        """What a text has brought about: a script that ran, a request, a window, something the policy forbids."""
        asked = [url for url in self.asked if "pwned" in url]
        refused = [one for one in self.page.evaluate("refused") if one != "script-src-elem inline"]  # JupyterLab's own
        ran = ["a script ran"] if self.page.evaluate("'pwned' in window") else []
        return [*self.surprises, *asked, *refused, *ran, *self.external]

    def grown(self):
        """The names of elements and attributes that came into outputs since the last call."""
        return set(self.page.evaluate("() => { const all = [...grown]; grown.clear(); return all; }"))

    def cell(self, number):
        """The outputs of a cell."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(number).locator(".jp-OutputArea-output")


@pytest.fixture(scope="module")
def hostile(browser, tmp_path_factory):
    """The page, on a server that asks the browser to tell what goes against the policy."""
    folder = tmp_path_factory.mktemp("hostile")
    spec = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    cells = [new_code_cell(source.strip()) for source in CELLS]
    nbformat.write(new_notebook(cells=cells, metadata=spec), folder / "hostile.ipynb")
    headers = {"headers": {"Content-Security-Policy-Report-Only": POLICY}}
    with lab(folder, f"--ServerApp.tornado_settings={headers}") as server:
        page = HostilePage(browser, server)
        assert page.errors() == []
        yield page
        page.close()


def put(control, text):
    """Put a text into a field as a paste does; a browser's keys give no halves of characters."""
    control.focus()
    control.page.keyboard.press("Control+a")
    try:
        text.encode()
    except UnicodeEncodeError:
        units = [ord(letter) for letter in text]
        script = "(e, units) => { e.value = String.fromCharCode(...units); e.dispatchEvent(new Event('input')); }"
        control.evaluate(script, units)
    else:
        control.page.keyboard.insert_text(text[:300])
    return control.input_value()


def words_of_attend(text):
    """What `attend` has to write on its buttons."""
    return [readable(word, 16) for word in readable(text, 100).split()[:12]] or ["(nothing)"]


minilm = lru_cache(load_pretrained)


def words_of_heads(text):
    """What `heads` has to write on its buttons."""
    return [readable(token, TICK) for token in minilm().tokens(readable(text, 100))]


SHOWN = """([title, words]) => {
  const root = document.querySelector(`section.explorer[aria-label^="${title}"]`);
  const shown = [...root.querySelectorAll('.explorer-words button span')].map((e) => e.textContent);
  return String(shown) === String(words);
}"""


@pytest.mark.parametrize(
    ("title", "words_of"),
    [
        ("Attention, word", words_of_attend),
        ("Attention in your", words_of_heads),
    ],
)
def test_a_typed_text_is_shown_as_text(hostile, title, words_of):
    """Every hostile text, pasted into each explorer with words: they appear letter by letter, and nothing else does."""
    explorer = hostile.page.locator(f'section.explorer[aria-label^="{title}"]')
    at_rest = set(explorer.evaluate("e => [...e.querySelectorAll('*')].map((e) => e.localName)"))
    hostile.grown()
    for case, text in HOSTILE.items():
        typed = put(explorer.locator('[data-control="sentence"]'), text)
        assert typed or not text.strip(), case
        hostile.page.wait_for_function(SHOWN, arg=[title, words_of(typed)], timeout=5000)
    assert hostile.grown() <= at_rest
    assert explorer.locator("p *").count() == 0
    assert explorer.locator(".explorer-error:visible").count() == 0
    assert hostile.harm() == []


def test_keys_that_write_markup_write_text(hostile):
    """Key by key, as readers type it, into the explorer whose words are drawn in a picture."""
    (explorer,) = [one for one in hostile.explorers() if one.title.startswith("A layer")]
    hostile.grown()
    for case in ("image that fails", "formula with a link"):
        before = explorer.state()["pictures"]
        control = explorer.control("sentence")
        control.focus()
        hostile.page.keyboard.press("Control+a")
        hostile.page.keyboard.type(HOSTILE[case])
        assert explorer.state_when(lambda state, before=before: state["pictures"] != before)["errors"] == []
        assert control.input_value() == HOSTILE[case]
    assert hostile.grown() <= {"img"} and hostile.harm() == []


def test_a_verdict_is_text_and_no_formula(hostile):
    """The words of a learner's error are quoted; MathJax, which does its work in the cell below, leaves them alone."""
    hostile.page.wait_for_function(
        "n => document.querySelectorAll('.jp-Notebook .jp-Cell')[n].querySelector('mjx-container')", arg=FORMULA
    )
    verdicts = hostile.cell(VERDICTS)
    assert verdicts.count() == len(HOSTILE)
    tags = verdicts.evaluate_all("all => all.flatMap((e) => [...e.querySelectorAll('*')].map((e) => e.localName))")
    assert set(tags) == {"div", "strong", "ul", "li"}
    written = verdicts.evaluate_all("all => all.map((e) => e.textContent)")
    for shown, text in zip(written, HOSTILE.values(), strict=True):
        assert "\n".join(readable(line, 999) for line in text[:300].split("\n")) in shown


def test_a_question_is_text(hostile):
    """Its prompt, its choices, the answer that is quoted and explained, and the result, a table or a text."""
    questions = hostile.page.locator(".prediction")
    assert questions.count() == 30
    hostile.grown()
    for question, text in zip(questions.all()[:4], HOSTILE.values(), strict=False):
        question.locator("input").first.check()
        question.get_by_role("button", name="Commit").click()
        hostile.page.wait_for_function("([e, text]) => e.textContent.includes(text)", arg=[
            question.locator(".prediction-message").element_handle(), text])  # fmt: skip
        assert text in question.locator("td, pre").all_text_contents()
    tags = questions.evaluate_all("all => all.flatMap((e) => [...e.querySelectorAll('*')].map((e) => e.localName))")
    seen = {"div", "pre", "table", "tbody", "td", "th", "thead", "tr"}
    assert set(tags) == {"fieldset", "legend", "label", "input", "span", "strong", "button", "p", *seen}
    assert hostile.grown() == seen and hostile.harm() == []


def test_outputs_hold_no_script(hostile):
    """Nor a frame, a form or a handler: all that came while the cells ran."""
    assert hostile.intruders() == []


# The same means notice what a careless widget does; these come last, as they leave their marks.

CHANNELS = """async (url) => {
  const add = (tag, attributes) => document.body.append(Object.assign(document.createElement(tag), attributes));
  const work = new Blob([`fetch('${url}/worker').catch(() => {})`]);
  fetch(`${url}/fetch`).catch(() => {});
  navigator.sendBeacon(`${url}/beacon`);
  new XMLHttpRequest().open('GET', `${url}/x`);
  const request = new XMLHttpRequest();
  request.open('GET', `${url}/request`);
  request.send();
  new WebSocket(`${url}/socket`.replace('https', 'wss'));
  new EventSource(`${url}/events`);
  new Worker(URL.createObjectURL(work));
  new Image().src = `${url}/image`;
  add('script', { src: `${url}/script` });
  add('link', { rel: 'stylesheet', href: `${url}/sheet` });
  add('link', { rel: 'preload', as: 'image', href: `${url}/preload` });
  add('iframe', { src: `${url}/frame` });
  add('p', { style: `background: url(${url}/background)`, textContent: 'x' });
  add('video', { src: `${url}/video` });
  import(`${url}/module`).catch(() => {});
}"""
NAMES = set(re.findall(r"\{url\}/(\w{2,})", CHANNELS))


def test_a_careless_widget_is_noticed(hostile):
    """Its text becomes elements, a handler runs, a picture is asked for, and the policy is broken."""
    field = hostile.page.locator("input.careless")
    hostile.grown()
    put(field, HOSTILE["image that fails"])
    hostile.page.wait_for_function("'pwned' in window")
    assert {"img", "onerror"} <= hostile.grown()
    put(field, HOSTILE["frame"])
    harm = "\n".join(hostile.harm())
    assert "a script ran" in harm and "/pwned" in harm and "script-src-attr inline" in harm
    assert {"iframe", "srcdoc"} <= hostile.grown() and "iframe" in hostile.intruders()


def test_every_way_out_is_counted(hostile):
    """Each kind of request that a page can make to another host is on the list that is empty for every notebook."""
    before = len(hostile.external)
    hostile.page.evaluate(CHANNELS, "https://counted.invalid")
    counted = {url.rpartition("/")[2] for url in hostile.external[before:]}
    for _ in range(30):
        if counted >= NAMES:
            break
        hostile.page.wait_for_timeout(100)
        counted = {url.rpartition("/")[2] for url in hostile.external[before:]}
    assert len(NAMES) >= 13 and NAMES - counted == set()
