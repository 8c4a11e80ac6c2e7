"""What a reader types or writes stays text in a real browser, and the course's pages live on what their server has."""

import nbformat
import pytest
from hostile_texts import HOSTILE
from labserver import lab
from notebook_page import NotebookPage
from sample_notebooks import Prepared, notebook_of

from encoder_lib.course.kit.plots import readable

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
import pandas as pd
from IPython.display import display
from encoder_lib.course import explore
from encoder_lib.course.checks import check_vectors_of

texts = {list(HOSTILE.values())!a}


def asked(number, text):
    result = text if number % 2 else pd.DataFrame({{text: [text]}}, [text])
    return explore.Prediction(explore.Question(text, (text, "b"), 0, text), lambda: result)


def raising(text):
    def attempt(*arguments):
        raise ValueError(text)

    return attempt
""",
    "explore.attend()",
    "for text in texts:\n    display(check_vectors_of(raising(text)))",
    "display(*map(asked, range(20), texts))",
    "from IPython.display import HTML\nHTML('<p>$x^2$</p>')",
]
VERDICTS, FORMULA = 2, 4  # the cells that show them


class HostilePage(NotebookPage):
    """The notebook of the cells above, run, with all that should not happen on it."""

    def __init__(self, browser, server):
        super().__init__(Prepared(browser, WATCH), server, "hostile.ipynb")
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


@pytest.fixture(scope="module")
def hostile(browser, tmp_path_factory):
    """The page, on a server that asks the browser to tell what goes against the policy."""
    folder = tmp_path_factory.mktemp("hostile")
    nbformat.write(notebook_of(*CELLS), folder / "hostile.ipynb")
    headers = {"headers": {"Content-Security-Policy-Report-Only": POLICY}}
    with lab(folder, f"--ServerApp.tornado_settings={headers}") as server:
        page = HostilePage(browser, server)
        assert page.errors() == []
        yield page
        page.close()


def put(control, text):
    """Put a text into a field as a paste does, halves of characters as well."""
    script = "(e, points) => { e.value = String.fromCodePoint(...points); e.dispatchEvent(new Event('input')); }"
    control.evaluate(script, [ord(letter) for letter in text[:300]])
    return control.input_value()


SHOWN = """(words) =>
  String([...document.querySelectorAll('.explorer-words button span')].map((e) => e.textContent)) === String(words)
"""


def test_a_typed_text_is_shown_as_text(hostile):
    """Every hostile text, pasted into an explorer with words: they appear letter by letter, and nothing else does."""
    explorer = hostile.page.locator('section.explorer[aria-label^="Attention, word"]')
    at_rest = set(explorer.evaluate("e => [...e.querySelectorAll('*')].map((e) => e.localName)"))
    hostile.grown()
    for case, text in HOSTILE.items():
        typed = put(explorer.locator('[data-control="sentence"]'), text)
        assert typed or not text.strip(), case
        words = [readable(word, 16) for word in readable(typed, 100).split()[:12]] or ["(nothing)"]
        hostile.page.wait_for_function(SHOWN, arg=words, timeout=5000)
    assert hostile.grown() <= at_rest
    assert explorer.locator("p *, .explorer-error:visible").count() == 0 and hostile.harm() == []


def test_a_verdict_is_text_and_no_formula(hostile):
    """The words of a learner's error are quoted; MathJax, which does its work in the cell below, leaves them alone."""
    hostile.page.wait_for_function(
        "n => document.querySelectorAll('.jp-Notebook .jp-Cell')[n].querySelector('mjx-container')", arg=FORMULA
    )
    verdicts = hostile.page.locator(".jp-Notebook .jp-Cell").nth(VERDICTS).locator(".jp-OutputArea-output")
    assert verdicts.count() == len(HOSTILE)
    tags = verdicts.evaluate_all("all => all.flatMap((e) => [...e.querySelectorAll('*')].map((e) => e.localName))")
    assert set(tags) == {"div", "strong", "ul", "li"}
    written = verdicts.evaluate_all("all => all.map((e) => e.textContent)")
    for shown, text in zip(written, HOSTILE.values(), strict=True):
        assert "\n".join(readable(line, 999) for line in text[:300].split("\n")) in shown


def test_a_question_is_text(hostile):
    """Its prompt, its choices, the answer that is explained, and the result, a table or a text."""
    questions = hostile.page.locator(".prediction")
    assert questions.count() == 20
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
    assert hostile.grown() == seen and hostile.harm() == [] and hostile.intruders() == []
