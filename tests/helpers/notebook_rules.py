"""The rules that every stored notebook keeps: one function for each, which gives what is wrong."""

import ast
import json
import re
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import nbformat
from places import ROOT

RULES = []
EXERCISES = (2, 4)  # of a notebook, from the fewest to the most
EXERCISES_OF = {"10_debugging_clinic": (6, 6), "12_build_your_own": (10, 10)}
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
IMAGES = ("image/png", "image/jpeg", "image/svg+xml", "image/gif")
URLS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
SETUP = f"""# Set-up: run this cell first. On Colab, run these lines before it, in their own cell:
#   !git clone -q {URLS["Repository"]} /content/course
#   !pip install -q /content/course
#   %cd /content/course/notebooks

"""
MAX_BYTES = 500_000
MAX_WIDTH = 88  # characters of code that a window of 1000 pixels shows, without the files beside it
LIVE = re.compile(r"\bexplore\.\w+\(|\bpredict\(|\binteract(ive)?\(|perf_counter|%timeit|%%time|\btimeit\.")
EXPLORER = re.compile(r"\bexplore\.(?!(predict|judge|Question|Prediction)\b)\w+\(")
PRIVATE = {
    "a path": r"(?<![\w.~/-])/(home|root|tmp|work|Users|usr|opt|mnt|var|private)/|\b[A-Za-z]:\\\w",
    "a memory address": r"\b0x[0-9a-fA-F]{5,}",
    "a secret": r"(?i)\b(token=\w{8,}|hf_\w{20,}|gh[pousr]_\w{20,}|sk-[\w-]{20,}|AKIA[0-9A-Z]{16}\b|bearer \w{16,})",
    "an external URL": r"(?i)\b(https?|wss?|ftp)://",
    "a script": r"(?i)<script|javascript:",
}


def rule(function):
    """Register a rule."""
    RULES.append(function)
    return function


class Tags(HTMLParser):
    """The start tags of a piece of HTML, with their decoded attributes."""

    def __init__(self, html):
        super().__init__()
        self.found = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def code_cells(notebook):
    """The code cells that hold any code."""
    return [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]


def tags(cell):
    """A cell's tags."""
    return cell.metadata.get("tags", [])


def where(cell):
    """Words that find a cell again."""
    return f"cell [{cell.get('execution_count')}] {cell.source.strip().splitlines()[0][:60]!r}"


def data_of(cell):
    """The MIME bundles of a cell's outputs."""
    return [output.data for output in cell.outputs if "data" in output]


def has_picture(cell):
    """Whether a cell stores a picture that is seen at once."""
    return any("data:image/" in data.get("text/html", "").partition("<details>")[0] for data in data_of(cell))


def hides_picture(cell):
    """Whether a cell stores a picture that its HTML folds away until the reader has made a prediction."""
    inside = (data.get("text/html", "").partition("<details>")[2] for data in data_of(cell))
    return any("data:image/" in html for html in inside)


def is_explorer(cell):
    """Whether a cell shows a live explorer."""
    return bool(EXPLORER.search(cell.source))


def texts_of(cell):
    """Everything a cell's outputs say in text, embedded pictures left out."""
    for output in cell.outputs:
        yield output.get("text", "")
        yield output.get("evalue", "")
        yield "\n".join(output.get("traceback", []))
        for mime, content in output.get("data", {}).items():
            if mime not in IMAGES or mime == "image/svg+xml":
                text = content if isinstance(content, str) else json.dumps(content)
                yield re.sub(r"data:image/[\w.+-]+;base64,[A-Za-z0-9+/=\s]*", "data:image", text)


@rule
def valid_format(notebook, path):
    """The file is a valid notebook whose cells have ids of their own."""
    for error in nbformat.validator.iter_validate(notebook):
        yield str(error).splitlines()[0]
    if (notebook.nbformat, notebook.nbformat_minor) < (4, 5):
        yield f"format {notebook.nbformat}.{notebook.nbformat_minor} is older than 4.5"
    ids = [cell.get("id") for cell in notebook.cells]
    if len(set(ids)) < len(ids):
        yield "cell ids repeat"


@rule
def executed_in_order(notebook, path):
    """Every code cell was run once, from top to bottom."""
    counts = [cell.execution_count for cell in code_cells(notebook)]
    if counts != list(range(1, len(counts) + 1)):
        yield f"execution counts are {counts}; run `make notebooks`"


@rule
def no_stored_errors(notebook, path):
    """Errors and warnings are stored only where a cell announces them."""
    for cell in code_cells(notebook):
        failed = any(output.output_type == "error" for output in cell.outputs)
        if failed != ("raises-exception" in tags(cell)):
            yield f"{where(cell)} {'stores an error' if failed else 'is tagged raises-exception and stores no error'}"
        if "nbval-ignore-output" not in tags(cell) and any(output.get("name") == "stderr" for output in cell.outputs):
            yield f"{where(cell)} stores text on stderr"


@rule
def lines_that_fit(notebook, path):
    """No line of code runs out of a usual window, where it would have to be scrolled to be read."""
    for cell in code_cells(notebook):
        for line in cell.source.splitlines():
            if len(line) > MAX_WIDTH:
                yield f"{where(cell)} has a line of {len(line)} characters, expected at most {MAX_WIDTH}"


@rule
def pictures_have_alt_text(notebook, path):
    """Every stored picture comes with HTML whose <img> has alt text."""
    for cell in code_cells(notebook):
        for data in data_of(cell):
            images = [attributes for tag, attributes in Tags(data.get("text/html", "")).found if tag == "img"]
            if any(mime in data for mime in IMAGES) and not images:
                yield f"{where(cell)} stores a picture without <img alt> beside it"
            if any(not (attributes.get("alt") or "").strip() for attributes in images):
                yield f"{where(cell)} stores an <img> without alt text"
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and re.search(r"!\[\s*\]\(", cell.source):
            yield "a picture in the prose has no alt text"


@rule
def outputs_are_clean(notebook, path):
    """Stored outputs hold no paths, secrets, addresses or URLs, and nothing that runs or loads; nor does the prose."""
    for cell in notebook.cells:
        if cell.cell_type == "raw" or cell.get("attachments"):
            yield f"{where(cell)} is raw, or has an attachment"
        if cell.cell_type == "markdown":
            prose = re.sub(r"```.*?```|`[^`\n]*`", "", cell.source, flags=re.DOTALL)
            if re.search(r"!\[[^\]]*\]\(\s*<?([a-z]+:|/)", prose, re.IGNORECASE):
                yield f"{where(cell)} shows a picture from elsewhere"
            if unknown := {tag for tag, _ in Tags(prose).found} - {"details", "summary"}:
                yield f"{where(cell)} holds {sorted(unknown)}"
    for cell in code_cells(notebook):
        text = "\n".join(texts_of(cell))
        if unknown := {mime for data in data_of(cell) for mime in data} - {"text/plain", "text/html", "image/png"}:
            yield f"{where(cell)} stores {sorted(unknown)}"
        for name, pattern in PRIVATE.items():
            if found := re.search(pattern, text):
                yield f"{where(cell)} stores {name}: {found.group()!r}"
        for data in data_of(cell):
            for tag, attributes in Tags(data.get("text/html", "") + data.get("image/svg+xml", "")).found:
                if tag in ("script", "iframe", "object", "embed", "link", "meta", "base", "form"):
                    yield f"{where(cell)} stores <{tag}>"
                if handlers := [name for name in attributes if name.startswith("on")]:
                    yield f"{where(cell)} stores the event handler {handlers[0]}"
                for name in ("src", "href", "srcset", "data", "action", "poster"):
                    if re.match(r"\s*([a-z]+:)?//|\s*javascript:", attributes.get(name) or "", re.IGNORECASE):
                        yield f"{where(cell)} stores a {name} that leads elsewhere"


@rule
def no_widget_state(notebook, path):
    """No widget state and no live view is stored: a reopened notebook shows the static picture."""
    if "widgets" in notebook.metadata:
        yield "widget state is stored; run `make notebooks`"
    for cell in code_cells(notebook):
        if any(WIDGET_VIEW in data for data in data_of(cell)):
            yield f"{where(cell)} stores a live view; run `make notebooks`"


@rule
def quiet_metadata(notebook, path):
    """Metadata names the kernel python3 and holds no versions or timings, so that diffs show content."""
    if notebook.metadata.get("kernelspec", {}).get("name") != "python3":
        yield "the kernel is not python3"
    if extra := set(notebook.metadata) - {"kernelspec", "language_info", "widgets"}:
        yield f"metadata holds {sorted(extra)}"
    if "version" in notebook.metadata.get("language_info", {}):
        yield "metadata holds the Python version; run `make notebooks`"
    if any("execution" in cell.metadata for cell in notebook.cells):
        yield "cells hold timings; run `make notebooks`"


@rule
def small_file(notebook, path):
    """Under 500 KB."""
    size = len(json.dumps(notebook, indent=1, ensure_ascii=False).encode())
    if size >= MAX_BYTES:
        yield f"{size} bytes, expected under {MAX_BYTES}"


def targets(markdown):
    """The link and picture targets of Markdown text, outside code."""
    text = re.sub(r"```.*?```|`[^`\n]*`", "", markdown, flags=re.DOTALL)
    yield from re.findall(r"\]\(\s*<?([^)\s>]+)>?(?:\s+[\"'][^)]*)?\)", text)
    yield from re.findall(r"^\s*\[[^\]]+\]:\s*<?([^\s>]+)", text, flags=re.MULTILINE)
    for _, attributes in Tags(text).found:
        yield from (attributes[name] for name in ("src", "href") if attributes.get(name))


def broken_links(markdown, folder, anchors=None):
    """What is wrong with each link of `markdown` that leads nowhere from `folder`."""
    for target in targets(markdown):
        name, _, anchor = unquote(target).partition("#")
        if re.match(r"https?://[\w.-]+", target):
            continue
        if re.match(r"[a-z][a-z+.-]*:|/", target, re.IGNORECASE):
            yield f"link {target!r} is neither relative nor http(s)"
        elif name and not (Path(folder) / name).exists():
            yield f"link {target!r} leads to no file"
        elif not name and anchors is not None and anchor not in anchors:
            yield f"link {target!r} leads to no heading"


@rule
def links_resolve(notebook, path):
    """Links in the prose lead to files and headings that exist, or to the web."""
    prose = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    headings = re.findall(r"^#+\s+(.+?)\s*$", "\n".join(prose), flags=re.MULTILINE)
    anchors = {heading.replace(" ", "-") for heading in headings}
    for text in prose:
        yield from broken_links(text, Path(path).parent, anchors)


@rule
def setup_comes_first(notebook, path):
    """The first code cell is the set-up cell. It is folded, and begins with what to run on Colab before it."""
    code = code_cells(notebook)
    if not code or "setup(" not in code[0].source:
        yield "the first code cell does not call setup()"
    elif not code[0].source.startswith(SETUP):
        yield f"the first code cell does not begin with what to do on Colab:\n{SETUP}"
    elif not code[0].metadata.get("jupyter", {}).get("source_hidden"):
        yield "the first code cell is not folded: its metadata lack jupyter.source_hidden"


@rule
def shows_and_asserts_nothing(notebook, path):
    """A notebook leaves assertions to the tests of its claims."""
    for cell in code_cells(notebook):
        if any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(cell.source))):
            claims = f"tests/course/{Path(path).stem[3:]}/test_claims.py"
            yield f"{where(cell)} asserts something; show it, and assert it in {claims}"


@rule
def shows_pictures_last(notebook, path):
    """A cell displays what its last line gives: `show(...)` further up draws a picture that nobody sees."""
    for cell in code_cells(notebook):
        for line in ast.parse(cell.source).body[:-1]:
            call = line.value if isinstance(line, ast.Expr) else None
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") in ("show", "table", "show_source"):
                yield f"{where(cell)} calls {call.func.id}(...) before its last line, so nobody sees it"


@rule
def asks_before_it_shows(notebook, path):
    """At least two predictions and two to four exercises."""
    predictions = sum("predict(" in cell.source for cell in code_cells(notebook))
    exercises = sum("exercise" in tags(cell) for cell in code_cells(notebook))
    if predictions < 2:
        yield f"{predictions} predictions, expected at least 2"
    fewest, most = EXERCISES_OF.get(Path(path).stem, EXERCISES)
    if not fewest <= exercises <= most:
        yield f"{exercises} exercises, expected {fewest} to {most}"


@rule
def picture_before_explorer(notebook, path):
    """A static picture comes before each explorer, in prose, code or question, and the explorer stores one too."""
    picture = False
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            picture = picture or "![" in cell.source
        elif is_explorer(cell):
            if not picture:
                yield f"{where(cell)} has no static picture before it"
            if not has_picture(cell) and not hides_picture(cell):
                yield f"{where(cell)} stores no picture of the explorer"
            picture = "explore.alive(" in cell.source  # it shows every part, also of what an explorer below it is about
        else:
            picture = picture or has_picture(cell) or hides_picture(cell)


@rule
def live_cells_are_tagged(notebook, path):
    """Cells that show widgets or measure time are left out of the comparison of outputs."""
    for cell in code_cells(notebook):
        live = LIVE.search(cell.source) or any(WIDGET_VIEW in data for data in data_of(cell))
        if live and "nbval-ignore-output" not in tags(cell):
            yield f"{where(cell)} shows a widget or a time and lacks the tag nbval-ignore-output"


@rule
def folds_say_their_kind(notebook, path):
    """A fold in the prose is a hint, an answer, what comes after a result, or an aside, and looks like it."""
    for cell in notebook.cells:
        for tag, attributes in Tags(cell.source).found if cell.cell_type == "markdown" else ():
            if tag == "details" and attributes.get("class") not in ("hint", "answer", "after", "aside"):
                yield f"{where(cell)} has a fold of the class {attributes.get('class')}, expected one of folds.css"


@rule
def web_wordings_stand_in_their_cell(notebook, path):
    """What the web edition says otherwise is there to be replaced."""
    for cell in notebook.cells:
        for said in cell.metadata.get("web", {}):
            if said not in cell.source:
                yield f"{where(cell)}: for {said!r} the web has other words, and the cell has no such ones"
