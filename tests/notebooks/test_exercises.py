"""The exercises of the notebooks: the stub counts as not filled in, and the folded answer is right."""

import ast
import re
from itertools import pairwise

import nbformat
import notebook_rules
import pytest
from places import NOTEBOOKS


def exercises():
    """(imports, prose above, stub), without those that need cells above them.

    The clinic's are tested in test_clinic, the names of a reader's own encoder in test_build_your_own.
    """
    for path in NOTEBOOKS:
        notebook = nbformat.read(path, as_version=4)
        first = ast.parse(notebook_rules.code_cells(notebook)[0].source).body
        imports = [node for node in first if isinstance(node, ast.Import | ast.ImportFrom)]
        for above, cell in pairwise(notebook.cells):
            if "exercise" in notebook_rules.tags(cell) and (found := re.search(r"checks\.(check_\w+)", cell.source)):
                name = found.group(1)
                yield pytest.param(ast.unparse(imports), above.source, cell.source, id=f"{path.stem}-{name}")


def verdict(imports, *sources):
    """What the check says, when the cell's own definitions are followed by others of the same names."""
    names = {}
    exec(imports, names)
    *definitions, call = ast.parse(sources[0]).body
    exec(ast.unparse(definitions), names)
    for source in sources[1:]:
        exec(source, names)
    return eval(ast.unparse(call), names)


@pytest.mark.parametrize(("imports", "above", "stub"), list(exercises()))
def test_the_stub_counts_as_not_filled_in(imports, above, stub):
    result = verdict(imports, stub)
    assert not result.correct and "nothing yet" in result.problem


@pytest.mark.parametrize(("imports", "above", "stub"), list(exercises()))
def test_the_folded_answer_is_right(imports, above, stub):
    folded = re.findall(r'<details class="answer">.*?```python\n(.*?)```.*?</details>', above, re.DOTALL)
    if not folded:
        assert "show_source(" in above or "source above" in above, "expected an answer, or a hint where it is"
        return
    result = verdict(imports, stub, *folded)
    assert result.correct, result
