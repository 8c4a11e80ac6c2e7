"""Prediction questions: the answer stays in the kernel until the reader has committed."""

import pandas as pd
import pytest
import torch

from encoder_lib.course.kit import plots
from encoder_lib.course.kit.widget.prediction import (
    ANSWER,
    BOX,
    CARD,
    CHOICES,
    SUMMARY,
    Prediction,
    Question,
)

QUESTION = Question("Is <b> bold?", ("yes & no", "<i>never</i>"), 1, "Text is text.")
TOLD = {"answer": 1, "finding": "Text is text.", "result": {}}


@pytest.mark.parametrize("choice", [0, 1])
def test_a_commitment_reveals_at_once_and_for_good(choice):
    prediction = Prediction(QUESTION)
    with pytest.raises(IndexError, match="expected a choice from 0 to 1"):
        prediction.choice = 2
    with pytest.raises(ValueError, match="choice before committed"):
        prediction.committed = True
    prediction.choice = 1 - choice
    prediction.choice = choice
    assert prediction._outcome == {} and not prediction.revealed
    prediction.committed = True
    assert prediction.revealed and prediction._outcome == TOLD
    with pytest.raises(ValueError, match="no change after the reveal"):
        prediction.choice = 1 - choice
    for step in ("committed", "revealed"):
        with pytest.raises(ValueError, match=f"{step} to stay True"):
            setattr(prediction, step, False)
    assert (prediction.choice, prediction.committed, prediction.revealed) == (choice, True, True)


@pytest.mark.parametrize("choice", [None, 0])
def test_show_me_reveals_without_a_commitment(choice):
    """A choice that was not committed to is no answer, and nobody commits any more."""
    prediction = Prediction(QUESTION)
    prediction.choice = choice
    prediction.revealed = True
    for step, value, words in (("committed", True, "commitment before the reveal"), ("choice", 1, "no change after")):
        with pytest.raises(ValueError, match=words):
            setattr(prediction, step, value)
    assert prediction._outcome == TOLD and not prediction.committed


RESULTS = {
    "number": 0.731,
    "text": "Seventy-three.",
    "tensor": torch.tensor([0.731, 0.269]),
    "table": pd.DataFrame({"weight": [0.731]}, index=["river"]),
    "picture": plots.Picture("<svg></svg>", "The weight of river is 0.731."),
}


def state(prediction):
    """All that the front end has been sent beside its own files, in one text."""
    return str({name: value for name, value in prediction.get_state().items() if name not in ("_esm", "_css")})


@pytest.mark.parametrize("kind", RESULTS)
def test_the_front_end_holds_no_answer_before_the_reveal(kind):
    """Neither the finding nor the result nor the right choice, in any step before; and all of them after it."""
    result = RESULTS[kind]
    secrets = ["Text is text.", "answer", "0.731", "Seventy", "<svg>"]
    prediction = Prediction(QUESTION, lambda: result)
    assert [secret for secret in secrets if secret in state(prediction)] == []
    prediction.choice = 0
    assert [secret for secret in secrets if secret in state(prediction)] == []
    prediction.committed = True
    told = {"number": "0.731", "text": "Seventy-three", "tensor": "0.7310", "table": "0.731", "picture": "<svg>"}
    assert [secret for secret in ("Text is text.", "answer", told[kind]) if secret not in state(prediction)] == []
    assert prediction._outcome["answer"] == QUESTION.answer


def test_all_of_the_reveal_comes_in_one_message(monkeypatch):
    """So that the page is never half revealed."""
    prediction, sent = Prediction(QUESTION, lambda: 3), []
    monkeypatch.setattr(prediction, "send_state", lambda keys=None: sent.append(set(keys)))
    prediction.set_state({"choice": 1, "committed": True})
    assert sent == [{"revealed", "_outcome"}]


def test_readers_without_a_kernel_unfold_the_answer():
    data, _ = Prediction(QUESTION)._repr_mimebundle_()
    choices = "".join(f"<li>{BOX}{choice}</li>" for choice in ("yes &amp; no", "&lt;i&gt;never&lt;/i&gt;"))
    question = f'<div style="{CARD}"><strong>Is &lt;b&gt; bold?</strong><ul style="{CHOICES}">{choices}</ul>'
    answer = f'<p style="{ANSWER}"><strong>✓ &lt;i&gt;never&lt;/i&gt;</strong></p><p>Text is text.</p>'
    folded = f'<details><summary style="{SUMMARY}">Show the answer</summary>{{}}</details>'
    assert data["text/html"] == question + folded.format(answer) + "</div>"
    assert data["text/plain"] == "Is <b> bold? (yes & no / <i>never</i>)"
    assert "application/vnd.jupyter.widget-view+json" in data
    data, _ = Prediction(QUESTION, lambda: RESULTS["text"])._repr_mimebundle_()
    assert data["text/html"].startswith(question + folded.format(answer + "<pre ").partition("</details>")[0])
    assert "Seventy-three." in data["text/html"] and "Seventy-three." not in data["text/plain"]


def test_a_picture_is_stored_in_the_fold_alone():
    """An answer beside the question would be seen at once; its alt text is not shown either."""
    data, _ = Prediction(QUESTION, lambda: RESULTS["picture"])._repr_mimebundle_()
    fold = data["text/html"].partition("<details>")[2]
    assert '<img alt="Text is text." src="data:image/svg+xml;base64,' in fold
    assert "0.731" not in str(data)


def test_the_result_is_computed_at_once():
    calls = []
    prediction = Prediction(QUESTION, lambda: calls.append("called") or 3)
    assert calls == ["called"] and prediction.result == 3
    prediction.revealed = True
    assert calls == ["called"]
    assert Prediction(QUESTION).result is None
    with pytest.raises(ZeroDivisionError):
        Prediction(QUESTION, lambda: 1 / 0)
