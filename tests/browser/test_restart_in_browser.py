"""A kernel that does not answer, busy or gone: explorers and questions say so, look like it, and recover."""

import pytest
from notebook_page import CODE_CELLS, RUN, NotebookPage

pytestmark = pytest.mark.long

CELLS = ["from encoder_lib.course import explore\nexplorer = explore.positional(d_model=64)\nexplorer"]
CELLS += ["explore.predict('shuffle')", "import time\ntime.sleep(6)"]
SILENT = "run this cell again."
RESTART = "async () => { await jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart(); }"


class Silent(NotebookPage):
    """The notebook, and what its explorer and its question say and look like."""

    def use(self):
        """Move a control, and commit."""
        (explorer,) = self.explorers()
        explorer.control("d_model").press("Home")
        self.page.locator(".prediction input").first.check()
        self.page.get_by_role("button", name="Commit").click()

    def wait_for_silence(self):
        """Both say what to do, and are dimmed."""
        for place in (".explorer-stale .explorer-error", ".prediction-stale .prediction-message"):
            self.page.locator(place, has_text=SILENT).wait_for(timeout=5000)

    def wait_for_answers(self):
        """Both follow, and are as they were."""
        self.page.locator(".prediction-right").wait_for(timeout=15_000)
        self.page.locator(".explorer-description", has_text="on 4 clocks").wait_for(timeout=5000)
        assert self.page.locator(".explorer-stale, .prediction-stale, .explorer-error:visible").count() == 0


@pytest.fixture(scope="module")
def silent(opened):
    """An explorer, a question, and a cell that takes six seconds."""
    page = opened(*CELLS, page=Silent)
    page.live = page.page.evaluate(CODE_CELLS)
    page.busy = page.live.pop()
    page.run(page.live)
    return page


def test_a_busy_kernel_is_waited_for(silent):
    """Its answers come late, and what was said of it is taken back."""
    silent.page.evaluate(f"(ids) => {{ ({RUN})(ids); }}", [silent.busy])
    silent.page.wait_for_function("!kernelIdle()")
    silent.use()
    silent.wait_for_silence()
    silent.wait_for_answers()


def test_after_a_restart_the_cells_are_run_again(silent):
    """What was drawn before says so when it is used, and what has been run again works."""
    silent.run(silent.live)
    silent.page.evaluate(RESTART)
    silent.page.wait_for_function("kernelIdle()")
    silent.use()
    silent.wait_for_silence()
    silent.run(silent.live)
    silent.use()
    silent.wait_for_answers()
    assert silent.errors() == []
