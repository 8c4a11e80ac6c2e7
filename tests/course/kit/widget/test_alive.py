"""The widget answers its front end and Python, says in words what is wrong, and has a picture without a kernel."""

import gzip
import json
import struct

import numpy as np
import pytest
import torch
from explorers import PAIR, minilm
from hostile_texts import HOSTILE
from widget_messages import connect, send

from encoder_lib.course import explore
from encoder_lib.course.kit.interventions import Cut, Knockout
from encoder_lib.course.kit.plots import INVISIBLE
from encoder_lib.course.kit.widget.alive import PAIRS
from encoder_lib.course.kit.widget.web import RUN

BOTH = tuple(Cut(side, None, None, 3, 2) for side in (0, 1))
LIMIT = 400_000  # bytes of a recording


@pytest.fixture
def alive():
    return connect(explore.alive(minilm(), *PAIR))


def numbers_of(header, data):
    return np.frombuffer(data, "<f4")[header["at"] : header["at"] + header["size"]]


def test_the_first_answer_is_there_at_once(alive):
    answer = alive._answer
    assert (answer["word"], answer["common"], answer["layers"], answer["heads"]) == ("bank", ["the", "bank"], 6, 12)
    assert round(float(numbers_of(answer["word_cosines"], alive._data)[-1]), 3) == 0.843
    assert alive._question == {"texts": [*PAIR], "word": "bank", "cuts": [], "knockouts": [], "detail": None}
    assert alive._options == {"sentences": 2, "open": None, "predict": False}


def test_a_message_is_answered_and_becomes_the_current_question(alive):
    """And what the front end already has is not sent to it again."""
    cut = {"side": 0, "layer": None, "head": None, "query": 3, "key": 2}
    asked = alive._question | {"cuts": [cut, cut | {"side": 1}]}
    ((reply, (data,)),) = send(alive, {"id": "a-1", "question": asked})
    assert alive.comm.traits == {}
    assert set(reply) == {"id", "answer"} and reply["id"] == "a-1"
    assert round(float(numbers_of(reply["answer"]["word_cosines"], data)[-1]), 3) == 0.917
    assert alive._question == asked and alive.values["cuts"] == BOTH
    assert round(float(numbers_of(alive._answer["word_cosines"], alive._data)[-1]), 3) == 0.843, "of no cuts"


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (None, "question: expected a mapping with the fields of a question, got None"),
        ({"texts": ["a " * 70]}, "first: expected at most 64 tokens, got 72; try a shorter sentence"),
        ({"texts": [3]}, "first: expected a string, got 3"),
        ({"texts": ["a"], "knockouts": [{"part": "x", "layer": 0}]}, "part: expected one of 'position', "),
        ({"texts": ["a"], "knockouts": [{"part": "norm1", "layer": 6}]}, "layer: expected an integer from 0 to 5"),
        ({"texts": ["a"], "cuts": [{"side": 0}]}, "cut: expected the fields side, layer, head, query, key, got none"),
        ({"texts": ["a"], "cuts": [dict(side=[], layer=0, head=0, query=0, key=0)]}, "side: expected an integer"),
        ({"texts": ["a"], "detail": [0, None]}, "head: expected an integer, got None"),
        ({"texts": ["a"], "word": {}, "cuts": {}}, "cuts: expected a list, got {}"),
        (
            {"texts": ["a"], "<b>": 1},
            "question: expected the fields texts, word, cuts, knockouts, detail, got '<b>'",
        ),
    ],
    ids=str,
)
def test_what_is_wrong_with_a_message_is_said_in_words(alive, question, words):
    before = alive._question, alive._answer, alive._data
    ((reply, _),) = send(alive, {"id": 7, "question": question})
    assert set(reply) == {"id", "error"} and reply["id"] == 7 and reply["error"].startswith(words)
    assert reply["error"].isprintable() and len(reply["error"]) <= 500
    assert (alive._question, alive._answer, alive._data) == before


def test_python_sets_and_reads_the_question(alive):
    alive.set(knockouts=[{"part": "attention", "layer": None}])
    assert alive.values["knockouts"] == (Knockout("attention", None),) and [*alive.comm.traits] == ["_question"]
    assert alive.answer.word_cosines[-1].item() == pytest.approx(1)
    assert "Taken out: attention in all layers." in alive.description
    alive.set(cuts=BOTH, knockouts=())
    assert alive.values == {"texts": PAIR, "word": "bank", "cuts": BOTH, "knockouts": (), "detail": None}
    alive.set(texts=("The mouse ran.", "A mouse click."))
    assert alive.values["word"] == "mouse" and alive.values["cuts"] == ()
    alive.set(word="mouse", detail=(1, 2))
    assert alive.answer.sentences[0].detail.head == 2


@pytest.mark.parametrize(
    ("values", "kind", "words"),
    [
        ({"texts": ["one"]}, ValueError, "texts: expected as many as at the start, 2, got 1"),
        (
            {"word": "river"},
            ValueError,
            r"word: expected a word of each sentence, one of \['the', 'bank'\], got 'ri",
        ),
        ({"x": 1}, KeyError, "question: expected the fields texts, word, cuts, knockouts, detail, got 'x'"),
        ({"detail": (0, 99)}, ValueError, "head: expected an integer from 0 to 11, got 99"),
    ],
)
def test_a_wrong_value_from_python_changes_nothing(alive, values, kind, words):
    before = alive._question, alive._answer, alive._data
    with pytest.raises(kind, match=words):
        alive.set(**values)
    assert (alive._question, alive._answer, alive._data) == before and alive.comm.traits == {}


@pytest.mark.parametrize(
    ("texts", "options", "kind", "words"),
    [
        ((3,), {}, TypeError, "first: expected a string, got 3"),
        ((PAIR[0], 3), {}, TypeError, "second: expected a string, got 3"),
        (("a " * 70,), {}, ValueError, "first: expected at most 64 tokens, got 72"),
        (PAIR, {"word": "river"}, ValueError, "word: expected a word of each sentence"),
        (PAIR, {"word": 3}, TypeError, "word: expected a string, got 3"),
        (PAIR, {"open": 7}, ValueError, "open: expected an integer from 1 to 6, got 7"),
        (PAIR, {"open": "1"}, TypeError, "open: expected an integer, got '1'"),
        (PAIR, {"predict": 1}, TypeError, "predict: expected True or False, got 1"),
        (PAIR[:1], {"predict": True}, ValueError, "predict: expected two sentences whose vectors can differ, got one"),
    ],
)
def test_wrong_arguments_are_refused_in_words(texts, options, kind, words):
    with pytest.raises(kind, match=words):
        explore.alive(minilm(), *texts, **options)


def test_only_a_sentence_encoder_is_alive():
    with pytest.raises(TypeError, match="model: expected a SentenceEncoder, got Linear"):
        explore.alive(torch.nn.Linear(2, 2), *PAIR)


def test_an_opened_layer_shows_the_head_that_brings_most():
    alive = explore.alive(minilm(), *PAIR, open=1)
    assert alive._question["detail"] == [0, 2] and alive._options["open"] == 1
    assert alive._answer["sentences"][0]["detail"]["head"] == 2
    assert alive.title == "Two sentences on their way, with layer 1 open"  # no other one on a page has it


@pytest.mark.parametrize(
    "texts",
    [PAIR, PAIR[:1], ("", " "), ("a b", "c d"), ("<b>$x^$</b> {} %s", "\ud800 x"), ("你好世界", "世"), ("##", "'")],
)
def test_there_is_a_picture_without_a_kernel(texts):
    alive = explore.alive(minilm(), *texts)
    bundle, _ = alive._repr_mimebundle_()
    assert "<img alt=" in bundle["text/html"] and alive.description in bundle["text/plain"]
    assert len(bundle["text/html"]) < 60_000 and alive.description.isprintable() and alive.description.endswith(".")


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_text_stays_text_or_is_refused(alive, text):
    """In the traits, in a reply, in the picture and in words."""
    ((reply, _),) = send(alive, {"id": 1, "question": {"texts": [text, text]}})
    said = json.dumps(reply, ensure_ascii=False)
    assert said.encode() and not INVISIBLE.search(said)
    if "error" in reply:
        assert len(text) > 100 and reply["error"].startswith("first: expected at most")
        return
    json.dumps(alive._question, ensure_ascii=False).encode()
    assert alive.description.isprintable() and not INVISIBLE.search(alive.description)
    html = explore.alive(minilm(), text, text)._repr_mimebundle_()[0]["text/html"].removeprefix(RUN)
    assert html.count("<") == html.count("<img ") == 1


def test_a_prediction_keeps_its_picture_folded_away():
    bundle, _ = explore.alive(minilm(), *PAIR, predict=True)._repr_mimebundle_()
    asked, folded = bundle["text/html"].split("<details>")
    assert "Where on their way up" in asked and "0.843" not in asked and "0.843" in folded and "img" in folded
    assert "0.843" not in bundle["text/plain"]


def test_recordings_are_small_and_begin_with_the_current_sentences():
    for texts, count in ((PAIR, len(PAIRS)), (("A bat.", "A bat flew."), len(PAIRS) + 1), (PAIR[:1], 1)):
        file = explore.alive(minilm(), *texts).record()
        text = gzip.decompress(file)
        (size,) = struct.unpack_from("<I", text)
        header = json.loads(text[4 : 4 + size])
        assert len(file) < LIMIT and len(header["answers"]) == count
        assert header["answers"][0]["question"]["texts"] == [*texts]
        assert all(one["question"]["word"] == one["answer"]["word"] for one in header["answers"])
