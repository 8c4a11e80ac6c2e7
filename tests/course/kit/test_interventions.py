"""Every kind of intervention gives what the encoder's parts give when called by hand, and no sentence runs twice."""

from dataclasses import replace

import pytest
import torch
from explorers import PAIR, minilm
from torch.nn.functional import cosine_similarity

from encoder_lib.course.kit.activations import ablate
from encoder_lib.course.kit.interventions import PARTS, REMEMBERED, Cut, Intervened, Knockout, Question, cut_edits
from encoder_lib.model.encoder import TransformerEncoder
from encoder_lib.pretrained import SentenceEncoder

BANK, BEFORE = 3, 2  # where both sentences have the word “bank”, and the word before it
RIVER_AND_BIG = [(layer, head) for layer in (0, None) for head in (2, None)]
EVERYWHERE = [(part, layer) for part in PARTS for layer in (1, None) if part != "position" or layer is None]


def cuts(layer=None, head=None, query=BANK, key=BEFORE):
    """The same cut in both sentences."""
    return tuple(Cut(side, layer, head, query, key) for side in (0, 1))


def knockouts(*parts):
    return tuple(Knockout(part, layer) for part, layer in parts)


CASES = {
    "untouched": {},
    **{f"cut, layer {layer}, head {head}": {"cuts": cuts(layer, head)} for layer, head in RIVER_AND_BIG},
    **{f"no {part}, layer {layer}": {"knockouts": knockouts((part, layer))} for part, layer in EVERYWHERE},
    "one sentence is cut": {"cuts": cuts()[:1]},
    "a query without any key": {"cuts": tuple(Cut(0, 1, 4, BANK, key) for key in range(8))},
    "several": {"cuts": cuts(1) + cuts(3, 5, 0, 1), "knockouts": knockouts(("norm1", 2), ("feed_forward", None))},
    "attention, and the path around it": {"knockouts": knockouts(("attention", 3), ("residual1", 3))},
    "only the path around attention": {"knockouts": knockouts(("attention", 3), ("norm1", 3))},
}


@torch.no_grad()
def by_hand(side, cuts=(), knockouts=()):
    """The residual stream (S, T, D), from the parts and a mask for each layer."""
    model, ids = minilm().encoder, minilm().ids(PAIR[side])
    layers, length = model.encoder.layers, ids.shape[1]

    def out(part, n=None):
        return any(one.part == part and one.layer in (None, n) for one in knockouts)

    x = model.embedding.token(ids)
    stream = [x]
    rows = model.embedding.position.weight
    x = model.embedding.norm(x + (rows.mean(dim=0) if out("position") else rows[:length]))
    stream.append(x)
    for n, layer in enumerate(layers):
        mask = torch.ones(1, model.n_heads, length, length, dtype=torch.bool)
        for cut in cuts:
            for head in range(model.n_heads):
                if cut.side == side and cut.layer in (None, n) and cut.head in (None, head):
                    mask[0, head, cut.query, cut.key] = False
        attention = layer.attention(x, x, x, mask) * (not out("attention", n))
        x = attention if out("residual1", n) else x + attention
        x = x if out("norm1", n) else layer.norm1(x)
        stream.append(x)
        made = layer.feed_forward(x) * (not out("feed_forward", n))
        x = made if out("residual2", n) else x + made
        x = x if out("norm2", n) else layer.norm2(x)
        stream.append(x)
    return torch.cat(stream).double()


def close(actual, expected, **bounds):
    torch.testing.assert_close(actual.double(), expected.double(), **({"atol": 1e-6, "rtol": 0} | bounds))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_an_intervention_is_what_the_parts_give_by_hand(intervened, case):
    """The cosines to 1e-6.

    With a residual connection out in all layers, rounding adds up, on some processors to more than 1e-6.
    """
    answer = intervened.ask(Question(PAIR, "bank", **case))
    streams, before = [by_hand(side, **case) for side in (0, 1)], [by_hand(side) for side in (0, 1)]
    close(answer.word_cosines, cosine_similarity(streams[0][:, BANK], streams[1][:, BANK], dim=-1), atol=3e-6)
    means = [stream[-1].mean(dim=0) for stream in streams]
    assert answer.sentence_cosine == pytest.approx(cosine_similarity(*means, dim=0).item(), abs=1e-6)
    for sentence, stream, untouched in zip(answer.sentences, streams, before, strict=True):
        close(sentence.kept, cosine_similarity(stream, untouched, dim=-1), atol=3e-6)


@pytest.mark.parametrize(
    ("case", "word", "sentence"),
    [
        ({}, 0.843, 0.443),
        ({"cuts": cuts(0, 2)}, 0.849, 0.442),
        ({"cuts": cuts(0)}, 0.863, 0.459),
        ({"cuts": cuts()}, 0.917, 0.476),
        ({"knockouts": knockouts(("attention", 0))}, 0.913, 0.460),
        ({"knockouts": knockouts(("attention", None))}, 1.000, 0.553),
        ({"knockouts": knockouts(("feed_forward", None))}, 0.932, 0.638),
        ({"knockouts": knockouts(("residual1", 1))}, 0.271, 0.442),
        ({"knockouts": knockouts(("norm1", None), ("norm2", None))}, 0.999, 0.991),
        ({"knockouts": knockouts(("position", None))}, 0.928, 0.574),
    ],
)
def test_the_numbers_that_the_course_speaks_of(intervened, case, word, sentence):
    answer = intervened.ask(Question(PAIR, "bank", **case))
    assert round(answer.word_cosines[-1].item(), 3) == word and round(answer.sentence_cosine, 3) == sentence


def test_what_arrives_is_the_weighted_values_through_the_last_matrix(intervened):
    answer = intervened.ask(Question(PAIR, "bank", cuts(0), detail=(0, 2)))
    first, second = answer.sentences
    assert first.tokens == minilm().tokens(PAIR[0]) and (first.place, second.place) == (BANK, BANK)
    untouched = intervened.ask(Question(PAIR, "bank")).sentences
    for n, weights in enumerate(minilm().attention(PAIR[0])):
        close(untouched[0].weights[n], weights, atol=3e-6)
    layer, x = minilm().encoder.encoder.layers[0], minilm().encoder.embedding(minilm().ids(PAIR[0]))[0]
    values = layer.attention.v_proj(x).detach().unflatten(-1, (12, 32))  # (T, H, K)
    matrix = layer.attention.out_proj.weight.detach()  # (D, D)
    for query, key in ((3, 1), (3, 2), (0, 7)):
        brought = torch.zeros(384)
        for head in range(12):
            passed = matrix[:, 32 * head : 32 * head + 32] @ values[key, head]
            close(first.values[0][head, key], passed.norm(), rtol=1e-5)
            brought += first.weights[0][head, query, key] * passed
        close(first.arriving[0][query, key], brought.norm(), rtol=1e-5)
    assert first.weights[0][:, BANK, BEFORE].max() == first.arriving[0][BANK, BEFORE] == 0
    close(first.weights[0].sum(dim=-1), torch.ones(12, 8))
    detail = first.detail
    assert (detail.layer, detail.head) == (0, 2) and detail.scores[BANK, BEFORE] == -torch.inf
    close(detail.value, values[:, 2])
    close(detail.mixed, first.weights[0][2] @ detail.value)
    close(detail.scores.softmax(dim=-1), first.weights[0][2])
    open_scores = detail.query @ detail.key.T / 32**0.5
    close(detail.scores[0], open_scores[0], rtol=1e-5)


def test_attention_that_is_out_brings_nothing(intervened):
    answer = intervened.ask(Question(PAIR, "bank", knockouts=knockouts(("attention", 2)), detail=(2, 0)))
    for sentence in answer.sentences:
        assert sentence.weights[2].abs().max() == sentence.arriving[2].max() == 0
        assert sentence.detail.mixed.abs().max() == 0 and sentence.detail.query.abs().max() > 0
        assert sentence.weights[3].min() > 0 and sentence.arriving[3].max() > 0


@pytest.mark.parametrize(
    ("texts", "wish", "word", "common"),
    [
        (PAIR, "the", "the", ["the", "bank"]),
        (PAIR, "river", "bank", ["the", "bank"]),  # not in both
        (PAIR, "", "bank", ["the", "bank"]),
        (("a b", "c d"), "a", "", []),
        (("", " "), "", "", []),
        (PAIR[:1], "river", "river", ["the", "river", "bank", "was", "flooded"]),
        (("unbelievably",), "", "un", ["un"]),  # no pieces that continue a word
    ],
)
def test_the_followed_word_is_the_wanted_one_or_the_longest_of_both(intervened, texts, wish, word, common):
    answer = intervened.ask(Question(texts, wish))
    assert (answer.word, answer.common) == (word, common)
    places = [s.tokens.index(word) if word else -1 for s in answer.sentences]
    assert [s.place for s in answer.sentences] == places
    both = len(texts) == 2
    assert (answer.word_cosines is None) == (not (both and word)) and (answer.sentence_cosine is None) == (not both)


def test_only_what_an_intervention_touches_runs_again():
    intervened, ran = Intervened(minilm()), []
    fresh = intervened._fresh
    intervened._fresh = lambda texts, *changes: ran.append(len(texts)) or fresh(texts, *changes)
    asked = Question(PAIR, "bank")
    for question, batches in (
        (asked, [2]),  # both in one batch
        (replace(asked, word="the", detail=(1, 1)), []),  # the same runs
        (replace(asked, cuts=cuts(0)[:1]), [1]),  # one sentence
        (replace(asked, knockouts=knockouts(("norm1", 1))), [2]),
        (asked, []),
        (replace(asked, texts=PAIR[:1] * 2, knockouts=knockouts(("norm2", 1))), [1]),  # the same sentence twice
    ):
        ran.clear()
        intervened.ask(question)
        assert ran == batches


def test_only_the_newest_runs_are_remembered():
    intervened = Intervened(minilm())
    for n in range(REMEMBERED + 2):
        intervened.ask(Question((f"{n} banks",)))
    assert [text for text, *_ in intervened._runs] == [f"{n} banks" for n in range(2, REMEMBERED + 2)]


def test_the_model_is_left_as_it_was(intervened):
    before = minilm().encode(PAIR)
    intervened.ask(Question(PAIR, "bank", cuts(), knockouts(*EVERYWHERE)))
    assert torch.equal(minilm().encode(PAIR), before)


def test_an_ablated_model_encodes_without_its_paths():
    """By the layers of `fast` and on several threads, as `encode` does it."""
    texts = [PAIR[0]] * 40 + [PAIR[1]] * 40
    vectors = ablate(minilm(), "+").encode(texts)
    stream = by_hand(0, knockouts=knockouts(("residual1", None), ("residual2", None)))
    mean = stream[-1].mean(dim=0)
    close(vectors[0], mean / mean.norm(), atol=1e-5)
    assert torch.equal(vectors[:40], vectors[:1].expand(40, -1))


def test_without_cuts_there_are_no_edits():
    assert cut_edits((), 6, 12, 8) == {}


BAD = [
    ({"texts": ()}, ValueError, "texts: expected one sentence or two, got 0"),
    ({"texts": PAIR + PAIR[:1]}, ValueError, "texts: expected one sentence or two, got 3"),
    ({"texts": (PAIR[0], 3)}, TypeError, "second: expected a string, got 3"),
    ({"texts": ("a " * 70,)}, ValueError, "first: expected at most 64 tokens, got 72; try a shorter sentence"),
    ({"texts": ("a" * 501,)}, ValueError, "first: expected at most 500 characters, got 501"),
    ({"word": 3}, TypeError, "word: expected a string, got 3"),
    ({"cuts": (Cut(2, 0, 0, 0, 0),)}, ValueError, "side: expected an integer from 0 to 1, got 2"),
    ({"cuts": (Cut(0, 6, 0, 0, 0),)}, ValueError, "layer: expected an integer from 0 to 5, got 6"),
    ({"cuts": (Cut(0, -1, 0, 0, 0),)}, ValueError, "layer: expected an integer from 0 to 5, got -1"),
    ({"cuts": (Cut(0, 0, 12, 0, 0),)}, ValueError, "head: expected an integer from 0 to 11, got 12"),
    ({"cuts": (Cut(0, 0, True, 0, 0),)}, TypeError, "head: expected an integer, got True"),
    ({"cuts": (Cut(0, 0, 0, 8, 0),)}, ValueError, "query: expected an integer from 0 to 7, got 8"),
    ({"cuts": (Cut(1, 0, 0, 9, 10),)}, ValueError, "key: expected an integer from 0 to 9, got 10"),
    ({"knockouts": (Knockout("add", 0),)}, ValueError, "part: expected one of 'position', 'attention'"),
    ({"knockouts": (Knockout("norm1", "1"),)}, TypeError, "layer: expected an integer, got '1'"),
    ({"knockouts": (Knockout("position", 0),)}, ValueError, "layer: expected None for the position, got 0"),
    ({"detail": (6, 0)}, ValueError, "layer: expected an integer from 0 to 5, got 6"),
    ({"detail": (0, 12)}, ValueError, "head: expected an integer from 0 to 11, got 12"),
]


@pytest.mark.parametrize(("wrong", "kind", "words"), BAD, ids=[words for *_, words in BAD])
def test_a_wrong_question_is_refused_in_words(intervened, wrong, kind, words):
    asked = replace(Question(PAIR, "bank"), **wrong)
    for refuse in (intervened.check, intervened.ask):
        with pytest.raises(kind, match=words):
            refuse(asked)


def test_only_a_post_norm_sentence_encoder_can_be_asked():
    sizes = {"vocab_size": 9, "n_layers": 1, "d_model": 8, "n_heads": 2, "d_ff": 8}
    with pytest.raises(TypeError, match="model: expected a SentenceEncoder, got Linear"):
        Intervened(torch.nn.Linear(2, 2))
    with pytest.raises(ValueError, match="model: expected post-norm layers, as in BERT, got pre-norm ones"):
        Intervened(SentenceEncoder(minilm().tokenizer, TransformerEncoder(**sizes, norm_first=True)))
