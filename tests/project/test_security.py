"""What a stored notebook, a typed text and a file of weights cannot do: run, load, or become more than they are."""

import itertools
import os
import pickle
import re
import shutil

import matplotlib.pyplot as plt
import nbformat
import pandas as pd
import pytest
import torch
from explorers import EXPLORERS
from hostile_texts import HOSTILE
from matplotlib.mathtext import MathTextParser
from notebook_rules import Tags
from places import NOTEBOOKS, ROOT
from safetensors.torch import save

from encoder_lib import load_pretrained
from encoder_lib.course import debugging_clinic as clinic
from encoder_lib.course.checks import check_vectors_of
from encoder_lib.course.kit.notebook import Source, table, table_on_page
from encoder_lib.course.kit.plots import INVISIBLE, Picture, readable
from encoder_lib.course.kit.questions import Question
from encoder_lib.course.kit.widget.controls import Text
from encoder_lib.course.kit.widget.prediction import Prediction
from encoder_lib.pretrained import hub

SOURCES = sorted(ROOT.glob("encoder_lib/**/*.py"))
FRONT_END = sorted(path for path in ROOT.glob("encoder_lib/**/*") if path.suffix in (".js", ".css"))
STORED = {path.stem: nbformat.read(path, as_version=4) for path in NOTEBOOKS}


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


# The one line that makes nodes of a string; the texts in it are escaped, as test_front_end_alive.py tries with markup.
FILL = "const fill = (node, text) => {\n  node.innerHTML = text;\n};\n"


def test_front_end_makes_no_markup_and_no_requests():
    """No string becomes code or markup but in one line, no tag's name comes from data, and nothing is fetched."""
    sources = {path.name: path.read_text(encoding="utf-8") for path in FRONT_END}
    assert len(sources) >= 5 and [name for name in sources if FILL in sources[name]] == ["alive_drawing.js"]
    for line, pattern in UNSAFE.items():
        unsafe = re.compile(pattern, re.MULTILINE)
        assert unsafe.search(line)
        assert [name for name in sources if unsafe.search(sources[name].replace(FILL, ""))] == [], line


# Python: nothing is unpickled, no text becomes a program, and the network is one module's business.

PROGRAMS = {
    "import pickle": r"^\s*(import|from) (c?pickle|dill|joblib|shelve|marshal|subprocess|runpy)\b",
    "torch.load(x)": r"\btorch\.(load|jit\.load|hub\.load|package)\b|\b(np|numpy)\.load\b|read_pickle",
    "exec(x)": r"(?<![.\w])(eval|exec|compile|__import__)\((?!\))|\bbuiltins\b|\bimport_module\b",
    "os.system(x)": r"\bos\.(system|popen|exec|spawn|posix_spawn|fork)",
    "HTML(x)": r"(?<![_.\w])(HTML|Javascript|IFrame)\(|\bdisplay\.HTML|\b(ipywidgets|widgets)\.(HTML|Label)\b",
    "import urllib.request": r"^\s*(import|from) (urllib\.request|http|socket|ssl|requests|httpx|aiohttp|ctypes)\b",
    "!ls": r"^\s*[!%]\w",
}
ALLOWED = {
    "hub.py": "import urllib.request",
    "limit.py": "import urllib.request",
    "lessons.py": "exec(x)",
    "sandbox.py": "exec(x)",
}  # MiniLM's files; ctypes, to interrupt; the lessons' own modules; builtins, to answer input()


def test_no_code_unpickles_or_executes_text():
    cells = {
        name: "\n".join(c.source for c in stored.cells if c.cell_type == "code") for name, stored in STORED.items()
    }
    sources = cells | {path.name: path.read_text(encoding="utf-8") for path in SOURCES}
    for line, pattern in PROGRAMS.items():
        unsafe = re.compile(pattern, re.MULTILINE)
        assert unsafe.search(line)
        assert [name for name, text in sources.items() if unsafe.search(text) and ALLOWED.get(name) != line] == [], line


class Bomb:
    """Unpickled, it makes a folder."""

    def __init__(self, trace):
        self.trace = str(trace)

    def __reduce__(self):
        return os.mkdir, (self.trace,)


SETTINGS = ["config.json", "tokenizer.json", "modules.json", "sentence_bert_config.json"]


@pytest.mark.parametrize("name", ["model.safetensors", *SETTINGS])
def test_a_pickle_in_place_of_a_model_file_is_not_loaded(name, tmp_path):
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
    return not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]", text) and not INVISIBLE.search(text)


TYPED = (
    "heads",
    "attend",
    "which_library",
    "training_card",
    pytest.param("heads atlas=True", marks=pytest.mark.long),
)


def test_every_explorer_with_a_text_field_is_tested():
    """A new one has to be added above, and the file that makes it below."""
    files = (ROOT / "encoder_lib/course").glob("*/explorers.py")
    makers = {path.parent.name for path in files if re.search(r"\bText\(", path.read_text(encoding="utf-8"))}
    assert makers == {"attention", "pretrained", "training", "your_own_task"}


@pytest.mark.parametrize("name", TYPED)
def test_a_text_typed_into_an_explorer_stays_text(name, no_formulas):
    """It is cut, and comes back as it was typed; what is shown and said can be sent, and is no markup."""
    explorer = EXPLORERS[name]()
    texts = [control for control in explorer._by_name.values() if isinstance(control, Text)]
    for control, (case, text) in itertools.product(texts, HOSTILE.items()):
        explorer.set(**{control.name: text})
        assert getattr(explorer, control.name) == readable(text[: control.max_length], control.max_length), case
        assert explorer.error == "" and explorer.description.endswith(".") and len(explorer.description) <= 2000
        state = {key: value for key, value in explorer.get_state().items() if key not in ("_esm", "_css")}
        assert all(map(harmless, texts_in(state))), case
    for text in ("$pwned^2$ $pwned_", HOSTILE["image without a space"]):
        explorer.set(**{control.name: text for control in texts})
        assert Page(explorer._repr_mimebundle_()[0]["text/html"]).names == ["p", "img"]


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


@pytest.mark.parametrize("check", [check_vectors_of, clinic.check_table])
def test_a_verdict_quotes_hostile_text_as_text(check):
    """What a learner's function says or gives back is text in the verdict, each hostile text as far as it is quoted."""
    for attempt in (raising("\n".join(HOSTILE.values())), raising(""), strange, "<b>"):
        assert_plain(check(attempt))
    for case, text in HOSTILE.items():
        verdict = check(raising(text))
        assert_plain(verdict)
        quoted = "\n".join(readable(line, 999) for line in text[:300].split("\n"))
        assert quoted in Page(verdict._repr_html_()).text, case


def test_tables_questions_sources_and_alt_texts_escape_text():
    """A table, a question and its choices, a source and the alt text of a picture."""
    tags_of_a_table = ["table", "thead", "tr", "td", "th", "tbody", "tr", "th", "td"]
    tags_of_ours = ["table", "thead", "tr", "td", "th", "th", "tbody", *2 * ["tr", "th", "td", "td"]]
    for case, text in HOSTILE.items():
        page = table_on_page(table({text: [text, 1.5], "n": [1, 2]}, rows=[text, "b"]))
        assert Page(page).names == tags_of_ours, case
        results = [(f"- {text[:3000]}", ["pre"]), (pd.DataFrame({f"- {text}": [text]}, index=[text]), tags_of_a_table)]
        for result, tags in results:
            prediction = Prediction(Question(text, (text, "b"), 0, text), lambda result=result: result)
            page = Page(prediction._repr_mimebundle_()[0]["text/html"])
            card = ["div", "strong", "ul", *2 * ["li", "span"], "details", "summary", "p", "strong", "p"]
            assert page.names == [*card, *tags], case
            assert not page.others
        page = Page(Source(text)._repr_html_())
        assert set(page.names) <= {"pre", "span"} and not page.others, case
        assert "".join(page.text.split()) == "".join(text.split()), case
        page = Page(Picture("", text)._repr_mimebundle_()["text/html"])
        assert [(tag, attributes["alt"]) for tag, attributes in page.found] == [("img", text)], case
