"""What the tests of claims rest on: a notebook that runs in this process, and a file of claims for each notebook."""

import ast

import pandas as pd
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


def test_variables_of_one_cell_are_there_in_the_next_and_afterwards():
    run = ran("x = [1]", "def twice(y):\n    return y + x", "x.append(2); z = twice([0])")
    assert run["x"] == [1, 2] and run["z"] == [0, 1, 2] and run["__name__"] == "__main__"
    with pytest.raises(KeyError, match="nothing"):
        run["nothing"]


def test_what_a_cell_prints_and_its_last_line_are_shown():
    run = ran(
        "print('printed'); 'not shown'\n'last'", "x = 'assigned'", "_ = 'kept quiet'", "print('alone')", "", "None"
    )
    assert run.texts == ["printed\n'last'", "", "", "alone\n", "", ""]
    assert run.values == ["last", None, None, None, None, None]
    assert run.shown("printed") and run.shown("'last'") and run.shown("alone")
    assert not run.shown("not shown") and not run.shown("assigned") and not run.shown("kept quiet")


def test_what_goes_to_stderr_is_no_output(capsys):
    run = ran("import sys; print('a bar', file=sys.stderr)")
    assert run.texts == [""] and capsys.readouterr() == ("", "")


def test_a_tensor_is_shown_as_a_notebook_shows_it():
    run = ran("import torch", "torch.tensor([1 / 3, -1e-9], requires_grad=True)", "torch.tensor([3])")
    assert run.texts[1:] == ["tensor([0.3333, 0.0000])", "tensor([3])"]
    assert run.values[1].requires_grad


def test_a_table_is_shown_with_all_its_cells_and_found_by_a_column():
    run = ran(
        "from encoder_lib.notebook import table",
        "table({f'column {n}': [n] * 70 for n in range(30)})",
        "table({'score': [0.5]}, rows=['bank'])",
        "hidden = table({'hidden': [1]})",
    )
    assert run.texts[1].count(" 17") == 71 and "..." not in run.texts[1]
    assert isinstance(run.table("score"), pd.DataFrame) and list(run.table("score").index) == ["bank"]
    assert run.shown("bank  0.50")
    for column in ("hidden", "no such"):
        with pytest.raises(AssertionError, match=f"expected one table with a column '{column}', got 0"):
            run.table(column)


def test_an_error_that_a_cell_announces_is_what_it_shows():
    run = ran("x = 1", raises_exception="x = 2\nprint('before')\nx / 0")
    assert run.texts[-1].startswith("before\n") and run.shown("ZeroDivisionError: division by zero") and run["x"] == 2


def test_any_other_error_goes_to_whoever_runs_the_notebook():
    with pytest.raises(ZeroDivisionError):
        ran("1 / 0")
    with pytest.raises(ZeroDivisionError):
        ran(exercise="1 / 0")
    with pytest.raises(AssertionError, match="tagged raises-exception, and raises none: 'x = 1'"):
        ran(raises_exception="x = 1")
    with pytest.raises(UserWarning):
        ran("import warnings; warnings.warn('careful')")


ASKED = "from encoder_lib import explore"


def test_a_prediction_is_found_by_its_name_with_what_it_reveals():
    run = ran(ASKED, "explore.predict('alike', lambda: 3)", "explore.predict('parts')")
    assert run.prediction("alike").result == 3 and run.prediction("parts").result is None
    with pytest.raises(AssertionError, match="expected one question 'gradient', got 0"):
        run.prediction("gradient")
    with pytest.raises(AssertionError, match="expected one question 'alike', got 2"):
        ran(ASKED, *["explore.predict('alike')"] * 2).prediction("alike")
    with pytest.raises(KeyError, match="no_such_question"):
        run.prediction("no_such_question")


def test_a_table_that_a_prediction_reveals_is_found_too():
    run = ran(ASKED, "from encoder_lib.notebook import table", "explore.predict('alike', lambda: table({'n': [1]}))")
    assert run.table("n")["n"].tolist() == ["1"] and not run.shown("n\n0  1")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_name_of_a_file_is_enough(path, monkeypatch):
    """Each notebook is found and read, by the name that its file of claims has."""
    monkeypatch.setattr(Run, "_run", lambda self, source, raises: self.texts.append(source))
    assert any("setup(" in source for source in Run.of(path.stem).texts)


# ---- the files of claims ----


def claims(source):
    """The names of the tests in a file of claims."""
    return [node.name for node in ast.parse(source).body if getattr(node, "name", "").startswith("test_")]


def missing(stems, files):
    """What a list of notebooks lacks in the way of claims, in words."""
    for stem in stems:
        name = f"test_{stem}.py"
        if name not in files:
            yield f"tests/claims/{name} is not there"
        elif len(claims(files[name])) < FEWEST:
            yield f"tests/claims/{name} has {len(claims(files[name]))} tests, expected at least {FEWEST}"


FILES = {path.name: path.read_text(encoding="utf-8") for path in ROOT.glob("tests/claims/test_*.py")}


def test_every_notebook_has_its_claims_tested():
    assert list(missing([path.stem for path in NOTEBOOKS], FILES)) == []


def test_every_file_of_claims_is_named_after_a_notebook():
    assert {name.removeprefix("test_").removesuffix(".py") for name in FILES} == {path.stem for path in NOTEBOOKS}


def test_claims_that_are_missing_are_noticed():
    test = "def test_{}():\n    pass\n"
    enough = "".join(test.format(n) for n in range(FEWEST))
    few = enough.removesuffix(test.format(FEWEST - 1)) + "def helper():\n    def test_inside(): ...\nclass A: ...\n"
    files = {"test_a.py": enough, "test_b.py": few}
    assert list(missing(["a", "b", "c"], files)) == [
        "tests/claims/test_b.py has 9 tests, expected at least 10",
        "tests/claims/test_c.py is not there",
    ]
