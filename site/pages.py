"""The pages of the web edition, made from the course's own files: links are adapted, and live parts are marked.

Only the first page, `index.md`, is written for the web; what it says about each lesson is taken from the notebook.

Three entries in the metadata of a notebook's cells are for these pages: `description`, in the first cell, which search
engines show; `web`, which replaces words about cells and keys; and `search`, with words that a reader may search for
and the text does not have.
"""

import ast
import hashlib
import html
import json
import re
import shutil
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from string import Template

import nbformat
from address import KNOWN, REPOSITORY, ROOT, closing, live, places, source
from asked import ask, svg_in
from bs4 import BeautifulSoup
from order import lines_in_order, puzzles
from paint import mask_to_paint, paintings
from record_all import EXPLORER, explorer_name, name_on_phone
from reference import write_reference
from typed import number_to_type, typed_answers

from encoder_lib.course.kit.plots.picture import SVG
from encoder_lib.course.kit.questions import QUESTIONS
from encoder_lib.course.kit.widget.web import RUN

TEXTS = {  # the other pages, and their descriptions
    "CONTRIBUTING.md": "How the course is made: files and tests, and how to change an explorer or a question.",
    "tests/benchmarks/RESULTS.md": "What was measured: the speed of the encoder, of its parts and of the whole course.",
    "notebooks/glossary.md": "The terms and letters of the course: what each means, and which notebook introduces it.",
    "TEACHING.md": "For teachers: what to prepare, what a class needs, and how exercises are collected.",
    "binder/README.md": "How to give the course to a class: what the server needs, and what each reader costs.",
    "NOTICE.md": "What comes from others: texts, weights, fonts and scripts, with their licences.",
}
LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?:|#|mailto:)([^)\s#]+)(#[^)\s]*)?\)")
DRAWING = re.compile(r"!\[[^\]]*\]\((notebooks/)?(pictures/\w+\.svg)\)")
QUESTION = re.compile(r"\bexplore\.predict\(\s*[\"'](\w+)[\"']")
PLAN = re.compile(r"Plan for (\d+ minutes)")
COLAB = re.compile(r"\A# Set-up: .*\n(#.*\n)+\n")  # left out of the first code cell
OPENING = "00_start_here", "alive"  # the notebook of the explorer on the first page, and its name
INSTALL = re.compile(r"(?ms)^    git clone .*?(?=^\*\*|^#)")  # of the README
HERE = Path(__file__).parent
PHONE = "(max-width: 600px)"  # as in site.css
SIZE = re.compile(r'width="(\d+)" height="(\d+)"')
WIDTHS = "--desk", "--phone", "--between"  # the names of an explorer's heights in site.css
DRAWS = re.compile(r"(\w+ = )?(plot_\w+|show)\(|(for )?(ax|axes|figure)\b")  # a line that draws


def notebooks() -> list[Path]:
    """Return the notebooks in order."""
    return sorted((ROOT / "notebooks").glob("*.ipynb"))


def write_pages(folder: Path, static: Path, recordings: Path) -> None:
    """Write the source of every page into `folder`, and the files that pages load into `static`."""
    pages = {"README.md", *TEXTS, *(f"notebooks/{path.name}" for path in notebooks())}
    for each in (folder, static):
        (each / "notebooks").mkdir(parents=True)
    lessons, opening = [], ""
    for path in notebooks():
        shutil.copy(path, static / "notebooks")  # for downloading, unchanged
        notebook = nbformat.read(path, as_version=4)
        lessons.append(_lesson(notebook, path.stem))
        explorers = _prepare(notebook, path.stem, static, recordings)
        if path.stem == OPENING[0]:
            opening = explorers[OPENING[1]].replace("../", "")
        nbformat.write(notebook, folder / "notebooks" / path.name)
    for name, description in TEXTS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        text = (ROOT / name).read_text(encoding="utf-8")
        (folder / name).write_text(_described(description, _led(text, name, pages)), encoding="utf-8")
    listed = f'<ol class="lessons" start="0">{"".join(lessons)}</ol>'
    (folder / "404.md").write_text((HERE / "404.md").read_text(encoding="utf-8") + listed, encoding="utf-8")
    write_reference(folder)
    install = INSTALL.search((ROOT / "README.md").read_text(encoding="utf-8"))
    install = _led(install[0].replace("](#", "](README.md#"), "README.md", pages - {"README.md"})
    if KNOWN:
        install = re.sub(r"(?<=clone )\S+", REPOSITORY, install)
    parts = {"explorer": opening, "lessons": listed, "install": install}
    index = _drawn(Template((HERE / "index.md").read_text(encoding="utf-8")).substitute(parts))
    contents = [
        _contents("Lessons", [f"notebooks/{path.stem}" for path in notebooks()]),
        _contents("To look up", ["notebooks/glossary", "tests/benchmarks/RESULTS", "reference/encoder_lib"]),
        _contents("To take part", ["TEACHING", "binder/README", "CONTRIBUTING", "NOTICE"]),
    ]
    (folder / "index.md").write_text("\n".join([index, *contents]), encoding="utf-8")


def _lesson(notebook: nbformat.NotebookNode, stem: str) -> str:
    """Return the entry of a lesson in the list: its number and name, its question, and the time that it takes."""
    title, question = notebook.cells[0].source.split("\n\n")[:2]
    plan = next(found[1] for cell in notebook.cells if (found := PLAN.search(cell.source))).replace("*", "")
    return (
        f'<li><a href="notebooks/{stem}.html"><b>{stem[:2]}</b> {title.removeprefix("# ")}</a> '
        f"<i>{html.escape(question.strip('*'))}</i> <small>{html.escape(plan[0].upper() + plan[1:])}</small></li>"
    )


def _described(description: str, text: str) -> str:
    return f"---\ndescription: {json.dumps(description)}\n---\n\n{text}"


def _contents(caption: str, pages: list[str]) -> str:
    return "\n".join(["", "```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```", ""])


def _led(text: str, name: str, pages: set[str]) -> str:
    """Let the links of a Markdown text lead to pages, or to files of the repository if they have no page."""

    def lead(link: re.Match) -> str:
        words, to, place = link.groups("")
        target = (ROOT / name).parent.joinpath(to).resolve()
        if not target.exists():
            raise FileNotFoundError(f"{name}: expected a file of this repository behind a link, got {to!r}")
        path = target.relative_to(ROOT.resolve()).as_posix()
        if f"{path}/README.md" in pages:
            path, to = f"{path}/README.md", f"{to.rstrip('/')}/README.md"
        if path in pages:
            return f"[{words}]({'/index.md' if path == 'README.md' else to + place})"
        return f"[{words}]({source(path)}{place})" if KNOWN else words

    return LINK.sub(lead, text)


def _drawn(text: str) -> str:
    """Put the drawings of a Markdown text inline, so that they take the page's colours, and their links work."""

    def draw(picture: re.Match) -> str:
        svg = (ROOT / "notebooks" / picture[2]).read_text(encoding="utf-8").strip()
        svg = re.sub(r'href="(\w+)\.ipynb"', rf'href="{picture[1] or ""}\1.html"', svg)
        return "<div>" + svg.replace('role="img"', 'role="group"') + "</div>"  # links inside an image can't be reached

    return DRAWING.sub(draw, text)


# The cells of a notebook.


def _prepare(notebook: nbformat.NotebookNode, stem: str, static: Path, recordings: Path) -> dict[str, str]:
    """Adapt the words to a page, mark explorers, questions and exercises, and move pictures into files.

    Returns the HTML of the explorers by their names.
    """
    path, explorers, questions, exercises = f"notebooks/{stem}.ipynb", [], 0, 0
    exercised = _exercises(notebook, stem, static)
    notebook.cells[-1].source = closing(stem)  # the pages of a fork link to the fork
    for number, cell in enumerate(notebook.cells):
        for words, instead in cell.metadata.get("web", {}).items():
            if words not in cell.source:
                raise ValueError(f"{stem}, cell {number}: expected {words!r}, which the web replaces by {instead!r}")
            cell.source = cell.source.replace(words, instead)
        if cell.cell_type != "code":
            cell.source = _drawn(cell.source) + _searched(cell.metadata.get("search", ""))
            continue
        cell.source = COLAB.sub("", cell.source)
        if EXPLORER.search(cell.source):
            stored = _stored(cell, stem, "<img")
            heights = recordings / f"{stem}-{len(explorers) + 1}.heights"
            name, picture = explorer_name(cell.source), stored.data["text/html"].removeprefix(RUN)
            place = _recorded(picture, heights.stem, heights.read_text().split(), places(path), static)
            stored.data = {"text/html": place}
            explorers.append((name, place))
        elif question := QUESTION.search(cell.source):
            stored = _stored(cell, stem, "<details")
            stored.data = {"text/html": _asked(stored.data["text/html"], stem, question[1], static)}
            questions += 1
        if "exercise" in cell.metadata.get("tags", []):
            inline = "".join(markup for check, markup in exercised.items() if f"{check}(" in cell.source)
            words = f'<p class="live">To write your own and have it checked, run this notebook on {live(path)}.</p>'
            cell.outputs = [nbformat.v4.new_output("display_data", {"text/html": inline + words})]
            exercises += 1
        for data in (output.get("data", {}) for output in cell.outputs):
            if "text/html" in data:
                data["text/html"] = _with_files(data["text/html"], static, stem)
    first = notebook.cells[0]
    notebook.metadata["description"] = first.metadata["description"]
    first.source = first.source.replace("# ", f"# {stem[:2]} ", 1)
    setup = next(cell for cell in notebook.cells if cell.cell_type == "code")
    notebook.cells = [part for cell in notebook.cells for part in _parts(cell, imports=cell is setup)]
    notebook.cells.insert(
        1, nbformat.v4.new_markdown_cell(_ways(path, len(explorers), questions, len(exercised), exercises))
    )
    return dict(reversed(explorers))  # the first one of each name


def _parts(cell: nbformat.NotebookNode, *, imports: bool) -> Iterator[nbformat.NotebookNode]:
    """Return the parts of a cell on its page: imports and the code of a picture are folded."""
    if imports:
        yield _fold("Imports", cell.source)
        return
    if "<img" in str(cell.get("outputs")):
        body, lines = ast.parse(cell.source).body, cell.source.splitlines()
        drawing = list(takewhile(lambda part: DRAWS.match(ast.unparse(part)), body[::-1]))
        first = drawing[-1].lineno - 1 if drawing else len(lines)
        if len(lines) - first > 2:
            yield nbformat.v4.new_code_cell("\n".join(lines[:first]).strip())
            yield _fold("The code of the picture", "\n".join(lines[first:]), "draws")
            cell.metadata["tags"] = [*cell.metadata.get("tags", []), "remove-input"]
    yield cell


def _searched(words: str) -> str:
    """Return words that the search finds and the page does not show, as Markdown."""
    indexed = 'data-pagefind-index-attrs="data-words"'
    return f'\n\n<div hidden data-words="{html.escape(words)}" {indexed}></div>' if words else ""


def _fold(name: str, source: str, kind: str = "aside") -> nbformat.NotebookNode:
    return nbformat.v4.new_markdown_cell(
        f'<details class="{kind}"><summary>{name}</summary>\n\n```python\n{source}\n```\n</details>'
    )


def _ways(path: str, explorers: int, questions: int, inline: int, exercises: int) -> str:
    """Return lines that say what one can do on the page of a notebook, what needs Python, and where to run it."""
    read = f'<a href="{source(path)}">Source</a> · ' if KNOWN else ""
    here = [
        *("read", *_counted("use", explorers, "explorer"), *_counted("answer", questions, "question")),
        *(f"{words} without Python" for words in _counted("do", inline, "exercise")),
    ]
    there = [
        "change the code",
        *(f"{words} checked" for words in _counted("have what you write for", exercises, "exercise")),
    ]
    return (
        f'<p class="ways">On this page you can {_joined(here)}. To {_joined(there)}, you need Python: '
        f"run the notebook on {live(path)}.<br>"
        f'{read}<a href="../_static/{path}" download>Download the notebook</a></p>'
    )


def _counted(verb: str, number: int, noun: str) -> list[str]:
    """Return what one can do with how many of a thing, such as "use 3 explorers"; nothing if there are none."""
    return [f"{verb} {number} {noun}{'s' * (number != 1)}"] if number else []


def _joined(parts: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


def _with_files(markup: str, static: Path, stem: str) -> str:
    """Move the pictures of HTML into files that load when they come into view. The page tells them its theme.

    A phone gets the picture that has been recorded for it, where there is one.
    """
    soup = BeautifulSoup(markup, "html.parser")
    for image in soup.find_all("img", src=re.compile(f"^{re.escape(SVG)}")):
        svg = svg_in(image["src"])
        image["width"], image["height"] = SIZE.search(svg).groups()
        name = f"{hashlib.sha256(svg.encode()).hexdigest()[:16]}.svg"
        (static / "pictures").mkdir(parents=True, exist_ok=True)
        (static / "pictures" / name).write_text(svg, encoding="utf-8")
        image["src"], image["loading"] = f"../_static/pictures/{name}", "lazy"
        if phone := _on_phone(stem, image["alt"], static):
            image.wrap(soup.new_tag("picture")).insert(0, soup.new_tag("source", attrs=phone))
    return str(soup)


def _on_phone(stem: str, alt: str, static: Path) -> dict[str, str]:
    """Return the attributes of the source of a picture for a phone; nothing where none has been recorded."""
    file = static / "recordings" / name_on_phone(stem, alt)
    if not file.exists():
        return {}
    width, height = SIZE.search(file.read_text(encoding="utf-8")).groups()
    return {"media": PHONE, "srcset": f"../_static/recordings/{file.name}", "width": width, "height": height}


def _stored(cell: nbformat.NotebookNode, stem: str, part: str) -> nbformat.NotebookNode:
    """Return the output of a cell that contains a part of HTML. Raises ValueError if there isn't exactly one."""
    found = [output for output in cell.outputs if part in output.get("data", {}).get("text/html", "")]
    if len(found) != 1:
        first = cell.source.splitlines()[0]
        raise ValueError(
            f"{stem}: expected one output with {part}, got {len(found)}, of {first!r}: run `make notebooks`"
        )
    return found[0]


def _recorded(picture: str, name: str, heights: list[str], live: dict, static: Path) -> str:
    """Return the place of an explorer: as high as it will be, with its stored picture until the recording arrives."""
    links = html.escape(json.dumps(live))
    style = "; ".join(f"{name}: {height}px" for name, height in zip(WIDTHS, heights, strict=False))
    phone = f"{name}-phone.recording"
    on_phone = f' data-phone="../_static/recordings/{phone}"' if (static / "recordings" / phone).exists() else ""
    return (
        f'<div class="recorded" data-recording="../_static/recordings/{name}.recording" data-live="{links}" '
        f'style="{style}"{on_phone}>{_with_files(picture, static, name.rpartition("-")[0])}</div>'
    )


def _exercises(notebook: nbformat.NotebookNode, stem: str, static: Path) -> dict[str, str]:
    """Return the exercises of a notebook that need no Python, by the names of their checks.

    The answers to what is typed or painted are written into files of their own; those to `puzzles` are there.
    """

    def written(kind: str, name: str, answer: dict) -> str:
        (static / kind).mkdir(exist_ok=True)
        file = f"{kind}/{stem}-{name}.json"
        (static / file).write_text(json.dumps(answer, ensure_ascii=False), encoding="utf-8")
        return f"../_static/{file}"

    found = {}
    for name, puzzle in puzzles(notebook).items():
        found[name] = lines_in_order(puzzle, f"../_static/orders/{stem}-{name}.json")
    for name, (question, computed) in typed_answers(notebook).items():
        found[name] = number_to_type(question, written("typed", name, computed))
    for name, painting in paintings(notebook).items():
        found[name] = mask_to_paint(painting.table, written("painted", name, painting.solve()))
    return found


def _asked(stored: str, stem: str, name: str, static: Path) -> str:
    """Return a question, and write its answer into a file of its own, so that nothing on the page gives it away."""
    alt = QUESTIONS[name].finding
    question, answer = ask(name, stored, stem, _on_phone(stem, alt, static).get("srcset", ""))
    (static / "answers").mkdir(parents=True, exist_ok=True)
    (static / "answers" / f"{stem}-{name}.html").write_text(answer, encoding="utf-8")
    address = f"../_static/answers/{stem}-{name}.html"
    asked = html.escape(json.dumps(question, ensure_ascii=False))
    choices = "".join(f"<li>{html.escape(choice)}</li>" for choice in question["_choices"])
    return (
        f'<div class="asked" data-answer="{address}" data-question="{asked}"><p>{html.escape(question["_prompt"])}</p>'
        f'<ul>{choices}</ul><p><a href="{address}">Show the answer</a></p></div>'
    )
