"""Every stored notebook keeps the rules, and every rule notices the notebook that breaks it."""

import re

import nbformat
import notebook_rules
import pytest
from nbformat.v4 import new_markdown_cell, new_output
from places import NOTEBOOKS, ROOT


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_keeps_every_rule(path):
    notebook = nbformat.read(path, as_version=4)
    assert {rule.__name__: wrong for rule in notebook_rules.RULES if (wrong := list(rule(notebook, path)))} == {}


DOCUMENTS = [*sorted(path.name for path in ROOT.glob("*.md")), "binder/README.md", "notebooks/glossary.md"]


def test_links_of_the_documents_resolve():
    paths = [ROOT / name for name in DOCUMENTS]
    assert [list(notebook_rules.broken_links(path.read_text(), path.parent)) for path in paths] == [[]] * len(paths)


def prose(path):
    """All that a notebook says, without its last cells of sources."""
    return "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown")


def glossary():
    """The rows of the glossary's table of terms, as lists of three columns: term, meaning, notebook."""
    terms = (ROOT / "notebooks/glossary.md").read_text(encoding="utf-8").split("## Terms")[1]
    return [line.strip("| ").split(" | ") for line in terms.splitlines() if line.startswith("| ")][1:]


def test_glossary_names_where_a_term_is_taught():
    """The notebook that the table names says every term of the row, and the row explains it in a sentence."""
    for term, meaning, where in glossary():
        text = prose(ROOT / "notebooks" / re.search(r"\((.+)\)", where).group(1)).lower()
        assert [word for word in term.lower().split(", ") if word not in text] == [] and meaning.endswith("."), term


def test_the_glossary_is_sorted_and_linked():
    terms = [term.casefold() for term, *_ in glossary()]
    assert terms == sorted(terms) and "](glossary.md)" in prose(NOTEBOOKS[0])


def test_code_of_the_readme_runs():
    (source,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    names = {}
    exec(source, names)
    assert names["vectors"].shape == (2, 4, 32)


# The first notebook, with one fault for each rule.


def changed(kind, **parts):
    """A change of the first cell of some kind in a notebook: its source, its outputs, its metadata."""

    def change(notebook):
        setup, text, *others = notebook_rules.code_cells(notebook)
        explorer = next(cell for cell in others if notebook_rules.is_explorer(cell))
        exercise = next(cell for cell in others if "exercise" in notebook_rules.tags(cell))
        {"setup": setup, "text": text, "explorer": explorer, "exercise": exercise}[kind].update(parts)

    return change


def shows(text, html="", **others):
    """A stored output."""
    return [new_output("display_data", {"text/plain": text, "text/html": html, **others})]


VIOLATIONS = {
    "valid_format": lambda n: n.cells[1].update(id=n.cells[0].id),
    "executed_in_order": changed("text", execution_count=40),
    "no_stored_errors": changed("text", metadata={"tags": ["raises-exception"]}),
    "lines_that_fit": changed("text", source="x = 1  # " + 80 * "x"),
    "pictures_have_alt_text": changed("text", outputs=shows("x", '<img alt="&#32;">', **{"image/png": "aaaa"})),
    "outputs_are_clean": changed("text", outputs=shows("'/home/ada/x.py'")),
    "no_widget_state": lambda n: n.metadata.update(widgets={}),
    "quiet_metadata": lambda n: n.metadata.language_info.update(version="3.11.2"),
    "small_file": changed("text", outputs=shows("x" * 500_000)),
    "links_resolve": lambda n: n.cells.append(new_markdown_cell("[next](03_no_such_notebook.ipynb)")),
    "setup_comes_first": changed("setup", source="setup(seed=0)"),
    "shows_and_asserts_nothing": changed("exercise", source="def stub(x):\n    if x:\n        assert x"),
    "shows_pictures_last": changed("text", source="show(1)\nx = 1"),
    "asks_before_it_shows": changed("exercise", metadata={}),
    "picture_before_explorer": changed("explorer", outputs=[]),
    "live_cells_are_tagged": changed("explorer", metadata={}),
    "folds_say_their_kind": lambda n: n.cells.append(new_markdown_cell("<details><summary>A hint</summary></details>")),
    "web_wordings_stand_in_their_cell": changed("text", metadata={"web": {"no such words": ""}}),
}
PRIVATE = [
    "at 0x7f3a2b1c",
    "http://127.0.0.1:8888",
    "token=abcdef0123456789",
    "<script>1</script>",
    "<b onclick='x()'>x</b>",
]
FAULTS = [*VIOLATIONS.items(), *(("outputs_are_clean", changed("text", outputs=shows(x, x))) for x in PRIVATE)]


def test_every_rule_has_a_violation():
    assert {rule.__name__ for rule in notebook_rules.RULES} == VIOLATIONS.keys()


@pytest.mark.parametrize(("name", "break_it"), FAULTS)
def test_a_rule_detects_its_violation(name, break_it):
    notebook = nbformat.read(NOTEBOOKS[0], as_version=4)
    break_it(notebook)
    assert list(getattr(notebook_rules, name)(notebook, NOTEBOOKS[0]))
