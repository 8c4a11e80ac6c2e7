"""What a stored notebook, a typed text and a file of weights cannot do: run, load, or become more than they are."""

import ast
import gzip
import json
import os
import pickle
import re
import subprocess
import sys
from functools import partial
from html.parser import HTMLParser

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pandas as pd
import pytest
import torch
from explorers import EXPLORERS
from hostile_texts import HOSTILE
from IPython.core.formatters import DisplayFormatter
from matplotlib.figure import Figure
from matplotlib.mathtext import MathTextParser
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, new_raw_cell
from notebook_rules import PRIVATE, Tags, texts_of
from places import NOTEBOOKS, ROOT
from safetensors.torch import save

from encoder_lib import checks, load_pretrained, plots
from encoder_lib.checks import clinic
from encoder_lib.explore.questions import Question
from encoder_lib.explore.widget.controls import Text
from encoder_lib.explore.widget.prediction import Prediction
from encoder_lib.files import open_safetensors
from encoder_lib.notebook import Source, complaint, table
from encoder_lib.plots import UNSEEN, readable
from encoder_lib.pretrained import hub
from encoder_lib.training.checkpoint import load_checkpoint

SOURCES = sorted(ROOT.glob("encoder_lib/**/*.py"))
FRONT_END = sorted(path for path in ROOT.glob("encoder_lib/**/*") if path.suffix in (".js", ".css"))


def name_of(path):
    """A path as a test's id."""
    return str(path.relative_to(ROOT))


# Stored notebooks hold what is on these lists, and nothing else.

MIMES = {"text/plain", "text/html", "image/png"}
TAGS = {
    "div": {"role", "class", "style"},
    "img": {"alt", "src", "style"},
    "li": {"style"},
    "p": set(),
    "pre": {"style"},
    "span": {"style"},
    "strong": set(),
    "table": {"border", "class"},
    "tbody": set(),
    "td": set(),
    "th": {"scope"},
    "thead": set(),
    "tr": {"style"},
    "ul": {"style"},
    **{tag: set() for tag in ("details", "summary")},
}  # of HTML in outputs, with their attributes
# what pandas writes before every table, word for word
OF_TABLES = """<style scoped>
    .dataframe tbody tr th:only-of-type {
        vertical-align: middle;
    }

    .dataframe tbody tr th {
        vertical-align: top;
    }

    .dataframe thead th {
        text-align: right;
    }
</style>
"""
PROSE = {"details", "summary"}  # tags in the prose, without attributes
PICTURE = re.compile(r"data:image/png;base64,[A-Za-z0-9+/=\s]+")
STYLE = re.compile(r"(?i)url\s*\(|expression\s*\(|@import|behaviou?r\s*:|binding\s*:|position\s*:|\\|/\*")
SECRETS = {**PRIVATE, "a home folder": r"(?<!\w)~/\w|\$HOME\b", "a key": r"-----BEGIN [A-Z ]*KEY-----"}


def strangers(notebook):
    """What a stored notebook holds besides text, pictures and the course's own HTML, in words."""
    if "widgets" in notebook.metadata:
        yield "widget state"
    for cell in notebook.cells:
        if cell.get("attachments"):
            yield "an attachment"
        if cell.cell_type == "markdown":
            yield from strangers_in_prose(cell.source)
        elif cell.cell_type == "raw":
            yield "a raw cell"
        else:
            yield from strangers_in_outputs(cell)


def strangers_in_prose(source):
    """Tags, and pictures from other places."""
    text = re.sub(r"```.*?```|`[^`\n]*`", "", source, flags=re.DOTALL)
    for tag, attributes in Tags(text).found:
        if tag not in PROSE or attributes:
            yield f"<{tag}> in the prose"
    for target in re.findall(r"!\[[^\]]*\]\(\s*<?([^)\s>]*)", text):
        if re.match(r"[a-z][a-z+.-]*:|/", target, re.IGNORECASE):
            yield f"a picture from {target[:20]}"
    if re.search(r"(?i)\b(javascript|vbscript|data)\s*:\s*\S", text):
        yield "a link that runs"


def strangers_in_outputs(cell):
    """MIME types, tags, attributes and addresses that are on no list, and words that are nobody's business."""
    for output in cell.outputs:
        data = output.get("data", {})
        yield from (f"the MIME type {mime}" for mime in data.keys() - MIMES)
        for tag, attributes in Tags(data.get("text/html", "").replace(OF_TABLES, "")).found:
            if tag not in TAGS:
                yield f"<{tag}>"
            yield from (f"{tag} with {name}" for name in attributes.keys() - TAGS.get(tag, set()))
            if "src" in attributes and not PICTURE.fullmatch(attributes["src"] or ""):
                yield "src from elsewhere"
            if STYLE.search(attributes.get("style") or ""):
                yield "a style that loads or covers"
    text = "\n".join(texts_of(cell))
    yield from (name for name, pattern in SECRETS.items() if re.search(pattern, text))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name_of)
def test_a_stored_notebook_runs_and_loads_nothing(path):
    """No script, frame, handler or address in an output, no attachment, no widget state, no secret."""
    assert sorted(strangers(nbformat.read(path, as_version=4))) == []


def shown(markup, mime="text/html"):
    """A notebook whose one output is this."""
    bundle = {"text/plain": "x", mime: markup}
    return new_notebook(cells=[new_code_cell("x", outputs=[new_output("display_data", bundle)])])


def said(text):
    """A notebook whose one output is this text."""
    return new_notebook(cells=[new_code_cell("x", outputs=[new_output("stream", text=text)])])


IMAGE = '<img alt="x" src="data:image/png;base64,aaaa">'
INTRUDERS = {
    "a script": (shown("<script>1</script>"), "<script>"),
    "a frame": (shown('<iframe srcdoc="x"></iframe>'), "<iframe>"),
    "a handler": (shown(IMAGE.replace("alt", 'onerror="x" alt')), "img with onerror"),
    "a handler in capitals": (shown('<DIV OnClick="x">'), "div with onclick"),
    "a link": (shown('<a href="x.html">x</a>'), "<a>"),
    "a vector graphic": (shown("<svg onload=x>"), "<svg>"),
    "a style sheet": (shown("<style>@import 'x'</style>"), "<style>"),
    "a style sheet of a table's": (shown(OF_TABLES.replace("top", "bottom")), "<style>"),
    "a style sheet of a table's in a style sheet": (shown(f"<style>@import 'x'{OF_TABLES}</style>"), "<style>"),
    "a link in a table": (shown('<table class="dataframe"><td><a href="x">x</a></td></table>'), "<a>"),
    "a handler in a table": (shown('<td onclick="x()">'), "td with onclick"),
    "a refresh": (shown('<meta http-equiv="refresh" content="0">'), "<meta>"),
    "a picture of this server": (shown('<img alt="x" src="x.png">'), "src from elsewhere"),
    "a picture of another host": (shown('<img alt="x" src="//example.org/x.png">'), "src from elsewhere"),
    "a page as a picture": (shown('<img alt="x" src="data:text/html,x">'), "src from elsewhere"),
    "a vector picture": (shown('<img alt="x" src="data:image/svg+xml;base64,aa">'), "src from elsewhere"),
    "a style that loads": (shown('<div style="background: URL (x.png)">'), "a style that loads or covers"),
    "a style that covers": (shown('<div style="position:fixed;top:0">'), "a style that loads or covers"),
    "JavaScript": (shown("alert(1)", "application/javascript"), "the MIME type application/javascript"),
    "Markdown": (shown("[x](javascript:1)", "text/markdown"), "the MIME type text/markdown"),
    "a vector output": (shown("<svg/>", "image/svg+xml"), "the MIME type image/svg+xml"),
    "a token": (said("token=0123456789abcdef"), "a secret"),
    "a home": (said("saved to /home/me/x"), "a path"),
    "a home in short": (said("saved to ~/x"), "a home folder"),
    "a key": (said("-----BEGIN RSA PRIVATE KEY-----"), "a key"),
    "an address": (said("see https://example.org"), "an external URL"),
    "widget state": (new_notebook(metadata={"widgets": {}}), "widget state"),
    "a raw cell": (new_notebook(cells=[new_raw_cell("<script>")]), "a raw cell"),
    "an attachment": (new_notebook(cells=[new_markdown_cell("x", attachments={"x": {}})]), "an attachment"),
    "a script in the prose": (new_notebook(cells=[new_markdown_cell("a <script>")]), "<script> in the prose"),
    "a handler in the prose": (
        new_notebook(cells=[new_markdown_cell("<details ontoggle=x>")]),
        "<details> in the prose",
    ),
    "a picture in the prose": (new_notebook(cells=[new_markdown_cell("![x](https://x.org/x)")]), "a picture from"),
    "a link that runs": (new_notebook(cells=[new_markdown_cell("[x](JavaScript: 1)")]), "a link that runs"),
}


@pytest.mark.parametrize("name", INTRUDERS)
def test_an_intruder_is_noticed(name):
    """The lists above do tell what is on them from what is not."""
    notebook, words = INTRUDERS[name]
    assert any(found.startswith(words) for found in strangers(notebook))


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_table_of_any_texts_holds_no_markup(text):
    """Names of columns and rows, and cells, are text to the page."""
    page = table({text: [text, 1.5], "n": [1, 2]}, rows=[text, "b"])._repr_html_()
    assert [words for words in strangers(shown(page)) if words not in SECRETS] == []  # the text itself may be one
    assert OF_TABLES in page and [tag for tag, _ in Tags(page).found].count("td") == 4


# The front end builds the page node by node, and asks for nothing.

UNSAFE = re.compile(
    r"\beval\b|\bFunction\s*\(|innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser"
    r"|setHTML|srcdoc|\bfetch\b|\bimport\s*\(|^\s*import\b(?! \{[^}]*\} from \"\./\w+\.js\";$)"
    r"|XMLHttpRequest|WebSocket|EventSource|sendBeacon|\bWorker\b"
    r"|https?:|window\.open|\blocation\b|\bhref\b|postMessage|localStorage|sessionStorage|document\.cookie|javascript:"
    r"|set(?:Timeout|Interval)\s*\(\s*[\"'`]|[\"'`]on[a-z]+[\"'`]|\bon[a-z]+\s*:|\.on(?:click|error|load|input|key\w+)\s*="
    r"|element\((?!\s*[\"'])(?!tag,)|createElement\((?!tag\))|@import|url\s*\(|expression\s*\(",
    re.MULTILINE,
)


@pytest.mark.parametrize("path", FRONT_END, ids=name_of)
def test_the_front_end_makes_no_markup_and_no_request(path):
    """No string becomes code or markup, no tag's name comes from data, and nothing is fetched."""
    assert UNSAFE.findall(path.read_text(encoding="utf-8")) == []
    assert len(FRONT_END) >= 5


@pytest.mark.parametrize(
    "line",
    [
        "eval(x)", "new Function(x)", "a.innerHTML = x", "a.insertAdjacentHTML('beforeend', x)", "document.write(x)",
        "fetch('x')", "await import('x')", "import x from 'y'", 'import { x } from "//y.js";',
        "new XMLHttpRequest()", "new WebSocket(x)",
        "new EventSource(x)", "navigator.sendBeacon(x)", "new Worker(x)", "setTimeout('x', 1)", "a.onclick = x",
        "element('a', { onclick: x })", "a.setAttribute('onload', x)", "element(word, {})", "element('a', { href: x })",
        "document.createElement(word)", "location = x", "x { background: url(y) }", "@import 'x';", "'https://x'",
    ],
)  # fmt: skip
def test_an_unsafe_line_is_noticed(line):
    """Each way to make markup, to run a string or to ask for something."""
    assert UNSAFE.search(line)


# Python: nothing is unpickled, and no text becomes a program.

FORBIDDEN = re.compile(
    r"(c?_?pickle|cPickle|pickletools|dill|cloudpickle|joblib|shelve|marshal|subprocess|pty|runpy|code|codeop|yaml"
    r"|multiprocessing|xmlrpc|socketserver|webbrowser)(\..*)?"
    r"|torch\.(load|jit\.load|package.*|hub\.load.*|serialization.*|utils\.model_zoo.*)"
    r"|numpy\.(load|lib\.format.*|ctypeslib.*)|pandas\.read_pickle"
    r"|builtins\.(eval|exec|compile|__import__|breakpoint)"
    r"|os\.(system|popen|exec\w+|spawn\w+|posix_spawn\w*|fork\w*|startfile)|importlib\.import_module"
    r"|IPython\.(core\.)?display\.(HTML|Javascript|Markdown|SVG|IFrame|Latex)|ipywidgets\.(HTML|HTMLMath|Label)"
)
ONLY_THERE = {
    r"(urllib\.request|http|http\.client|socket|ssl|requests|httpx|aiohttp|ftplib|huggingface_hub)(\..*)?": (
        "pretrained/hub.py"
    ),
    r"ctypes(\..*)?": "checks/limit.py",
}


def names_used(tree):
    """The full name of all that a module imports or refers to, whatever it is called there."""
    known = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                known[alias.asname or first] = alias.name if alias.asname else first
                yield alias.name
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                known[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                yield f"{node.module}.{alias.name}"
    for node in ast.walk(tree):
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if isinstance(node, ast.Name):
            yield ".".join([known.get(node.id, f"builtins.{node.id}"), *reversed(parts)])


def forbidden(source):
    """The names in Python source that could unpickle, run a text or start a program."""
    return sorted({name for name in names_used(ast.parse(source)) if FORBIDDEN.fullmatch(name)})


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_the_library_unpickles_nothing_and_runs_no_text(path):
    """Weights come from safetensors; the network is one module's business, and the interpreter another's."""
    source = path.read_text(encoding="utf-8")
    assert forbidden(source) == []
    for names, place in ONLY_THERE.items():
        if path != ROOT / "encoder_lib" / place:
            assert [name for name in names_used(ast.parse(source)) if re.fullmatch(names, name)] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name_of)
def test_the_notebooks_unpickle_nothing_and_run_no_text(path):
    """Their cells keep the library's rule, and are Python alone: no shell, no magic."""
    cells = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    found = [forbidden(source) for source in cells]
    assert [names for names in found if names] == []
    assert not any("shell=True" in source for source in cells)


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("import torch\ntorch.load('x')", "torch.load"),
        ("import torch as t\nt.load('x')", "torch.load"),
        ("from torch import load as read\nread('x')", "torch.load"),
        ("import torch.hub\ntorch.hub.load('x')", "torch.hub.load"),
        ("import numpy as np\nnp.load('x', allow_pickle=True)", "numpy.load"),
        ("from numpy import load\nload('x')", "numpy.load"),
        ("def f():\n    import pickle", "pickle"),
        ("from joblib import load", "joblib.load"),
        ("import os\nos.system('x')", "os.system"),
        ("import os as o\nf = o.popen", "os.popen"),
        ("import subprocess as s\ns.run('x', shell=True)", "subprocess"),
        ("eval('x')", "builtins.eval"),
        ("import builtins\nbuiltins.exec('x')", "builtins.exec"),
        ("f = compile", "builtins.compile"),
        ("__import__('os')", "builtins.__import__"),
        ("from IPython.display import HTML\nHTML(x)", "IPython.display.HTML"),
        ("import ipywidgets as w\nw.HTML(x)", "ipywidgets.HTML"),
    ],
)
def test_a_forbidden_name_is_noticed(source, name):
    """Under any alias and in any scope; and what merely looks alike is not."""
    assert name in forbidden(source)
    assert forbidden("import torch, re\nmodel.eval()\ntorch.compile(f)\nre.compile('x')\nmodel.load('x')") == []


class Bomb:
    """Unpickled, it makes a folder."""

    def __init__(self, trace):
        self.trace = str(trace)

    def __reduce__(self):
        return os.mkdir, (self.trace,)


def dump(bomb, path, protocol):
    path.write_bytes(pickle.dumps(bomb, protocol))


def dump_torch(bomb, path, new):
    torch.save({"weight": bomb}, path, _use_new_zipfile_serialization=new)


def dump_numpy(bomb, path, write):
    with open(path, "wb") as file:
        write(file, np.array([bomb, None], dtype=object))


BOMBS = {
    **{f"pickle {n}": partial(dump, protocol=n) for n in (0, 2, 5)},
    "torch": partial(dump_torch, new=True),
    "torch, old": partial(dump_torch, new=False),
    "npy": partial(dump_numpy, write=np.save),
    "npz": partial(dump_numpy, write=np.savez),
    "gzip": lambda bomb, path: path.write_bytes(gzip.compress(pickle.dumps(bomb))),
    "after weights": lambda bomb, path: path.write_bytes(save({"weight": torch.ones(2)}) + pickle.dumps(bomb)),
}


@pytest.fixture
def folder(tmp_path):
    """MiniLM's folder without its weights, to put other files in."""
    for name in ("config.json", "tokenizer.json", "modules.json"):
        (tmp_path / name).write_bytes((hub.minilm() / name).read_bytes())
    return tmp_path


@pytest.mark.parametrize("kind", BOMBS)
def test_a_pickle_in_the_place_of_weights_stays_closed(folder, kind):
    """Whatever the file's name says: each reader refuses it by name, and nothing in it runs."""
    trace, path = folder / "pwned", folder / "model.safetensors"
    BOMBS[kind](Bomb(trace), path)
    readers = [partial(open_safetensors, path), partial(load_checkpoint, torch.nn.Linear(2, 2), path)]
    for read in (*readers, partial(load_pretrained, folder)):
        with pytest.raises(ValueError, match=r"model\.safetensors: not a safetensors file"):
            read()
    assert not trace.exists()


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "modules.json", "sentence_bert_config.json"])
def test_a_pickle_in_the_place_of_settings_stays_closed(folder, name):
    """The files of a folder are JSON; a pickle among them is refused by name."""
    dump(Bomb(folder / "pwned"), folder / name, 0)
    with pytest.raises(ValueError, match=re.escape(name)):
        load_pretrained(folder)
    assert not (folder / "pwned").exists()


def test_the_bombs_go_off_when_they_are_opened(tmp_path):
    """Otherwise the tests above would prove nothing."""
    readers = {
        "pickle": lambda path: pickle.loads(path.read_bytes()),
        "torch": partial(torch.load, weights_only=False),
        "npy": partial(np.load, allow_pickle=True),
        "gzip": lambda path: pickle.loads(gzip.decompress(path.read_bytes())),
        "after": lambda path: pickle.loads(path.read_bytes()[len(save({"weight": torch.ones(2)})) :]),
        "npz": lambda path: np.load(path, allow_pickle=True)["arr_0"],
    }
    for number, (kind, write) in enumerate(BOMBS.items()):
        write(Bomb(tmp_path / f"trace {number}"), tmp_path / "file")
        readers[re.match(r"\w+", kind).group()](tmp_path / "file")
        assert (tmp_path / f"trace {number}").exists(), kind


WATCHED = """
import json, pickle, sys, tempfile
from pathlib import Path

import torch
from encoder_lib import explore, load_pretrained
from encoder_lib.training.checkpoint import load_checkpoint, save_checkpoint

seen = []
TOLD = ("pickle.find_class", "os.system", "os.exec", "os.fork", "os.posix_spawn", "subprocess.Popen", "socket.connect",
        "socket.getaddrinfo", "urllib.Request")
sys.addaudithook(lambda event, arguments: seen.append(event) if event in TOLD else None)
model = load_pretrained()
model.encode(["one text", "and another"])
file = Path(tempfile.mkdtemp()) / "model.safetensors"
save_checkpoint(model.encoder, file)
load_checkpoint(model.encoder, file)
explorer = explore.heads(model, "one text")
explorer.sentence = "__import__('os').system('touch x')"
while_it_worked = list(seen)
pickle.loads(pickle.dumps(Path))
print(json.dumps([while_it_worked, seen]))
"""


@pytest.mark.long
def test_the_interpreter_itself_sees_no_unpickling(tmp_path):
    """Python's audit events tell of each global that is unpickled, each program and each connection: there is none."""
    done = subprocess.run([sys.executable, "-c", WATCHED], capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert done.returncode == 0, done.stderr
    while_it_worked, in_the_end = json.loads(done.stdout)
    assert (while_it_worked, in_the_end) == ([], ["pickle.find_class"])


# A typed text is shown, and is never markup, a formula, an order to the terminal or the name of a file.


class Page(HTMLParser):
    """All that a piece of HTML is made of."""

    def __init__(self, markup):
        super().__init__()
        self.tags, self.text, self.others = [], "", []
        self.handle_comment = self.handle_decl = self.handle_pi = self.unknown_decl = self.others.append
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


@pytest.fixture
def no_formulas(monkeypatch):
    """No text that a reader typed reaches matplotlib's parser of formulas; gives the list of those that did."""
    parsed, parse = [], MathTextParser.parse

    def note(self, text, *arguments, **settings):
        parsed.append(text)
        return parse(self, text, *arguments, **settings)

    monkeypatch.setattr(MathTextParser, "parse", note)
    yield parsed
    assert [text for text in parsed if "pwned" in text] == []


def texts_in(value):
    """Every string in a widget's state."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for pair in value.items():
            yield from texts_in(pair)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from texts_in(each)


def harmless(text):
    """Whether a text can be sent and shown: whole characters, none that steers the screen or turns the line around."""
    text.encode()
    return not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]", text) and not UNSEEN.search(text)


def typed_into(explorer):
    """The controls that take a text."""
    return [control for control in explorer._by_name.values() if isinstance(control, Text)]


TYPED = ("heads", "attend", *(pytest.param(n, marks=pytest.mark.long) for n in ("atlas", "block_steps")))
MODULES = {"attention", "block", "pretrained"}  # where these are made; each has one above


def test_every_explorer_that_takes_a_text_is_tried_here():
    """A new one has to be added above."""
    files = (ROOT / "encoder_lib/explore").glob("*.py")
    assert {
        file.stem for file in files if re.search(r"(?<!class )\bText\(", file.read_text(encoding="utf-8"))
    } == MODULES
    assert len(HOSTILE) >= 40


@pytest.mark.parametrize("name", TYPED)
def test_a_text_typed_into_an_explorer_stays_text(name, no_formulas):
    """It is cut, and comes back as it was typed; what is shown and said can be sent, and no part of it is markup."""
    explorer = EXPLORERS[name]()
    (control,) = typed_into(explorer)
    for case, text in HOSTILE.items():
        explorer.set(**{control.name: text})
        assert getattr(explorer, control.name) == readable(text[: control.max_length], control.max_length), case
        assert explorer.error == ""
        state = {key: value for key, value in explorer.get_state().items() if key not in ("_esm", "_css")}
        assert all(map(harmless, texts_in(state))), case
        page = Page(plots.Picture(b"", explorer.description)._repr_mimebundle_()["text/html"])
        assert [(tag, attributes["alt"]) for tag, attributes in page.tags] == [("img", explorer.description)], case
        assert not page.text.strip() and not page.others


@pytest.mark.parametrize("name", ["heads", "attend"])
def test_a_typed_text_is_drawn_as_it_is(name, no_formulas):
    """The picture for readers without a kernel takes no word for a formula, and is HTML of one tag."""
    explorer = EXPLORERS[name]()
    for text in (
        "$pwned^2$ $\\frac{1}{$pwned ^_ _pwned \\pwned{",
        "<img/onerror=x> &lt; “pwned” 'a' \"b\" `c` \u202ed",
    ):
        explorer.sentence = text
        bundle, _ = explorer._repr_mimebundle_()
        assert [tag for tag, _ in Page(bundle["text/html"]).tags] == ["img"]


def test_the_words_of_a_sentence_are_those_that_were_typed():
    """Nothing is left out of them, doubled or decoded."""
    explorer = EXPLORERS["attend"]()
    for text in HOSTILE.values():
        explorer.sentence = text
        words = [readable(word, 16) for word in readable(text[:100], 100).split()[:12]] or ["(nothing)"]
        assert [button for panel in explorer._panels[:2] for button in panel["x_ticks"]] == 2 * words


ROWS, NAMES = torch.eye(3), ["$pwned^2$", "$\\frac{1}{$pwned", "<b>pwned_\\x{"]
TITLE = "$pwned^2$ $x^$ \\pwned{"
LABELS = {"title": TITLE, "x_label": TITLE, "y_label": TITLE}
CURVES = {name: torch.ones(3) for name in NAMES}
NUMBERS = dict.fromkeys(NAMES, 1.0)
DRAWN = {
    "plot_heatmap": lambda: plots.plot_heatmap(ROWS, x_ticks=NAMES, y_ticks=NAMES, **LABELS),
    "plot_lines": lambda: plots.plot_lines(CURVES, **LABELS),
    "plot_bars": lambda: plots.plot_bars(NUMBERS, title=TITLE, x_label=TITLE),
    "plot_histogram": lambda: plots.plot_histogram(torch.arange(9.0), NUMBERS, **LABELS),
    "plot_word_vectors": lambda: plots.plot_word_vectors(ROWS[:, :2], NAMES, NAMES, title=TITLE),
    "plot_weighted_mean": lambda: plots.plot_weighted_mean(ROWS[:, :2], ROWS[0], NAMES, title=TITLE),
    "plot_attention": lambda: plots.plot_attention(ROWS, ROWS, ROWS, NAMES, titles=NAMES),
    "plot_attention_lines": lambda: plots.plot_attention_lines(ROWS, NAMES, title=TITLE),
    "plot_cards": lambda: plots.plot_cards(NAMES, [1, 2, 0], NAMES, title=TITLE),
    "plot_ladder": lambda: plots.plot_ladder([(name, 0.5, 1.0) for name in NAMES], title=TITLE),
    "plot_token_attention": lambda: plots.plot_token_attention(ROWS[0], NAMES, chosen=0, title=TITLE),
    "plot_reordering": lambda: plots.plot_reordering(ROWS, ROWS, [2, 1, 0], NAMES, title=TITLE),
    "plot_fit": lambda: plots.plot_fit(torch.arange(3.0), torch.ones(3), ROWS, 0.0, titles=NAMES[:2]),
    "plot_dots": lambda: plots.plot_dots(dict.fromkeys(NAMES, NUMBERS), title=TITLE, x_label=TITLE),
    "plot_clocks": lambda: plots.plot_clocks(torch.ones(4), torch.ones(4), title=TITLE),
    "plot_residual_stream": lambda: plots.plot_residual_stream(title=TITLE),
    "plot_normalisation_axes": lambda: plots.plot_normalisation_axes(2, title=TITLE),
    "plot_normalisations": lambda: plots.plot_normalisations(dict.fromkeys(NAMES, 2)),
    "plot_panels": lambda: plots.plot_panels(dict.fromkeys(NAMES, CURVES), y_label=TITLE),
}


def test_every_picture_that_takes_words_is_drawn_here():
    """But for profiles, whose names are drawn as those of lines are."""
    assert {name for name in dir(plots) if name.startswith("plot_")} == {*DRAWN, "plot_profiles"}


@pytest.mark.parametrize("name", DRAWN)
def test_words_in_a_picture_are_no_formulas(name, no_formulas):
    """Titles, labels, ticks and legends: no dollar sign starts a formula, right or wrong."""
    picture = DRAWN[name]()
    (picture if isinstance(picture, Figure) else picture.figure).canvas.draw()
    plt.close("all")


def test_a_formula_would_be_noticed(no_formulas):
    """Matplotlib itself takes the same words for one."""
    _, ax = plt.subplots()
    ax.set_title("$x^2$")
    ax.figure.canvas.draw()
    plt.close("all")
    assert "$x^2$" in no_formulas


def raising(text):
    """A learner's function that fails with these words."""

    def attempt(*arguments, **settings):
        raise ValueError(text)

    return attempt


class Speechless(Exception):
    """An error that fails again when it is asked for its words."""

    def __str__(self):
        raise RuntimeError("no words")

    __repr__ = __str__


def speechless(*arguments, **settings):
    raise Speechless


def strange(*arguments, **settings):
    """Give back an object whose class has a hostile and endless name, and no words."""
    return type("<img src=pwned onerror=x>" * 2000, (), {"__repr__": Speechless.__str__})()


CHECKS = [getattr(place, name) for place in (checks, clinic) for name in place.__all__ if name.startswith("check_")]
VERDICT = {
    "div": {"role", "class", "style"}, "strong": set(), "ul": {"style"}, "li": {"style"},
}  # fmt: skip


def assert_plain(verdict):
    """The verdict's HTML is its own few tags around its lines as text, out of reach of MathJax, and can be sent."""
    lines, page = verdict.lines(), Page(verdict._repr_html_())
    assert page.text == "".join(lines) and not page.others
    assert [tag for tag, _ in page.tags] == ["div", "strong", "ul", *["li"] * (len(lines) - 1)]
    assert all(attributes.keys() == VERDICT[tag] for tag, attributes in page.tags)
    assert {"mathjax_ignore", "tex2jax_ignore"} <= set(page.tags[0][1]["class"].split())
    assert all(map(harmless, lines)) and max(map(len, lines)) < 5000 and repr(verdict) == "\n".join(lines)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_verdict_quotes_and_does_not_repeat(check):
    """What a learner's function says or gives back is text in the verdict, however it is meant."""
    for attempt in (raising("\n".join(HOSTILE.values())), raising("\ud800"), speechless, strange, "<b>", raising("")):
        verdict = check(attempt)
        assert not verdict.correct
        assert_plain(verdict)


@pytest.mark.parametrize("check", [checks.check_unit, clinic.check_embedding])
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_the_words_of_an_error_are_quoted_in_a_verdict(check, text):
    """Each hostile text, as far as it is quoted."""
    verdict = check(raising(text))
    assert_plain(verdict)
    quoted = "\n".join(readable(line, 999) for line in text[:300].split("\n"))
    assert quoted in Page(verdict._repr_html_()).text


def mimes(thing):
    """What a notebook shows of an object: its MIME bundle."""
    return DisplayFormatter(active_types=[*MIMES, "text/markdown", "text/latex", "image/svg+xml"]).format(thing)[0]


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_what_else_quotes_a_text_keeps_it_text(text):
    """A question and its choices, a source, the alt text of a picture, and what a function says when it refuses."""
    table = ["table", "thead", "tr", "td", "th", "tbody", "tr", "th", "td"]
    results = {"pre": f"- {text[:3000]}", "table": pd.DataFrame({f"- {text}": [text]}, index=[text])}
    for result, tags in ((results["pre"], ["pre"]), (results["table"], table)):
        prediction = Prediction(Question(text, (text, "b"), 0, text), lambda result=result: result)
        page = Page(prediction._repr_mimebundle_()[0]["text/html"])
        assert [tag for tag, _ in page.tags] == ["p", "ul", "li", "li", "details", "summary", "p", *tags]
        assert not page.others
    page = Page(mimes(Source(text))["text/html"])
    assert {tag for tag, _ in page.tags} <= {"pre", "span"} and not page.others
    assert "".join(page.text.split()) == "".join(text.split())
    page = Page(mimes(plots.Picture(b"", text))["text/html"])
    assert [(tag, attributes["alt"]) for tag, attributes in page.tags] == [("img", text)]
    assert mimes(complaint(raising(text))).keys() == {"text/plain"}
