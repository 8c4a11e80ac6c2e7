"""What 06_encoder_block says, tested: each number, and each "so"."""

from statistics import median

import pytest
import torch
import torch.nn.functional as F
from claims import seeds
from torch import nn

from encoder_lib import EncoderLayer, FeedForward, LayerNorm, MultiHeadAttention, trace
from encoder_lib.course import explore
from encoder_lib.course.kit import ladder
from encoder_lib.seeded import seeded

pytestmark = pytest.mark.long  # the notebook takes most of a minute


# Parts in a row, and one plus sign


@seeds(8)
def test_parts_in_a_row_make_one_vector_and_a_norm_is_no_help(notebook, seed):
    """With residual connections tokens stay what they were; for numbers this small fresh attention is nearly even."""
    x, cosines, norm = notebook["x"], notebook["cosines"], LayerNorm(384)
    with seeded(seed):
        attention, network = MultiHeadAttention(384, 12), FeedForward(384, 1536)
    fetched = attention(x, x, x)
    for made in (fetched, network(fetched), norm(network(norm(fetched)))):
        assert cosines(made).min() > 0.98
    first = x + fetched
    second = first + network(first)
    assert 0.95 < F.cosine_similarity(second, x, dim=-1).mean() < 0.97
    assert abs(notebook["alike"](second) - notebook["alike"](x)) < 0.06
    with trace(attention) as t:
        attention(x, x, x)
    assert t["weights"].max() < 0.12 and t["weights"].min() > 0.04 and round(1 / 13, 2) == 0.08
    with trace(attention) as t:
        attention(10 * x, 10 * x, 10 * x)
    assert t["weights"].max() > 0.9


def test_what_is_drawn_is_little_alike_first_and_then_one_vector(notebook):
    first, *others = (notebook["cosines"](notebook[name]) for name in ("x", "fetched", "made"))
    assert first.mean() < 0.2 and min(y.min() for y in others) > 0.99


# Every tensor


def test_a_small_gain_makes_cls_the_quietest_token(notebook):
    """The network writes one very large number for [CLS], and a small gain in that dimension makes it the quietest."""
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


def test_cls_is_the_largest_behind_the_first_norm_by_one_number(notebook):
    """Behind the first norm [CLS] is the largest token, by one number, in the dimension with the largest gain."""
    norm, x1 = notebook["layer"].norm1, notebook["x1"][0]
    place = x1[0].abs().argmax()
    assert place == norm.weight.argmax() and round(norm.weight[place].item(), 2) == 1.55
    without = x1[:, torch.arange(384) != place].square().mean(dim=-1)
    assert notebook["size"](x1[None]).argmax() == 0 and without[0] < without[1:].min()


@pytest.mark.parametrize("text", ["", "The stock market fell sharply.", "How do I bake a cake?"])
def test_whatever_the_sentence_cls_goes_in_the_same(notebook, text):
    """[CLS] goes in the same and comes to about 220, and head 3 attends to the token before."""
    minilm = notebook["minilm"]
    x = minilm.encoder.embedding(minilm.ids(text or notebook["text"]))
    with trace(notebook["layer"]) as t:
        notebook["layer"](x)
    assert torch.equal(x[0, 0], notebook["x"][0, 0]) and 215 < t["norm2.input"][0, 0].max() < 225
    assert t["attention.weights"][0, 2].diagonal(-1).min() > (0.985 if text else 0.99)


# Norm after, or norm before


@seeds(10)
def test_post_norm_ends_at_1_and_pre_norm_adds_the_same_to_any(notebook, seed):
    """Post-norm ends at size 1; pre-norm adds as much to a large stream as to a small one. So with ten seeds."""

    def begin_and_end(norm_first, factor):
        torch.manual_seed(seed)
        x = factor * torch.randn(1, 10, 64)
        y = nn.Sequential(*(EncoderLayer(64, 4, 256, norm_first=norm_first) for _ in range(12)))(x)
        return [notebook["size"](tensor).mean().item() for tensor in (x, y)]

    assert begin_and_end(False, 1)[1] == pytest.approx(1, abs=1e-3) == begin_and_end(False, 10)[1]
    (begin, end), (loud_begin, loud_end) = (begin_and_end(True, factor) for factor in (1, 10))
    assert 0.9 < begin < 1.1 and 1.28 < end / begin < 1.55 and abs(loud_end / loud_begin - 1) < 0.01


def test_the_revealed_sizes_are_these(notebook):
    post, pre, loud = (end.item() for _, end in notebook["flows"].values())
    assert post == pytest.approx(1, abs=1e-3) and round(pre, 1) == 1.4 and round(loud) == 10


@pytest.fixture
def explorer(notebook):
    return explore.block_steps(notebook["minilm"], notebook["text"])


@pytest.mark.parametrize("sentence", ["The cat sat on the mat because it was tired.", "Dogs bark."])
def test_in_pre_norm_cls_keeps_a_number_above_100(explorer, sentence):
    """In pre-norm [CLS] keeps a number above 100 in dimension 99; post-norm brings it below 10."""
    explorer.set(sentence=sentence, step=15)
    for order, least, most in (("pre-norm", 100, 1000), ("post-norm", 0, 10)):
        explorer.order = order
        assert "at “[CLS]”, in dimension 99" in explorer.description
        assert least < abs(float(explorer.description.split("furthest from 0 is ")[1].split(",")[0])) < most


@pytest.mark.parametrize(
    ("step", "layer", "name", "cosine"),
    [(8, 1, "attention", 0.21), (9, 1, "first sum", 0.96), (15, 1, "", 0.88), (15, 6, "", 0.57)],
)
def test_the_last_layer_keeps_less_of_its_input_than_the_first(explorer, step, layer, name, cosine):
    """What attention writes differs from its input, and layer 6 keeps less of the input than layer 1."""
    explorer.set(step=step, layer=layer)
    assert f"step {step} of 15: {name}" in explorer.description
    assert explorer.description.endswith(f"mean cosine of a token with its own x is {cosine}.")


# The ladder


def test_attentions_plus_sign_is_enough_and_the_networks_is_not(notebook):
    """Nearly all are right with attention's residual connection, few with the network's, half without the network."""
    neither, networks, attentions, both, no_network = notebook["right"].values()
    assert min(*attentions, *both) > 95 and all(46 < share < 54 for share in no_network)
    assert median(neither) < 60 and median(networks) < 60
    assert networks[0] > 75  # seed 0


@pytest.mark.weekly
@pytest.mark.parametrize("seed", range(4, 8))
def test_so_with_four_more_seeds(seed):
    def share(residual, feed_forward=True):
        settings = {"positions": "learned", "attention": True, "feed_forward": feed_forward, "residual": residual}
        return ladder.train(lambda: ladder.CardModel(**settings), seed=seed)[1]

    assert share("attention") > 0.95 and share(True) > 0.95 and share("feed_forward") < 0.7
    assert 0.46 < share("attention", feed_forward=False) < 0.54


def test_norms_are_needed_only_for_cards_ten_times_as_large(notebook):
    without, with_norms, loud_without, loud_with = notebook["loudly"].values()
    assert min(*without, *with_norms, *loud_with) > 95 and max(loud_without) < 75


def two_loud_blocks(norm):
    """The model of the last question."""
    settings = {"positions": "learned", "attention": True, "feed_forward": True, "residual": True}
    return ladder.CardModel(**settings, norm=norm, n_layers=2, loudness=10)


@seeds(4)
def test_untrained_loud_cards_attend_to_one_card_alone(seed):
    with seeded(seed):
        cards, _ = ladder.deal(100)
        for norm in (False, True):  # behind a norm they attend to all
            model = two_loud_blocks(norm)
            first, second = (ladder.weights(model, cards, layer=layer).amax(dim=-1).mean() for layer in (0, 1))
            assert first > 0.95 and (second < 0.3 if norm else second > 0.95)
            assert ladder.at_the_arrow(ladder.weights(model, cards), cards).mean() < 0.25  # mostly a wrong one


@seeds(0, 4, 2)
def test_with_norms_the_second_block_alone_finds_the_arrow(seed):
    model, right = ladder.train(lambda: two_loud_blocks(norm=True), seed=seed)
    with seeded(0):
        cards, _ = ladder.deal(200)
    first, second = (ladder.at_the_arrow(ladder.weights(model, cards, layer=i), cards).mean() for i in (0, 1))
    assert right > 0.95 and first < 0.4 and second > 0.9


# Exercises


@seeds(8)
def test_to_compute_on_with_the_normed_x_makes_1_of_10(notebook, seed):
    """A pre-norm block that computes on with the normed x makes 1 of a stream of size 10."""
    with seeded(seed):
        layer, x = EncoderLayer(64, 4, 256, norm_first=True), 10 * torch.randn(1, 10, 64)
    size = notebook["size"]
    assert size(layer(layer.norm1(x))).max() < 1.3 and (size(layer(x)) / size(x) - 1).abs().max() < 0.02


@pytest.mark.parametrize("norm_first", [True, False])
def test_where_every_branch_adds_0_pre_norm_hands_on_x(norm_first):
    """Where every branch adds 0, pre-norm returns x, and post-norm applies both norms to it."""
    layer, x = EncoderLayer(64, 4, 256, norm_first=norm_first), torch.randn(1, 10, 64)
    for part in (layer.attention.out_proj, layer.feed_forward.linear2):
        nn.init.zeros_(part.weight), nn.init.zeros_(part.bias)
    torch.testing.assert_close(layer(x), x if norm_first else layer.norm2(layer.norm1(x)))


# Four encoders


def test_the_blocks_of_the_table_can_be_built():
    with torch.device("meta"):
        original = EncoderLayer(512, 8, 2048, attention_bias=False)
        EncoderLayer(768, 12, 3072, activation="gelu", eps=1e-12)
        EncoderLayer(768, 12, 3072, activation="gelu", norm_first=True, eps=1e-6)
        EncoderLayer(768, 12, 1152, activation="gelu", norm_first=True, bias=False, positional="rotary")
    assert sum(p.numel() for p in original.parameters()) == 3_152_384 - 4 * 512


def test_modernbert_is_as_the_table_says():
    """As transformers' own defaults have it, which are those of the base model."""
    config = pytest.importorskip("transformers").ModernBertConfig()
    assert (config.hidden_size, config.num_attention_heads, config.intermediate_size) == (768, 12, 1152)
    assert not config.attention_bias and not config.mlp_bias and not config.norm_bias
    assert config.hidden_activation == "gelu" and config.local_attention == 128
    kinds = list(config.layer_types)
    assert all((kind == "full_attention") == (i % 3 == 0) for i, kind in enumerate(kinds))  # two of three are local
