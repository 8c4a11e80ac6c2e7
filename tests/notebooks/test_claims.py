"""What the tests of claims rest on: a notebook that runs in this process, and a file of claims for each notebook."""

import ast

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


def number_of_claims(source):
    """The tests in a file; one that takes its cases from a list of the file counts once for each of them."""
    tree = ast.parse(source)
    lists = {
        node.targets[0].id: len(node.value.elts)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.List)
    }
    tests = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    used = [
        {node.id for each in test.decorator_list for node in ast.walk(each) if isinstance(node, ast.Name)}
        for test in tests
    ]
    return sum(max((lists[name] for name in names & lists.keys()), default=1) for names in used)


def test_notebooks_and_files_of_claims_match():
    assert FILES.keys() == {path.stem[3:] for path in NOTEBOOKS}
    claims = {lesson: number_of_claims(source) for lesson, source in FILES.items()}
    assert {lesson: number for lesson, number in claims.items() if number < FEWEST} == {}
