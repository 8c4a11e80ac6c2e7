"""The search answers its front end and Python, says in words what is wrong, and has a picture without a kernel."""

import gzip
import json
import struct

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from explorers import minilm
from hostile_texts import HOSTILE
from matplotlib.colors import to_hex
from widget_messages import connect, send

from encoder_lib.course import explore
from encoder_lib.course.kit.palette import LIGHT
from encoder_lib.course.kit.plots import INVISIBLE
from encoder_lib.course.kit.widget.search import LONGEST, Query, describe, draw, read_query
from encoder_lib.course.kit.widget.web import RUN

TEXTS = ["Mix flour, butter and sugar.", "Connect the cable to the socket.", "Ships for sale in our harbour."]
QUESTION = "How do I charge my phone?"
LIMIT = 6000  # bytes of the recording of three texts


@pytest.fixture
def search():
    return connect(explore.search(minilm(), TEXTS, question=QUESTION))


def answer_to(widget, question):
    """The answer to a question of the front end."""
    (answer,) = send(widget, {"id": "a-1", "question": question})
    return answer


def encoded(question, texts=TEXTS):
    """The cosines as a reader would compute them."""
    (asked,) = minilm().encode([question])
    return (minilm().encode(texts) @ asked).numpy()


def numbers_of(header, data):
    return np.frombuffer(data, "<f4")[header["at"] : header["at"] + header["size"]]


def test_the_first_answer_is_there_at_once(search):
    assert search._question == {"question": QUESTION, "texts": TEXTS}
    assert search._options == {"fewest": 3, "most": 8, "longest": 200}
    np.testing.assert_allclose(numbers_of(search._answer["cosines"], search._data), encoded(QUESTION), atol=1e-6)


@pytest.mark.parametrize("texts", [TEXTS, [*TEXTS[::-1], "One more."]])
def test_an_answer_has_the_numbers_of_encode_and_becomes_the_current_question(search, texts):
    """And what the front end already has is not sent to it again."""
    asked = {"question": "Where can I buy a boat?", "texts": texts}
    reply, (data,) = answer_to(search, asked)
    assert reply["id"] == "a-1" and set(reply) == {"id", "answer"}
    np.testing.assert_allclose(numbers_of(reply["answer"]["cosines"], data), encoded(**asked), atol=1e-6)
    assert search._question == asked and search._data == data and search.comm.traits == {}
    np.testing.assert_allclose(search.cosines, encoded(**asked), atol=1e-6)


def test_the_texts_are_encoded_only_once(search, monkeypatch):
    read = []
    encode = search._model.encode
    monkeypatch.setattr(search._model, "encode", lambda texts: read.append(list(texts)) or encode(texts))
    for question in ("a boat", "a cake"):
        answer_to(search, {"question": question, "texts": TEXTS})
    assert read == [["a boat"], ["a cake"]]


WRONG = [
    (None, TypeError, "question: expected a mapping with the fields question and texts, got None"),
    ({"question": "a"}, KeyError, "question: expected a mapping with the fields question and texts, got ['question']"),
    ({"question": 3, "texts": TEXTS}, TypeError, "question: expected a string, got 3"),
    ({"question": " ", "texts": TEXTS}, ValueError, "question: expected 1 to 200 characters, not all of them spaces"),
    ({"question": "a" * 201, "texts": TEXTS}, ValueError, "question: expected 1 to 200 characters, not all of them sp"),
    ({"question": "a", "texts": "b"}, TypeError, "texts: expected a list of strings, got one string"),
    ({"question": "a", "texts": TEXTS[:2]}, ValueError, "texts: expected 3 to 8 of them, got 2"),
    ({"question": "a", "texts": TEXTS * 3}, ValueError, "texts: expected 3 to 8 of them, got 9"),
    ({"question": "a", "texts": [*TEXTS, 3]}, TypeError, "texts[3]: expected a string, got 3"),
    ({"question": "a", "texts": [*TEXTS, ""]}, ValueError, "texts[3]: expected 1 to 200 characters, not all of them"),
    ({"question": "a", "texts": [*TEXTS, "b" * 201]}, ValueError, "texts[3]: expected 1 to 200 characters, not all o"),
]


@pytest.mark.parametrize(("question", "kind", "words"), WRONG)
def test_what_is_wrong_with_a_question_is_said_in_words(search, question, kind, words):
    before = search.get_state()
    reply, _ = answer_to(search, question)
    assert set(reply) == {"id", "error"} and reply["error"].startswith(words)
    assert reply["error"].isprintable() and len(reply["error"]) <= 500
    with pytest.raises(kind) as error:
        read_query(question)
    assert error.value.args[0].startswith(words)
    assert search.get_state() == before


def test_python_sets_and_reads_question_and_texts(search):
    search.set(question="Where can I buy a boat?")
    assert [*search.comm.traits] == ["_question"]  # and _data, as a buffer
    search.set(texts=TEXTS[::-1])
    assert search.values == {"question": "Where can I buy a boat?", "texts": tuple(TEXTS[::-1])}
    assert search.query == Query(**search.values) and search.cosines.argmax() == 0
    before = search.get_state()
    for wrong in ({"question": ""}, {"texts": []}, {"x": 1}):
        with pytest.raises((ValueError, KeyError), match="expected"):
            search.set(**wrong)
    assert search.get_state() == before


def test_as_long_a_text_as_is_allowed_is_read_to_its_end():
    """A character is at most one token, and MiniLM reads 256."""
    long = ["!" * (LONGEST - 1) + end for end in "ab"]
    first, second = explore.search(minilm(), [*long, "c"], question="?").cosines[:2].tolist()
    assert first != second


def test_control_characters_become_spaces():
    assert read_query({"question": "a\x00b", "texts": ["a\nb", "\ud800", "c"]}) == Query("a b", ("a b", "\ufffd", "c"))


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_text_stays_text_or_is_refused(search, text):
    """In the traits, in a reply, in the picture and in words."""
    reply, _ = answer_to(search, {"question": text, "texts": [text, text, "x"]})
    said = json.dumps([reply, search._question], ensure_ascii=False)
    assert said.encode() and not INVISIBLE.search(said)
    if "error" in reply:
        assert reply["error"].startswith("question: expected 1 to 200 characters")
        return
    assert search.description.isprintable() and not INVISIBLE.search(search.description)
    html = search._repr_mimebundle_()[0]["text/html"].removeprefix(RUN)
    assert html.count("<") == html.count("<img ") == 1


def test_there_is_a_picture_without_a_kernel(search):
    bundle, _ = search._repr_mimebundle_()
    assert "<img alt=" in bundle["text/html"] and search.description in bundle["text/plain"]
    assert len(bundle["text/html"]) < 60_000


def test_the_picture_and_its_words_have_the_highest_cosine_first():
    query, cosines = Query(QUESTION, tuple(TEXTS)), torch.tensor([0.1, 0.456, -0.2])
    said = f"Cosine with “{QUESTION}”, the highest first: “{TEXTS[1]}” 0.46, “{TEXTS[0]}” 0.10, “{TEXTS[2]}” −0.20."
    assert describe(query, cosines) == said
    ax = draw(query, cosines)
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([0.456, 0.1, -0.2])
    assert [label.get_text() for label in ax.get_yticklabels()] == [TEXTS[1], TEXTS[0], TEXTS[2]]
    assert [to_hex(bar.get_facecolor()) for bar in ax.patches] == [
        LIGHT[role] for role in ("sentence-1", "norm", "norm")
    ]
    low, high = ax.get_xlim()
    assert low < -0.2 and high > 1 and ax.yaxis_inverted()
    plt.close(ax.figure)


def test_a_recording_has_the_query_its_cosines_and_the_vectors_of_the_texts(search):
    file = search.record()
    text = gzip.decompress(file)
    (size,) = struct.unpack_from("<I", text)
    header, data = json.loads(text[4 : 4 + size]), text[4 + size :]
    assert len(file) < LIMIT and header["query"] == search._question and header["options"] == search._options
    found = {name: numbers_of(place, data) for name, place in header["found"].items()}
    np.testing.assert_allclose(found["cosines"], encoded(QUESTION), rtol=1 / 4096)
    np.testing.assert_allclose(found["vectors"], minilm().encode(TEXTS).ravel(), rtol=1 / 4096)
