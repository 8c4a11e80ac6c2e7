"""What the tests of claims rest on: a notebook that runs in this process, and a file of claims for each notebook."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from notebook_run import Run
from places import NOTEBOOKS, ROOT

FEWEST = 10  # claims of a notebook


def ran(*sources, **tagged):
    """A notebook of these cells, after it has run; `tagged` are cells with a tag."""
    cells = [new_markdown_cell("# A title\nassert False")]
    cells += [new_code_cell(source) for source in sources]
    cells += [new_code_cell(source, metadata={"tags": [tag.replace("_", "-")]}) for tag, source in tagged.items()]
    return Run(new_notebook(cells=cells))


def test_a_table_is_shown_whole_and_found_by_a_column():
    run = ran(
        "from encoder_lib.course.kit.notebook import table",
        "table({f'column {n}': [n] * 70 for n in range(30)})",
        "hidden = table({'hidden': [1]})",
    )
    assert run.texts[1].count(" 17") == 71 and "..." not in run.texts[1]
    assert list(run.table("column 3")["column 3"]) == ["3"] * 70
    with pytest.raises(AssertionError, match="got 0"):
        run.table("hidden")


def test_expected_errors_are_shown_and_others_end_the_run():
    run = ran("x = 1", raises_exception="x = 2\nprint('before')\nx / 0")
    assert run.shown("before\n'ZeroDivisionError: division by zero'") and not run.shown("other") and run["x"] == 2
    with pytest.raises(ZeroDivisionError):
        ran(exercise="1 / 0")
    with pytest.raises(AssertionError, match="raises none"):
        ran(raises_exception="x = 1")


# ---- the files of claims ----


FILES = {
    path.parent.name: path.read_text(encoding="utf-8") for path in ROOT.glob("tests/course/*/test_claims.py")
}  # lesson -> its claims


def test_notebooks_and_files_of_claims_match():
    assert FILES.keys() == {path.stem[3:] for path in NOTEBOOKS}
    assert {
        stem: source.count("\ndef test_") for stem, source in FILES.items() if source.count("\ndef test_") < FEWEST
    } == {}
