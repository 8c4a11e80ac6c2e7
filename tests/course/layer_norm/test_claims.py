"""What 03_layer_norm says, one test a claim. Where fresh parameters decide, the claim is tried on eight seeds."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from encoder_lib import LayerNorm, RMSNorm, trace
from encoder_lib.course import explore
from encoder_lib.course.layer_norm.norms import every_norm
from encoder_lib.course.layer_norm.plain_stack import PlainStack, plain_stack_accuracy


def way_up(norm, seed):
    """Two words before each of twelve layers, × 2.5, and behind the last."""
    torch.manual_seed(seed)
    layers, x = [nn.Linear(32, 32) for _ in range(12)], torch.randn(2, 32)
    yield x
    for layer in layers:
        yield (x := norm(torch.relu(2.5 * layer(x))))


# One mean and one spread for the whole batch


def test_minilm_has_thirteen_norms_and_with_one_for_all_or_none_it_gives_one_vector_for_all_sentences(notebook):
    norms = [each for each in notebook["model"].encoder.modules() if isinstance(each, LayerNorm)]
    assert len(norms) == 13 and {each.eps for each in norms} == {1e-12}
    hound, *stock = notebook["tried"]["its own norms"]
    assert round(hound.item(), 2) == 0.6 and stock == pytest.approx([0.04, 0.05], abs=0.012)
    assert min(*notebook["tried"]["one for all"], *notebook["tried"]["no norm"]) > 0.99


# Twelve layers


def test_two_words_differ_by_root_2_of_their_size_at_the_start_and_by_15_hundred_thousandths_at_the_end(notebook):
    start, *_, end = notebook["differences"]()
    assert round(start, 1) == 1.4 and end == pytest.approx(0.00015, rel=0.03)
    starts, ends = zip(*(notebook["differences"](seed=seed)[::12] for seed in range(40)), strict=True)
    assert sum(starts) / 40 == pytest.approx(math.sqrt(2), abs=0.1) and max(ends) < 0.001


def test_each_layer_leaves_about_two_fifths_of_the_difference_and_the_constants_hold_the_size_near_a_tenth(notebook):
    for seed in range(8):
        torch.manual_seed(seed)
        layers = [nn.Linear(32, 32) for _ in range(12)]
        x = torch.randn(2, 32)
        start = notebook["size"](x[0] - x[1])
        for layer in layers:
            x = torch.relu(layer(x))
        assert (notebook["size"](x[0] - x[1]) / start) ** (1 / 12) == pytest.approx(0.38, abs=0.04)
        assert round(notebook["size"](x), 1) == 0.1
    assert round(1.4 * 0.4**12, 5) == 0.00002 and round(0.00002 / 0.1, 4) == 0.0002


def test_the_two_words_that_have_become_one_in_numbers(notebook):
    torch.manual_seed(5)
    layers, x = [nn.Linear(32, 32) for _ in range(12)], torch.randn(2, 32)
    for layer in layers:
        x = torch.relu(layer(x))
    one, other = ([round(n, 5) for n in word[word > 0][:3].tolist()] for word in x)
    assert one == [0.09743, 0.09664, 0.10541] and other == [0.09745, 0.09664, 0.10538]


def test_what_arrives_is_what_the_layers_add_whatever_the_word():
    for seed in range(8):
        torch.manual_seed(seed)
        layers = [nn.Linear(32, 32) for _ in range(12)]
        x = torch.randn(7, 32)
        for layer in layers:
            x = torch.relu(layer(x))
        assert x[0].square().mean().sqrt() > 0.04 and (x - x[0]).abs().max() < 0.0005


def test_a_matrix_and_relu_leave_about_one_over_root_6_of_the_size(notebook):
    for seed in range(8):
        torch.manual_seed(seed)
        x, linear = torch.randn(1000, 32), nn.Linear(32, 32, bias=False)
        left = notebook["size"](torch.relu(linear(x))) / notebook["size"](x)
        assert left == pytest.approx(0.41, abs=0.025) and round(1 / math.sqrt(6), 2) == 0.41


def test_with_a_factor_alone_the_words_keep_not_all_of_the_difference(notebook):
    assert round(notebook["ways"]["no norm, × 2.5"][-1], 2) == 0.59
    for seed in range(8):
        start, *_, end = notebook["differences"](2.5, seed=seed)
        assert 0.1 <= round(end, 1) <= 0.6 and start > 0.9


def test_without_a_norm_much_of_the_words_becomes_common_and_with_layer_norm_it_is_not(notebook):
    for seed in range(8):
        plain, normed = ([*way_up(norm, seed)] for norm in (lambda x: x, notebook["normalise"]))
        cosines = [F.cosine_similarity(*x, dim=0).item() for x in plain]
        assert abs(cosines[0]) < 0.35 < cosines[3] < cosines[12]
        assert all(x.min() >= 0 and x.mean(dim=-1).min() > 0 for x in plain[1:]), "a mean above 0"
        assert abs(F.cosine_similarity(*normed[-1], dim=0)) < 0.5


# One token, by hand


def test_the_token_by_hand_has_mean_0_and_spread_1(notebook):
    y = notebook["normalise"](notebook["token"])
    assert y.tolist() == [-1, 0, 2, 0, -1, 0] and y.mean() == 0 and y.std(correction=0) == 1


def test_with_layer_norm_words_stay_apart_and_both_lines_lie_on_each_other(notebook):
    one, larger = notebook["ways"]["layer norm"], notebook["ways"]["layer norm, × 2.5"]
    assert round(one[-1], 1) == 1.4 and one == pytest.approx(larger, rel=1e-9)
    for seed in range(8):
        assert 1.0 <= round(notebook["differences"](1, notebook["normalise"], seed)[-1], 1) <= 1.6


def test_with_rms_norm_fresh_words_end_at_0_1_to_0_6(notebook):
    assert round(notebook["ways"]["RMS norm"][-1], 2) == 0.14
    for seed in range(8):
        assert 0.1 <= round(notebook["differences"](1, notebook["rms_norm"], seed)[-1], 1) <= 0.6


@pytest.mark.parametrize("shape", [(6,), (4, 6), (3, 4, 6)])
def test_normalise_is_torchs_layer_norm_over_the_last_dimensions(notebook, shape):
    x = 3 * torch.randn(2, 3, 4, 6) + 5
    torch.testing.assert_close(notebook["normalise"](x, tuple(range(-len(shape), 0))), F.layer_norm(x, shape, eps=0))
    torch.testing.assert_close(notebook["rms_norm"](x), F.rms_norm(x, (6,), eps=0))


# What is lost, and what stays


def test_of_384_numbers_of_cls_one_is_223_and_after_normalising_about_20(notebook):
    assert notebook["model"].tokens(notebook["sentences"][0])[0] == "[CLS]"
    cls = notebook["cls"].double()
    after = notebook["normalise"](cls)
    second = cls.sort().values[-2]
    assert [round(x.item(), 1) for x in (cls.min(), second)] == [-2.1, 6.6] and round(cls.max().item()) == 223
    assert [round(after.max().item(), n) for n in (2, 1)] == [19.56, 19.6]
    assert after.sort().values[:-1].abs().max() < 0.6


def test_mean_and_spread_are_all_that_is_lost(notebook):
    x = notebook["cls"].double()
    torch.testing.assert_close(notebook["normalise"](x) * x.std(correction=0) + x.mean(), x)


# Exercises


def test_no_number_of_a_token_comes_out_above_the_root_of_d_less_1_and_one_apart_reaches_it(notebook):
    assert round(math.sqrt(383), 2) == 19.57 and notebook["cls"].shape == (384,)
    for width in (2, 3, 10, 384):
        most, reached = math.sqrt(width - 1), notebook["normalise"](torch.eye(width)[0]).max().item()
        assert reached == pytest.approx(most)
        assert notebook["normalise"](torch.randn(1000, width)).max() <= most + 1e-9
    cls = notebook["cls"].double()
    cls[cls.argmax()] = 223_000
    assert 19.5 < notebook["normalise"](cls).max() < math.sqrt(383), "223,000 hardly comes out larger than 223"


# Gain and bias


def test_gain_and_bias_start_at_1_and_0_and_are_the_same_for_all_tokens():
    norm, x = LayerNorm(6), torch.randn(2, 3, 6)
    assert (norm.weight == 1).all() and (norm.bias == 0).all()
    with torch.no_grad():
        plain = norm(x)
        norm.weight[2] = 3.0
        torch.testing.assert_close(norm(x)[..., 2], 3 * plain[..., 2])
        torch.testing.assert_close(norm(100 * x), norm(x), atol=1e-3, rtol=1e-3)


# A small number under the root


def test_equal_numbers_give_nan_without_epsilon_and_0_with_it(notebook):
    equal = torch.full((1, 4), 3.0)
    assert notebook["normalise"](equal).isnan().all() and (LayerNorm(4)(equal) == 0).all()


def test_the_layer_is_pytorchs(notebook):
    batch = torch.randn(3, 4, 6)
    assert (LayerNorm(6)(batch) - nn.LayerNorm(6)(batch)).abs().max() < 1e-12


# Over what?


def test_one_new_token_moves_no_other_with_layer_norm_and_all_with_batch_norm(notebook):
    assert notebook["moved"] == {"Layer norm": 1, "Batch norm": 6, "Whole batch": 6}


def test_of_a_centred_token_rms_norm_is_layer_norm(notebook):
    torch.testing.assert_close(
        RMSNorm(6, eps=0)(notebook["centred"][None])[0], notebook["normalise"](notebook["token"])
    )
    x = torch.randn(5, 32) + 7
    torch.testing.assert_close(RMSNorm(32, eps=0)(x), x / x.square().mean(dim=-1, keepdim=True).sqrt())


def test_the_explorer_shows_what_its_fold_says():
    def spread(**controls):
        words = explore.normalise(**controls).description
        return float(words.split("spread from ")[1].split(" to ")[1].split(". ")[0].rstrip("."))

    assert round(spread(spread=1e-4), 2) == 0.03
    assert spread(spread=1e-4, eps=1e-9) < 0.99 and round(spread(spread=1e-4, eps=1e-10), 3) == 0.995
    assert round(spread(method="RMS norm", mean=2.0), 2) == 0.24
    assert round(spread(method="RMS norm", mean=5.0), 2) == 0.10


# One loud token


def test_cls_is_loud_ten_times_as_large_as_any_other_token(notebook):
    with trace(notebook["model"].encoder) as t:
        notebook["model"].encode(notebook["sentences"])
    sizes = t["encoder.layers.0.norm2.input"].square().mean(dim=-1).sqrt()  # (B, T)
    assert (sizes[:, :1] > 10 * sizes[:, 1:]).all()


def test_with_one_for_all_or_none_cls_is_loud_in_the_last_layer_too_and_what_attention_adds_comes_from_it(notebook):
    attention = notebook["model"].encoder.encoder.layers[5].attention
    for name, sizes in (("one for all", [1.56, 0.11]), ("no norm", [610.3, 154.13])):
        assert notebook["measured"](notebook["trials"][name])[3:] == pytest.approx(sizes, rel=0.02)
        with every_norm(notebook["model"], notebook[name.replace(" ", "_")]), trace(notebook["model"].encoder) as t:
            notebook["model"].encode(notebook["sentences"])
        x, weights = t["encoder.layers.4"], t["encoder.layers.5.attention.weights"]  # (B, T, D), (B, H, T, T)
        cls, added = x[:, 0], t["encoder.layers.5.attention"][:, 1:8]
        assert torch.cosine_similarity(cls[:, None], cls, dim=-1).min() > 0.99, "nearly the same in every text"
        values = F.linear(cls, attention.v_proj.weight).reshape(3, 1, 12, 32)  # (B, 1, H, K)
        from_cls = weights[..., 1:8, 0].transpose(1, 2)[..., None] * values  # (B, 7, H, K)
        rest = added - F.linear(from_cls.flatten(-2), attention.out_proj.weight)
        assert rest.norm() < 0.2 * added.norm()


# Does it help to learn?


@pytest.mark.long
@pytest.mark.parametrize("norm", ["no norm", "layer norm", "RMS norm"])
def test_on_other_seeds_too_only_times_root_6_is_right_without_a_norm_and_every_start_with_one(norm):
    for factor in (1, 6**0.5, 6):
        right = [plain_stack_accuracy(norm=norm, factor=factor, seed=seed) for seed in range(4, 8)]
        assert (sum(right) > 4 * 0.85) == (norm != "no norm" or factor == 6**0.5)


def test_the_stacks_that_are_trained_have_twelve_layers_and_32_numbers(notebook):
    assert PlainStack(12).layers[0].weight.shape == (32, 32)
    (too_small, without, too_large), *normed = notebook["results"].values()
    assert [len(starts) for starts in normed] == [3, 3], "36 trainings, four seeds each"
    assert max(too_small, too_large) < 82 and without > 85 and min(map(min, normed)) > 85


def test_times_6_inputs_arrive_tens_of_thousands_of_times_too_large():
    for seed in range(8):
        torch.manual_seed(seed)
        stack = PlainStack(12, factor=6)
        x = went_in = stack.read(torch.randn(1000, 4))
        for layer in stack.layers:
            x = torch.relu(layer(x))
        assert x.norm() / went_in.norm() > 12_000


def test_times_1_all_rows_arrive_as_one_vector_to_a_thousandth():
    for seed in range(8):
        torch.manual_seed(seed)
        stack = PlainStack(12)
        x = stack.read(torch.randn(1000, 4))
        for layer in stack.layers:
            x = torch.relu(layer(x))
        assert (x[:500] - x[500:]).norm() / x.norm() < 1 / 1000


# Going deeper


def test_measured_apart_cls_leaves_the_sentences_apart(notebook):
    apart = notebook["measured"](notebook["trials"]["[CLS] apart"])[:3]
    assert apart[0] < 0.8 and max(apart[1:]) < 0.2


def test_a_loud_cls_drowns_the_others_and_apart_or_with_a_norm_it_does_not(notebook):
    def last_layer(norm):
        return [*notebook["measured"](norm)[3:], *notebook["added"](norm)]

    one_for_all, apart, none, normed = (last_layer(norm) for norm in notebook["trials"].values())
    for cls, others, added, alike in (one_for_all, none):
        assert cls > 3 * others and added > 1.02 * others and alike > 0.99
    assert 2.5 < one_for_all[2] / one_for_all[1] < 3.3 and none[2] < 1.2 * none[1]
    for _, others, added, alike in (apart, normed):
        assert added < 0.95 * others and alike < 0.9
    _, own_others, own_added, own_alike = last_layer(notebook["layer_norm"])
    assert own_added < 0.7 * own_others and own_alike < 0.2, "nor with its own norms"
    assert all(len(notebook["model"].tokens(text)) >= 8 for text in notebook["sentences"]), "no padding among the seven"


def test_in_00_too_it_is_cls_that_makes_one_vector_of_all_texts(notebook):
    texts = [
        *notebook["sentences"],
        "I love apples.",
        "The train to Berlin leaves at noon.",
        "She sang a song.",
        "Where is the nearest bank?",
        "It rained all night in the mountains.",
    ]

    def cosines(name):
        with every_norm(notebook["model"], notebook["trials"][name]):
            vectors = torch.cat([notebook["model"].encode([text]) for text in texts])
        return (vectors @ vectors.T)[torch.triu_indices(len(texts), len(texts), 1).unbind()]

    assert cosines("no norm").min() > 0.95
    normed = cosines("a norm for [CLS]")
    assert normed.median() < 0.6 and normed.max() < 0.95
    three = normed[[0, 1, 7]]  # the pairs of the first three texts
    assert three[0] < three[2], "they lie: dog and hound have less in common than hound and stock"


def test_doubled_parameters_halve_the_gradient_and_leave_the_output(notebook):
    torch.testing.assert_close(notebook["once"], 2 * notebook["twice"])
    once, twice = (notebook["differences"](factor, notebook["normalise"]) for factor in (1, 2))
    assert once == pytest.approx(twice, rel=1e-9)
    matrix = torch.randn(8, 8)
    steps = {}
    for factor, gradient in ((1, 1.0), (2, 0.5)):  # the same direction, half as long for a matrix twice as large
        for rule in (torch.optim.SGD, torch.optim.Adam):
            weight = nn.Parameter(factor * matrix)
            weight.grad = gradient * torch.ones(8, 8)
            rule([weight], lr=0.01).step()
            steps[rule, factor] = ((weight - factor * matrix).norm() / (factor * matrix).norm()).item()
    for rule, share in ((torch.optim.SGD, 1 / 4), (torch.optim.Adam, 1 / 2)):
        assert steps[rule, 2] / steps[rule, 1] == pytest.approx(share, rel=1e-4)
