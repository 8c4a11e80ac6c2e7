"""A front end that takes long to load, on a busy machine, still hears the kernel when it is there."""

import pytest
from sample_notebooks import Prepared

pytestmark = pytest.mark.long

# anywidget's limit of two seconds has passed before anything could load.
LATE = """
const limit = AbortSignal.timeout.bind(AbortSignal);
AbortSignal.timeout = (time) => (time === 2000 ? { addEventListener: (_, act) => act() } : limit(time));
"""
FAILED = "[anywidget] Failed to initialize model."
CELLS = ["from encoder_lib.course import explore\nexplorer = explore.positional(d_model=64)\nexplorer"]
CELLS += ["explorer.d_model = 128", "question = explore.predict('shuffle')\nquestion"]
SETTLED = "text => document.querySelector('.explorer-description')?.textContent.includes(text)"


@pytest.fixture(scope="module")
def late(browser, opened):
    """A notebook whose explorer is also set from Python, on a page where every widget's front end comes too late."""
    page = opened(*CELLS, browser=Prepared(browser, LATE))
    page.run_all()
    return page


def test_the_front_end_loaded_too_late(late):
    """Otherwise the tests below would prove nothing; and no other error is there."""
    assert set(late.errors()) == {FAILED}


def test_explorer_catches_up_and_follows(late):
    """A value that was set from Python before it could listen, and one that the reader sets."""
    late.page.wait_for_function(SETTLED, arg="on 64 clocks", timeout=5000)
    (explorer,) = late.explorers()
    assert explorer.state()["outputs"]["d_model"] == "128"
    explorer.control("d_model").press("Home")
    late.page.wait_for_function(SETTLED, arg="on 4 clocks", timeout=5000)
    assert list(explorer.check_control("d_model")) == []


def test_late_question_is_answered(late):
    """What a commitment is answered with comes from the kernel."""
    question = late.page.locator(".prediction")
    question.locator("input").first.check()
    question.get_by_role("button", name="Commit").click()
    question.locator(".prediction-right").wait_for(timeout=5000)
