"""Mark everything here as a browser test, and open notebooks in JupyterLab."""

import contextlib
import uuid
from pathlib import Path

import nbformat
import pytest
from labserver import lab
from notebook_page import NotebookPage
from sample_notebooks import notebook_of

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    """`-m browser` selects these tests."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def desk(tmp_path_factory):
    """One JupyterLab for all small notebooks: its folder, which is empty at first, and its address."""
    folder = tmp_path_factory.mktemp("desk")
    with lab(folder) as address:
        yield folder, address


@pytest.fixture(scope="module")
def opened(browser, desk):
    """Opens a notebook of some cells, with a workspace and a kernel of its own; it is closed after the file's tests."""
    folder, address = desk
    with contextlib.ExitStack() as stack:

        def opened(*cells, page=NotebookPage, browser=browser):
            name = f"{uuid.uuid4().hex[:8]}.ipynb"
            nbformat.write(notebook_of(*cells), folder / name)
            notebook = page(browser, address, name)
            stack.callback(notebook.close)
            return notebook

        yield opened
