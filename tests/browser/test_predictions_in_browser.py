"""Prediction questions of every kind in JupyterLab: hidden until the reader commits, and then there, for everybody."""

import nbformat
import pytest
from accessibility import axe_faults, key_faults, notebook_faults, reflow_faults, tab_faults
from labserver import lab
from nbconvert import HTMLExporter
from nbformat.v4 import new_markdown_cell
from notebook_page import CODE_CELLS, NotebookPage
from sample_notebooks import QUESTIONS, notebook_of, question_notebook

pytestmark = pytest.mark.long
# what each kind reveals beside its finding
REVEALED = {
    "picture": None,
    "table": "river7",
    "broad table": "quite broad",
    "wide table": "very_wide",
    "number": "0.000015",
    "text": "second line\nfirst line",
    "words alone": None,
}
SECRETS = ["all three rise", "The answer is", "✓", *(text for text in REVEALED.values() if text)]
SET_UP = "from encoder_lib.course import explore\nfrom encoder_lib.course.kit.notebook import setup, table\nsetup()"
PROSE = 30 * "Prose reaches from edge to edge. " + "\n\n| a | table |\n|---|---|\n| of | words |"
SHOWN = "print('text')\ndisplay(table({'n': [1.5]}))\nexplore.predict('banks')"
# The left and right edges of each part of a page; a line of words, a table and a text may end before the right one.
EDGES = """() => ['.jp-MarkdownOutput p', '.jp-CodeCell .jp-InputArea-editor', '.prediction',
  '.jp-MarkdownOutput table', 'table.dataframe', '.jp-RenderedText > pre'].map((part) => {
    const { left, right } = document.querySelector(`.jp-Notebook ${part}`).getBoundingClientRect();
    return [left, right];
  })"""
FOLDS = [*QUESTIONS, "kernel", "kernel again", "not run"]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """JupyterLab on two notebooks of the same questions: one that has to be run, and one with what is stored."""
    folder = tmp_path_factory.mktemp("questions")
    nbformat.write(question_notebook(), folder / "questions.ipynb")
    nbformat.write(question_notebook(stored=True), folder / "stored.ipynb")
    nbformat.write(notebook_of(SET_UP, new_markdown_cell(PROSE), SHOWN), folder / "level.ipynb")
    with lab(folder) as address:
        yield address


class Asked(NotebookPage):
    """The questions, run, and the folds below them."""

    def question(self, kind):
        return self.page.locator(".prediction", has=self.page.locator("legend", has_text=f"the {kind} show"))

    def lines(self):
        """How far each line of a question is below its upper edge."""
        top = "e => e.getBoundingClientRect().top - e.closest('.prediction').getBoundingClientRect().top"
        return {
            kind: self.question(kind).locator("legend, label").evaluate_all(f"all => all.map({top})")
            for kind in QUESTIONS
        }

    def open_folds(self):
        """The folds that are open, by name."""
        states = self.page.locator("details.after").evaluate_all("all => all.map((e) => e.open)")
        return [name for name, is_open in zip(FOLDS, states, strict=True) if is_open]


@pytest.fixture(scope="module")
def asked(browser, server):
    """A page on which nothing has been answered yet, except what a cell reveals."""
    page = Asked(browser, server, "questions.ipynb")
    page.run(page.page.evaluate(CODE_CELLS)[:-1])
    yield page
    page.close()


@pytest.fixture(scope="module")
def level(browser, server):
    """A page that has been set up, with prose, code, outputs and a question."""
    page = NotebookPage(browser, server, "level.ipynb")
    page.run_all()
    yield page
    page.close()


def test_a_reveal_from_python_is_shown_without_focus(asked):
    """The question is answered in another cell, and the page follows."""
    question = asked.question("kernel")
    question.get_by_text("all three rise").wait_for()
    assert question.locator("pre").text_content() == "value"
    assert question.get_by_role("button").count() == 0
    assert not question.evaluate("e => e.contains(document.activeElement)")


def test_an_answer_opens_the_folds_before_the_next_question(asked):
    """And no other, though the next question has not been run; a closed one stays closed, one drawn anew opens."""
    assert asked.open_folds() == ["kernel", "kernel again"]
    asked.page.locator("details.after summary").nth(FOLDS.index("kernel again")).click()
    asked.page.evaluate("""() => {
      const cell = jupyterapp.shell.currentWidget.content.widgets.find((one) => one.node.querySelector('[open]'));
      cell.node.querySelector('[open]').className = 'old';
      cell.model.sharedModel.setSource(`${cell.model.sharedModel.getSource()}\n`);
      cell.rendered = false;
      cell.rendered = true;
    }""")
    asked.page.locator(".old").wait_for(state="detached")
    asked.page.locator("details.after[open]").wait_for()
    assert asked.open_folds() == ["kernel"]


def test_no_answer_is_on_the_page_before_the_reveal(asked):
    """Neither finding nor result is anywhere in the questions, nor in their accessible names."""
    assert asked.errors() == []
    for kind in QUESTIONS:
        question = asked.question(kind)
        written = question.evaluate("e => e.outerHTML + e.innerText")
        assert [secret for secret in SECRETS if secret in written] == []
        assert question.locator("img, table, pre, .prediction-right").count() == 0
    assert asked.open_folds() == ["kernel"]


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_questions_are_accessible_before_the_reveal(asked, theme):
    check_everybody(asked, theme)
    for kind in QUESTIONS:
        assert tab_faults(asked.page, asked.question(kind)) == []
        assert key_faults(asked.page, asked.question(kind)) == []


def check_everybody(asked, theme):
    """Legible, without a violation of axe's rules, and with nothing cut off in a narrow window."""
    asked.use_theme(theme)
    assert notebook_faults(asked) == []
    assert reflow_faults(asked) == []
    assert min(asked.question(kind).evaluate("lowestContrast") for kind in QUESTIONS) >= 4.5


def test_answering_by_keyboard_does_not_move_the_page(asked):
    """By turns "Commit" and "Show me", with keys alone; no line of a question moves, and the folds have opened."""
    before = asked.lines()
    assert list(asked.check_predictions()) == []
    asked.page.wait_for_function("[...document.querySelectorAll('.prediction img')].every((e) => e.naturalWidth > 1)")
    assert asked.lines() == before
    assert asked.open_folds() == [*QUESTIONS, "kernel"]


@pytest.mark.parametrize("kind", QUESTIONS)
def test_finding_and_result_are_shown_after_the_answer(asked, kind):
    """The message is a live region, and the right choice is marked."""
    question = asked.question(kind)
    message = question.locator(".prediction-message[aria-live=polite]")
    assert f"The {kind} shows that all three rise." in message.text_content()
    assert question.locator(".prediction-right").text_content() == "a rise"
    if text := REVEALED[kind]:
        assert text in question.locator(".prediction-result").text_content()


def test_a_picture_has_the_finding_as_its_words(asked):
    (alt,) = asked.question("picture").locator("img").evaluate_all("all => all.map((e) => e.alt)")
    assert alt == "The picture shows that all three rise."
    ground = (
        asked.question("picture")
        .locator("img")
        .evaluate("""(img) => {
      const canvas = new OffscreenCanvas(1, 1), pen = canvas.getContext('2d');
      pen.drawImage(img, 0, 0, 1, 1, 0, 0, 1, 1);
      return [...pen.getImageData(0, 0, 1, 1).data];
    }""")
    )
    assert ground == [255, 255, 255, 255]  # the paper of the light theme


def test_a_table_has_row_and_column_headers(asked):
    table = asked.question("table").locator("table")
    assert table.get_attribute("aria-label") == "The table shows that all three rise."
    scopes = table.locator("th").evaluate_all("all => all.map((e) => [e.scope, e.textContent])")
    assert scopes == [["col", "share"], ["col", "word"], ["row", "first"], ["row", "second"]]
    assert table.locator("td").all_text_contents() == ["", "0.25", "river7", "0.75", "money7"]


def test_a_table_that_fits_is_not_scrolled(asked):
    frame = asked.question("broad table").locator(".prediction-scroll")
    assert frame.evaluate("e => e.scrollWidth <= e.clientWidth")


def test_a_wide_table_scrolls_by_keyboard(asked):
    frame = asked.question("wide table").locator(".prediction-scroll")
    frame.focus()
    asked.page.keyboard.press("ArrowRight")
    asked.page.wait_for_function("e => e.scrollLeft > 0", arg=frame.element_handle())


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_questions_are_accessible_after_the_reveal(asked, theme):
    check_everybody(asked, theme)


def test_no_error_and_no_request(asked):
    assert asked.errors() == [] and asked.external == []


@pytest.mark.parametrize("width", [1000, 1400])
def test_all_parts_of_a_page_have_the_same_edges(level, width):
    """Prose, code and questions on both sides; tables and text on the left."""
    level.page.set_viewport_size({"width": width, "height": 900})
    level.page.wait_for_timeout(500)
    edges = level.page.evaluate(EDGES)
    assert max(left for left, _ in edges) - min(left for left, _ in edges) <= 1
    assert max(right for _, right in edges[:3]) - min(right for _, right in edges[:3]) <= 1
    assert max(right for _, right in edges) <= edges[0][1] + 1


# Without a kernel: what is stored, in a notebook that nobody trusts yet, and as a page


def check_folds(page):
    """Answers and results cannot be seen; unfolded by keyboard they are, and the picture and the table are whole."""
    folds = page.locator(".jp-OutputArea-output details")
    assert folds.count() == len(QUESTIONS)
    visible = page.locator(".jp-OutputArea-output").all_inner_texts()
    assert [secret for secret in SECRETS if secret in "\n".join(visible)] == []
    assert page.locator(".jp-OutputArea-output img:visible").count() == 0
    for fold, kind in zip(folds.all(), QUESTIONS, strict=True):
        fold.locator("summary").focus()
        page.keyboard.press("Enter")
        text = fold.inner_text()
        assert "✓ a rise\n" in text and f"The {kind} shows that all three rise." in text
        assert (REVEALED[kind] or "") in text.replace("\t", " ")
    (picture,) = page.locator(".jp-OutputArea-output img:visible").all()
    assert picture.get_attribute("alt") == "The picture shows that all three rise."
    assert picture.evaluate("e => e.decode().then(() => e.naturalWidth)") > 1
    scopes = folds.nth(1).locator("th").evaluate_all("all => all.map((e) => [e.scope, e.textContent])")
    assert scopes == [["col", "share"], ["col", "word"], ["row", "first"], ["row", "second"]]


def test_an_untrusted_notebook_folds_the_answers_away(browser, server):
    """JupyterLab cleans what it does not trust; the fold, the picture in it and the table are left."""
    page = NotebookPage(browser, server, "stored.ipynb")
    trusted = page.page.evaluate("() => jupyterapp.shell.currentWidget.content.widgets[1].model.trusted")
    assert trusted is False
    check_folds(page.page)
    assert notebook_faults(page) == [] and page.page_errors == []
    page.close()


def test_a_page_without_a_kernel_folds_the_answers_away(browser):
    page = browser.new_page()
    page.route("**/*", lambda route: route.abort())
    page.set_content(HTMLExporter().from_notebook_node(question_notebook(stored=True))[0])
    check_folds(page)
    assert axe_faults(page, css="") == []
    page.close()
