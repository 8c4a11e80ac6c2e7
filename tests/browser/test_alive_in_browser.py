"""The picture of two sentences in JupyterLab: it is drawn at once, and the kernel answers what the reader does."""

import os
from pathlib import Path

import pytest
from accessibility import notebook_faults
from nbformat.v4 import new_markdown_cell

pytestmark = pytest.mark.long

PAIR = "'The river bank was flooded.', 'The big bank raised its interest rates.'"
CELLS = [
    "from encoder_lib import load_pretrained\nfrom encoder_lib.course import explore\n"
    f"picture = explore.alive(load_pretrained(), {PAIR})\npicture",
]


@pytest.fixture(scope="module")
def alive(opened):
    """A page with the picture."""
    notebook = opened(new_markdown_cell("Above the picture."), *CELLS, new_markdown_cell("Below the picture."))
    notebook.run_all()
    notebook.page.locator("section.alive svg").first.wait_for()
    return notebook


def says(alive, *words):
    """Wait until the picture says all of this."""
    root = alive.page.locator("section.alive")
    for word in words:
        root.get_by_text(word).first.wait_for(timeout=10_000)


def keep(alive, name):
    """Keep a picture, where one is wanted."""
    if folder := os.environ.get("SCREENSHOTS"):
        alive.page.locator("section.alive").screenshot(path=Path(folder) / f"alive_{name}.png")


def test_the_first_answer_is_drawn_without_asking(alive):
    says(alive, "0.843", "0.443")
    keep(alive, "first")
    assert alive.errors() == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_has_no_fault_that_axe_finds(alive, theme):
    alive.use_theme(theme)
    keep(alive, theme)
    assert notebook_faults(alive) == []


def test_a_click_asks_the_kernel_and_python_knows_of_it(alive):
    alive.page.locator('section.alive [data-act="part attention 0"]').first.click()
    says(alive, "0.913", "0.460")
    keep(alive, "no_attention")
    alive.execute("assert [(k.part, k.layer) for k in picture.values['knockouts']] == [('attention', 0)]")


def test_what_python_sets_is_drawn(alive):
    cuts = "[dict(side=s, layer=None, head=None, query=3, key=2) for s in (0, 1)]"
    alive.execute(f"picture.set(knockouts=(), cuts={cuts})")
    says(alive, "0.917", "0.476")
    alive.execute("picture.set(cuts=(), texts=('A bat flew out of the cave.', 'A bat hit the ball.'))")
    text = "[...document.querySelectorAll('section.alive input')].some(({ value }) => value.startsWith('A bat flew'))"
    alive.page.wait_for_function(f"() => {text}", timeout=10_000)
    says(alive, "“bat”")
    keep(alive, "other_texts")
    assert alive.errors() == []
