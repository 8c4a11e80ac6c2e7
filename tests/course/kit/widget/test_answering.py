"""A widget whose front end asks by messages: it answers each one, or says in words what is wrong."""

import pytest
from widget_messages import connect, send

from encoder_lib.course.kit.widget.answering import Answering


class Doubling(Answering):
    """Doubles a number."""

    def _reply(self, message):
        if message == "lost":
            raise KeyError("expected a number, got 'lost'")
        return {"twice": 2 * message["number"]}, b"data", {"_question": message, "_data": b"data"}


@pytest.fixture
def doubling():
    return connect(Doubling(title="Twice", _question={"number": 1}))


def test_an_answer_goes_back_and_the_question_is_not_sent_again(doubling):
    assert send(doubling, {"id": 5, "question": {"number": 3}}) == [({"id": 5, "answer": {"twice": 6}}, [b"data"])]
    assert doubling._question == {"number": 3} and doubling._data == b"data"


@pytest.mark.parametrize(
    ("question", "words"),
    [("lost", "expected a number, got 'lost'"), ({"number": None}, "unsupported operand"), (3, "'int' object is not")],
)
def test_what_is_wrong_is_said_and_nothing_changes(doubling, question, words):
    ((reply, buffers),) = send(doubling, {"id": 5, "question": question})
    assert reply["id"] == 5 and reply["error"].startswith(words) and not buffers
    assert doubling._question == {"number": 1} and doubling._data == b""


@pytest.mark.parametrize("content", [None, 3, [], {}, {"id": 1}, "question"], ids=str)
def test_another_message_gets_an_echo(doubling, content):
    assert send(doubling, content) == [({}, None)]


def test_what_python_changes_is_sent_and_traits_from_outside_are_not_taken(doubling):
    doubling._question = {"number": 2}
    assert doubling.comm.traits == {"_question": {"number": 2}}
    state = {"title": "x", "_question": {}, "_esm": "alert(1)"}
    doubling._handle_msg({"content": {"data": {"method": "update", "state": state}}, "buffers": []})
    assert doubling.title == "Twice" and doubling._question == {"number": 2}


def test_each_widget_says_for_itself_what_it_answers():
    with pytest.raises(NotImplementedError):
        Answering()._reply({})
