"""Depth, measured: every number against a plain computation of its own."""

import math
from itertools import combinations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from encoder_lib import Encoder, TransformerEncoder, trace
from encoder_lib.course.kit.measure import (
    INITS,
    depth_profiles,
    initialise,
    token_similarity,
    word_similarity,
)


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


def test_token_similarity_is_the_mean_cosine_of_every_pair():
    x = torch.randn(2, 3, 4, 5) + 0.5
    pairs = [F.cosine_similarity(x[..., i, :], x[..., j, :], dim=-1) for i in range(4) for j in range(4) if i != j]
    torch.testing.assert_close(token_similarity(x), torch.stack(pairs).mean(0))
    torch.testing.assert_close(token_similarity(torch.tensor([[1.0, 2.0], [2.0, 4.0]])), torch.tensor(1.0))


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("init", INITS)
def test_a_profile_equals_a_stack_of_that_depth_by_itself(norm_first, init):
    """The cut after 2 of 4 layers is an Encoder of 2 layers; its numbers come out of one ordinary backward pass."""
    profile = depth_profiles([4, 2], norm_first=norm_first, init=init)[2]
    torch.manual_seed(0)
    encoder = initialise(Encoder(4, 32, 4, 128, norm_first=norm_first), init)
    del encoder.layers[2:]
    x = torch.randn(4, 16, 32)
    with trace(encoder) as t:
        y = encoder(x)
    F.mse_loss(y, torch.randn(4, 16, 32)).backward()
    stream = torch.stack([x, t["layers.0"], t["layers.1"]]).detach()
    expected = torch.stack([layer.feed_forward.linear2.weight.grad.norm() for layer in encoder.layers])
    torch.testing.assert_close(profile.gradient, expected)
    torch.testing.assert_close(profile.size, stream.square().mean((1, 2, 3)).sqrt())
    torch.testing.assert_close(profile.similarity, token_similarity(stream).mean(1))


def test_profiles_need_no_gradient_mode_from_the_caller():
    expected = depth_profiles([2], norm_first=True)[2]
    with torch.no_grad():
        assert torch.equal(depth_profiles([2], norm_first=True)[2].gradient, expected.gradient)
        assert not torch.is_grad_enabled()


def test_word_similarity_within_and_across_sentences():
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
