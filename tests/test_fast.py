"""Without padding, by quicker layers, compiled, in half precision: the same numbers as the plain encoder."""

import sys

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from encoder_lib import (
    Encoder,
    LayerNorm,
    Packed,
    RMSNorm,
    TransformerEncoder,
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
    }
)


@pytest.fixture(autouse=True, scope="module", params=[True, False], ids=["oneDNN", "the default library"])
def library(request):
    """What computes float32 products, whatever this processor would choose."""
    if request.param and not ONEDNN:
        pytest.skip("this torch is built without oneDNN")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["encoder_lib.fast"], "QUICKER", request.param)
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
    """Any lengths, 0 and 1 among them, both orders of the norms, all positions that act in attention."""
    encoder = model(dtype, **options)
    lengths = torch.tensor(lengths)
    x = torch.randn(len(lengths), int(lengths.max()) + 1, D, dtype=dtype)
    mask = lengths_mask(lengths, x.shape[1])
    real = mask[:, 0, 0]
    with torch.no_grad():
        y = unpadded(fast(encoder) if quick else encoder, x, lengths)
        assert off(y[real], explicit(encoder, x, mask)[real]) <= TOLERANCE[dtype]
    assert (y[~real] == 0).all()


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=5), st.sampled_from([float("nan"), float("inf"), 1e30]), KINDS)
def test_padding_never_leaks(lengths, garbage, positional):
    """Whatever stands in the padding, the result is the same to the last bit."""
    encoder = model(positional=positional)
    lengths = torch.tensor(lengths)
    x = torch.randn(len(lengths), 7, D, dtype=torch.float64)
    dirty = x.masked_fill(~lengths_mask(lengths, 7)[:, 0, 0, :, None], garbage)
    assert torch.equal(unpadded(encoder, x, lengths), unpadded(encoder, dirty, lengths))


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=5), SETTINGS)
def test_neighbours_have_no_say(lengths, options):
    """Each sequence of a packed strip comes out as it does alone."""
    encoder = model(**options)
    x = torch.randn(len(lengths), 6, D, dtype=torch.float64)
    y = unpadded(encoder, x, torch.tensor(lengths))
    for sequence, result, length in zip(x, y, lengths, strict=True):
        assert off(result[None, :length], encoder(sequence[None, :length])) <= 1e-10


@pytest.mark.parametrize("positional", ["sinusoidal", "learned", "rotary", "alibi", "none"])
def test_a_whole_model_takes_ids(positional):
    """Positions count from the start of each sequence, not of the row."""
    torch.manual_seed(0)
    whole = TransformerEncoder(V, 2, D, H, F, positional=positional, padding_idx=0).double().eval()
    ids = torch.tensor([[3, 4, 0, 0], [5, 6, 7, 8], [0, 0, 0, 0], [9, 0, 0, 0]])
    real = ids != 0
    y = unpadded(whole, ids, real.sum(dim=1))
    assert off(y[real], whole(ids)[real]) <= 1e-10 and (y[~real] == 0).all()


def test_gradients_pass_the_packing():
    """Training without padding gives the gradients of training with a mask."""
    encoder, lengths = model(), torch.tensor([3, 0, 5, 1])
    x = torch.randn(4, 5, D, dtype=torch.float64, requires_grad=True)
    mask = lengths_mask(lengths)
    real = mask[:, 0, 0, :, None]
    wanted = torch.autograd.grad((encoder(x, mask) * real).square().sum(), [x, *encoder.parameters()])
    found = torch.autograd.grad(unpadded(encoder, x, lengths).square().sum(), [x, *encoder.parameters()])
    assert max(off(a, b) for a, b in zip(wanted, found, strict=True)) <= 1e-10


@settings(deadline=None, max_examples=40)
@given(SETTINGS, st.integers(0, 3), st.integers(0, 9), st.booleans())
def test_fast_equals_explicit(options, batch, length, training):
    """In float32, empty batches included."""
    encoder = model(torch.float32, **options).train(training)
    x = torch.randn(batch, length, D)
    with torch.no_grad():
        assert off(fast(encoder)(x), explicit(encoder, x)) <= 1e-5


@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("bias", [True, False])
def test_fast_gives_the_same_gradients(activation, bias):
    """What is trained is the model's own weights: the twin's gradients land there."""
    encoder = model(torch.float32, activation=activation, bias=bias)
    x = torch.randn(3, 5, D, requires_grad=True)
    wanted = torch.autograd.grad(encoder(x).square().mean(), [x, *encoder.parameters()])
    found = torch.autograd.grad(fast(encoder)(x).square().mean(), [x, *encoder.parameters()])
    assert max(off(a, b) for a, b in zip(wanted, found, strict=True)) <= 1e-5


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
    """Two passes of a twin in training differ, and evaluation is steady."""
    twin = fast(model(torch.float32, dropout=0.5)).train()
    x = torch.randn(2, 5, D)
    with torch.no_grad():
        assert not torch.equal(twin(x), twin(x))
        assert torch.equal(twin.eval()(x), twin(x))


def test_other_numbers_go_the_usual_way():
    """float64 gives the very same bits, bfloat16 and RMSNorm run too."""
    encoder = model()
    x = torch.randn(2, 4, D, dtype=torch.float64)
    assert off(fast(encoder)(x), encoder(x)) <= 1e-12
    assert fast(encoder.bfloat16())(x.bfloat16()).dtype == torch.bfloat16
    assert torch.equal(fast(RMSNorm(D))(x.float()), RMSNorm(D)(x.float()))


@pytest.mark.parametrize("make", [fast, lambda encoder: encoder], ids=["fast", "plain"])
def test_autocast_to_bfloat16(make):
    """Products in bfloat16 are near the exact ones: half precision keeps 8 bits of a number."""
    encoder = model(torch.float32)
    x = torch.randn(3, 6, D)
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        y = make(encoder)(x)
    exact = encoder.double()(x.double())
    assert 1e-6 < off(y.double(), exact) <= 0.05 * exact.abs().max().item()


@pytest.mark.long
def test_the_twin_compiles_whole(compiles):
    """`torch.compile(fullgraph=True)` and `torch.export` with dynamic B and T."""
    batch, length = torch.export.Dim("B", max=64), torch.export.Dim("T", min=2, max=64)
    twin = fast(model(torch.float32, activation="gelu")).requires_grad_(False)
    compiles(twin, lambda b, t: (torch.randn(b, t, D),), ({0: batch, 1: length},))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda e, x: unpadded(nn.Linear(D, D), x, torch.tensor([1, 2])), TypeError, "expected an Encoder"),
        (lambda e, x: unpadded(e, x, [1, 2]), TypeError, "lengths"),
        (lambda e, x: unpadded(e, x, torch.tensor([1.0, 2.0])), TypeError, "lengths"),
        (lambda e, x: unpadded(e, x, torch.tensor([[1, 2]])), ValueError, r"lengths: expected shape \(B,\)"),
        (lambda e, x: unpadded(e, x, torch.tensor([1, 5])), ValueError, "expected 0 … 4, got 5"),
        (lambda e, x: unpadded(e, x, torch.tensor([1, -1])), ValueError, "expected 0 … 4, got -1"),
        (lambda e, x: unpadded(e, x, torch.tensor([1, 2, 3])), ValueError, "expected 3 sequences"),
        (lambda e, x: unpadded(e, x[0], torch.tensor([1, 2])), ValueError, "expected"),
        (lambda e, x: unpadded(e, x.long(), torch.tensor([1, 2])), TypeError, "floating-point"),
        (lambda e, x: e(x, Packed(torch.tensor([3, 4]))), ValueError, r"packed strip of 7 tokens.*got \(2, 4, 8\)"),
        (lambda e, x: explicit(e, x, Packed(torch.tensor([3, 4]))), RuntimeError, "trace: expected a padded batch"),
        (lambda e, x: Packed(torch.tensor([3, 5])).pack(x), ValueError, "at least 5 tokens"),
        (lambda e, x: Packed(torch.tensor([3, 4])).unpack(x, 4), ValueError, "packed strip of 7"),
        (lambda e, x: Packed(torch.tensor([3, 1])).unpack(x[:1], 2), ValueError, "length"),
        (lambda e, x: Packed([3, 4]), TypeError, "lengths"),
        (lambda e, x: fast("encoder"), TypeError, "module"),
    ],
)
def test_bad_input(call, error, words):
    """Expected, got, and a way out."""
    with pytest.raises(error, match=words):
        call(model(), torch.randn(2, 4, D, dtype=torch.float64))
