"""Questions are read from JSON or refused in words, and answers come back whole, as bytes and in a recording."""

import gzip
import json
import struct
from dataclasses import fields, is_dataclass

import numpy as np
import pytest
import torch
from explorers import PAIR, minilm

from encoder_lib.course.kit.interventions import Cut, Intervened, Knockout, Question
from encoder_lib.course.kit.widget.alive_messages import (
    Numbers,
    answer_message,
    header_of,
    question_message,
    read_question,
    recording,
)

CUT = {"side": 0, "layer": None, "head": 2, "query": 3, "key": 2}
ASKED = {
    "texts": list(PAIR),
    "word": "bank",
    "cuts": [CUT],
    "knockouts": [{"part": "norm1", "layer": 1}],
    "detail": [0, 2],
}
QUESTION = Question(PAIR, "bank", (Cut(0, None, 2, 3, 2),), (Knockout("norm1", 1),), (0, 2))


@pytest.fixture(scope="module")
def answer():
    return Intervened(minilm()).ask(QUESTION)


def arrays(value, header):
    """Each array of an answer, and where the header has it."""
    if isinstance(value, torch.Tensor):
        yield value, header
    elif is_dataclass(value):
        assert list(header) == [field.name for field in fields(value)]
        for name, inner in header.items():
            yield from arrays(getattr(value, name), inner)
    elif isinstance(value, list):
        for one, inner in zip(value, header, strict=True):
            yield from arrays(one, inner)
    else:
        assert value == header


def test_a_question_comes_back_as_it_was():
    assert read_question(ASKED) == QUESTION and question_message(QUESTION) == ASKED
    assert read_question({"texts": ["a"]}) == Question(("a",))
    assert read_question(ASKED | {"cuts": [Cut(**CUT)]}) == QUESTION
    assert read_question({"texts": ["a\nb\x00 \ud800"]}).texts == ("a b  \ufffd",)


@pytest.mark.parametrize(
    ("message", "kind", "words"),
    [
        (None, TypeError, "question: expected a mapping with the fields of a question, got None"),
        ([], TypeError, "question: expected a mapping"),
        ({}, TypeError, "texts: expected a list, got None"),
        ({"texts": "a b"}, TypeError, "texts: expected a list, got 'a b'"),
        (ASKED | {"x": 1}, KeyError, "question: expected the fields texts, word, cuts, knockouts, detail, got 'x'"),
        (ASKED | {"cuts": 3}, TypeError, "cuts: expected a list, got 3"),
        (ASKED | {"cuts": [3]}, TypeError, "cut: expected a Cut or a mapping with its fields, got 3"),
        (ASKED | {"cuts": [{}]}, KeyError, "cut: expected the fields side, layer, .*, got none named 'side'"),
        (ASKED | {"cuts": [CUT | {"x": 1}]}, KeyError, "cut: expected the fields side, layer, .*, got 'x'"),
        (ASKED | {"knockouts": [CUT]}, KeyError, "knockout: expected the fields part, layer, got 'side'"),
        (ASKED | {"detail": [1]}, ValueError, r"detail: expected a layer and a head, got \[1\]"),
        (ASKED | {"detail": 1}, TypeError, "detail: expected a list, got 1"),
    ],
)
def test_what_is_no_question_is_refused_in_words(message, kind, words):
    with pytest.raises(kind, match=words):
        read_question(message)


def test_an_answer_arrives_whole(answer):
    header, data = answer_message(answer)
    header, numbers = json.loads(json.dumps(header, allow_nan=False)), np.frombuffer(data, "<f4")
    found = list(arrays(answer, header))
    assert sum(place["size"] for _, place in found) == len(numbers)
    for values, place in found:
        part = numbers[place["at"] : place["at"] + place["size"]]
        assert np.array_equal(part, values.float().numpy().ravel())
    assert len(data) < 100_000


def test_a_cosine_that_is_no_number_is_null():
    assert header_of([float("nan"), 1.0, "a"], Numbers()) == [None, 1.0, "a"]


def test_a_recording_has_each_answer_nearly_as_it_was(answer):
    file = recording("A title", {"sentences": 2}, [(QUESTION, answer), (QUESTION, answer)])
    unzipped = gzip.decompress(file)
    (size,) = struct.unpack_from("<I", unzipped)
    header, numbers = json.loads(unzipped[4 : 4 + size]), np.frombuffer(unzipped[4 + size :], "<f4")
    assert size % 4 == 0 and header["title"] == "A title" and header["options"] == {"sentences": 2}
    assert [one["question"] for one in header["answers"]] == [ASKED, ASKED]
    for recorded in header["answers"]:
        for values, place in arrays(answer, recorded["answer"]):
            part = numbers[place["at"] : place["at"] + place["size"]]
            np.testing.assert_allclose(part, values.float().numpy().ravel(), rtol=1 / 4096)
