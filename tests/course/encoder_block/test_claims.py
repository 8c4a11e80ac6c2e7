"""What 06_encoder_block says, tested: each number, and each "so"."""

from statistics import median

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from encoder_lib import EncoderLayer, FeedForward, LayerNorm, MultiHeadAttention, load_pretrained, trace
from encoder_lib.course import explore
from encoder_lib.course.kit import ladder
from encoder_lib.seeded import seeded

pytestmark = pytest.mark.long  # the notebook takes most of a minute

ELSEWHERE = ~torch.eye(13, dtype=torch.bool)


@pytest.fixture(scope="module")
def x():
    """What enters MiniLM's first block."""
    minilm = load_pretrained("minilm", dtype=torch.float64)
    return minilm.encoder.embedding(minilm.ids("The cat sat on the mat because it was tired.")).detach()


def cosines(y):
    """How alike every two different tokens are."""
    return F.cosine_similarity(y[0, :, None], y[0, None], dim=-1)[ELSEWHERE]


def own(y, x):
    """How alike a token and its own input are, averaged."""
    return F.cosine_similarity(y, x, dim=-1).mean().item()


def fresh(seed):
    """An attention and a network as the notebook makes them."""
    with seeded(seed):
        return MultiHeadAttention(384, 12).requires_grad_(False), FeedForward(384, 1536).requires_grad_(False)


# Parts in a row, and one plus sign


@pytest.mark.parametrize("seed", range(8))
def test_in_a_row_the_tokens_become_one_vector_and_with_plus_signs_they_stay_what_they_were(x, seed):
    attention, network = fresh(seed)
    fetched = attention(x, x, x)
    made = network(fetched)
    assert cosines(x).mean() < 0.1 and cosines(fetched).min() > 0.99 and cosines(made).min() > 0.99
    first = x + fetched
    second = first + network(first)
    assert 0.95 < own(second, x) < 0.97 and abs(cosines(second).mean() - cosines(x).mean()) < 0.06


@pytest.mark.parametrize("seed", range(8))
def test_a_norm_is_no_help(x, seed):
    attention, network = fresh(seed)
    norm = LayerNorm(384)
    assert cosines(norm(network(norm(attention(x, x, x))))).min() > 0.98


def test_the_table_of_parts_in_a_row(notebook):
    _, in_a_row, norms, minilm = (notebook["alike"](y) for y in notebook["tried"].values())
    assert in_a_row > 0.99 and norms > 0.99 and minilm > 0.999


@pytest.mark.parametrize("seed", range(8))
def test_with_numbers_as_small_as_these_fresh_parameters_prefer_nobody(x, seed):
    attention, _ = fresh(seed)
    with trace(attention) as t:
        attention(x, x, x)
    assert t["weights"].max() < 0.12 and t["weights"].min() > 0.04 and round(1 / 13, 2) == 0.08
    with trace(attention) as t:
        attention(10 * x, 10 * x, 10 * x)
    assert t["weights"].max() > 0.9


# Every tensor


def test_every_tensor_that_is_computed_is_that_of_the_trace_to_ten_decimals(notebook):
    names = {
        "attention.query": "q", "attention.key": "k", "attention.value": "v", "attention.scores": "scores",
        "attention.weights": "weights", "attention.heads": "heads", "attention": "attended",
        "norm1.input": "first_sum", "norm1": "x1", "feed_forward": "written", "norm2.input": "second_sum",
        "output": "y",
    }  # fmt: skip
    for name, variable in names.items():
        assert (notebook[variable] - notebook["t"][name]).abs().max() < 5e-11, name
    assert sorted(notebook["mine"]) == sorted(names)


def test_the_network_writes_something_very_large_for_cls_and_a_small_gain_makes_it_the_quietest_token(notebook):
    size = notebook["size"]
    sums, y = size(notebook["second_sum"]), size(notebook["y"])
    assert sums[0] > 10 * sums[1:].max()
    assert [round(x.item(), 2) for x in (y[0], y[1:].min(), y[1:].max())] == [0.42, 0.49, 0.65]
    cls = {name: notebook[name][0, 0] for name in ("x1", "written", "second_sum", "y")}
    place = cls["written"].argmax()
    assert [round(cls[name][place].item(), 1) for name in cls] == [28.4, 194.2, 222.6, 8.1]
    written, y = (cls[name].abs().sort(descending=True).values[1] for name in ("written", "y"))
    assert written < 2 and y < 0.4
    norm = notebook["layer"].norm2
    assert round(F.layer_norm(cls["second_sum"], (384,))[place].item(), 2) == 19.56
    assert round(norm.weight[place].item(), 3) == 0.413 and (norm.weight < norm.weight[place]).sum() == 1


def test_cls_is_the_largest_behind_the_first_norm_by_one_number_where_the_gain_is_largest(notebook):
    norm, x1 = notebook["layer"].norm1, notebook["x1"][0]
    place = x1[0].abs().argmax()
    assert place == norm.weight.argmax() and round(norm.weight[place].item(), 2) == 1.55
    assert round(x1[0, place].item(), 1) == 28.4 and notebook["size"](x1[None]).argmax() == 0
    without = x1[:, torch.arange(384) != place].square().mean(dim=-1)
    assert without[0] < without[1:].min()


def test_cls_goes_in_the_same_whatever_the_sentence_and_comes_to_about_220(notebook):
    minilm, layer = notebook["minilm"], notebook["layer"]
    for text in OTHERS:
        x = minilm.encoder.embedding(minilm.ids(text))
        with trace(layer) as t:
            layer(x)
        assert torch.equal(x[0, 0], notebook["x"][0, 0]) and 215 < t["norm2.input"][0, 0].max() < 225


OTHERS = (
    "The stock market fell sharply.",
    "How do I bake a cake?",
    "Rain is expected in the north tomorrow.",
    "She closed the door and went home.",
    "Someone makes music on a string instrument while the audience eats bread.",
)


def test_head_3_looks_at_the_token_before_in_this_sentence_and_in_five_others(notebook):
    minilm, layer = notebook["minilm"], notebook["layer"]
    for text in (notebook["text"], *OTHERS):
        with trace(layer) as t:
            layer(minilm.encoder.embedding(minilm.ids(text)))
        head = t["attention.weights"][0, 2]  # (T, T)
        assert head.diagonal(-1).min() > 0.985 and head[0, 0] > 0.985, text


def test_attention_writes_less_than_what_is_there(notebook):
    assert (notebook["size"](notebook["attended"]) < 0.75 * notebook["size"](notebook["x"])).all()


def test_the_trace_has_no_tensor_that_the_notebook_leaves_unexplained(notebook):
    same = {"attention.out_proj": "attention", "feed_forward.linear2": "feed_forward", "norm2": "output"}
    t = notebook["t"]
    assert all(torch.equal(t[name], t[other]) for name, other in same.items())
    for name in ("q", "k", "v"):  # before they are cut into heads
        joined = notebook[name].transpose(1, 2).flatten(-2)
        torch.testing.assert_close(t[f"attention.{name}_proj"], joined, atol=1e-10, rtol=0)


def test_minilm_has_six_blocks_in_post_norm_order_with_gelu():
    layers = load_pretrained().encoder.encoder.layers
    assert len(layers) == 6
    assert all(not layer.norm_first and layer.feed_forward.activation == "gelu" for layer in layers)


# Norm after, or norm before


@pytest.mark.parametrize("seed", range(10))
def test_post_norm_ends_at_1_and_pre_norm_writes_as_much_into_a_large_stream_as_into_a_small_one(notebook, seed):
    def begin_and_end(norm_first, factor):
        torch.manual_seed(seed)
        x = factor * torch.randn(1, 10, 64)
        y = nn.Sequential(*(EncoderLayer(64, 4, 256, norm_first=norm_first) for _ in range(12)))(x)
        return [notebook["size"](tensor).mean().item() for tensor in (x, y)]

    assert begin_and_end(False, 1)[1] == pytest.approx(1, abs=1e-3)
    assert begin_and_end(False, 10)[1] == pytest.approx(1, abs=1e-3)
    begin, end = begin_and_end(True, 1)
    assert 0.9 < begin < 1.1 and 1.28 < end / begin < 1.55
    begin, end = begin_and_end(True, 10)
    assert abs(end / begin - 1) < 0.01


def test_the_revealed_sizes_are_these(notebook):
    (post, pre, loud) = notebook["flows"].values()
    assert round(post[1].item(), 2) == 1 and round(pre[1].item(), 1) == 1.4 and round(loud[1].item()) == 10


@pytest.fixture
def explorer(notebook):
    return explore.block_steps(notebook["minilm"], notebook["text"])


@pytest.mark.parametrize("sentence", ["The cat sat on the mat because it was tired.", "Dogs bark.", "Where is it?"])
def test_in_pre_norm_cls_keeps_a_number_above_100_in_dimension_99_and_post_norm_brings_it_below_10(explorer, sentence):
    explorer.set(sentence=sentence, step=15, order="pre-norm")
    assert "at “[CLS]”, in dimension 99" in explorer.description
    assert float(explorer.description.split("furthest from 0 is ")[1].split(",")[0]) > 100
    explorer.order = "post-norm"
    assert "at “[CLS]”, in dimension 99" in explorer.description
    assert abs(float(explorer.description.split("furthest from 0 is ")[1].split(",")[0])) < 10


@pytest.mark.parametrize(("step", "name"), [(8, "attention"), (9, "first sum")])
def test_the_steps_have_these_numbers(explorer, step, name):
    explorer.step = step
    assert f"step {step} of 15: {name}" in explorer.description


def test_attention_writes_something_else_and_the_last_layer_keeps_less_of_its_input_than_the_first(explorer):
    for step, layer, cosine in ((8, 1, "0.21"), (9, 1, "0.96"), (15, 1, "0.88"), (15, 6, "0.57")):
        explorer.set(step=step, layer=layer)
        assert explorer.description.endswith(f"mean cosine of a token with its own x is {cosine}.")


# The ladder


def test_attentions_plus_sign_is_enough_and_the_networks_is_not(notebook):
    right = notebook["right"]
    assert list(right) == ["neither, as in 05", "the network's", "attention's", "both", "attention's, no network"]
    assert min(right["attention's"]) > 95 and min(right["both"]) > 95
    assert median(right["neither, as in 05"]) < 60 and median(right["the network's"]) < 60
    assert right["the network's"][0] > 75  # seed 0


@pytest.mark.parametrize("seed", range(4, 8))
def test_so_with_four_more_seeds(notebook, seed):
    def share(residual, feed_forward=True):
        settings = {"positions": "learned", "attention": True, "feed_forward": feed_forward, "residual": residual}
        return ladder.train(lambda: ladder.CardModel(**settings), seed=seed)[1]

    assert share("attention") > 0.95 and share(True) > 0.95 and share("feed_forward") < 0.7
    assert 0.46 < share("attention", feed_forward=False) < 0.54


def test_without_the_network_half_are_right(notebook):
    assert all(46 < share < 54 for share in notebook["right"]["attention's, no network"])


def test_a_sum_of_two_contributions_cannot_swap_the_case_of_a_capital():
    """The lead of "A" over "a" would have to be positive on two pairs of letters and negative on the other two.

    But as a sum own(·) + fetched(·) it adds up to the same over both couples of pairs.
    """
    swapped = [(own, fetched) for own in "aA" for fetched in "aA" if (own == "A") != (fetched == "A")]  # answer "A"
    kept = [(own, fetched) for own in "aA" for fetched in "aA" if (own == "A") == (fetched == "A")]  # answer "a"
    for place in (0, 1):
        assert sorted(pair[place] for pair in swapped) == sorted(pair[place] for pair in kept)
    for pairs, answer in ((swapped, "A"), (kept, "a")):
        for own, fetched in pairs:
            own, fetched = (ladder.LETTERS.index(letter) for letter in (own, fetched))
            assert ladder.LETTERS[ladder._answer(own, fetched)] == answer


def test_as_drawn_norms_are_not_needed_and_ten_times_as_large_they_are(notebook):
    without, with_norms, loud_without, loud_with = notebook["loudly"].values()
    assert min(*without, *with_norms, *loud_with) > 95 and max(loud_without) < 75


def two_loud_blocks(norm):
    """The model of the last question."""
    settings = {"positions": "learned", "attention": True, "feed_forward": True, "residual": True}
    return ladder.CardModel(**settings, norm=norm, n_layers=2, loudness=10)


@pytest.mark.parametrize("seed", range(4))
def test_untrained_loud_cards_look_at_one_card_and_behind_a_norm_at_all(seed):
    with seeded(seed):
        cards, _ = ladder.deal(100)
        for norm in (False, True):
            model = two_loud_blocks(norm)
            first, second = (ladder.weights(model, cards, layer=layer).amax(dim=-1).mean() for layer in (0, 1))
            assert first > 0.95 and (second < 0.3 if norm else second > 0.95)
            assert ladder.at_the_arrow(ladder.weights(model, cards), cards).mean() < 0.25  # mostly a wrong one


@pytest.mark.parametrize("seed", (0, 2))
def test_with_norms_the_second_block_finds_the_arrow_and_the_first_does_not(seed):
    model, right = ladder.train(lambda: two_loud_blocks(norm=True), seed=seed)
    with seeded(0):
        cards, _ = ladder.deal(200)
    first, second = (ladder.at_the_arrow(ladder.weights(model, cards, layer=i), cards).mean() for i in (0, 1))
    assert right > 0.95 and first < 0.4 and second > 0.9


# Exercises


@pytest.mark.parametrize("seed", range(8))
def test_whoever_computes_on_with_the_normed_x_makes_1_of_a_stream_of_size_10(notebook, seed):
    with seeded(seed):
        layer, x = EncoderLayer(64, 4, 256, norm_first=True), 10 * torch.randn(1, 10, 64)
    size = notebook["size"]
    assert size(layer(layer.norm1(x))).max() < 1.3 and (size(layer(x)) / size(x) - 1).abs().max() < 0.02


def test_where_every_branch_adds_0_pre_norm_hands_on_x_and_post_norm_norms_it_twice():
    x = torch.randn(1, 10, 64)
    for norm_first in (True, False):
        layer = EncoderLayer(64, 4, 256, norm_first=norm_first)
        for part in (layer.attention.out_proj, layer.feed_forward.linear2):
            nn.init.zeros_(part.weight), nn.init.zeros_(part.bias)
        torch.testing.assert_close(layer(x), x if norm_first else layer.norm2(layer.norm1(x)))


# Going deeper


def test_a_block_is_shuffled_and_padded_as_its_parts_are(notebook):
    assert notebook["shuffled"].abs().max() < 1e-10 and notebook["with_padding"].abs().max() < 1e-10


# Four encoders


def test_the_blocks_of_the_table_can_be_built():
    with torch.device("meta"):
        sizes = [
            sum(p.numel() for p in layer.parameters())
            for layer in (
                EncoderLayer(512, 8, 2048, attention_bias=False),
                EncoderLayer(768, 12, 3072, activation="gelu", eps=1e-12),
                EncoderLayer(768, 12, 3072, activation="gelu", norm_first=True, eps=1e-6),
                EncoderLayer(768, 12, 1152, activation="gelu", norm_first=True, bias=False, positional="rotary"),
            )
        ]
    assert sizes[0] == 3_152_384 - 4 * 512 and sizes[1] == sizes[2] == 7_087_872  # the last lacks its gate


def test_modernbert_is_as_the_table_says():
    """As transformers' own defaults have it, which are those of the base model."""
    config = pytest.importorskip("transformers").ModernBertConfig()
    assert (config.hidden_size, config.num_attention_heads, config.intermediate_size) == (768, 12, 1152)
    assert not config.attention_bias and not config.mlp_bias and not config.norm_bias
    assert config.hidden_activation == "gelu" and config.local_attention == 128
    kinds = list(config.layer_types)
    assert all((kind == "full_attention") == (i % 3 == 0) for i, kind in enumerate(kinds))  # two of three are local
