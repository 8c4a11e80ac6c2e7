"""What 00_start_here says, tested: each number, and each "so"."""

import re

import pytest
import torch
from claims import seeds

from encoder_lib import load_pretrained
from encoder_lib.course.kit import activations
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
    """What the search gives, as it is shown: the cosines with the same words and with the same topic, (3,) each."""
    shown = notebook["search"](model)
    return (torch.tensor([float(cosine) for cosine in shown[name]]) for name in ("same words", "same topic"))


def test_the_topic_leads_for_cake_and_boat_not_for_phone(notebook):
    by_words, by_topic = found(notebook, notebook["model"])
    assert by_words.tolist() == pytest.approx([0.21, 0.59, 0.43])
    assert by_topic.tolist() == pytest.approx([0.54, 0.4, 0.63])
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


def test_the_opposite_is_closer_than_the_same_in_other_words(notebook):
    turned, again = notebook["columns"].values()
    assert len(turned) == 4 and (turned > again + 0.1).all()
    assert [round(x.item(), 2) for x in (turned.min(), turned.max(), again.min(), again.max())] == [
        0.76, 0.96, 0.62, 0.70
    ]  # fmt: skip
    assert notebook.prediction("opposite").question.answer == 0


# The walk


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
    assert notebook.prediction("part").question.answer == 2
    for layer in range(1, 7):
        assert cosines[f"layer {layer}: attention adds"] < cosines[f"layer {layer}: feed-forward adds"] - 0.1


def test_without_attention_the_banks_are_the_same_to_the_end(notebook):
    """Without attention to others the two banks stay the same to the end, and only the means differ."""
    *words, mean = notebook["alone"].values()
    assert min(words) > 1 - 1e-6 and mean == pytest.approx(0.792, abs=0.001)
    assert notebook.prediction("alone").question.answer == 2


def test_the_kinds_depend_on_each_part_and_least_on_position(notebook):
    right = {part: value.item() for part, value in notebook["right"].items()}
    assert round(right["nothing"]) == 81 and abs(right["position"] - right["nothing"]) < 2
    assert 60 < right["feed-forward"] < 68 and 60 < right["+"] < 68 and 45 < right["norm"] < 56
    assert notebook.prediction("without").question.answer == 0


def test_without_norms_cls_is_the_longest_and_the_banks_meet(notebook):
    ablated = activations.ablate(notebook["model"], "norm")
    runs = [activations.follow(ablated, notebook[text], "bank") for text in ("river", "rates")]
    assert notebook["all_cosines"](ablated).min() > 0.99
    for run in runs:
        for site in run.sites[5:-1:4]:  # the end of each layer
            cls, *others = run.outputs[site.key][0].norm(dim=-1)
            assert cls > 2 * max(others)


def test_fifteen_of_sixteen_banks_are_closer_to_their_own_kind(notebook):
    own, other = zip(*(row.values() for row in notebook["means"].values()), strict=True)
    wrong = [text for text, a, b in zip(notebook["sixteen"], own, other, strict=True) if a < b]
    assert wrong == ["The far bank was out of reach."] and notebook.prediction("banks").question.answer == 2
    assert [round((sum(x) / 16).item(), 2) for x in (own, other)] == [0.91, 0.87]
    assert {notebook["model"].tokens(text).index("bank") for text in notebook["sixteen"]} == {3}  # each at one place


def test_head_3_of_layer_1_takes_all_from_river_and_from_big(notebook):
    assert notebook["first"].sites[2].name == "layer 1: attention adds"  # station 3 of the walk
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
    """Three parts hold nearly all of 22.6 million, the table of words more than half; one sentence needs about half."""
    sizes, total = notebook["sizes"], notebook["count"](notebook["encoder"])
    assert sizes["attention"] == pytest.approx(6 * 4 * 384 * 384, rel=0.01)
    assert sizes["feed-forward"] == pytest.approx(6 * 2 * 384 * 1536, rel=0.01)
    assert round(total / 1e6, 1) == 22.6 and sizes["the table of words"] == 30_522 * 384 > total / 2
    assert sum(sizes.values()) > 0.98 * total  # the three largest parts: hardly anything is left
    rows = len(notebook["model"].tokens(notebook["river"]))
    places = notebook["encoder"].embedding.position.weight.shape[0]
    needed = total - (30_522 - rows + places - rows) * 384  # of the two tables, the rows of the sentence alone
    assert rows == 8 and 10e6 < needed - 2 * rows * 384 < 11e6 and 0.45 < needed / total < 0.55
    assert notebook.prediction("parts").question.answer == 1


# The exercise


def test_what_one_token_learns_it_passes_on(notebook):
    """To forbid the one look is not enough: in the second layer what bank takes in depends on river."""
    model, place = notebook["model"], 3
    one_look = torch.ones(8, 8, dtype=torch.bool)
    one_look[place, 2] = False
    nobody = (torch.arange(8) != 2) | torch.eye(8).bool()
    for mask, hidden in ((one_look, [True] + 5 * [False]), (nobody, 6 * [True])):
        got = []
        for text in notebook["others"]:
            with torch.no_grad(), trace(model.encoder.encoder) as t:
                model.encoder(model.ids(text), mask.to(notebook["device"]))
            got.append([t[f"layers.{n}.norm2"][0, place] for n in range(6)])
        assert [torch.allclose(a, b, atol=1e-4) for a, b in zip(*got, strict=True)] == hidden
