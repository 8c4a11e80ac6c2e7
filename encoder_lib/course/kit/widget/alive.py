"""The encoder, alive: one sentence or two rise through a published encoder, and the reader intervenes."""

import re
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from functools import lru_cache
from html import escape as html_escape
from typing import Any

import torch

from encoder_lib import expect
from encoder_lib.course.kit import plots
from encoder_lib.course.kit.interventions import Answer, Intervened, Question
from encoder_lib.course.kit.widget.alive_messages import answer_message, question_message, read_question, recording
from encoder_lib.course.kit.widget.alive_picture import describe, draw
from encoder_lib.course.kit.widget.answering import Answering
from encoder_lib.course.kit.widget.front_end import script, style
from encoder_lib.course.kit.widget.web import RUN, Web
from encoder_lib.pretrained import SentenceEncoder

PAIRS = (  # the pairs of sentences that the web edition shows at once; any other is computed there
    ("The river bank was flooded.", "The big bank raised its interest rates."),
    ("A bat flew out of the cave.", "A bat hit the ball."),
    ("The light of the sun is bright.", "The box is light, not heavy."),
    ("They play chess in the park.", "You may park the car here."),
    ("The dog bites the man.", "The man bites the dog."),
)
HEIGHTS = {  # of the picture on the web edition's pages, in pixels, on a desktop and on a phone
    "asked": (1110, 1330),
    ("closed", 1): (1075, 1440),
    ("closed", 2): (1165, 1510),
    ("open", 1): (1240, 1605),
    ("open", 2): (1335, 1715),
}
ASKED = "Where on their way up do the two vectors of “{word}” begin to differ?"


class Alive(Answering):
    """One sentence or two on their way through an encoder, whose attention can be cut and whose parts taken out.

    `_answer` and `_data` are the answer without cuts and knockouts. `values` has the fields of the current question,
    everything counted from 0, and `set` changes some of them.
    """

    _esm = script("alive.js")
    _css = style("palette.css", "alive.css")

    def __init__(
        self, intervened: Intervened, question: Question, *, title: str, open: int | None, predict: bool, web: Web
    ) -> None:
        self._intervened, self.web = intervened, web
        self._message = lru_cache(1)(lambda untouched: answer_message(intervened.ask(untouched)))
        options = {"sentences": len(question.texts), "open": open, "predict": predict}
        super().__init__(title=title, _options=options, **self._computed(question))

    @property
    def question(self) -> Question:
        """The current question."""
        return read_question(self._question)

    @property
    def answer(self) -> Answer:
        """The answer to the current question, computed at most once."""
        return self._intervened.ask(self.question)

    @property
    def values(self) -> dict[str, Any]:
        """The fields of the current question: texts, word, cuts, knockouts and detail."""
        return {field.name: getattr(self.question, field.name) for field in fields(Question)}

    @property
    def description(self) -> str:
        """A description of what the picture shows now."""
        return describe(self.question, self.answer)

    def set(self, **values: object) -> None:
        """Change some fields of the question.

        Cuts belong to the tokens of their sentence, so new texts begin without cuts. Cuts and knockouts are given as
        such, or as dictionaries with their fields.
        Raises: TypeError, ValueError or KeyError for fields or values that make no question; nothing has changed then.
        """
        asked = asdict(self.question)
        if "texts" in values:
            asked |= {"cuts": (), "word": ""}
        question = self._checked(asked | values)
        state = self._computed(question)
        with self.hold_sync():
            for name, value in state.items():
                setattr(self, name, value)

    def _checked(self, asked: dict) -> Question:
        question = read_question(asked)
        count = self._options["sentences"]
        if len(question.texts) != count:
            raise ValueError(f"texts: expected as many as at the start, {count}, got {len(question.texts)}")
        self._intervened.check(question)
        _check_word(self._intervened, question)
        return question

    def _computed(self, question: Question) -> dict[str, Any]:
        """The traits that carry a question, and the answer without interventions."""
        header, data = self._message(replace(question, cuts=(), knockouts=()))
        message = question_message(replace(question, word=header["word"]))
        return {"_question": message, "_answer": header, "_data": data}

    def _reply(self, message: object) -> tuple[dict, bytes, dict[str, Any]]:
        question = read_question(message)
        return *answer_message(self._intervened.ask(question)), self._computed(question)

    def record(self, pairs: Sequence[tuple[str, str]] = PAIRS) -> bytes:
        """The file from which the web edition shows the picture: the answer to the current question, and others."""
        questions = [self.question]
        if len(self.question.texts) == 2:
            questions += [Question(pair) for pair in pairs if pair != self.question.texts]
        answers = [self._intervened.ask(question) for question in questions]
        words = [answer.word for answer in answers]
        named = [replace(question, word=word) for question, word in zip(questions, words, strict=True)]
        return recording(self.title, self._options, list(zip(named, answers, strict=True)))

    def picture(self, *, wide: bool = True) -> plots.Picture:
        """The current picture as a still; an open layer can also be drawn for a phone (`wide=False`)."""
        return plots.show(draw(self.answer, wide=wide), alt=self.description)

    def _repr_mimebundle_(self, **kwargs: dict) -> tuple[dict, dict]:
        """Give the live widget and, for readers without a kernel, a picture; a prediction has it folded away."""
        data, metadata = super()._repr_mimebundle_(**kwargs) or ({}, {})
        picture = self.picture()._repr_mimebundle_()
        html, text = picture["text/html"], picture["text/plain"]
        if self._options["predict"]:
            text = ASKED.format(word=plots.readable(self.answer.word, 40))
            html = f"<p>{html_escape(text)}</p><details><summary>Show the answer</summary>{html}</details>"
        return {**data, "text/html": RUN + html, "text/plain": text}, metadata


def alive(
    model: SentenceEncoder,
    first: str,
    second: str | None = None,
    *,
    word: str | None = None,
    open: int | None = None,
    predict: bool = False,
) -> Alive:
    """Send one sentence or two through an encoder of post-norm layers, and intervene in it.

    word: the token to follow, a word of both sentences; the longest of these when None.
    open: the layer that is shown from inside at first, counted from 1.
    predict: whether the reader first marks where the two vectors of the word begin to differ.
    Raises: TypeError if `model` is not a SentenceEncoder, or a sentence or word not a string; ValueError for more than
    64 tokens, a word that is not in each sentence, a layer that is not there, a prediction with one sentence.
    """
    intervened = Intervened(model)
    question = read_question({"texts": (first,) if second is None else (first, second), "word": word})
    expect.flags(predict=predict)
    if predict and second is None:
        raise ValueError("predict: expected two sentences whose vectors can differ, got one")
    intervened.check(question)
    if word is not None:
        _check_word(intervened, question)
    if open is not None:
        expect.integer("open", open, least=1, most=intervened.n_layers)
        question = replace(question, detail=(open - 1, telling_head(intervened.ask(question), open - 1)))
    title = "A sentence on its way through the encoder" if second is None else "Two sentences on their way"
    title += f", with layer {open} open" if open else ""  # a page can have several pictures, which need different names
    kind = "asked" if predict else ("open" if open else "closed", len(question.texts))
    web = Web(heights=HEIGHTS[kind], live="alive")
    return Alive(intervened, question, title=title, open=open, predict=predict, web=web)


def _check_word(intervened: Intervened, question: Question) -> None:
    """Raise ValueError for a word that is not in each sentence."""
    common = intervened.common(question.texts)
    if question.word and question.word not in common:
        raise ValueError(f"word: expected a word of each sentence, one of {common}, got {question.word!r}")


def telling_head(answer: Answer, layer: int) -> int:
    """The head that brings most to the followed word from one other word, in every sentence; as the front end picks it.

    Special tokens such as [CLS] don't count. Layers and heads are counted from 0.
    """
    most = []
    for sentence in answer.sentences:
        place = max(sentence.place, 0)
        other = [i != place and not re.fullmatch(r"\[.*\]", token) for i, token in enumerate(sentence.tokens)]
        brought = sentence.weights[layer][:, place] * sentence.values[layer] * torch.tensor(other)  # (H, T)
        most.append(brought.amax(dim=-1))
    return int(torch.stack(most).amin(dim=0).argmax())
