"""The course's questions: each can be asked, and has one answer with its reason."""

import re

from encoder_lib.course.kit.questions import QUESTIONS, predict


def test_every_question_can_be_asked():
    for name in QUESTIONS:
        question = predict(name).question
        assert re.search(r"\?( \(.+\))?$", question.prompt), name  # what one has to know may stand in brackets
        assert len(set(question.choices)) == len(question.choices) >= 2, name
        assert question.answer in range(len(question.choices)) and 1 <= sentences(question.finding) <= 4, name


def sentences(text):
    """How many sentences a text is: each begins large and has a full stop at its end."""
    parts = re.split(r"(?<=\.) (?=[A-Z0-9“])", text)
    return len(parts) if all(re.fullmatch(r"[A-Z0-9“].*\.", part) for part in parts) else 0


def test_what_is_seen_comes_with_the_question():
    prediction = predict("shuffle", lambda: 2.2e-16)
    assert prediction.result == 2.2e-16
    assert "0.00000000000000022" in prediction._repr_mimebundle_()[0]["text/html"]
