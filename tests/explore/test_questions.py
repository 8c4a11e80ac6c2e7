"""The course's questions: each can be asked, and has one answer with its reason."""

import re

import pytest

from encoder_lib.explore.questions import QUESTIONS, predict
from encoder_lib.explore.widget.prediction import judge


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_question_can_be_asked(name):
    question = predict(name).question
    assert re.search(r"\?( \(.+\))?$", question.prompt)  # what one has to know may stand in brackets
    assert len(set(question.choices)) == len(question.choices) >= 2
    assert judge(question, question.answer).correct
    assert 1 <= sentences(question.finding) <= 4


def sentences(text):
    """How many sentences a text is: each begins large and has a full stop at its end."""
    parts = re.split(r"(?<=\.) (?=[A-Z0-9“])", text)
    return len(parts) if all(re.fullmatch(r"[A-Z0-9“].*\.", part) for part in parts) else 0


@pytest.mark.parametrize(
    ("text", "count"),
    [("It is 0.5.", 1), ("One. Two 3.5 s.", 2), ("One. Two. Three.", 3), ("no. Large.", 0), ("No full stop", 0)],
)
def test_sentences_are_counted(text, count):
    assert sentences(text) == count


def test_what_is_seen_comes_with_the_question():
    prediction = predict("shuffle", lambda: 2.2e-16)
    assert prediction.result == 2.2e-16
    assert "0.00000000000000022" in prediction._repr_mimebundle_()[0]["text/html"]


def test_an_unknown_name_lists_the_known():
    with pytest.raises(KeyError, match="shuffle"):
        predict("shuffel")
