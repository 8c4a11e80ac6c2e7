"""The stored picture shows how far apart the vectors are and what the word attends to, and the words say it."""

import pytest
from explorers import PAIR
from matplotlib.patches import PathPatch

from encoder_lib.course.kit.interventions import Cut, Knockout, Question
from encoder_lib.course.kit.palette import LIGHT
from encoder_lib.course.kit.widget.alive_picture import (
    NAMES,
    SCALE,
    STRANDS,
    THICKEST,
    describe,
    distance,
    draw,
    largest,
)


def test_distances_of_known_cosines():
    assert [distance(cosine) for cosine in (1, 0, -1, 1 + 1e-9)] == pytest.approx([0, 2**0.5, 2, 0])


def lines_of(ax, role, width=3):
    return [line for line in ax.lines if line.get_linewidth() == width and line.get_color() == LIGHT[role]]


def test_strands_are_as_far_apart_as_the_vectors(intervened):
    answer = intervened.ask(Question(PAIR))
    (ax,) = draw(answer).axes
    first, second = (lines_of(ax, role)[-1].get_xdata() for role in ("sentence-1", "sentence-2"))
    gaps = [(b - a) / STRANDS for a, b in zip(first, second, strict=True)]
    assert gaps[:-1] == pytest.approx([distance(cosine) for cosine in answer.word_cosines.tolist()])
    texts = [text.get_text() for text in ax.texts]
    assert {"0.843", "0.928", "0.443", "both “bank”", "river", "rates"} <= set(texts)
    assert [label.get_text() for label in ax.get_yticklabels()][:3] == ["token", "position", "layer 1"]


def test_a_ribbon_is_as_wide_as_what_arrives_is_long(intervened):
    """In every layer, for each token from which more than next to nothing arrives at the followed word."""
    answer = intervened.ask(Question(PAIR[:1], "bank"))
    (ax,) = draw(answer).axes
    (sentence,) = answer.sentences
    wanted = [min(THICKEST, SCALE * x) for layer in sentence.arriving for x in layer[sentence.place].tolist()]
    ribbons = [patch for patch in ax.patches if isinstance(patch, PathPatch)]
    assert [ribbon.get_linewidth() for ribbon in ribbons] == pytest.approx([width for width in wanted if width >= 0.5])
    assert len(lines_of(ax, "sentence-1")) == 1 and len(lines_of(ax, "stream", 1)) == len(sentence.tokens) - 1
    start, *_, end = ribbons[0].get_path().vertices
    assert start[0] == 0 and end[0] == sentence.place and "“bank”" in ax.figure.legends[0].get_texts()[0].get_text()


@pytest.mark.parametrize("texts", [PAIR, PAIR[:1]], ids=["pair", "one"])
def test_an_open_layer_shows_the_steps_of_its_head_in_each_sentence(intervened, texts):
    figure = draw(intervened.ask(Question(texts, "bank", detail=(0, 2))))
    words = [text.get_text() for ax in figure.axes for text in ax.texts]
    assert words.count("softmax") == 1 and words.count("the sum goes on to the norm") == len(texts)
    assert any("“bank” gives “river” 99.9 % of its attention" in text for text in words)
    assert draw(intervened.ask(Question(texts, "bank", detail=(0, 2))), wide=False).get_figwidth() < 4


def test_largest_weight_of_the_followed_word(intervened):
    token, head, weight = largest(intervened.ask(Question(PAIR[:1], "bank")).sentences[0], 0)
    assert (token, head) == ("river", 2) and weight > 0.99


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
    assert "Layer 2 is open. In layer 2, head 3, “bank” gives " in said
    assert "Cut: the attention from “bank” to “river” in all layers." in said
    assert "Cut: the attention from “bank” to “big” in head 3 of layer 1." in said
    assert "Taken out: the position, attention in layer 1, the residual connection around attention in layer 1" in said
    assert "the norm after attention in all layers." in said


def test_sentences_without_a_word_in_common(intervened):
    asked = Question(("a b", "c d"))
    answer = intervened.ask(asked)
    assert "The sentences have no word in common." in describe(asked, answer)
    assert "no word\nin common" in [text.get_text() for text in draw(answer).axes[0].texts]
