"""The course's questions: each can be asked, and has one answer with its reason."""

import pytest

from encoder_lib.explore.questions import QUESTIONS, predict
from encoder_lib.explore.widget.prediction import judge


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_question_can_be_asked(name):
    question = predict(name).question
    assert question.prompt.endswith("?")
    assert len(set(question.choices)) == len(question.choices) >= 2
    assert judge(question, question.answer).correct
    assert question.finding.endswith(".")


def test_an_unknown_name_lists_the_known():
    with pytest.raises(KeyError, match="shuffle"):
        predict("shuffel")
