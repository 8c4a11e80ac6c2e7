"""The course's own files as the pages of the web edition: copied, links led to where they go, live parts marked.

Nothing is written anew. The first page is the README, the notebooks stand in its groups, the page of words is the last
section of 00_start_here, and what was measured is tests/benchmarks/RESULTS.md.
"""

import base64
import hashlib
import html
import io
import json
import re
import shutil
from pathlib import Path

import nbformat
from address import ROOT, binder, closing, colab, live, source
from asked import ask
from bs4 import BeautifulSoup
from PIL import Image
from record_all import EXPLORER
from reference import write_reference

TEXTS = ("CONTRIBUTING.md", "tests/benchmarks/RESULTS.md", "binder/README.md")  # beside the README and the notebooks
LINK = re.compile(r"(?<=\]\()(?!https?:|#|mailto:)([^)\s#]+)")
NOTEBOOK = re.compile(r"\(notebooks/(\w+)\.ipynb\)")
DRAWING = re.compile(r"!\[[^\]]*\]\((notebooks/)?(pictures/\w+\.svg)\)")
QUESTION = re.compile(r"\bexplore\.predict\(\s*[\"'](\w+)[\"']")
WORDS = "00_start_here", "## Words and letters"  # the notebook and the section that the page of words is
MISSING = """---
orphan: true
---

# This page is not there

It may have been renamed or moved. The [first page](index.md) lists all lessons, and the search finds every word.
"""
PICTURE = "data:image/png;base64,"


def notebooks() -> list[Path]:
    """The notebooks, in their order."""
    return sorted((ROOT / "notebooks").glob("*.ipynb"))


def groups(readme: str) -> dict[str, list[str]]:
    """The names of the notebooks under the headings of the README that list them; the first heading takes the rest."""
    heading, found = "", {}
    for line in readme.splitlines():
        if line.startswith("#"):
            heading = line.strip("# ")
        if line.startswith("|"):
            for name in NOTEBOOK.findall(line):
                found.setdefault(heading, []).append(name)
    if not found:
        raise ValueError("README.md: expected a table of notebooks, got none: list them, with links to notebooks/")
    listed = {name for names in found.values() for name in names}
    found[next(iter(found))] += [path.stem for path in notebooks() if path.stem not in listed]
    return found


def write_pages(folder: Path, static: Path) -> None:
    """Write every page's source into `folder`, and what pages load by themselves into `static`."""
    readme = re.sub(r"(?s)<!-- address .*/address -->\n", "", (ROOT / "README.md").read_text(encoding="utf-8"))
    readme = _drawn(readme)
    pages = {"README.md", *TEXTS, *(f"notebooks/{path.name}" for path in notebooks())}
    for each in (folder, static):
        (each / "notebooks").mkdir(parents=True)
    for path in notebooks():
        shutil.copy(path, static / "notebooks")  # to download, as it is
        notebook = nbformat.read(path, as_version=4)
        _prepare(notebook, path.stem, static)
        nbformat.write(notebook, folder / "notebooks" / path.name)
    for name in TEXTS:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        text = (ROOT / name).read_text(encoding="utf-8")
        (folder / name).write_text(_led(text, name, pages), encoding="utf-8")
    (folder / "words.md").write_text(_words(), encoding="utf-8")
    (folder / "404.md").write_text(MISSING, encoding="utf-8")
    reference = write_reference(folder)
    contents = [
        _contents(heading, [f"notebooks/{name}" for name in names]) for heading, names in groups(readme).items()
    ]
    contents.append(_contents("To look up", ["words", "tests/benchmarks/RESULTS", *reference]))
    contents.append(_contents("To take part", ["CONTRIBUTING", "binder/README"]))
    for picture in re.findall(r"!\[[^]]*\]\(([^)]+)\)", readme):
        (folder / picture).parent.mkdir(parents=True, exist_ok=True)
        (folder / picture).write_bytes((ROOT / picture).read_bytes())
    (folder / "index.md").write_text("\n".join([_led(readme, "README.md", pages), *contents]), encoding="utf-8")


def _contents(caption: str, pages: list[str]) -> str:
    return "\n".join(["", "```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```", ""])


def _led(text: str, name: str, pages: set[str]) -> str:
    """Markdown whose links lead to pages where there are any, and to the repository's files where there are none."""

    def lead(link: re.Match) -> str:
        target = (ROOT / name).parent.joinpath(link[1]).resolve()
        if not target.exists():
            raise FileNotFoundError(f"{name}: expected a file of this repository behind a link, got {link[1]!r}")
        path = target.relative_to(ROOT.resolve()).as_posix()
        if path in pages or path.endswith((".png", ".webp")):
            return link[1] if path != "README.md" else "/index.md"
        return source(path)

    return LINK.sub(lead, text)


def _drawn(text: str) -> str:
    """Markdown with its drawings in it, so that their colours are the page's, and their parts lead to their pages."""

    def draw(picture: re.Match) -> str:
        svg = (ROOT / "notebooks" / picture[2]).read_text(encoding="utf-8").strip()
        svg = re.sub(r'href="(\w+)\.ipynb"', rf'href="{picture[1] or ""}\1.html"', svg)
        return "<div>" + svg.replace('role="img"', 'role="group"') + "</div>"  # an image's links would be out of reach

    return DRAWING.sub(draw, text)


def _words() -> str:
    """The section of words as a page of its own, unfolded."""
    name, heading = WORDS
    cells = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4).cells
    found = [cell.source for cell in cells if cell.source.startswith(heading)]
    if len(found) != 1:
        raise ValueError(f"{name}: expected one cell that begins with {heading!r}, got {len(found)}")
    text = found[0].replace("## ", "# ", 1).replace("<details><summary>", "").replace("</summary>", "")
    return LINK.sub(r"notebooks/\1", text.replace("</details>", ""))


# The cells of a notebook.


def _prepare(notebook: nbformat.NotebookNode, stem: str, static: Path) -> None:
    """Mark explorers, questions, exercises and folded cells, and take pictures out of the text of their outputs."""
    path, explorers = f"notebooks/{stem}.ipynb", 0
    notebook.cells[-1].source = closing(stem)  # a fork's pages lead to the fork
    for cell in notebook.cells:
        if cell.cell_type != "code":
            cell.source = _drawn(cell.source)
            continue
        if EXPLORER.search(cell.source):
            explorers += 1
            stored = _stored(cell, stem, "<img")
            stored.data = {"text/html": _recorded(stored.data["text/html"], stem, explorers, static)}
        elif question := QUESTION.search(cell.source):
            stored = _stored(cell, stem, "<details")
            stored.data = {"text/html": _asked(stored.data["text/html"], stem, question[1], static)}
        for output in cell.outputs:
            _draw(output.get("data", {}), static)
        if "exercise" in cell.metadata.get("tags", []):
            cell.outputs.append(_html(f'<p class="live">To write it and have it checked, open it in {live(path)}.</p>'))
    notebook.cells = [_folded(cell) for cell in notebook.cells]
    notebook.cells.insert(1, nbformat.v4.new_markdown_cell(_ways(path)))


def _folded(cell: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """A cell whose source the notebook folds, as a fold of the page; any other cell as it is."""
    if not cell.metadata.get("jupyter", {}).get("source_hidden"):
        return cell
    if cell.outputs:
        raise ValueError(f"expected a folded cell that shows nothing, got {cell.source!r}: fold its definition alone")
    fold = f"<details><summary>The folded cell</summary>\n\n```python\n{cell.source}\n```\n</details>"
    return nbformat.v4.new_markdown_cell(fold)


def _ways(path: str) -> str:
    """Where else a notebook can be opened."""
    return (
        f'<p class="ways">Run it on {live(path)} · <a href="{source(path)}">Source</a> · '
        f'<a href="../_static/{path}" download>Download</a></p>'
    )


def _html(text: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_output("display_data", {"text/html": text})


def _draw(data: dict, static: Path) -> None:
    """Put the pictures of an output into files of their own."""
    if "text/html" in data:
        data["text/html"] = _with_files(data["text/html"], static)
        data.pop("image/png", None)  # it is the same picture


def _with_files(markup: str, static: Path) -> str:
    """HTML whose pictures are files, with their sizes, that load when they come into view."""
    soup = BeautifulSoup(markup, "html.parser")
    for image in soup.find_all("img", src=re.compile(f"^{re.escape(PICTURE)}")):
        png = base64.b64decode(image["src"].removeprefix(PICTURE))
        name = f"{hashlib.sha256(png).hexdigest()[:16]}.png"
        (static / "pictures").mkdir(parents=True, exist_ok=True)
        (static / "pictures" / name).write_bytes(png)
        with Image.open(io.BytesIO(png)) as opened:
            image["width"], image["height"] = opened.size
        image["src"], image["loading"] = f"../_static/pictures/{name}", "lazy"
    return str(soup)


def _stored(cell: nbformat.NotebookNode, stem: str, part: str) -> nbformat.NotebookNode:
    """The one output of a cell that holds a part of HTML."""
    found = [output for output in cell.outputs if part in output.get("data", {}).get("text/html", "")]
    if len(found) != 1:
        first = cell.source.splitlines()[0]
        raise ValueError(
            f"{stem}: expected one output with {part}, got {len(found)}, of {first!r}: run `make notebooks`"
        )
    return found[0]


def _recorded(picture: str, stem: str, number: int, static: Path) -> str:
    """The place of an explorer, which holds its stored picture until the recording is there."""
    links = html.escape(
        json.dumps({"Binder": binder(f"notebooks/{stem}.ipynb"), "Colab": colab(f"notebooks/{stem}.ipynb")})
    )
    return (
        f'<div class="recorded" data-recording="../_static/recordings/{stem}-{number}.recording" data-live="{links}">'
        f"{_with_files(picture, static)}</div>"
    )


def _asked(stored: str, stem: str, name: str, static: Path) -> str:
    """A question whose answer stands in a file of its own, so that nothing on the page gives it away."""
    question, answer = ask(name, stored)
    (static / "answers").mkdir(parents=True, exist_ok=True)
    (static / "answers" / f"{stem}-{name}.html").write_text(answer, encoding="utf-8")
    address = f"../_static/answers/{stem}-{name}.html"
    asked = html.escape(json.dumps(question, ensure_ascii=False))
    choices = "".join(f"<li>{html.escape(choice)}</li>" for choice in question["_choices"])
    return (
        f'<div class="asked" data-answer="{address}" data-question="{asked}"><p>{html.escape(question["_prompt"])}</p>'
        f'<ul>{choices}</ul><p><a href="{address}">Show the answer</a></p></div>'
    )
