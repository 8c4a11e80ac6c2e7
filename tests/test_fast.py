"""Without padding, by quicker layers, compiled, in half precision: the same numbers as the plain encoder."""

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from encoder_lib import (
    Encoder,
    FeedForward,
    LayerNorm,
    TransformerEncoder,
    attention,
    fast,
    lengths_mask,
    trace,
    unpadded,
)
from encoder_lib.fast import ONEDNN, FastFeedForward, FastLayerNorm, FastLinear

D, H, F, V = 8, 2, 12, 11
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-10}
KINDS = st.sampled_from(["none", "rotary", "alibi"])
SETTINGS = st.fixed_dictionaries(
    {
        "norm_first": st.booleans(),
        "activation": st.sampled_from(["relu", "gelu"]),
        "bias": st.booleans(),
        "positional": KINDS,
        "eps": st.sampled_from([1e-5, 0.1]),
    }
)


@pytest.fixture(autouse=True, scope="module", params=[True, False], ids=["oneDNN", "the default library"])
def library(request):
    """What computes float32 products, whatever this processor would choose."""
    if request.param and not ONEDNN:
        pytest.skip("this torch is built without oneDNN")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["encoder_lib.fast"], "PREFER_ONEDNN", request.param)
        yield


def model(dtype=torch.float64, layers=2, seed=0, **options):
    """An encoder ready for use, with numbers of its own also in norms and biases."""
    torch.manual_seed(seed)
    encoder = Encoder(layers, D, H, F, **options).to(dtype).eval()
    for weight in encoder.parameters():
        nn.init.normal_(weight, 0.1, 0.4)
    return encoder


def explicit(encoder, x, mask=None):
    """The pass in which attention writes out its weights."""
    with trace(encoder):
        return encoder(x, mask)


def off(a, b):
    """The largest difference of two tensors of one shape, NaN included."""
    assert a.shape == b.shape and a.dtype == b.dtype
    return torch.nan_to_num(a - b, nan=torch.inf).abs().max().item() if a.numel() else 0.0


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=5), st.sampled_from(list(TOLERANCE)), SETTINGS, st.booleans())
def test_unpadded_equals_explicit_at_real_tokens_and_is_zero_elsewhere(lengths, dtype, options, quick):
    """Any lengths, 0 and 1 among them, all settings, with gradients and without: no neighbour has a say."""
    encoder = model(dtype, **options)
    lengths = torch.tensor(lengths)
    x = torch.randn(len(lengths), int(lengths.max()) + 1, D, dtype=dtype, requires_grad=True)
    mask = lengths_mask(lengths, x.shape[1])
    real = mask[:, 0, 0]
    y, expected = unpadded(fast(encoder) if quick else encoder, x, lengths), explicit(encoder, x, mask)
    assert off(y[real], expected[real]) <= TOLERANCE[dtype] and (y[~real] == 0).all()
    with torch.no_grad():
        assert off(unpadded(fast(encoder) if quick else encoder, x, lengths), y) <= TOLERANCE[dtype]
    if real.any() and dtype == torch.float64:
        weights = [x, *encoder.parameters()]
        found, wanted = (torch.autograd.grad(z[real].square().sum(), weights) for z in (y, expected))
        assert max(off(a, b) for a, b in zip(wanted, found, strict=True)) <= 1e-8


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=5), st.sampled_from([float("nan"), float("inf"), 1e30]), KINDS)
def test_padding_never_leaks(lengths, garbage, positional):
    """Whatever stands in the padding, the result is the same to the last bit."""
    encoder = model(positional=positional)
    lengths = torch.tensor(lengths)
    x = torch.randn(len(lengths), 7, D, dtype=torch.float64)
    dirty = x.masked_fill(~lengths_mask(lengths, 7)[:, 0, 0, :, None], garbage)
    assert torch.equal(unpadded(encoder, x, lengths), unpadded(encoder, dirty, lengths))


@pytest.mark.parametrize("positional", ["sinusoidal", "learned", "rotary", "alibi", "none"])
def test_a_whole_model_takes_ids(positional):
    """Positions count from the start of each sequence, not of the row."""
    torch.manual_seed(0)
    whole = TransformerEncoder(V, 2, D, H, F, positional=positional, padding_idx=0).double().eval()
    ids = torch.tensor([[3, 4, 0, 0], [5, 6, 7, 8], [0, 0, 0, 0], [9, 0, 0, 0]])
    real = ids != 0
    y = unpadded(whole, ids, real.sum(dim=1))
    assert off(y[real], whole(ids)[real]) <= 1e-10 and (y[~real] == 0).all()


@settings(deadline=None, max_examples=40)
@given(SETTINGS, st.integers(0, 3), st.integers(0, 9))
def test_fast_equals_explicit(options, batch, length):
    """In float32, empty batches included, without gradients and with: those land on the model's own weights."""
    encoder, x = model(torch.float32, **options), torch.randn(batch, length, D, requires_grad=True)
    with torch.no_grad():
        assert off(fast(encoder)(x), explicit(encoder, x)) <= 1e-5
    outputs, weights = (explicit(encoder, x), fast(encoder)(x)), [x, *encoder.parameters()]
    wanted, found = (torch.autograd.grad(y.square().sum() / max(1, x.numel()), weights) for y in outputs)
    assert max(off(a, b) for a, b in zip(wanted, found, strict=True)) <= 1e-4


def test_the_twin_shares_every_weight():
    """A step of one is a step of both, and the model itself keeps its classes."""
    encoder = model(torch.float32)
    twin = fast(encoder)
    for mine, theirs in zip(encoder.parameters(), twin.parameters(), strict=True):
        assert mine is theirs
    assert list(twin.state_dict()) == list(encoder.state_dict())
    assert type(encoder.layers[0].norm1) is LayerNorm and type(encoder.layers[0].attention.q_proj) is nn.Linear
    kinds = {type(module) for module in twin.modules()}
    assert {FastLinear, FastLayerNorm, FastFeedForward} <= kinds and not {LayerNorm, nn.Linear} & kinds


def test_dropout_still_falls():
    twin = fast(model(torch.float32, dropout=0.5)).train()
    x = torch.randn(2, 5, D)
    with torch.no_grad():
        assert not torch.equal(twin(x), twin(x))
        assert torch.equal(twin.eval()(x), twin(x))
        network = fast(FeedForward(D, F, dropout=1.0))
        assert torch.equal(network(x), network.linear2.bias.expand(2, 5, D))


@pytest.mark.parametrize("make", [fast, lambda encoder: encoder], ids=["fast", "plain"])
def test_autocast_to_bfloat16(make):
    """Products in bfloat16 are near the exact ones (half precision keeps 8 bits of a number); so is a model in it."""
    encoder = model(torch.float32)
    x = torch.randn(3, 6, D)
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        y = make(encoder)(x)
    exact = encoder.double()(x.double())
    assert off(make(encoder)(x.double()), exact) <= 1e-12
    assert make(encoder.bfloat16())(x.bfloat16()).dtype == torch.bfloat16
    assert 1e-6 < off(y.double(), exact) <= 0.05 * exact.abs().max().item()


@pytest.mark.long
def test_the_twin_compiles_whole(compiles):
    batch, length = torch.export.Dim("B", max=64), torch.export.Dim("T", min=2, max=64)
    twin = fast(model(torch.float32, activation="gelu")).requires_grad_(False)
    compiles(twin, lambda b, t: (torch.randn(b, t, D),), ({0: batch, 1: length},))


def test_unpadded_inside_a_trace_is_right_and_not_recorded():
    """The twin of one call is no part of the traced model, which stays as it was."""
    encoder, x, lengths = model(positional="rotary"), torch.randn(2, 4, D, dtype=torch.float64), torch.tensor([2, 4])
    expected = unpadded(encoder, x, lengths)
    with trace(encoder) as t:
        assert off(unpadded(encoder, x, lengths), expected) <= 1e-12 and not len(t)
        assert off(encoder(x), encoder(x)) == 0 and "layers.0.attention.weights" in t
    with ThreadPoolExecutor(2) as pool:
        both = [*pool.map(lambda run: run(), [lambda: unpadded(encoder, x, lengths), lambda: encoder(x)] * 10)]
    assert all(torch.equal(y, expected) for y in both[::2]) and all(torch.equal(y, both[1]) for y in both[1::2])


def attend_explicitly(q, k, v, mask=None):
    """Attention that a reader puts in place of the library's."""
    return attention(q, k, v, mask)[0]


def test_replaced_attend_sees_each_sequence_alone():
    encoder, lengths = model(), torch.tensor([3, 1, 5])
    x = torch.randn(3, 5, D, dtype=torch.float64)
    expected = unpadded(encoder, x, lengths)
    for layer in encoder.layers:
        layer.attention.attend = attend_explicitly
    torch.testing.assert_close(unpadded(encoder, x, lengths), expected, atol=1e-10, rtol=0)
