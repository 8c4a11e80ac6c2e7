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


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "binder/README.md"])
def test_links_of_the_documents_resolve(name):
    """A link in a document leads to a file that exists."""
    path = ROOT / name
    assert list(notebook_rules.broken_links(path.read_text(), path.parent)) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_readme_lists(path):
    """A notebook that exists is linked from the README's table."""
    assert f"(notebooks/{path.name})" in (ROOT / "README.md").read_text()


def prose(path):
    """All that a notebook says, without its last cells of sources."""
    return "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown")


def glossary():
    """The rows of the table of words at the end of the first notebook, as lists of four columns."""
    last = nbformat.read(NOTEBOOKS[0], as_version=4).cells[-1].source
    lines = [line.strip("| ").split(" | ") for line in last.splitlines() if line.startswith("| ")]
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
        code("setup(seed=0)"),
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


def set_html(html):
    """A stored HTML output."""
    return set_output({"text/html": html, "text/plain": "x"})


def untag(word):
    """A cell loses its tags."""
    return lambda notebook: cell(notebook, word).update(metadata={})


def add_cells(count, make):
    """More cells."""
    return lambda notebook: notebook.cells.extend(make() for _ in range(count))


def add_prose(text):
    """Another cell of prose."""
    return lambda notebook: notebook.cells.append(new_markdown_cell(text))


STDERR = new_output("stream", name="stderr", text="UserWarning: look out")
WIDGET = {notebook_rules.WIDGET_VIEW: {"model_id": "1"}, "text/plain": "x"}
VIOLATIONS = [
    ("valid_format", "schema", lambda n: cell(n, "look").update(execution_count="one")),
    ("valid_format", "old", lambda n: n.update(nbformat_minor=4)),
    ("valid_format", "repeated id", lambda n: n.cells[1].update(id=n.cells[0].id)),
    ("executed_in_order", "not run", lambda n: cell(n, "look").update(execution_count=None)),
    ("executed_in_order", "run twice", lambda n: cell(n, "look").update(execution_count=40)),
    ("no_stored_errors", "untagged error", untag("wrong")),
    ("no_stored_errors", "no error raised", lambda n: cell(n, "wrong").update(outputs=[])),
    ("no_stored_errors", "warning", lambda n: cell(n, "look").update(outputs=[STDERR])),
    ("lines_that_fit", "wide", set_source("look", "x = 1  # " + 100 * "x")),
    ("pictures_have_alt_text", "no html", set_output({"image/png": "aaaa", "text/plain": "x"})),
    ("pictures_have_alt_text", "svg", set_output({"image/svg+xml": "<svg/>", "text/plain": "x"})),
    ("pictures_have_alt_text", "html without img", set_output({"image/png": "a", "text/html": "<b alt='x'>"})),
    ("pictures_have_alt_text", "empty alt", set_output(picture(alt=" ").data)),
    ("pictures_have_alt_text", "blank entity", set_output(picture(alt="&#32;").data)),
    ("pictures_have_alt_text", "no alt", set_html('<img src="data:image/png;base64,aaaa" title=\'alt="x"\'>')),
    ("pictures_have_alt_text", "in a fold", set_html("<details><summary>x</summary><img src='data:x'></details>")),
    ("pictures_have_alt_text", "prose", add_prose("![](notebook_rules.py)")),
    *[
        ("outputs_are_clean", text, set_output(text))
        for text in [
            "'/home/ada/x.py'",
            "/root/.cache",
            "File /tmp/ipykernel_1/1.py",
            "at /work/course",
            r"C:\Users\ada",
            "<object at 0x7f3a2b1c>",
            "http://127.0.0.1:8888/?token=abcdef0123456789",
            "hf_abcdefghijklmnopqrstuvwx",
            "https://example.org",
        ]
    ],
    ("outputs_are_clean", "stream", lambda n: cell(n, "look").update(outputs=[new_output("stream", text="/tmp/a")])),
    ("outputs_are_clean", "traceback", lambda n: cell(n, "wrong").outputs[0].update(traceback=["/root/a.py"])),
    *[
        ("outputs_are_clean", html, set_html(html))
        for html in [
            "<script>1</script>",
            "<SCRIPT src=x>",
            '<a href="javascript:x()">x</a>',
            '<a href="java&#115;cript:x()">x</a>',
            "<iframe></iframe>",
            '<b onclick="x()">x</b>',
            '<img alt="x" src="//example.org/x.png">',
            '<link rel="stylesheet" href="x.css">',
        ]
    ],
    ("outputs_are_clean", "svg handler", set_output({"image/svg+xml": "<svg onload='x()'/>"})),
    ("no_widget_state", "state", lambda n: n.metadata.update(widgets={})),
    ("no_widget_state", "view", set_output(WIDGET, "predict")),
    ("quiet_metadata", "kernel", lambda n: n.metadata.kernelspec.update(name="my-env")),
    ("quiet_metadata", "version", lambda n: n.metadata.language_info.update(version="3.11.2")),
    ("quiet_metadata", "timing", lambda n: cell(n, "look").metadata.update(execution={})),
    ("quiet_metadata", "extra", lambda n: n.metadata.update(colab={})),
    ("small_file", "large", set_output("x" * 500_000)),
    ("links_resolve", "missing notebook", add_prose("[next](03_layer_norm.ipynb)")),
    ("links_resolve", "missing heading", add_prose("[up](#Elsewhere)")),
    ("links_resolve", "missing picture", add_prose('<img alt="x" src="no.png">')),
    ("links_resolve", "reference", add_prose("[next][1]\n\n[1]: none.md")),
    ("links_resolve", "absolute", add_prose("[next](/README.md)")),
    ("links_resolve", "file", add_prose("[next](file:///README.md)")),
    ("links_resolve", "script", add_prose("[next](javascript:x)")),
    ("setup_comes_first", "missing", set_source("setup", "import torch")),
    ("shows_and_asserts_nothing", "assertion", set_source("look", "assert 1 == 1")),
    ("shows_and_asserts_nothing", "in a function", set_source("def", "def stub(x):\n    if x:\n        assert x")),
    ("shows_pictures_last", "picture", set_source("look", "show(1)\nx = 1")),
    ("shows_pictures_last", "table", set_source("look", "table(1)\nprint(2)")),
    ("asks_before_it_shows", "one prediction", set_source("predict", "x = 1")),
    ("asks_before_it_shows", "one exercise", untag("def")),
    ("asks_before_it_shows", "many exercises", add_cells(3, lambda: code("pass", "exercise"))),
    (
        "picture_before_explorer",
        "explorer first",
        lambda n: n.cells.insert(0, code("explore.x()", outputs=[picture()])),
    ),
    ("picture_before_explorer", "explorer twice", add_cells(1, lambda: code("explore.x()", outputs=[picture()]))),
    ("picture_before_explorer", "bare explorer", lambda n: cell(n, "explore").update(outputs=[])),
    ("live_cells_are_tagged", "explorer", untag("explore")),
    ("live_cells_are_tagged", "prediction", untag("predict")),
    ("live_cells_are_tagged", "timing", set_source("look", "start = time.perf_counter()")),
    ("live_cells_are_tagged", "other widget", set_output(WIDGET)),
]


def complaints(notebook):
    """The rules that a notebook breaks."""
    return broken(notebook, NOTEBOOKS[0].name)


def test_a_good_notebook_passes():
    """The rules have nothing to say about a notebook that keeps them."""
    assert complaints(good()) == set()


@pytest.mark.parametrize(
    ("name", "change"), [(v[0], v[2]) for v in VIOLATIONS], ids=[f"{v[0]}: {v[1]}" for v in VIOLATIONS]
)
def test_a_rule_notices(name, change):
    """The smallest notebook that breaks a rule is caught by that rule."""
    notebook = good()
    change(notebook)
    assert name in complaints(notebook)


def clinic(exercises=15, source="class Broken:\n    x = 1"):
    """A good notebook with as many cases as the clinic has."""
    notebook = good()
    add_cells(exercises - 2, lambda: new_markdown_cell("a symptom"))(notebook)
    add_cells(exercises - 2, lambda: code(source, "exercise"))(notebook)
    counted = [c for c in notebook.cells if c.cell_type == "code"]
    for count, c in enumerate(counted, start=1):
        c.execution_count = count
    return notebook


def broken(notebook, name):
    """The rules that a notebook breaks under that name."""
    return {
        rule.__name__
        for rule in notebook_rules.RULES
        if list(rule(notebook, Path(notebook_rules.__file__).parent / name))
    }


def test_the_clinic_may_have_many_cases():
    """One notebook has more exercises than the others."""
    assert broken(clinic(), "10_debugging_clinic.ipynb") == set()
    assert broken(clinic(), "11_other.ipynb") == {"asks_before_it_shows"}
    assert broken(clinic(exercises=14), "10_debugging_clinic.ipynb") == {"asks_before_it_shows"}
    assert broken(clinic(exercises=26), "10_debugging_clinic.ipynb") == {"asks_before_it_shows"}


def test_the_word_assert_alone_is_no_assertion():
    notebook = good()
    set_source("look", "look = 'assert 1 == 1'  # assert")(notebook)
    assert complaints(notebook) == set()


def test_every_rule_has_a_violation():
    """No rule is untested."""
    assert {name for name, _, _ in VIOLATIONS} == {rule.__name__ for rule in notebook_rules.RULES}
