"""Notebook 7, which hears a key before any widget does: what is typed in explorers and questions stays there."""

import nbformat
import pytest
from accessibility import key_faults
from labserver import lab
from notebook_page import NotebookPage
from sample_notebooks import EVERY_CONTROL, REAL, notebook_of

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def classic(browser, tmp_path_factory):
    """A notebook with every kind of control and a question, which has run."""
    folder = tmp_path_factory.mktemp("classic")
    nbformat.write(notebook_of(REAL, "explore.predict('shuffle')"), folder / "keys.ipynb")
    with lab(folder, app="notebook") as server:
        page = NotebookPage(browser, server, "keys.ipynb", at="notebooks")
        page.page_errors.clear()  # what Notebook 7 itself complains of as it opens
        page.run_all()
        yield page
        page.close()


def test_arrows_move_sliders_and_commands_do_nothing(classic):
    assert classic.errors() == []
    found = [fault for one in classic.explorers() for fault in key_faults(classic.page, one.root)]
    found += [fault for one in classic.explorers() for fault in one.check_control("similarity")]
    found += key_faults(classic.page, classic.page.locator(".prediction"))
    assert found + list(classic.check_predictions()) == []


def test_an_arrow_on_a_slider_leaves_the_notebook_where_it_is(classic):
    """Notebook 7 takes ArrowRight as the way to the next heading."""
    slider = classic.explorer(EVERY_CONTROL).control("similarity")
    slider.focus()
    classic.page.keyboard.press("ArrowRight")
    assert slider.evaluate("e => e === document.activeElement") and slider.input_value() == "0.05"
