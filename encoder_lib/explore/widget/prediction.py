"""Prediction questions: the reader commits to an answer, runs the next cell, and then compares."""

import html
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import anywidget
import traitlets
from traitlets import Bool, Bunch, List, TraitType, Unicode

from encoder_lib import expect
from encoder_lib.explore.widget.front_end import STYLE, script


@dataclass(frozen=True)
class Question:
    """A question with one right choice. `answer` is its index; `finding` says what is seen, and why."""

    prompt: str
    choices: tuple[str, ...]
    answer: int
    finding: str

    def __post_init__(self) -> None:
        expect.text("prompt", self.prompt)
        expect.text("finding", self.finding)
        expect.kind("choices", self.choices, tuple | list, "a few choices")
        object.__setattr__(self, "choices", tuple(expect.texts("choices", self.choices)))
        if len(self.choices) < 2:
            raise ValueError(f"choices: expected at least two, got {len(self.choices)}")
        expect.index("answer", self.answer, len(self.choices), "a choice")


@dataclass(frozen=True)
class Judgement:
    """Whether a prediction was right, and what to say about it."""

    correct: bool
    text: str


def judge(question: Question, choice: int) -> Judgement:
    """Compare the choice with that index to the answer.

    Raises IndexError for an index without a choice, TypeError for what is no question or no index.
    """
    expect.kind("question", question, Question, "a Question")
    choice = expect.index("choice", choice, len(question.choices), "a choice")
    said, answer = question.choices[choice], question.choices[question.answer]
    if choice == question.answer:
        return Judgement(True, f"You said “{said}”, and so it is. {question.finding}")
    return Judgement(False, f"You said “{said}”, but the answer is “{answer}”. {question.finding}")


class _Choice(TraitType):
    """An index or None, both of which the question is asked about; `allow_none` would let None pass at any time."""

    default_value = None
    info_text = "the index of a choice, or None"

    def validate(self, obj: traitlets.HasTraits | None, value: object) -> int | None:
        if value is not None and type(value) is not int:
            self.error(obj, value)
        return value


class Prediction(anywidget.AnyWidget):
    """One question, asked. The front end never holds the answer before the reader asks to compare.

    `choice` is the chosen index, None at first. `committed` locks it and `revealed` asks for the verdict; set from
    Python, steps in another order raise ValueError. `message` is what the reader is told, and `result` what `show` gave
    when the question was made; without it there is none.
    """

    _esm = script("prediction.js")
    _css = STYLE

    choice = _Choice().tag(sync=True)
    committed = Bool().tag(sync=True)
    revealed = Bool().tag(sync=True)
    message = Unicode().tag(sync=True)
    _prompt = Unicode().tag(sync=True)
    _choices: List[str] = List().tag(sync=True)

    def __init__(self, question: Question, show: Callable[[], Any] | None = None) -> None:
        expect.kind("question", question, Question, "a Question", "; try predict('alike')")
        expect.kind("show", show, Callable | None, "a function without arguments", "; try lambda: result")
        self.question = question
        self.result = None if show is None else show()
        super().__init__(_prompt=question.prompt, _choices=list(question.choices))

    def set_state(self, sync_data: dict) -> None:
        """Take the reader's steps from the front end, in their order, and nothing else; a wrong one changes nothing."""
        steps = ("choice", "committed", "revealed")
        sent = {name: sync_data[name] for name in steps if isinstance(sync_data, dict) and name in sync_data}
        with self._lock_property(**sent):
            for name, value in sent.items():
                try:
                    setattr(self, name, value)
                except (traitlets.TraitError, TypeError, ValueError, IndexError):
                    self.send_state(name)  # what the front end shows is what counts

    @traitlets.validate("choice")
    def _check_choice(self, proposal: Bunch) -> int | None:
        choice = proposal["value"]
        if self.committed and choice != self.choice:
            raise ValueError("expected no change after the commitment: run the cell again for a fresh question")
        if choice is not None:
            judge(self.question, choice)  # raises for an index without a choice
        return choice

    @traitlets.validate("committed", "revealed")
    def _check_step(self, proposal: Bunch) -> bool:
        name, value = proposal["trait"].name, proposal["value"]
        if value < getattr(self, name):
            raise ValueError(f"expected {name} to stay True: run the cell again for a fresh question")
        if value and (self.choice is None if name == "committed" else not self.committed):
            raise ValueError(f"expected a {'choice' if name == 'committed' else 'commitment'} before {name} = True")
        return value

    @traitlets.observe("committed", "revealed")
    def _tell(self, change: Bunch) -> None:
        if self.revealed:
            self.message = judge(self.question, self.choice).text
        else:
            self.message = f"You said: “{self.question.choices[self.choice]}”. Now run the next cell."

    def _repr_mimebundle_(self, **kwargs: dict) -> tuple[dict, dict]:
        """Give the live widget and, for readers without a kernel, the question and its choices."""
        data, metadata = super()._repr_mimebundle_(**kwargs) or ({}, {})
        prompt, *choices = (html.escape(text, quote=True) for text in (self.question.prompt, *self.question.choices))
        items = "".join(f"<li>{choice}</li>" for choice in choices)
        text = f"{self.question.prompt} ({' / '.join(self.question.choices)})"
        return {**data, "text/html": f"<p>{prompt}</p><ul>{items}</ul>", "text/plain": text}, metadata
