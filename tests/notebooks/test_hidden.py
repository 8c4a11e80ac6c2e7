"""Nothing on the page gives the answer of a question away before the reader has committed to one."""

import html
import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from notebook_rules import Tags
from phrases import PHRASES, answers_in, asked, normal
from places import NOTEBOOKS

from encoder_lib.course.kit.questions import QUESTIONS, predict

SUMMARY = "## What to remember"


# What a notebook says


def visible(text):
    """Markdown or HTML as it is read: without folds, tags and marks of emphasis, with the words of pictures."""
    text = re.sub(r"<details\b.*?</details>", " ", text, flags=re.DOTALL)
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
    """All that can be read before the question in the cell `place` is answered, in pieces, each with where it stands.

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


def given_away(notebook):
    """What a notebook tells of the answers to its questions before they are asked for, in words."""
    for place, cell in enumerate(notebook.cells):
        for name, _ in asked(cell):
            for number, text in read_before(notebook, place, QUESTIONS[name]):
                yield from (f"{name}: cell {number} says {words!r}" for words in answers_in(text, name))
            for number, other in enumerate(notebook.cells):
                if any(normal(QUESTIONS[name].finding) in text for text in (said(other), *outputs(other))):
                    yield f"{name}: cell {number} tells the finding"


READ = {path: nbformat.read(path, as_version=4) for path in NOTEBOOKS}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_question_shows_its_result_itself(path):
    shows = [show for cell in READ[path].cells for _, show in asked(cell)]
    assert shows and all(shows)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_gives_no_answer_away(path):
    assert list(given_away(READ[path])) == []


def test_every_question_of_these_notebooks_has_its_phrases():
    names = {name for path in NOTEBOOKS for cell in READ[path].cells for name, _ in asked(cell)}
    assert sorted(names - PHRASES.keys()) == [], "add them to PHRASES"
    assert sorted(PHRASES.keys() - QUESTIONS.keys()) == []


# Notebooks that do


def page(name="shuffle"):
    """A notebook that asks a question as it should: a title, a cell before, the question, a cell after, an end."""
    stored = predict(name, lambda: "seen")._repr_mimebundle_()[0]
    stored = {mime: stored[mime] for mime in ("text/html", "text/plain")}
    question = new_code_cell(f"explore.predict({name!r}, picture)")
    question.outputs = [new_output("execute_result", stored, execution_count=2)]
    cells = [new_markdown_cell("# A title"), new_code_cell("setup()"), question, new_code_cell("x = 1")]
    return new_notebook(cells=[*cells, new_markdown_cell("Why is that?"), new_code_cell("y = 2")])


def test_a_question_alone_gives_nothing_away():
    """Its choices hold the answer, and its fold does."""
    assert all(list(given_away(page(name))) == [] for name in PHRASES)


def test_the_phrases_of_a_question_find_its_finding():
    """In the prose above, in other words than the finding's; in the heading too."""
    for name in PHRASES:
        question = page(name)
        answer, finding = QUESTIONS[name].choices[QUESTIONS[name].answer], QUESTIONS[name].finding
        question.cells[0].source = f"# We shall see that it is so: *{answer}*, since {finding}"
        found = [words for words in given_away(question) if repr(normal(answer)) not in words]
        assert any(words.startswith(f"{name}: cell 0 says ") for words in found), (name, found)


def picture(alt):
    """A stored picture."""
    return [
        new_output("display_data", {"image/png": "a", "text/html": f'<img alt="{alt}" src="x">', "text/plain": "x"})
    ]


@pytest.mark.parametrize(
    ("cell", "change"),
    [
        (0, {"source": "# Shuffled words\n\nThe name for this is **permutation *equivariance***."}),
        (1, {"source": "# a mean does not care in which order"}),
        (1, {"outputs": [new_output("stream", name="stdout", text="changed: not at all")]}),
        (2, {"outputs": picture("The outputs change not at all.")}),
        (3, {"outputs": [new_output("display_data", {"text/html": "<b>not</b> at all", "text/plain": ""})]}),
        (4, {"source": "<details>\n\nWhy?\n\n</details>\n\nNot at all, as we saw."}),
        (5, {"source": "zero = 0  # not at all"}),
        (5, {"source": f"# {QUESTIONS['shuffle'].finding}"}),
    ],
)
def test_what_gives_an_answer_away_is_noticed(cell, change):
    notebook = page()
    notebook.cells[cell].update(change)
    assert any(re.match(f"shuffle: cell {cell} (says|tells the finding)", words) for words in given_away(notebook))


def test_what_is_folded_away_and_what_comes_after_the_next_question_may_tell():
    notebook = page()
    notebook.cells[4].source = '<details class="after"><summary>What it means</summary>\n\nNot at all.\n\n</details>'
    notebook.cells += [page("gradient").cells[2], new_markdown_cell("Not at all: that is permutation equivariance.")]
    notebook.cells[0].source += "\n<details><summary>Peek</summary>\n\nNot at all.\n</details>"
    assert list(given_away(notebook)) == []
