"""What 00_start_here says, tested: each number, and each "so"."""

import re

import pytest
import torch

from encoder_lib import load_pretrained
from encoder_lib.course.kit import way
from encoder_lib.trace import trace

# Vectors


def test_a_sentence_has_384_numbers_and_length_1(notebook):
    vectors = notebook["model"].encode(notebook["questions"]).cpu()
    torch.testing.assert_close(vectors.norm(dim=-1), torch.ones(3, dtype=vectors.dtype), atol=1e-5, rtol=0)
    assert vectors.shape[1] == 384


def test_the_mixture_by_hand_is_1_4_and_0_3(notebook):
    torch.testing.assert_close(notebook["taken"], torch.tensor([1.4, 0.3]), atol=0.01, rtol=0)
    torch.testing.assert_close(notebook["after"], torch.tensor([2.4, 3.3]), atol=0.01, rtol=0)


def test_with_a_key_that_points_away_river_would_have_a_weight_of_0_01(notebook):
    weights = (torch.tensor([[-3.0, -3.0], [0.5, 0.0]]).to(notebook["query"]) @ notebook["query"]).softmax(dim=0)
    assert round(weights[0].item(), 2) == 0.01


def test_the_unit_is_silent_at_bank_and_answers_after_it_took_from_river(notebook):
    assert notebook["unit"](notebook["bank"]) == 0
    assert notebook["unit"](notebook["after"]).item() == pytest.approx(0.7, abs=0.01)
    assert len(notebook["model"].encoder.encoder.layers[0].feed_forward.linear1.weight) == 1536


def test_a_vector_is_the_mean_over_its_tokens_at_length_1(notebook):
    model, text = notebook["model"], notebook["questions"][0]
    with torch.no_grad():
        mean = model.encoder(model.ids(text))[0].mean(dim=0)
    torch.testing.assert_close(mean / mean.norm(), model.encode([text])[0], atol=1e-5, rtol=0)


def words(text):
    return set(re.findall(r"\w+", text.lower()))


def found(notebook, model):
    """What the search gives, as it is shown: the cosines with the same words and with the same topic, (3,) each."""
    shown = notebook["search"](model)
    return (torch.tensor([float(cosine) for cosine in shown[name]]) for name in ("same words", "same topic"))


def test_the_topic_leads_for_the_cake_and_the_boat_and_the_words_for_the_phone(notebook):
    by_words, by_topic = found(notebook, notebook["model"])
    assert (by_topic > by_words).tolist() == [True, False, True]
    assert by_words.tolist() == pytest.approx([0.21, 0.59, 0.43])
    assert by_topic.tolist() == pytest.approx([0.54, 0.4, 0.63])
    for question, text in zip(notebook["questions"], notebook["same_words"], strict=True):
        assert len(words(question) & words(text)) >= 4
    assert not words(notebook["questions"][0]) & words(notebook["same_topic"][0])
    assert notebook.prediction("alike").question.answer == 2


@pytest.mark.parametrize("seed", range(8))
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


def test_the_opposite_is_closer_than_the_same_in_other_words(notebook):
    turned, again = notebook["columns"].values()
    assert len(turned) == 4 and (turned > again + 0.1).all()
    assert [round(x.item(), 2) for x in (turned.min(), turned.max(), again.min(), again.max())] == [
        0.76, 0.96, 0.62, 0.70
    ]  # fmt: skip
    assert notebook.prediction("opposite").question.answer == 0


# The walk


def test_the_banks_part_at_the_first_look_at_others(notebook):
    cosines = notebook["cosines"]
    assert min(cosines["table"], cosines["position"]) > 1 - 1e-6
    assert cosines["layer 1: attention adds"] == pytest.approx(0.311, abs=0.002)
    assert cosines["layer 1: + norm after attention"] == pytest.approx(0.945, abs=0.001)
    assert cosines["layer 6: + norm after feed-forward"] == pytest.approx(0.843, abs=0.001)
    assert next(name for name, cosine in cosines.items() if cosine < 0.999) == "layer 1: attention adds"
    question = notebook.prediction("part").question
    assert question.choices[question.answer] == "from attention on: still much alike, above 0.9"
    assert cosines["layer 1: + norm after feed-forward"] == pytest.approx(0.928, abs=0.001)


def test_the_banks_are_token_2924_at_place_3_in_both(notebook):
    for visit in (notebook["first"], notebook["second"]):
        assert visit.place == 3 and visit.outputs["input"][0, 3] == 2924


def test_the_walk_is_that_of_the_encoder_and_ends_at_what_encode_gives(notebook):
    model, one, other = notebook["model"], notebook["first"], notebook["second"]
    for visit, text in ((one, notebook["river"]), (other, notebook["rates"])):
        x = model.encoder(model.ids(text))[0].detach().cpu().double()
        torch.testing.assert_close(visit.at(visit.stations[-2]), x[3], atol=1e-4, rtol=1e-4)
    vectors = model.encode([notebook["river"], notebook["rates"]]).cpu().double()
    assert notebook["cosines"]["mean"] == pytest.approx((vectors[0] @ vectors[1]).item(), abs=1e-5)


def test_without_looks_they_are_the_same_to_the_end_and_only_the_means_differ(notebook):
    *words, mean = notebook["alone"].values()
    assert min(words) > 1 - 1e-6 and mean == pytest.approx(0.792, abs=0.001)
    assert notebook["cosines"]["mean"] == pytest.approx(0.443, abs=0.001)
    question = notebook.prediction("alone").question
    assert question.choices[question.answer] == "1 for “bank”, below 1 for the sentences"


def test_what_attention_adds_differs_more_than_what_feed_forward_adds_in_each_layer(notebook):
    cosines = notebook["cosines"]
    for layer in range(1, 7):
        assert cosines[f"layer {layer}: attention adds"] < cosines[f"layer {layer}: feed-forward adds"] - 0.1


def test_the_kinds_hang_on_each_part_and_least_on_position(notebook):
    right = {part: value.item() for part, value in notebook["right"].items()}
    assert round(right["nothing"]) == 81 and abs(right["position"] - right["nothing"]) < 2
    assert 60 < right["feed-forward"] < 68 and 60 < right["+"] < 68 and 45 < right["norm"] < 56
    question = notebook.prediction("without").question
    assert question.choices[question.answer] == "position"


def test_position_tells_who_bit_whom(notebook):
    assert (notebook["dog"] @ notebook["man"]).item() == pytest.approx(0.978, abs=0.0005)
    assert (notebook["same_dog"] @ notebook["same_man"]).item() == pytest.approx(1, abs=1e-6)


def test_without_norms_cls_is_the_longest_and_the_vectors_meet(notebook):
    model = notebook["model"]
    with way.without(model, "norm"):
        visits = [way.visit(model, notebook[text], "bank") for text in ("river", "rates")]
    for visit in visits:
        for station in visit.stations[5:-1:4]:  # the end of each layer
            cls, *others = visit.outputs[station.key][0].norm(dim=-1)
            assert cls > 2 * max(others)
    with way.without(model, "norm"):
        assert notebook["all_cosines"]().min() > 0.99


def test_a_norm_brings_vectors_of_very_different_lengths_to_similar_ones(notebook):
    """The sum that the first layer's second norm is given, and what it makes of it."""
    visit, key = notebook["first"], "encoder.layers.0.norm2"
    given, made = (visit.outputs[name][0].norm(dim=-1) for name in (f"{key}.input", key))
    assert given.max() > 10 * given.min() and made.max() < 2 * made.min()


def test_fifteen_of_sixteen_banks_are_closer_to_their_own_kind(notebook):
    own, other = zip(*(row.values() for row in notebook["means"].values()), strict=True)
    wrong = [text for text, a, b in zip(notebook["sixteen"], own, other, strict=True) if a < b]
    assert wrong == ["The far bank was out of reach."] and notebook.prediction("banks").question.answer == 2
    assert [round((sum(x) / 16).item(), 2) for x in (own, other)] == [0.91, 0.87]
    assert {notebook["model"].tokens(text).index("bank") for text in notebook["sixteen"]} == {3}  # each at one place


def test_head_3_of_layer_1_takes_all_from_river_and_from_big(notebook):
    assert notebook["first"].stations[2].name == "layer 1: attention adds"  # station 3 of the walk
    for visit, word in ((notebook["first"], "river"), (notebook["second"], "big")):
        weights = visit.looks(1)[2]
        assert weights[visit.tokens.index(word)] > 0.99 and weights.sum().item() == pytest.approx(1, abs=1e-5)


def test_the_model_has_six_layers_of_twelve_heads(notebook):
    assert notebook["model"].attention("a").shape[:2] == (6, 12) and notebook["first"].looks(1).shape == (12, 8)
    assert notebook["first"].outputs["encoder.layers.0.attention.query"].shape == (1, 12, 8, 32)


# Attention


def test_twelve_of_thirteen_tokens_look_most_at_cat_and_nine_of_eleven_at_cls_elsewhere(notebook):
    tokens = notebook["model"].tokens(notebook["text"])
    looked_at = [tokens[i] for i in notebook["model"].attention(notebook["text"])[5, 11].argmax(dim=-1)]
    assert len(tokens) == 13 and looked_at.count("cat") == 12
    assert all(looked_at[tokens.index(word)] == "cat" for word in ("it", "on", "was"))
    elsewhere = notebook["model"].attention("They walked along the bank of the river.")[5, 11].argmax(dim=-1)
    assert len(elsewhere) == 11 and (elsewhere == 0).sum() == 9


@pytest.mark.parametrize(
    "text",
    [
        "The cat sat on the mat because it was tired.",
        "They walked along the bank of the river.",
        "The river bank was flooded.",
        "The big bank raised its interest rates.",
        "Hello",
    ],
)
def test_one_head_of_the_first_two_layers_looks_at_the_token_before(notebook, text):
    weights = notebook["model"].attention(text)  # (layers, H, T, T)
    before = torch.arange(weights.shape[-1] - 1)
    found = (weights.argmax(dim=-1)[..., 1:].cpu() == before).all(dim=-1)  # (layers, H)
    assert found[:2].sum() >= 1 and found[:2].nonzero().tolist()[0] == [0, 2]


# Parameters


def test_the_sizes_can_be_estimated_as_the_text_says(notebook):
    sizes = notebook["sizes"]
    assert sizes["attention"] == pytest.approx(6 * 4 * 384 * 384, rel=0.01)
    assert sizes["feed-forward"] == pytest.approx(6 * 2 * 384 * 1536, rel=0.01)


def test_the_table_of_words_holds_more_than_half_of_22_6_million(notebook):
    sizes = notebook["sizes"]
    total = notebook["count"](notebook["encoder"])
    assert round(total / 1e6, 1) == 22.6 and sizes["the table of words"] == 30_522 * 384 > total / 2
    assert max(sizes, key=sizes.get) == "the table of words"
    assert sum(sizes.values()) > 0.98 * total  # the three largest parts: hardly anything is left
    rows = len(notebook["model"].tokens(notebook["river"]))
    places = notebook["encoder"].embedding.position.weight.shape[0]
    needed = total - (30_522 - rows + places - rows) * 384  # of the two tables, the rows of the sentence alone
    assert rows == 8 and 10e6 < needed - 2 * rows * 384 < 11e6 and 0.45 < needed / total < 0.55
    question = notebook.prediction("parts").question
    assert question.choices[question.answer] == "about half"


# The exercise


def test_what_one_token_learns_it_passes_on(notebook):
    """To forbid the one look is not enough: in the second layer what bank takes in depends on river."""
    model, place = notebook["model"], 3
    ids = model.ids(notebook["river"])
    other = ids.clone()
    other[0, 2] = model.ids("flower")[0, 1]  # another word in the place of river
    one_look = torch.ones(8, 8, dtype=torch.bool)
    one_look[place, 2] = False
    column = torch.arange(8)[None] != 2
    for mask, hidden in ((one_look, [True] + 5 * [False]), (column | torch.eye(8).bool(), 6 * [True])):
        layers = [f"layers.{n}" for n in range(6)]
        got = []
        for these in (ids, other):
            with torch.no_grad(), trace(model.encoder.encoder) as t:
                model.encoder(these, mask.to(these.device))
            got.append([t[f"{layer}.norm2"][0, place] for layer in layers])
        assert [torch.allclose(a, b, atol=1e-4) for a, b in zip(*got, strict=True)] == hidden


def test_with_the_mask_bank_cannot_tell_blood_from_river_and_with_one_look_forbidden_it_can(notebook):
    one_look = torch.ones(8, 8, dtype=torch.bool)
    one_look[3, 2] = False
    hidden = (torch.arange(8) != 2) | torch.eye(8).bool()
    for mask, cosine in ((None, 0.907), (one_look, 0.995), (hidden, 1.0)):
        visits = (way.visit(notebook["model"], text, "bank", may_look=mask) for text in notebook["others"])
        assert way.along(*visits)[notebook["end"]] == pytest.approx(cosine, abs=0.0006)
