"""What a stored notebook, a typed text and a file of weights cannot do: run, load, or become more than they are."""

import ast
import itertools
import os
import pickle
import re
import shutil
import subprocess
import sys

import matplotlib.pyplot as plt
import nbformat
import pandas as pd
import pytest
import torch
from explorers import EXPLORERS
from hostile_texts import HOSTILE
from matplotlib.mathtext import MathTextParser
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, new_raw_cell
from notebook_rules import Tags, texts_of
from places import NOTEBOOKS, ROOT
from safetensors.torch import save

from encoder_lib import load_pretrained
from encoder_lib.course.checks import check_pool, clinic
from encoder_lib.course.explore.questions import Question
from encoder_lib.course.explore.widget.controls import Text
from encoder_lib.course.explore.widget.prediction import Prediction
from encoder_lib.course.notebook import Source, table
from encoder_lib.course.plots import UNSEEN, Picture, readable
from encoder_lib.pretrained import hub

SOURCES = sorted(ROOT.glob("encoder_lib/**/*.py"))
FRONT_END = sorted(path for path in ROOT.glob("encoder_lib/**/*") if path.suffix in (".js", ".css"))
STORED = {path.stem: nbformat.read(path, as_version=4) for path in NOTEBOOKS}


# Stored notebooks hold what is on these lists, and nothing else.

MIMES = {"text/plain", "text/html", "image/png"}
TAGS = {
    "div": {"role", "class", "style"},
    "img": {"alt", "src", "style"},
    "table": {"border", "class"},
    "th": {"scope"},
    **{tag: {"style"} for tag in ("li", "pre", "span", "tr", "ul")},
    **{tag: set() for tag in ("details", "p", "strong", "summary", "tbody", "td", "thead")},
}  # of HTML in outputs, with their attributes
# what pandas writes before every table, word for word
OF_TABLES = re.search(r"<style scoped>.*?</style>\n", pd.DataFrame([1])._repr_html_(), re.DOTALL).group()
PROSE = {"details", "summary"}  # tags in the prose, without attributes but one
PICTURE = re.compile(r"data:image/png;base64,[A-Za-z0-9+/=\s]+")
STYLE = re.compile(r"(?i)url\s*\(|expression\s*\(|@import|behaviou?r\s*:|binding\s*:|position\s*:|\\|/\*")
SECRETS = {"a home folder": r"(?<!\w)~/\w|\$HOME\b", "a key": r"-----BEGIN [A-Z ]*KEY-----"}


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
        if tag not in PROSE or attributes.items() - {("class", "after")}:  # the fold that a question opens
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


def test_a_stored_notebook_runs_and_loads_nothing():
    """No script, frame, handler or address in an output, no attachment, no widget state, no secret."""
    assert {name: found for name, stored in STORED.items() if (found := sorted(strangers(stored)))} == {}


def shown(markup, mime="text/html"):
    """A notebook whose one output is this."""
    return new_notebook(cells=[new_code_cell("x", outputs=[new_output("display_data", {mime: markup})])])


def written(prose, **others):
    """A notebook of one cell of prose."""
    return new_notebook(cells=[new_markdown_cell(prose, **others)])


INTRUDERS = {
    "<script>": shown("<script>1</script>"),
    "<style>": shown(f"<style>@import 'x'{OF_TABLES}</style>"),
    "div with onclick": shown('<DIV OnClick="x">'),
    "src from elsewhere": shown('<img alt="x" src="data:image/svg+xml;base64,aa">'),
    "a style that loads or covers": shown('<div style="background: URL (x.png)">'),
    "the MIME type text/markdown": shown("[x](x)", "text/markdown"),
    "a home folder": shown("saved to ~/x", "text/plain"),
    "a key": shown("-----BEGIN RSA PRIVATE KEY-----", "text/plain"),
    "widget state": new_notebook(metadata={"widgets": {}}),
    "a raw cell": new_notebook(cells=[new_raw_cell("<script>")]),
    "an attachment": written("x", attachments={"x": {}}),
    "<b> in the prose": written("a <b>"),
    "<details> in the prose": written("<details ontoggle=x>"),
    "a picture from https://x.org/x": written("![x](https://x.org/x)"),
    "a link that runs": written("[x](JavaScript: 1)"),
}


def test_an_intruder_is_noticed():
    """The lists above do tell what is on them from what is not."""
    assert {name: list(strangers(intruder)) for name, intruder in INTRUDERS.items()} == {n: [n] for n in INTRUDERS}


# The front end builds the page node by node, and asks for nothing.

UNSAFE = {
    "eval(x)": r"\beval\b|\bFunction\s*\(|set(?:Timeout|Interval)\s*\(\s*[\"'`]|javascript:",
    "a.innerHTML = x": r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser"
    r"|setHTML|srcdoc",
    "element(word, {})": r"element\((?!\s*[\"'])(?!tag,)|createElement\((?!tag\))",
    "a.onclick = x": r"[\"'`]on[a-z]+[\"'`]|\bon[a-z]+\s*:|\.on(?:click|error|load|input|key\w+)\s*=",
    "import { x } from '//y.js';": r"\bimport\s*\(|^\s*import\b(?! \{[^}]*\} from \"\./\w+\.js\";$)",
    "fetch('x')": r"\bfetch\b|XMLHttpRequest|WebSocket|EventSource|sendBeacon|\bWorker\b",
    "location = x": r"https?:|window\.open|\blocation\b|\bhref\b|postMessage",
    "localStorage.x": r"localStorage|sessionStorage|document\.cookie",
    "x { background: url(y) }": r"@import|url\s*\(|expression\s*\(",
}  # a line that each of the patterns is there for, and the pattern


def test_the_front_end_makes_no_markup_and_no_request():
    """No string becomes code or markup, no tag's name comes from data, and nothing is fetched."""
    assert len(FRONT_END) >= 5
    for line, pattern in UNSAFE.items():
        unsafe = re.compile(pattern, re.MULTILINE)
        assert unsafe.search(line)
        assert [path.name for path in FRONT_END if unsafe.search(path.read_text(encoding="utf-8"))] == [], line


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
    "pretrained/hub.py": r"(urllib\.request|http|socket|ssl|requests|httpx|aiohttp|ftplib|huggingface_hub)(\..*)?",
    "course/checks/limit.py": r"ctypes(\..*)?",
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
    return {name for name in names_used(ast.parse(source)) if FORBIDDEN.fullmatch(name)}


def test_the_library_unpickles_nothing_and_runs_no_text():
    """Weights come from safetensors; the network is one module's business, and the interpreter another's."""
    for path in SOURCES:
        source = path.read_text(encoding="utf-8")
        assert forbidden(source) == set(), path
        for place, pattern in ONLY_THERE.items():
            found = any(re.fullmatch(pattern, name) for name in names_used(ast.parse(source)))
            assert found == (path == ROOT / "encoder_lib" / place), path


def test_the_notebooks_unpickle_nothing_and_run_no_text():
    """Their cells keep the library's rule, and are Python alone: no shell, no magic."""
    for name, stored in STORED.items():
        sources = [cell.source for cell in stored.cells if cell.cell_type == "code"]
        found = set().union(*map(forbidden, sources))
        assert found == set(), name
        assert not any("shell=True" in source for source in sources), name


def test_a_forbidden_name_is_noticed():
    """Under any alias and in any scope; and what merely looks alike is not."""
    for source, name in {
        "import torch as t\nt.load('x')": "torch.load",
        "import torch.hub\ntorch.hub.load('x')": "torch.hub.load",
        "from numpy import load as read\nread('x')": "numpy.load",
        "def f():\n    import pickle": "pickle",
        "import os\nf = os.popen": "os.popen",
        "import builtins\nbuiltins.exec('x')": "builtins.exec",
        "f = compile": "builtins.compile",
        "import ipywidgets as w\nw.HTML(x)": "ipywidgets.HTML",
    }.items():
        assert name in forbidden(source), source
    assert forbidden("import torch, re\nmodel.eval()\ntorch.compile(f)\nre.compile('x')\nmodel.load('x')") == set()


class Bomb:
    """Unpickled, it makes a folder."""

    def __init__(self, trace):
        self.trace = str(trace)

    def __reduce__(self):
        return os.mkdir, (self.trace,)


SETTINGS = ["config.json", "tokenizer.json", "modules.json", "sentence_bert_config.json"]


@pytest.mark.parametrize("name", ["model.safetensors", *SETTINGS])
def test_a_pickle_in_the_place_of_weights_or_settings_stays_closed(name, tmp_path):
    """Whatever the file's name says: it is refused by name, and nothing in it runs."""
    folder, trace, zipped = tmp_path / "model", tmp_path / "pwned", tmp_path / "zipped"
    shutil.copytree(hub.minilm(), folder, ignore=shutil.ignore_patterns("model.safetensors"))
    bomb = pickle.dumps(Bomb(trace))
    torch.save(Bomb(trace), zipped)
    for content in (bomb, save({"weight": torch.ones(2)}) + bomb, zipped.read_bytes()):
        (folder / name).write_bytes(content)
        with pytest.raises(ValueError, match=re.escape(name)):
            load_pretrained(folder)
    assert not trace.exists()
    pickle.loads(bomb)  # otherwise this would prove nothing
    assert trace.exists()


WATCHED = """
import pickle, sys
from encoder_lib import load_pretrained
from encoder_lib.course import explore

seen = []
TOLD = ("pickle.find_class", "os.system", "os.exec", "os.fork", "os.posix_spawn", "subprocess.Popen", "socket.connect",
        "socket.getaddrinfo", "urllib.Request")
sys.addaudithook(lambda event, arguments: seen.append(event) if event in TOLD else None)
model = load_pretrained()
model.encode(["one text", "and another"])
explorer = explore.heads(model, "one text")
explorer.sentence = "__import__('os').system('touch x')"
pickle.loads(pickle.dumps(print))  # the one event that there has to be
print(seen)
"""


@pytest.mark.long
def test_the_interpreter_itself_sees_no_unpickling(tmp_path):
    """Python's audit events tell of each global that is unpickled, each program and each connection: there is none."""
    done = subprocess.run([sys.executable, "-c", WATCHED], capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert done.stdout == "['pickle.find_class']\n", done.stderr


# A typed text is shown, and is never markup, a formula, an order to the terminal or the name of a file.


class Page(Tags):
    """All that a piece of HTML is made of."""

    def __init__(self, markup):
        self.text, self.others = "", []
        self.handle_comment = self.handle_decl = self.handle_pi = self.unknown_decl = self.others.append
        super().__init__(markup)
        self.names = [tag for tag, _ in self.found]

    def handle_data(self, data):
        self.text += data


@pytest.fixture
def no_formulas(monkeypatch):
    """No text that a reader typed reaches matplotlib's parser of formulas."""
    parsed, parse = [], MathTextParser.parse

    def note(self, text, *arguments, **settings):
        parsed.append(text)
        return parse(self, text, *arguments, **settings)

    monkeypatch.setattr(MathTextParser, "parse", note)
    figure = plt.figure()
    figure.text(0, 0, "$x^2$")
    figure.canvas.draw()
    plt.close(figure)
    assert "$x^2$" in parsed  # a formula is noticed
    yield
    assert [text for text in parsed if "pwned" in text] == []


def texts_in(value):
    """Every string in a widget's state."""
    if isinstance(value, dict):
        return texts_in([*value, *value.values()])
    if isinstance(value, list | tuple):
        return [text for each in value for text in texts_in(each)]
    return [value] if isinstance(value, str) else []


def harmless(text):
    """Whether a text can be sent and shown: whole characters, none that steers the screen or turns the line around."""
    text.encode()
    return not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]", text) and not UNSEEN.search(text)


TYPED = ("heads", "attend", "walk", *(pytest.param(n, marks=pytest.mark.long) for n in ("atlas", "block_steps")))


def test_every_explorer_that_takes_a_text_is_tried_here():
    """A new one has to be added above, and the file that makes it below."""
    files = (ROOT / "encoder_lib/course/explore").glob("*.py")
    makers = {path.stem for path in files if re.search(r"\bText\(", path.read_text(encoding="utf-8"))}
    assert makers == {"attention", "block", "pretrained", "start_here"}


@pytest.mark.parametrize("name", TYPED)
def test_a_text_typed_into_an_explorer_stays_text(name, no_formulas):
    """It is cut, and comes back as it was typed; what is shown and said can be sent, and is no markup."""
    explorer = EXPLORERS[name]()
    texts = [control for control in explorer._by_name.values() if isinstance(control, Text)]
    for control, (case, text) in itertools.product(texts, HOSTILE.items()):
        explorer.set(**{control.name: text})
        assert getattr(explorer, control.name) == readable(text[: control.max_length], control.max_length), case
        assert explorer.error == ""
        state = {key: value for key, value in explorer.get_state().items() if key not in ("_esm", "_css")}
        assert all(map(harmless, texts_in(state))), case
    for text in ("$pwned^2$ $pwned_", HOSTILE["image without a space"]):
        explorer.set(**{control.name: text for control in texts})
        assert Page(explorer._repr_mimebundle_()[0]["text/html"]).names == ["img"]


def test_the_words_of_a_sentence_are_those_that_were_typed():
    """Nothing is left out of them, doubled or decoded."""
    explorer = EXPLORERS["attend"]()
    for text in HOSTILE.values():
        explorer.sentence = text
        words = [readable(word, 16) for word in readable(text[:100], 100).split()[:12]] or ["(nothing)"]
        assert [button for panel in explorer._panels[:2] for button in panel["x_ticks"]] == 2 * words


def raising(text):
    """A learner's function that fails with these words."""

    def attempt(*arguments, **settings):
        raise ValueError(text)

    return attempt


def strange(*arguments, **settings):
    """Give back an object whose class has a hostile and endless name."""
    return type("<img src=pwned onerror=x>" * 2000, (), {})()


def assert_plain(verdict):
    """The verdict's HTML is its own few tags around its lines as text, out of reach of MathJax, and can be sent."""
    lines, page = verdict.lines(), Page(verdict._repr_html_())
    assert not verdict.correct and page.text == "".join(lines) and not page.others
    assert page.names == ["div", "strong", "ul", *["li"] * (len(lines) - 1)]
    assert all(attributes.keys() <= {"role", "class", "style"} for _, attributes in page.found)
    assert {"mathjax_ignore", "tex2jax_ignore"} <= set(page.found[0][1]["class"].split())
    assert all(map(harmless, lines)) and max(map(len, lines)) < 5000 and repr(verdict) == "\n".join(lines)


@pytest.mark.parametrize("check", [check_pool, clinic.check_table])
def test_a_verdict_quotes_and_does_not_repeat(check):
    """What a learner's function says or gives back is text in the verdict, each hostile text as far as it is quoted."""
    for attempt in (raising("\n".join(HOSTILE.values())), raising(""), strange, "<b>"):
        assert_plain(check(attempt))
    for case, text in HOSTILE.items():
        verdict = check(raising(text))
        assert_plain(verdict)
        quoted = "\n".join(readable(line, 999) for line in text[:300].split("\n"))
        assert quoted in Page(verdict._repr_html_()).text, case


def test_what_else_quotes_a_text_keeps_it_text():
    """A table, a question and its choices, a source and the alt text of a picture."""
    tags_of_a_table = ["table", "thead", "tr", "td", "th", "tbody", "tr", "th", "td"]
    for case, text in HOSTILE.items():
        page = table({text: [text, 1.5], "n": [1, 2]}, rows=[text, "b"])._repr_html_()
        assert list(strangers(shown(page))) == [], case
        assert OF_TABLES in page and Page(page).names.count("td") == 4, case
        results = [(f"- {text[:3000]}", ["pre"]), (pd.DataFrame({f"- {text}": [text]}, index=[text]), tags_of_a_table)]
        for result, tags in results:
            prediction = Prediction(Question(text, (text, "b"), 0, text), lambda result=result: result)
            page = Page(prediction._repr_mimebundle_()[0]["text/html"])
            assert page.names == ["p", "ul", "li", "li", "details", "summary", "p", *tags], case
            assert not page.others
        page = Page(Source(text)._repr_html_())
        assert set(page.names) <= {"pre", "span"} and not page.others, case
        assert "".join(page.text.split()) == "".join(text.split()), case
        page = Page(Picture(b"", text)._repr_mimebundle_()["text/html"])
        assert [(tag, attributes["alt"]) for tag, attributes in page.found] == [("img", text)], case
