"""Nothing that is written or stored gives an answer away before the reader has committed to one."""

import html
import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from notebook_rules import Tags
from places import NOTEBOOKS
from spoilers import answers_in, asked, normal

from encoder_lib.course.kit.questions import QUESTIONS, predict

SUMMARY = "## What to remember"


# What a notebook says


def visible(text):
    """Markdown or HTML as it is read: without folds, styles, tags and marks of emphasis, with the words of pictures."""
    text = re.sub(r"<(details|style)\b.*?</\1>", " ", text, flags=re.DOTALL)
    words = [
        attributes.get(name) or "" for _, attributes in Tags(text).found for name in ("alt", "title", "aria-label")
    ]
    return normal(f"{html.unescape(re.sub(r'</?[a-zA-Z][^<>]*>', ' ', text))} {' '.join(words)}".replace("*", ""))


def outputs(cell):
    """What a cell has written and shown, folds aside."""
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        yield normal(output.get("text", ""))
        yield normal(data.get("text/plain", ""))
        yield visible(data.get("text/html", ""))


def read_before(notebook, place, question):
    """All that can be read before the question in the cell `place` is answered, in pieces, each with its cell's number.

    The cells above it with their outputs, its own, and those below it up to the next question, or to the summary, which
    tells what all have shown; not what it asks itself.
    """
    cells = notebook.cells
    ends = (i for i in range(place + 1, len(cells)) if any(asked(cells[i])) or cells[i].source.startswith(SUMMARY))
    after = next(ends, len(cells))
    asks = [normal(question.prompt), *(normal(between.join(question.choices)) for between in (" / ", " "))]
    for number, cell in enumerate(cells[:after]):
        yield number, said(cell)
        for text in outputs(cell):
            for words in asks if number == place else ():
                text = text.replace(words, " ")
            yield number, text


def said(cell):
    """What the author has written into a cell."""
    return visible(cell.source) if cell.cell_type == "markdown" else normal(cell.source)


def spoilers(notebook):
    """What a notebook tells of the answers to its questions before they are asked for."""
    for place, cell in enumerate(notebook.cells):
        for name, _ in asked(cell):
            for number, text in read_before(notebook, place, QUESTIONS[name]):
                yield from (f"{name}: cell {number} says {words!r}" for words in answers_in(text, name))


READ = {path.stem: nbformat.read(path, as_version=4) for path in NOTEBOOKS}


@pytest.mark.parametrize("notebook", READ.values(), ids=READ)
def test_every_question_shows_its_result_itself(notebook):
    shows = [show for cell in notebook.cells for _, show in asked(cell)]
    assert shows and all(shows)


@pytest.mark.parametrize("notebook", READ.values(), ids=READ)
def test_no_answer_is_given_away_before_its_question(notebook):
    assert list(spoilers(notebook)) == []


# Notebooks that do give one away

FINDING = "A weighted mean doesn't care about the order of its terms."  # of shuffle, and the answer to it
ANSWER = "In the last row: it has *moved along with dog*"


def page(name="shuffle"):
    """A notebook that asks a question as it should: a title, a cell before, the question, a cell after, an end."""
    stored = predict(name, lambda: "seen")._repr_mimebundle_()[0]
    stored = {mime: stored[mime] for mime in ("text/html", "text/plain")}
    question = new_code_cell(f"explore.predict({name!r}, picture)")
    question.outputs = [new_output("execute_result", stored, execution_count=2)]
    cells = [new_markdown_cell("# A title"), new_code_cell("setup()"), question, new_code_cell("x = 1")]
    return new_notebook(cells=[*cells, new_markdown_cell("Why is that?"), new_code_cell("y = 2")])


def output(**data):
    """One stored output, by MIME types without their "text/"."""
    return [new_output("display_data", {f"text/{mime}": text for mime, text in data.items()})]


@pytest.mark.parametrize(
    ("cell", "change"),
    [
        (0, {"source": f"# Shuffled words\n\n{FINDING}"}),
        (1, {"source": f"# {ANSWER.replace('*', '')}"}),
        (1, {"outputs": [new_output("stream", name="stdout", text=FINDING)]}),
        (2, {"outputs": output(html=f'<img alt="{FINDING}" src="x">', plain="x")}),
        (3, {"outputs": output(html="A weighted <b>mean</b> doesn't care about the order of its terms", plain="")}),
        (4, {"source": f"<details>\n\nWhy?\n\n</details>\n\n{ANSWER}."}),
        (5, {"source": f"zero = 0  # {FINDING}"}),
    ],
)
def test_a_spoiler_is_detected(cell, change):
    notebook = page()
    notebook.cells[cell].update(change)
    (found,) = spoilers(notebook)
    assert found.startswith(f"shuffle: cell {cell} says")


def test_a_number_of_the_finding_is_detected():
    notebook = page("blocks_exchanged")
    notebook.cells[1].outputs = output(plain="cosine  0.92\nlayers  6")
    assert list(spoilers(notebook)) == ["blocks_exchanged: cell 1 says '0.92'"]


def test_folds_and_what_follows_the_next_question_may_tell():
    notebook = page()
    notebook.cells[4].source = f'<details class="after"><summary>What it means</summary>\n\n{FINDING}\n\n</details>'
    notebook.cells += [page("gradient").cells[2], new_markdown_cell(FINDING)]
    notebook.cells[0].source += f"\n<details><summary>Peek</summary>\n\n{ANSWER}\n</details>"
    assert list(spoilers(notebook)) == []
