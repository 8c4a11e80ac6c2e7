"""A question is there while its answer is computed, and gone when `predict` asks it."""

import pytest

from encoder_lib.course.kit import progress
from encoder_lib.course.kit.questions import QUESTIONS
from encoder_lib.course.training import asking as module
from encoder_lib.course.training.asking import asking


@pytest.fixture
def shown(monkeypatch):
    """What a notebook shows, in order."""
    outputs = []

    class Place:
        def update(self, output, raw):
            outputs.append(output)

    def display(output, raw, display_id):
        outputs.append(output)
        return Place()

    monkeypatch.setattr(module, "display", display)
    return outputs


def test_the_question_is_read_while_its_answer_is_computed(shown):
    question = QUESTIONS["more_seeds"]
    with asking("more_seeds", 2, "work") as bar:
        (card,) = shown
        for words in (question.prompt, *question.choices):
            assert words in card["text/html"]
        assert question.finding not in card["text/html"]
        bar.update()
        assert (bar.n, bar.total) == (1, 2)
    assert shown[1:] == [progress.EMPTY]


def test_after_an_error_it_is_gone_too(shown):
    with pytest.raises(ValueError, match="in the middle"), asking("more_seeds", 2, "work"):
        raise ValueError("in the middle")
    assert shown[-1] == progress.EMPTY


def test_without_a_notebook_it_does_no_harm(capsys):
    with asking("more_seeds", 2, "work") as bar:
        bar.update(2)
    assert QUESTIONS["more_seeds"].prompt in capsys.readouterr().out
