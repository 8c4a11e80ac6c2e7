"""What readers do to a notebook: go back, restart the kernel. It goes on working.

`make test-long` tries it on the notebooks that have changed, and once a week on all. That each cell runs twice in a
row, and shows the same, stands in `tests/tools/twice.py`.
"""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from notebook_rules import code_cells, tags
from places import NOTEBOOKS
from reading import FOLDER, joined, lacks, reading, sections

CLINIC = FOLDER / "10_debugging_clinic.ipynb"


@pytest.fixture(scope="module", params=NOTEBOOKS, ids=lambda path: path.name)
def reader(request):
    """One reader for all that happens to a notebook: a kernel takes seconds to start."""
    with reading(request.param) as one:
        yield one


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_section_begins_at_its_heading(path):
    """The first holds the set-up alone, and together they hold every cell."""
    notebook = nbformat.read(path, as_version=4)
    first, *others = sections(notebook)
    assert len(first) == 1 and "setup(" in first[0].source and len(others) >= 4
    assert [*first, *joined(others)] == code_cells(notebook)


@pytest.mark.parametrize(
    ("error", "plain"),
    [
        ("NameError: name 'model' is not defined", True),
        ("NameError: name 'modal' is not defined. Did you mean: 'model'?", False),  # nothing above is called so
        ("LookupError: unknown encoding", False),
        ("AssertionError: ", False),
        ("AttributeError: 'NoneType' object has no attribute 'model'", False),
        ("['2'] instead of ['1']", False),
    ],
)
def test_what_counts_as_plain(error, plain):
    """An error that names what stands in a cell above."""
    above = [new_markdown_cell("the modal verbs"), new_code_cell("model = load()")]
    assert lacks(error, above) is plain


def test_the_course_says_what_to_do_after_a_restart():
    """What the next tests hold it to."""
    welcome, clinic = (
        "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown")
        for path in (FOLDER / "00_start_here.ipynb", CLINIC)
    )
    assert "Run All Above Selected Cell" in welcome and "`NameError`" in welcome
    assert "run the first code cell, and go on where you stopped" in clinic


@pytest.mark.long
def test_sections_run_again_from_the_last_to_the_first(reader):
    """After the whole run, one goes back section by section, and each shows what is stored."""
    assert reader.run_and_compare(code_cells(reader.notebook)) == {}
    _, *others = sections(reader.notebook)
    assert reader.go_back(others) == {}


@pytest.mark.long
def test_a_kernel_restarted_half_way_says_plainly_what_it_lacks(reader):
    """From the middle on, at once and after the set-up: a cell shows what is stored, or wants a cell above.

    Of what ran before a restart nothing is left, so that the set-up stands here for the whole first half.
    """
    setup, *others = sections(reader.notebook)
    middle = len(others) // 2
    reader.restart()
    assert reader.run_what_can_run(others[middle]) == {}
    assert reader.run_all(setup) == {}
    if reader.path == CLINIC:  # its cases need nothing else
        assert reader.run_what_can_run(joined(reversed(others))) == {}
        cases = [cell for cell in joined(others) if "exercise" in tags(cell)]
        assert len(cases) == 9 and reader.run_and_compare(cases[::-1]) == {}
    else:
        assert reader.run_what_can_run(joined(others[middle:])) == {}
