"""Prediction questions: the answer stays in the kernel until the reader has committed and asks."""

import json

import pytest

from encoder_lib.explore.widget.prediction import Prediction, Question, judge

QUESTION = Question("Is <b> bold?", ("yes & no", "<i>never</i>"), 1, "Text is text.")


def test_judge_knows_right_from_wrong():
    right, wrong = judge(QUESTION, 1), judge(QUESTION, 0)
    assert right.correct and not wrong.correct
    assert "<i>never</i>" in right.text and "Text is text." in right.text
    assert "yes & no" in wrong.text and "<i>never</i>" in wrong.text and "Text is text." in wrong.text


@pytest.mark.parametrize("choice", [-1, 2])
def test_judge_refuses_an_index_without_a_choice(choice):
    with pytest.raises(IndexError, match="expected a choice from 0 to 1"):
        judge(QUESTION, choice)


def test_choose_commit_compare():
    prediction = Prediction(QUESTION)
    prediction.choice = 1
    prediction.choice = 0
    assert prediction.message == ""
    prediction.committed = True
    assert prediction.message == "You said: “yes & no”. Now run the next cell."
    prediction.revealed = True
    assert prediction.message == judge(QUESTION, 0).text


def test_the_order_cannot_be_turned_round():
    prediction = Prediction(QUESTION)
    with pytest.raises(IndexError):
        prediction.choice = 2
    with pytest.raises(ValueError, match="choice before committed"):
        prediction.committed = True
    prediction.choice = 0
    with pytest.raises(ValueError, match="commitment before revealed"):
        prediction.revealed = True
    prediction.committed = True
    with pytest.raises(ValueError, match="no change after the commitment"):
        prediction.choice = 1
    with pytest.raises(ValueError, match="stay True"):
        prediction.committed = False
    assert (prediction.choice, prediction.committed, prediction.revealed) == (0, True, False)


def test_a_choice_and_its_commitment_may_come_in_one_message():
    prediction = Prediction(QUESTION)
    prediction.set_state({"choice": 1, "committed": True})
    assert prediction.message.startswith("You said: “<i>never</i>”")


def test_the_front_end_does_not_hold_the_answer():
    state = json.dumps(
        Prediction(QUESTION).get_state(["choice", "committed", "revealed", "message", "_prompt", "_choices"])
    )
    assert QUESTION.finding not in state
    assert "answer" not in state


def test_readers_without_a_kernel_see_the_question_as_text():
    data, _ = Prediction(QUESTION)._repr_mimebundle_()
    expected = "<p>Is &lt;b&gt; bold?</p><ul><li>yes &amp; no</li><li>&lt;i&gt;never&lt;/i&gt;</li></ul>"
    assert data["text/html"] == expected
    assert data["text/plain"] == "Is <b> bold? (yes & no / <i>never</i>)"
    assert "application/vnd.jupyter.widget-view+json" in data


def test_the_result_is_computed_at_once():
    calls = []
    prediction = Prediction(QUESTION, lambda: calls.append("called") or 3)
    assert calls == ["called"] and prediction.result == 3
    assert Prediction(QUESTION).result is None
    with pytest.raises(ZeroDivisionError):
        Prediction(QUESTION, lambda: 1 / 0)
