"""Every number that a notebook's prose names is in an output that nbval compares, in its code, or in its claims."""

import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from notebook_rules import tags
from places import NOTEBOOKS, ROOT

EXCEPTIONS = {  # notebook -> numbers that are nowhere else, and why
    "02_positional_encoding": {
        "500": "a place made up",
        "31": "the last of the 32 positions drawn",
        "15": "the last of 16 rows",
    },
    "09_pretrained": {"511": "the last of 512 positions"},
}

# Not findings: code, formulas, tags, links, sources, other notebooks, years, the numbers of parts and exercises.
ASIDE = re.compile(
    r"(?s)```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$]*\$|<[^<>]+>|\[[^\]]*\]\([^)]*\)|\*\*Sources\.\*\*.*"
    r"|Plan for \d+ minutes|\bsections? \d[\d.]*|\b0\d\b|(?m:^(?:\*\*|#+ )?\d+(?:\.| ·)\s)|\b(?:19|20)\d\d\b"
)
NUMBER = re.compile(r"\d+(?:[,_]\d{3})+|\d+(?:\.\d+)?(?:e-?\d+)?")
PICTURE = re.compile(r'alt="[^"]*"|<picture: [^>]*>')  # the author's words


def value(number):
    """What a number is worth, as prose or Python writes it."""
    return float(re.sub("[,_]", "", number))


def numbers(text):
    """The numbers that a text names, the author's words for pictures aside."""
    return NUMBER.findall(PICTURE.sub("", text))


def compared(cell):
    """The texts that a cell puts out, where they are compared."""
    if "nbval-ignore-output" not in tags(cell):
        for output in cell.outputs:
            yield output.get("text") or output.get("data", {}).get("text/plain", "")


def says(number, written, shown, *, percent):
    """Whether a number is written in code or claims, or shown and rounded; a fraction may be a per cent."""
    decimals = len(number.partition(".")[2])
    values = {value(number)} | ({round(value(number) / 100, decimals + 2)} if percent else set())
    rounded = {round(factor * other, decimals) for other in shown for factor in ((1, 100) if percent else (1,))}
    return bool(values & written or value(number) in rounded)


def faults(notebook, claims="", exceptions=()):
    """The numbers of the prose that are nowhere else, each with the words around it."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    written = {value(x) for text in (claims, *(cell.source for cell in code)) for x in numbers(text)}
    shown = {value(x) for cell in code for text in compared(cell) for x in numbers(text)}
    for cell in notebook.cells:
        prose = ASIDE.sub(" ", cell.source) if cell.cell_type == "markdown" else ""
        for found in NUMBER.finditer(prose):
            words = " ".join(prose[max(found.start() - 40, 0) : found.end() + 20].split())
            percent = bool(re.match(r"\s?(%|per ?cent)", prose[found.end() :]))
            if found.group() not in exceptions and not says(found.group(), written, shown, percent=percent):
                yield found.group(), words


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_numbers_in_the_prose_are_shown_or_claimed(path):
    notebook = nbformat.read(path, as_version=4)
    claims = (ROOT / f"tests/course/{path.stem[3:]}/test_claims.py").read_text(encoding="utf-8")
    exceptions = EXCEPTIONS.get(path.stem, {})
    assert list(faults(notebook, claims, exceptions)) == []
    assert {number for number, _ in faults(notebook, claims)} == exceptions.keys(), "exceptions that are none"


def page(prose, shown="bank  0.7311", *, tag="exercise"):
    """A notebook with an output, and with prose."""
    code = new_code_cell(
        "weight[3]", outputs=[new_output("stream", name="stdout", text=shown)], metadata={"tags": [tag]}
    )
    return new_notebook(cells=[code, new_markdown_cell(prose)])


@pytest.mark.parametrize("prose", ["a weight of 0.73", "it gets 73 %", "$1 + 1 = 2$, `5`, [11](11_fast.ipynb)"])
def test_shown_numbers_formulas_code_and_links_pass(prose):
    assert list(faults(page(prose))) == []


@pytest.mark.parametrize(
    ("notebook", "number"),
    [
        (page("a weight of 0.74"), "0.74"),
        (page("it gets 74 %"), "74"),
        (page("a weight of 0.73", tag="nbval-ignore-output"), "0.73"),
        (page("a weight of 0.73", "<picture: it gets 0.73>"), "0.73"),
    ],
)
def test_an_unsupported_number_is_detected(notebook, number):
    assert [found for found, _ in faults(notebook)] == [number]
