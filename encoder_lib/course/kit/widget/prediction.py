"""Prediction questions: the reader commits to an answer, and then the result is shown."""

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import anywidget
import traitlets
from traitlets import Bool, Bunch, Dict, List, TraitType, Unicode

from encoder_lib import expect
from encoder_lib.course.kit.widget.front_end import STYLE, script
from encoder_lib.course.kit.widget.result import as_result

# How a stored question looks; on a page without a kernel there is no style sheet that could say it.
CARD = (
    "box-sizing:border-box;max-width:800px;padding:16px 20px;border:1px solid #8886;border-left:3px solid #1976d2;"
    "border-radius:2px 10px 10px 2px"
)
CHOICES = "margin:10px 0;padding-left:1.5em;text-indent:-1.5em;line-height:1.9;list-style:none"
SUMMARY = "cursor:pointer;font-weight:600"
ANSWER = "margin:14px 0 8px"
BOX = '<span aria-hidden="true">○ </span>'


@dataclass(frozen=True)
class Question:
    """A question with one right choice. `answer` is its index; `finding` says what one sees, and why."""

    prompt: str
    choices: Sequence[str]
    answer: int
    finding: str


class _Choice(TraitType):
    """An index or None, which the question both validates; with `allow_none`, None would always pass."""

    default_value = None
    info_text = "the index of a choice, or None"

    def validate(self, obj: traitlets.HasTraits | None, value: object) -> int | None:
        if value is not None and type(value) is not int:
            self.error(obj, value)
        return value


def card(question: Question, below: str) -> str:
    """The question and its choices as HTML that nobody can click, with more HTML below them."""
    prompt, *choices = map(html.escape, (question.prompt, *question.choices))
    items = "".join(f"<li>{BOX}{choice}</li>" for choice in choices)
    return f'<div style="{CARD}"><strong>{prompt}</strong><ul style="{CHOICES}">{items}</ul>{below}</div>'


class Prediction(anywidget.AnyWidget):
    """One question. The front end does not get the answer, finding or result before the reader has committed.

    question: the question to ask.
    show: called without arguments when the question is made; returns what is shown after the reveal: a picture, an Axes
        or a Figure, a pandas DataFrame, a number, a tensor or a text. Without it only the finding is shown.
    `choice` is the chosen index, None at first; `committed` = True locks it, and everything is revealed. `revealed` =
    True alone is "show me", without an answer. Steps in another order raise ValueError, and so does any step after the
    reveal. `result` is what `show` gave. Raises TypeError or ValueError for a result that cannot be shown; errors of
    `show` are passed on.
    """

    _esm = script("prediction.js")
    _css = STYLE

    choice = _Choice().tag(sync=True)
    committed = Bool().tag(sync=True)
    revealed = Bool().tag(sync=True)
    _prompt = Unicode().tag(sync=True)
    _choices: List[str] = List().tag(sync=True)
    _outcome = Dict().tag(sync=True)  # answer, finding and result; empty before the reveal

    def __init__(self, question: Question, show: Callable[[], Any] | None = None) -> None:
        expect.instance("show", show, Callable | None, "a function without arguments", "; try lambda: result")
        self.question = question
        self.result = None if show is None else show()
        self._shown = None if show is None else as_result(self.result, question.finding)
        super().__init__(_prompt=question.prompt, _choices=list(question.choices))

    def set_state(self, sync_data: dict) -> None:
        """Accept the reader's steps from the front end, in order, and nothing else; a wrong step changes nothing."""
        self.send({})  # an echo, so that the front end knows that the kernel is there
        steps = ("choice", "committed", "revealed")
        sent = {name: sync_data[name] for name in steps if isinstance(sync_data, dict) and name in sync_data}
        with self._lock_property(**sent):
            for name, value in sent.items():
                try:
                    setattr(self, name, value)
                except (traitlets.TraitError, TypeError, ValueError, IndexError):
                    self.send_state(name)  # so that the front end shows the value that counts

    @traitlets.validate("choice")
    def _check_choice(self, proposal: Bunch) -> int | None:
        choice = proposal["value"]
        if self.revealed and choice != self.choice:
            raise ValueError("expected no change after the reveal: run the cell again for a fresh question")
        choices = len(self.question.choices)
        if choice is not None and not 0 <= choice < choices:
            raise IndexError(f"choice: expected a choice from 0 to {choices - 1}, got {expect.short_repr(choice)}")
        return choice

    @traitlets.validate("committed", "revealed")
    def _check_step(self, proposal: Bunch) -> bool:
        name, value = proposal["trait"].name, proposal["value"]
        if value < getattr(self, name):
            raise ValueError(f"expected {name} to stay True: run the cell again for a fresh question")
        if name == "committed" and value > self.committed:
            if self.revealed:
                raise ValueError("expected a commitment before the reveal: run the cell again for a fresh question")
            if self.choice is None:
                raise ValueError("expected a choice before committed = True")
        return value

    @traitlets.observe("committed", "revealed")
    def _reveal(self, change: Bunch) -> None:
        question, result = self.question, self._shown.spec if self._shown else {}
        outcome = {"answer": question.answer, "finding": question.finding, "result": result}
        with self.hold_sync():
            self.revealed, self._outcome = True, outcome

    def _repr_mimebundle_(self, **kwargs: dict) -> tuple[dict, dict]:
        """Give the live widget and, for readers without a kernel, the question with its answer folded away."""
        data, metadata = super()._repr_mimebundle_(**kwargs) or ({}, {})
        question = self.question
        right, finding = map(html.escape, (question.choices[question.answer], question.finding))
        answer = f'<p style="{ANSWER}"><strong>✓ {right}</strong></p><p>{finding}</p>'
        result = self._shown.html if self._shown else ""
        folded = f'<details><summary style="{SUMMARY}">Show the answer</summary>{answer}{result}</details>'
        text = f"{question.prompt} ({' / '.join(question.choices)})"
        return {**data, "text/html": card(question, folded), "text/plain": text}, metadata
