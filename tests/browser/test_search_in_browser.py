"""The search in JupyterLab: bars at once, which the kernel sorts while the reader types."""

import os
from pathlib import Path

import pytest
from accessibility import notebook_faults, window
from nbformat.v4 import new_markdown_cell
from playwright.sync_api import expect

pytestmark = pytest.mark.long

TEXTS = ["Mix flour, butter and sugar.", "Connect the cable to the socket.", "Ships for sale in our harbour."]
CELLS = [
    "from encoder_lib import load_pretrained\nfrom encoder_lib.course import explore\n"
    f"search = explore.search(load_pretrained(), {TEXTS}, question='How do I bake a cake?')\nsearch",
]
# What a screen shows from the letter to the sorted bars, in milliseconds.
TIME = """async (question) => {
  const root = document.querySelector('.search-bars'), field = root.querySelector('input'), begun = performance.now();
  const numbers = () => [...root.querySelectorAll('data')].map((data) => data.textContent).join(), before = numbers();
  field.value = question;
  field.dispatchEvent(new Event('input', {bubbles: true}));
  while (numbers() === before) await new Promise((done) => setTimeout(done));
  return performance.now() - begun;
}"""


@pytest.fixture(scope="module")
def search(opened):
    """A page with the search."""
    notebook = opened(new_markdown_cell("Above the search."), *CELLS, new_markdown_cell("Below the search."))
    notebook.run_all()
    notebook.page.locator(".search-bars li").first.wait_for()
    return notebook


def texts(search):
    return search.page.locator(".search-bars li span")


def keep(search, name):
    """Keep a picture, where one is wanted."""
    if folder := os.environ.get("SCREENSHOTS"):
        search.page.locator(".search-bars").screenshot(path=Path(folder) / f"search_{name}.png")


def test_the_bars_are_there_and_follow_what_is_typed(search):
    """Letters stay in the field, and Python knows the last question."""
    expect(texts(search).first).to_have_text(TEXTS[0])
    keep(search, "first")
    field = search.page.get_by_role("textbox", name="Question")
    field.fill("")
    field.press_sequentially("How do I buy a boat and add it?")
    expect(texts(search).first).to_have_text(TEXTS[2])
    expect(field).to_have_value("How do I buy a boat and add it?")
    expect(search.page.locator(".jp-CodeCell")).to_have_count(1)
    keep(search, "typed")
    search.execute_until_ok("assert search.values['question'] == 'How do I buy a boat and add it?'")
    assert search.errors() == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_has_no_fault_that_axe_finds(search, theme):
    search.use_theme(theme)
    keep(search, theme)
    assert notebook_faults(search) == []


def test_edited_texts_are_encoded_by_the_kernel(search):
    page = search.page
    page.get_by_text("Change the texts").click()
    editor = page.get_by_role("textbox", name="One text on each line")
    editor.fill("\n".join([*TEXTS, "You can get a boat here."]))
    expect(texts(search)).to_have_count(4)
    expect(texts(search).first).to_have_text("You can get a boat here.")
    editor.fill("One text.")
    expect(page.locator(".search-bars").get_by_role("alert")).to_contain_text("Write 3 to 8 texts")
    keep(search, "too_few")
    with window(page, width=640):
        assert page.evaluate("(e => e.scrollWidth - e.clientWidth)(document.querySelector('.search-bars'))") == 0
        keep(search, "narrow")
    search.execute("assert len(search.values['texts']) == 4")


def test_what_python_sets_is_shown(search):
    search.execute(f"search.set(question='a socket', texts={TEXTS})")
    expect(texts(search).first).to_have_text(TEXTS[1])
    expect(search.page.get_by_role("textbox", name="Question")).to_have_value("a socket")
    expect(texts(search)).to_have_count(3)
    assert search.errors() == []


def test_an_answer_comes_while_the_reader_types(search):
    """Of several questions the fastest, because the machine may be busy."""
    words = ("cable", "boat", "cake", "oven", "sea", "sun", "salt")
    times = [search.page.evaluate(TIME, f"Where is the {word}?") for word in words]
    print(f"milliseconds from a letter to the bars: {sorted(round(time) for time in times)}")
    assert min(times) < 250
