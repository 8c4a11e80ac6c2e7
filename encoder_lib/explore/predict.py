"""Prediction questions: the reader commits to an answer, runs the next cell, and then compares."""

import html
from dataclasses import dataclass

import anywidget
import traitlets
from traitlets import Bool, Int, List, Unicode

from encoder_lib.explore.front_end import STYLE, script


@dataclass(frozen=True)
class Question:
    """A question with one right choice. `answer` is its index; `because` gives the reason in a sentence or two."""

    prompt: str
    choices: tuple[str, ...]
    answer: int
    because: str


@dataclass(frozen=True)
class Verdict:
    """Whether a prediction was right, and what to say about it."""

    correct: bool
    text: str


QUESTIONS = {
    "alike": Question(
        prompt="Take “How do I bake a cake?” Which question is closer to it?",
        choices=("How do I make a cage?", "Which recipe is good for a birthday?"),
        answer=1,
        because="The first shares nearly all of its letters with the question, the second what it is about.",
    ),
    "parts": Question(
        prompt="The model has 22.6 million numbers. Which part holds the most of them?",
        choices=("the table of words", "attention", "the feed-forward networks"),
        answer=0,
        because="The table has a row of 384 numbers for each of 30,522 word pieces: more than half of all numbers.",
    ),
    "repeat": Question(
        prompt="The ids are [2, 3, 2]: the first token and the third are the same. Are the first and third row equal?",
        choices=("yes, in every number", "nearly, up to rounding", "no, their places differ"),
        answer=0,
        because="Both rows are copies of row 2 of one table. A look-up does not know where in the sentence it happens.",
    ),
    "gradient": Question(
        prompt="A table has 6 rows. A loss uses the ids [1, 4, 4]. How many rows get a gradient that is not zero?",
        choices=("1", "2", "3", "6"),
        answer=1,
        because="Only rows 1 and 4 were read. Row 4 was read twice, so its two gradients add up in the one row.",
    ),
    "shuffle": Question(
        prompt="If we shuffle the words, will the output for dog change?",
        choices=("yes, a lot", "yes, a little", "not at all"),
        answer=2,
        because="Attention takes a weighted mean over the words, and a mean does not care how its terms are ordered.",
    ),
    "scale": Question(
        prompt="The embeddings are 64 wide, drawn from N(0, 1). We multiply them by √64 before we add the sinusoids. "
        "How well does a model learn to reverse sequences now?",
        choices=("much better", "about the same", "much worse"),
        answer=2,
        because="The embeddings grow to about 8: the sinusoids, at about 0.7, are too quiet beside them, and the "
        "vectors as a whole too large to train well.",
    ),
    "distance": Question(
        prompt="Take the dot product of positions 5 and 9, and that of positions 105 and 109. Which one is larger?",
        choices=("5 and 9", "105 and 109", "they are equal"),
        answer=2,
        because="Each pair of sine and cosine contributes the cosine of its frequency times the distance. "
        "Both distances are 4, and where the pair stands drops out.",
    ),
    "sink": Question(
        prompt="The model has 72 attention heads. How many of them look at the first token, [CLS], most of all?",
        choices=("a few", "about half", "nearly all"),
        answer=2,
        because="63 of 72 do on this sentence. A likely reason: a softmax has to spend its whole weight, and a head "
        "that finds nothing may park it on a token that is always there.",
    ),
    "ablate": Question(
        prompt="We remove a fifth of a sentence’s words: those that get the most attention, averaged over all heads. "
        "Compared with removing random words, how far does the sentence’s vector move?",
        choices=("less far", "about as far", "further, but less than twice as far", "more than twice as far"),
        answer=3,
        because="Averaged over all heads, attention finds the words that carry the vector. A single head may not.",
    ),
}


def judge(question: Question, choice: int) -> Verdict:
    """Compare the choice with that index to the answer. Raises IndexError for an index without a choice."""
    if not 0 <= choice < len(question.choices):
        raise IndexError(f"expected a choice from 0 to {len(question.choices) - 1}, got {choice}")
    said, answer = question.choices[choice], question.choices[question.answer]
    if choice == question.answer:
        return Verdict(True, f"You said “{said}”, and so it is. {question.because}")
    return Verdict(False, f"You said “{said}”, but the answer is “{answer}”. {question.because}")


class Prediction(anywidget.AnyWidget):
    """One question, asked. The front end never holds the answer before the reader asks to compare.

    `choice` is the chosen index, None at first. `committed` locks it and `revealed` asks for the verdict; set from
    Python, steps in another order raise ValueError. `message` is what the reader is told.
    """

    _esm = script("predict.js")
    _css = STYLE

    choice = Int(None, allow_none=True).tag(sync=True)
    committed = Bool().tag(sync=True)
    revealed = Bool().tag(sync=True)
    message = Unicode().tag(sync=True)
    _prompt = Unicode().tag(sync=True)
    _choices = List().tag(sync=True)

    def __init__(self, question: Question) -> None:
        self.question = question
        super().__init__(_prompt=question.prompt, _choices=list(question.choices))

    @traitlets.validate("choice")
    def _check_choice(self, proposal) -> int | None:
        choice = proposal["value"]
        if self.committed and choice != self.choice:
            raise ValueError("expected no change after the commitment: run the cell again for a fresh question")
        if choice is not None:
            judge(self.question, choice)  # raises for an index without a choice
        return choice

    @traitlets.validate("committed", "revealed")
    def _check_step(self, proposal) -> bool:
        name, value = proposal["trait"].name, proposal["value"]
        if value < getattr(self, name):
            raise ValueError(f"expected {name} to stay True: run the cell again for a fresh question")
        if value and (self.choice is None if name == "committed" else not self.committed):
            raise ValueError(f"expected a {'choice' if name == 'committed' else 'commitment'} before {name} = True")
        return value

    @traitlets.observe("committed", "revealed")
    def _tell(self, change) -> None:
        if self.revealed:
            self.message = judge(self.question, self.choice).text
        else:
            self.message = f"You said: “{self.question.choices[self.choice]}”. Now run the next cell."

    def _repr_mimebundle_(self, **kwargs) -> tuple[dict, dict]:
        """Give the live widget and, for readers without a kernel, the question and its choices."""
        data, metadata = super()._repr_mimebundle_(**kwargs)
        prompt, *choices = (html.escape(text, quote=True) for text in (self.question.prompt, *self.question.choices))
        items = "".join(f"<li>{choice}</li>" for choice in choices)
        text = f"{self.question.prompt} ({' / '.join(self.question.choices)})"
        return {**data, "text/html": f"<p>{prompt}</p><ul>{items}</ul>", "text/plain": text}, metadata


def predict(name: str) -> Prediction:
    """Ask the question `name` of `QUESTIONS`. Raises KeyError for a name that is not there."""
    if name not in QUESTIONS:
        raise KeyError(f"expected one of {sorted(QUESTIONS)}, got {name!r}")
    return Prediction(QUESTIONS[name])
