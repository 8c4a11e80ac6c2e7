"""Semantic search while the reader types: a few texts, sorted by the cosine of their vectors with the question's."""

import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from torch import Tensor

from encoder_lib import expect
from encoder_lib.course.kit import plots
from encoder_lib.course.kit.palette import LIGHT
from encoder_lib.course.kit.plots.style import drawable, label_axes, plain_text
from encoder_lib.course.kit.widget.alive_messages import Numbers, header_of, packed
from encoder_lib.course.kit.widget.answering import Answering
from encoder_lib.course.kit.widget.front_end import script, style
from encoder_lib.course.kit.widget.web import RUN, Web
from encoder_lib.pretrained import SentenceEncoder

FEWEST, MOST, LONGEST = 3, 8, 200  # texts, and characters of a text or question
WRAP, LINE = 40, 0.19  # characters on a line of the stored picture, and its height in inches
EXPECTED = f"1 to {LONGEST} characters, not all of them spaces"


@dataclass(frozen=True)
class Query:
    """What is searched for, and in which texts."""

    question: str
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Found:
    """The cosine of each text's vector with the question's. Shapes: cosines (N,)."""

    cosines: Tensor


class Search(Answering):
    """A question, and texts as bars that are sorted while the reader types."""

    _esm = script("search_bars.js")
    _css = style("palette.css", "search_bars.css")

    def __init__(self, model: SentenceEncoder, query: Query, *, title: str, web: Web) -> None:
        self._model, self.web = model, web
        self._vectors = lru_cache(maxsize=4)(model.encode)  # by the texts, which change less often than the question
        options = {"fewest": FEWEST, "most": MOST, "longest": LONGEST}
        super().__init__(title=title, _options=options, **self._computed(query))

    @property
    def query(self) -> Query:
        """The current question and texts."""
        return read_query(self._question)

    @property
    def values(self) -> dict[str, Any]:
        """The current `question` and `texts`."""
        return asdict(self.query)

    @property
    def cosines(self) -> Tensor:
        """The cosine of each text with the question, in the order of the texts. Shapes: -> (N,)."""
        return self._find(self.query).cosines

    @property
    def description(self) -> str:
        """A description of what the bars show now."""
        return describe(self.query, self.cosines)

    def set(self, **values: object) -> None:
        """Change `question`, `texts` or both.

        Raises: TypeError, ValueError or KeyError for values with which there is no search; nothing has changed then.
        """
        state = self._computed(read_query(asdict(self.query) | values))
        with self.hold_sync():
            for name, value in state.items():
                setattr(self, name, value)

    def record(self) -> bytes:
        """The file from which the web edition shows the current question, with the vectors of the texts."""
        query, numbers = self.query, Numbers()
        found = header_of(self._find(query), numbers) | {"vectors": numbers.add(self._vectors(query.texts).cpu())}
        header = {"title": self.title, "options": self._options, "query": _message(query), "found": found}
        return packed(header, numbers)

    def _find(self, query: Query) -> Found:
        (asked,) = self._model.encode([query.question])
        return Found((self._vectors(query.texts) @ asked).cpu())

    def _computed(self, query: Query) -> dict[str, Any]:
        """The traits that carry a query and its answer."""
        numbers = Numbers()
        answer = header_of(self._find(query), numbers)
        return {"_question": _message(query), "_answer": answer, "_data": numbers.array().tobytes()}

    def _reply(self, message: object) -> tuple[dict, bytes, dict[str, Any]]:
        state = self._computed(read_query(message))
        return state["_answer"], state["_data"], state

    def _repr_mimebundle_(self, **kwargs: dict) -> tuple[dict, dict]:
        """Give the live widget and, for readers without a kernel, a picture of the bars as they are now."""
        data, metadata = super()._repr_mimebundle_(**kwargs) or ({}, {})
        query, cosines = self.query, self.cosines
        picture = plots.show(draw(query, cosines), alt=describe(query, cosines))._repr_mimebundle_()
        return {**data, **picture, "text/html": RUN + picture["text/html"]}, metadata


def search(model: SentenceEncoder, texts: Iterable[str], *, question: str) -> Search:
    """Let the reader type a question, and sort a few texts by the cosine of their vectors with the question's.

    Raises: TypeError if `model` is not a SentenceEncoder, `texts` not a list of strings or `question` not a string;
    ValueError for fewer than 3 or more than 8 texts, and for a text or question that is blank or longer than 200
    characters.
    """
    expect.instance("model", model, SentenceEncoder, "a SentenceEncoder", "; try load_pretrained()")
    query = read_query({"question": question, "texts": texts})
    size = len(query.texts)
    web = Web(heights=(180 + 36 * size, 200 + 64 * size))  # where a third of the texts take two lines
    return Search(model, query, title="Texts, sorted by their cosine with your question", web=web)


def read_query(message: object) -> Query:
    """The query in a message, without control characters.

    Raises: TypeError, ValueError or KeyError for a message that is none.
    """
    wanted = "a mapping with the fields question and texts"
    expect.instance("question", message, Mapping, wanted)
    assert isinstance(message, Mapping)
    if set(message) != {"question", "texts"}:
        raise KeyError(f"question: expected {wanted}, got {expect.short_repr(list(message))}")
    question = _text("question", message["question"])
    texts = expect.texts("texts", message["texts"])
    if not FEWEST <= len(texts) <= MOST:
        raise ValueError(f"texts: expected {FEWEST} to {MOST} of them, got {len(texts)}")
    return Query(question, tuple(_text(f"texts[{i}]", text) for i, text in enumerate(texts)))


def _message(query: Query) -> dict:
    """The query as JSON has it."""
    return {"question": query.question, "texts": list(query.texts)}


def _text(name: str, text: Any) -> str:
    expect.instance(name, text, str, "a string")
    if len(text) > LONGEST or not text.strip():
        raise ValueError(f"{name}: expected {EXPECTED}, got {len(text)}: {expect.short_repr(text)}")
    return plots.readable(text, LONGEST)


def describe(query: Query, cosines: Tensor) -> str:
    """What the bars show, in words."""
    best = cosines.argsort(descending=True, stable=True).tolist()
    found = (f"“{plots.readable(query.texts[i], 80)}” {_decimals(cosines[i])}" for i in best)
    return plots.readable(f"Cosine with “{query.question}”, the highest first: {', '.join(found)}.", 2000)


def _decimals(cosine: Tensor) -> str:
    return f"{cosine:.2f}".replace("-", "−")


def draw(query: Query, cosines: Tensor) -> Axes:
    """The texts as bars, the one with the highest cosine first, in blue."""
    best = cosines.argsort(descending=True, stable=True).tolist()
    names = [textwrap.fill(drawable(query.texts[i], LONGEST), WRAP) for i in best]
    heights = [LINE * (1 + name.count("\n")) + 0.14 for name in names]  # inches
    middles = [sum(heights[:i]) + height / 2 for i, height in enumerate(heights)]
    _, ax = plt.subplots(figsize=plots.figure_size(1, sum(heights) + 0.6), layout="constrained")
    colours = [LIGHT["sentence-1"]] + [LIGHT["norm"]] * (len(best) - 1)
    bars = ax.barh(middles, cosines[best].tolist(), 0.2, color=colours)
    ax.bar_label(bars, [_decimals(cosine) for cosine in cosines[best]], padding=4)
    ax.axvline(0, color=LIGHT["line-strong"], linewidth=0.8, zorder=0)
    ax.set_yticks(middles, names, **plain_text())
    ax.set_ylim(sum(heights), 0)
    lowest = min(cosines.tolist())
    ax.set_xlim(lowest - 0.12 if lowest < 0 else 0, 1.12)  # room for a number at each end
    ax.set_xticks([])
    ax.spines[:].set_visible(False)
    ax.tick_params(left=False)
    return label_axes(ax, f"Cosine with “{query.question}”")
