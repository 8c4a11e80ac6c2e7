"""The stored picture shows how far apart the vectors are and what the word attends to, and the words say it."""

import matplotlib.pyplot as plt
import pytest
from explorers import PAIR, minilm

from encoder_lib.course.kit.interventions import Cut, Intervened, Knockout, Question
from encoder_lib.course.kit.palette import LIGHT
from encoder_lib.course.kit.widget.alive_picture import NAMES, describe, distance, draw, largest


@pytest.fixture(scope="module")
def intervened():
    return Intervened(minilm())


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_distances_of_known_cosines():
    assert [distance(cosine) for cosine in (1, 0, -1, 1 + 1e-9)] == pytest.approx([0, 2**0.5, 2, 0])


def test_strands_are_as_far_apart_as_the_vectors(intervened):
    answer = intervened.ask(Question(PAIR))
    ax = draw(answer)
    first, second = (line.get_xdata() for line in ax.lines if line.get_linewidth() == 3)
    assert [b - a for a, b in zip(first, second, strict=True)] == pytest.approx(
        [distance(cosine) for cosine in answer.word_cosines.tolist()]
    )
    texts = [text.get_text() for text in ax.texts]
    assert {"river 100 %", "big 100 %", "0.56"} <= set(texts) and "0.00" not in texts
    assert [label.get_text() for label in ax.get_yticklabels()][:3] == ["token", "position", "layer 1"]


def test_the_bars_of_one_sentence_are_its_largest_weights(intervened):
    answer = intervened.ask(Question(PAIR[:1], "bank"))
    ax = draw(answer)
    token, head, weight = largest(answer.sentences[0], 0)
    assert (token, head) == ("river", 2) and weight > 0.99
    assert [bar.get_width() for bar in ax.patches] == pytest.approx(
        [largest(answer.sentences[0], n)[2] for n in range(6)]
    )
    assert {plt.matplotlib.colors.to_hex(bar.get_facecolor()) for bar in ax.patches} == {LIGHT["attention"]}


def test_special_tokens_and_the_word_itself_are_not_what_it_attends_to(intervened):
    answer = intervened.ask(Question(("bank", "bank .")))
    assert answer.word == "bank" and largest(answer.sentences[0], 0) is None
    assert "in layer 1 nothing and nothing" in describe(Question(("bank", "bank .")), answer)


def test_the_words_say_what_is_seen(intervened):
    asked = Question(PAIR)
    said = describe(asked, intervened.ask(asked))
    assert "Distance of the two vectors of “bank”, scaled to length 1: 0.00 in the embedding table, 0.00 with " in said
    assert "after layer 1: 0.38, 2: 0.41" in said and "6: 0.56. Their cosine at the end is 0.843." in said
    assert "The cosine of the two sentences is 0.443." in said
    assert "in layer 1 “river” (100 %, head 3) and “big” (100 %, head 3); in layer 2" in said


def test_the_words_say_what_was_done(intervened):
    out = (*(Knockout(part, None if part == "position" else 0) for part in NAMES), Knockout("norm1", None))
    asked = Question(PAIR, "bank", (Cut(0, None, None, 3, 2), Cut(1, 0, 2, 3, 2)), out, (1, 2))
    said = describe(asked, intervened.ask(asked))
    assert "Layer 2 is open, at head 3." in said
    assert "Cut: the attention from “bank” to “river” in all layers." in said
    assert "Cut: the attention from “bank” to “big” in head 3 of layer 1." in said
    assert "Taken out: the position, attention in layer 1, the residual connection around attention in layer 1" in said
    assert "the norm after attention in all layers." in said


def test_sentences_without_a_word_in_common(intervened):
    asked = Question(("a b", "c d"))
    answer = intervened.ask(asked)
    assert "The sentences have no word in common." in describe(asked, answer)
    assert draw(answer).get_title() == "No word in common"
