"""Depth, measured: every number against a plain computation of its own, and the bad input."""

import math
from itertools import combinations

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from encoder_lib import Encoder, EncoderLayer, FeedForward, TransformerEncoder, trace
from encoder_lib.lab.measure import (
    INITS,
    LOSSES,
    chain_gradients,
    depth_profiles,
    depth_sweep,
    initialise,
    layer_flops,
    layer_gradients,
    power_law_exponent,
    token_similarity,
    word_similarity,
)

SIZES = {"d_model": 8, "n_heads": 2, "d_ff": 12, "batch": 3, "tokens": 5}


def linears(model):
    """All linear maps of a model."""
    return [module for module in model.modules() if isinstance(module, nn.Linear)]


@pytest.mark.parametrize(
    ("init", "spread"), [("default", 1 / math.sqrt(3 * 64)), ("xavier", math.sqrt(2 / (64 + 200))), ("small", 0.02)]
)
def test_weights_are_drawn_with_the_spread_of_their_kind(init, spread):
    linear = nn.Linear(64, 200)
    nn.init.constant_(linear.weight, 7.0)
    assert initialise(linear, init) is linear
    assert abs(linear.weight.std().item() / spread - 1) < 0.05
    assert (linear.bias == 0).all().item() == (init != "default")


def test_maps_without_biases_are_initialised_too():
    encoder = initialise(Encoder(2, 8, 2, 12, bias=False), "small")
    assert all(0 < map_.weight.abs().max() < 0.2 for map_ in linears(encoder))


def test_an_unknown_initialisation_is_refused():
    with pytest.raises(ValueError, match="init: expected one of 'default', 'xavier', 'small'"):
        initialise(nn.Linear(2, 2), "he")


def test_token_similarity_is_the_mean_cosine_of_every_pair():
    x = torch.randn(2, 3, 4, 5) + 0.5
    pairs = [F.cosine_similarity(x[..., i, :], x[..., j, :], dim=-1) for i in range(4) for j in range(4) if i != j]
    torch.testing.assert_close(token_similarity(x), torch.stack(pairs).mean(0))
    torch.testing.assert_close(token_similarity(torch.tensor([[1.0, 2.0], [2.0, 4.0]])), torch.tensor(1.0))


@pytest.mark.parametrize(
    ("x", "error", "words"),
    [
        (torch.ones(2, 1, 4), ValueError, "at least two tokens"),
        (torch.ones(2, 3, dtype=torch.int64), TypeError, "floating-point"),
        (torch.ones(3), ValueError, "expected vectors"),
        ([[1.0]], TypeError, "tensor"),
    ],
)
def test_token_similarity_refuses(x, error, words):
    with pytest.raises(error, match=words):
        token_similarity(x)


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("init", INITS)
def test_a_profile_equals_a_stack_of_that_depth_by_itself(norm_first, init, loss):
    """The cut after 2 of 4 layers is an Encoder of 2 layers; its numbers come out of one ordinary backward pass."""
    profile = depth_profiles([4, 2], norm_first=norm_first, init=init, loss=loss, **SIZES)[2]
    torch.manual_seed(0)
    encoder = initialise(Encoder(4, 8, 2, 12, norm_first=norm_first), init)
    del encoder.layers[2:]
    x = torch.randn(3, 5, 8)
    with trace(encoder) as t:
        y = encoder(x)
    if loss == "regression":
        F.mse_loss(y, torch.randn(3, 5, 8)).backward()
    else:
        logits = y @ (torch.randn(10, 8) / math.sqrt(8)).T
        F.cross_entropy(logits.transpose(1, 2), torch.randint(10, (3, 5))).backward()
    stream = torch.stack([x, t["layers.0"], t["layers.1"]]).detach()
    expected = torch.stack([layer.feed_forward.linear2.weight.grad.norm() for layer in encoder.layers])
    torch.testing.assert_close(profile.gradient, expected)
    torch.testing.assert_close(profile.size, stream.square().mean((1, 2, 3)).sqrt())
    torch.testing.assert_close(profile.similarity, token_similarity(stream).mean(1))


def test_seeds_are_averaged_and_all_different():
    one, four = (depth_profiles([3], norm_first=True, seeds=n, **SIZES)[3] for n in (1, 4))
    assert one.gradient.shape == four.gradient.shape == (3,) and one.size.shape == one.similarity.shape == (4,)
    assert not torch.allclose(one.gradient, four.gradient)
    again = depth_profiles([3], norm_first=True, seeds=4, **SIZES)[3]
    assert torch.equal(again.gradient, four.gradient)


@pytest.mark.parametrize("norm_first", [False, True])
def test_a_louder_input_is_the_drawn_one_times_a_number(norm_first):
    """Post-norm's first norms take it away; pre-norm's stream carries it to the end."""
    plain, loud = (depth_profiles([2], norm_first=norm_first, loudness=n, **SIZES)[2] for n in (1, 100))
    assert loud.size[0] == pytest.approx(100 * plain.size[0].item())
    assert (loud.size[2] > 90) == norm_first and (loud.gradient[1] < plain.gradient[1] / 50) == norm_first


def test_profiles_leave_the_random_numbers_of_torch_alone():
    torch.manual_seed(5)
    expected = torch.randn(3)
    torch.manual_seed(5)
    depth_profiles([2], norm_first=False, **SIZES)
    assert torch.equal(torch.randn(3), expected)


def test_profiles_are_the_same_on_every_device(device):
    here, there = (depth_profiles([2], norm_first=True, device=d, **SIZES)[2] for d in (None, device))
    torch.testing.assert_close(here.gradient, there.gradient, rtol=1e-3, atol=1e-5)
    assert there.gradient.device.type == there.size.device.type == there.similarity.device.type == "cpu"


@pytest.mark.parametrize(
    ("depths", "options", "error", "words"),
    [
        ([], {}, ValueError, "depths: expected at least one"),
        (3, {}, TypeError, "depths: expected a list of whole numbers, got int; try"),
        ((n for n in (1, 2)), {}, TypeError, "depths: expected a list of whole numbers, got generator; try"),
        ([0, 2], {}, ValueError, "depth: expected an integer of at least 1"),
        ([2.0], {}, TypeError, "depth: expected an integer"),
        ([2], {"seeds": 0}, ValueError, "seeds"),
        ([2], {"init": "he"}, ValueError, "init: expected one of"),
        ([2], {"loss": "sum"}, ValueError, "loss: expected one of 'regression', 'classification'"),
        ([2], {"tokens": 1}, ValueError, "at least two tokens"),
        ([2], {"batch": 0}, ValueError, "batch"),
        ([2], {"loudness": 0}, ValueError, "loudness"),
        ([2], {"n_heads": 5}, ValueError, "divisible"),
    ],
)
def test_profiles_refuse(depths, options, error, words):
    with pytest.raises(error, match=words):
        depth_profiles(depths, norm_first=False, **options)


def test_a_sweep_holds_every_combination():
    sweep = depth_sweep([1, 2], seeds=2, **SIZES)
    assert len(sweep) == 12 and all(list(profiles) == [1, 2] for profiles in sweep.values())
    alone = depth_profiles([1, 2], norm_first=True, init="small", loss="classification", seeds=2, **SIZES)[1]
    assert torch.equal(sweep["classification", "pre-norm", "small"][1].gradient, alone.gradient)


def test_layer_gradients_gather_one_layer_over_the_depths():
    profiles = depth_profiles([2, 4], norm_first=False, **SIZES)
    first, last = (layer_gradients(profiles, layer) for layer in (0, -1))
    assert first.tolist() == [profiles[2].gradient[0].item(), profiles[4].gradient[0].item()]
    assert last.tolist() == [profiles[2].gradient[1].item(), profiles[4].gradient[3].item()]
    with pytest.raises(IndexError):
        layer_gradients(profiles, 3)


@pytest.mark.parametrize("residual", [False, True])
def test_chain_gradients_are_products_of_each_networks_derivative(residual):
    """Between two neighbours stands one network: its vector-Jacobian product turns one gradient into the other."""
    found = chain_gradients(2, residual=residual, init="xavier")
    torch.manual_seed(0)
    networks = [initialise(FeedForward(32, 128), "xavier") for _ in range(2)]
    x, gradient = torch.randn(4, 16, 32), torch.randn(4, 16, 32)
    steps = [lambda z, f=f: f(z) + residual * z for f in networks]
    expected = [gradient.norm()]
    for step, at in ((steps[1], steps[0](x)), (steps[0], x)):
        gradient = torch.autograd.functional.vjp(step, at, gradient)[1]
        expected.insert(0, gradient.norm())
    torch.testing.assert_close(found, torch.stack(expected))


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"residual": 1}, TypeError),
        ({"residual": True, "init": "hey"}, ValueError),
        ({"residual": True, "seed": -1}, ValueError),
        ({"residual": True, "n": 0}, ValueError),
    ],
)
def test_chain_gradients_refuse(options, error):
    with pytest.raises(error, match="expected"):
        chain_gradients(options.pop("n", 2), **options)


def test_word_similarity_compares_words_within_a_sentence_and_across_all_pairs_of_sentences():
    model = TransformerEncoder(9, 2, 8, 2, 12)
    sentences = [torch.tensor([ids]) for ids in ([1, 2, 3, 4, 8], [1, 5, 6, 8], [1, 7, 7, 5, 8])]
    within, across = word_similarity(model, sentences)
    streams = []
    for ids in sentences:
        stream = [model.embedding(ids)]
        for layer in model.encoder.layers:
            stream.append(layer(stream[-1]))
        streams.append([x[0, 1:-1].double() for x in stream])
    for i in range(3):
        inside = [token_similarity(stream[i]).item() for stream in streams]
        assert within[i].item() == pytest.approx(sum(inside) / 3)
        cosines = [
            sum(F.cosine_similarity(u, v, dim=0).item() for u in a[i] for v in b[i]) / (len(a[i]) * len(b[i]))
            for a, b in combinations(streams, 2)
        ]
        assert across[i].item() == pytest.approx(sum(cosines) / 3)
    assert within.shape == across.shape == (3,) and not within.requires_grad


def test_a_sentence_beside_itself_is_as_alike_across_as_its_words_are_with_themselves_counted():
    model, ids = TransformerEncoder(9, 1, 8, 2, 12), torch.tensor([[1, 2, 3, 8]])
    within, across = word_similarity(model, [ids, ids])
    torch.testing.assert_close(across, (1 + within) / 2)  # two words: two pairs of a word with itself, two others


@pytest.mark.parametrize(
    ("sentences", "error", "words"),
    [
        ([torch.tensor([[1, 2, 3, 4]])], ValueError, "at least two, got 1"),
        (torch.tensor([[1, 2, 3, 4]]), TypeError, "a list of sentences"),
        ([torch.tensor([[1, 2, 3, 4]]), torch.tensor([[1, 2, 3]])], ValueError, "at least two words each"),
        ([torch.tensor([[1, 2, 3, 4]] * 2)] * 2, ValueError, r"\(1, T\).*got shape \(2, 4\)"),
        ([torch.tensor([[1.0, 2.0, 3.0, 4.0]])] * 2, TypeError, "sentences: expected integers"),
    ],
    ids=range(5),
)
def test_word_similarity_refuses(sentences, error, words):
    with pytest.raises(error, match=words):
        word_similarity(TransformerEncoder(9, 1, 8, 2, 12), sentences)


def test_he_keeps_the_size_of_what_passes_and_of_the_gradient_on_average():
    """Without the residual path; geometric means over the seeds."""
    arrives = torch.stack([(g[0] / g[-1]).log() for g in (chain_gradients(32, residual=False, init="he", seed=s)
                                                         for s in range(8))])  # fmt: skip
    assert 0.4 < arrives.mean().exp() < 2.5 and (arrives.exp() > 0.1).all() and (arrives.exp() < 10).all()


def test_chains_of_two_seeds_differ_and_of_one_do_not():
    one, again, other = (chain_gradients(3, residual=True, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(one, again) and not torch.allclose(one, other)


@pytest.mark.parametrize("power", [-0.5, 0.0, 2.0])
def test_slope_finds_the_exponent_of_a_power_law(power):
    x = torch.tensor([2, 4, 8, 16, 32])
    assert power_law_exponent(x, 3 * x.double() ** power) == pytest.approx(power, abs=1e-12)
    assert power_law_exponent(x.tolist(), (3 * x.double() ** power).tolist()) == pytest.approx(power, abs=1e-12)


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        ([1.0], [1.0], "two different x"),
        ([1.0, 2.0], [1.0], "two different x"),
        ([2.0, 2.0], [1.0, 3.0], "two different x"),
        ([1.0, 2.0], [0.0, 1.0], "finite numbers above 0"),
        ([-1.0, 2.0], [1.0, 1.0], "finite numbers above 0"),
        ([1.0, math.inf], [1.0, 1.0], "finite numbers above 0"),
        ([1.0, 2.0], [1.0, math.nan], "finite numbers above 0"),
    ],
)
def test_slope_refuses(x, y, words):
    with pytest.raises(ValueError, match=f"expected .*{words}.*; try"):
        power_law_exponent(x, y)


@pytest.mark.parametrize(("tokens", "d_model", "d_ff"), [(1, 8, 8), (7, 8, 20), (30, 12, 5)])
@pytest.mark.parametrize("norm_first", [False, True])
def test_flops_are_those_that_torch_counts(tokens, d_model, d_ff, norm_first):
    layer = EncoderLayer(d_model, 2, d_ff, norm_first=norm_first)
    linear, attention = layer_flops(tokens, d_model, d_ff)
    with FlopCounterMode(display=False) as counter, trace(layer):  # traced, attention is plain matrix products
        layer(torch.randn(1, tokens, d_model))
    assert counter.get_total_flops() == linear + attention


def test_the_two_kinds_of_flops_meet_at_twice_the_width_plus_the_hidden_width():
    linear, attention = layer_flops(2 * 24 + 100, 24, 100)
    assert linear == attention


@pytest.mark.parametrize(
    ("sizes", "error"), [((0, 8, 8), ValueError), ((4, 8.0, 8), TypeError), ((4, 8, -1), ValueError)]
)
def test_flops_refuse(sizes, error):
    with pytest.raises(error, match="expected an integer"):
        layer_flops(*sizes)
