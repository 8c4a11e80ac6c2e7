"""Every stored notebook keeps the rules, and every rule notices the notebook that breaks it."""

import re
from pathlib import Path

import nbformat
import notebook_rules
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from places import NOTEBOOKS, ROOT


def test_there_are_notebooks():
    """The course is there to be checked."""
    assert NOTEBOOKS


@pytest.mark.parametrize("rule", notebook_rules.RULES, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_keeps(path, rule):
    """One notebook, one rule."""
    assert list(rule(nbformat.read(path, as_version=4), path)) == []


@pytest.mark.parametrize("name", [*sorted(path.name for path in ROOT.glob("*.md")), "binder/README.md"])
def test_links_of_the_documents_resolve(name):
    """A link in a document leads to a file that exists."""
    path = ROOT / name
    assert list(notebook_rules.broken_links(path.read_text(), path.parent)) == []


def prose(path):
    """All that a notebook says, without its last cells of sources."""
    return "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown")


def glossary():
    """The rows of the table of words at the end of the first notebook, as lists of four columns."""
    words = prose(NOTEBOOKS[0]).split("## Words and letters")[1].split("</details>")[0]
    lines = [line.strip("| ").split(" | ") for line in words.splitlines() if line.startswith("| ")]
    return [[column.strip() for column in line] for line in lines[1:]]


@pytest.mark.parametrize("row", glossary(), ids=lambda row: row[0])
def test_glossary_names_where_a_term_is_taught(row):
    """The notebook that the table names says every term of the row, and each has a Chinese name."""
    term, _, where, chinese = row
    path = NOTEBOOKS[0] if where == "here" else ROOT / "notebooks" / re.search(r"\((.+)\)", where).group(1)
    text = prose(path).split("## Words and letters")[0].lower()
    assert [word for word in term.lower().split(", ") if word not in text] == []
    assert re.search("[\u4e00-\u9fff]", chinese)


def test_code_of_the_readme_runs():
    """The README's few lines of code give what their comments say."""
    (source,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    names = {}
    exec(source, names)
    assert names["vectors"].shape == (2, 4, 32)


# A notebook in which nothing is wrong. Cells are found by the word that their source begins with.


def picture(alt="Two rows of a table, drawn as colours."):
    """A stored figure with its alt text."""
    html = f'<img alt="{alt}" src="data:image/png;base64,0x1234567890">'
    return new_output("display_data", {"image/png": "aaaa", "text/html": html, "text/plain": "a figure"})


def code(source, *tags, outputs=()):
    """A code cell with tags."""
    return new_code_cell(source, metadata={"tags": list(tags)} if tags else {}, outputs=list(outputs))


def good():
    """A notebook that keeps every rule."""
    cells = [
        code(f"{notebook_rules.COLAB}setup(seed=0)"),
        code("look = 1", outputs=[new_output("execute_result", {"text/plain": "1"}, execution_count=2)]),
        code("wrong[9]", "raises-exception", outputs=[new_output("error", ename="IndexError", evalue="9")]),
        *[code(f"plot({n})", outputs=[picture()]) for n in range(3)],
        code("explore.positional()", "nbval-ignore-output", outputs=[picture()]),
        *[code(f"predict({n})", "nbval-ignore-output") for n in range(2)],
        *[code(f"def stub{n}(): ...", "exercise") for n in range(2)],
    ]
    for count, cell in enumerate(cells, start=1):
        cell.execution_count = count
    prose = "# A title\nSee [the title](#A-title), [this](notebook_rules.py) and [a paper](https://arxiv.org/abs/1706.03762)."
    words = [new_markdown_cell(prose) for _ in range(30 - len(cells))]
    spec = {"kernelspec": {"name": "python3", "display_name": "Python 3"}, "language_info": {"name": "python"}}
    return new_notebook(cells=words + cells, metadata=spec)


def cell(notebook, word):
    """The first cell whose source begins with `word`."""
    return next(cell for cell in notebook.cells if cell.source.startswith(word))


def set_source(word, source):
    """A change of one cell's source."""
    return lambda notebook: cell(notebook, word).update(source=source)


def set_output(data, word="look"):
    """A change of one cell's stored output."""
    bundle = data if isinstance(data, dict) else {"text/plain": data}
    return lambda notebook: cell(notebook, word).update(outputs=[new_output("display_data", bundle)])


def untag(word):
    """A cell loses its tags."""
    return lambda notebook: cell(notebook, word).update(metadata={})


VIOLATIONS = {  # of each rule one
    "valid_format": lambda n: n.cells[1].update(id=n.cells[0].id),
    "executed_in_order": lambda n: cell(n, "look").update(execution_count=40),
    "no_stored_errors": untag("wrong"),
    "lines_that_fit": set_source("look", "x = 1  # " + 80 * "x"),
    "pictures_have_alt_text": set_output(picture(alt="&#32;").data),
    "outputs_are_clean": set_output("'/home/ada/x.py'"),
    "no_widget_state": lambda n: n.metadata.update(widgets={}),
    "quiet_metadata": lambda n: n.metadata.language_info.update(version="3.11.2"),
    "small_file": set_output("x" * 500_000),
    "links_resolve": lambda n: n.cells.append(new_markdown_cell("[next](03_layer_norm.ipynb)")),
    "setup_comes_first": set_source("# On Colab", "setup(seed=0)"),
    "shows_and_asserts_nothing": set_source("def", "def stub(x):\n    if x:\n        assert x"),
    "shows_pictures_last": set_source("look", "show(1)\nx = 1"),
    "asks_before_it_shows": untag("def"),
    "picture_before_explorer": lambda n: cell(n, "explore").update(outputs=[]),
    "live_cells_are_tagged": untag("explore"),
}


def complaints(notebook, name="00_good.ipynb"):
    """The rules that a notebook breaks under that name."""
    path = Path(notebook_rules.__file__).parent / name
    return {rule.__name__ for rule in notebook_rules.RULES if list(rule(notebook, path))}


def test_a_good_notebook_passes():
    """The rules have nothing to say about a notebook that keeps them, also where it speaks of an assertion."""
    notebook = good()
    set_source("look", "look = 'assert 1 == 1'  # assert")(notebook)
    assert complaints(notebook) == set()


@pytest.mark.parametrize("rule", notebook_rules.RULES, ids=lambda rule: rule.__name__)
def test_a_rule_notices(rule):
    """A notebook that breaks a rule is caught by that rule."""
    notebook = good()
    VIOLATIONS[rule.__name__](notebook)
    assert rule.__name__ in complaints(notebook)


@pytest.mark.parametrize(
    "output",
    [
        "at 0x7f3a2b1c",
        "http://127.0.0.1:8888",
        "token=abcdef0123456789",
        "<script>1</script>",
        '<b onclick="x()">x</b>',
    ],
)
def test_nothing_private_or_live_is_stored(output):
    """A few of each kind."""
    notebook = good()
    set_output({"text/html": output, "text/plain": output})(notebook)
    assert "outputs_are_clean" in complaints(notebook)


def test_the_clinic_may_have_many_cases():
    """One notebook has more exercises than the others."""
    notebook = good()
    notebook.cells += [code("pass", "exercise") for _ in range(7)]
    for count, each in enumerate(notebook_rules.code_cells(notebook), start=1):
        each.execution_count = count
    assert complaints(notebook, "10_debugging_clinic.ipynb") == set()
    assert complaints(notebook) == {"asks_before_it_shows"}
