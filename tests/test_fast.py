"""`unpadded` and `fast` compute what the plain encoder computes: trained, hooked, wrapped, compiled, in any dtype."""

import gc
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from low_rank import LowRank
from torch import nn
from torch.autograd import forward_ad
from torch.func import functional_call, grad, hessian, jvp, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.modules.module import register_module_forward_hook
from torch.nn.utils import parametrize

from encoder_lib import (
    Encoder,
    FeedForward,
    LayerNorm,
    MultiHeadAttention,
    TransformerEncoder,
    attention,
    fast,
    lengths_mask,
    trace,
    unpadded,
)
from encoder_lib.fast import HAS_ONEDNN, FastFeedForward, FastLayerNorm, FastLinear
from encoder_lib.model.feed_forward import ACTIVATIONS
from encoder_lib.recast import with_class

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


@pytest.fixture(autouse=True, scope="module", params=[True, False], ids=["oneDNN", "MKL"])
def library(request):
    """The library for float32 products, whichever one this processor would prefer."""
    if request.param and not HAS_ONEDNN:
        pytest.skip("this torch is built without oneDNN")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["encoder_lib.fast"], "PREFER_ONEDNN", request.param)
        yield


def model(dtype=torch.float64, layers=2, seed=0, **options):
    """An encoder in eval mode whose norms and biases are not at their initial values."""
    torch.manual_seed(seed)
    encoder = Encoder(layers, D, H, F, **options).to(dtype).eval()
    for weight in encoder.parameters():
        nn.init.normal_(weight, 0.1, 0.4)
    return encoder


def explicit(encoder, x, mask=None):
    """The forward pass with explicit attention, which computes its weights."""
    with trace(encoder):
        return encoder(x, mask)


def off(a, b):
    """The largest difference between two tensors of equal shape and dtype; infinite if there is a NaN."""
    assert a.shape == b.shape and a.dtype == b.dtype
    return torch.nan_to_num(a - b, nan=torch.inf).abs().max().item() if a.numel() else 0.0


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=5), st.sampled_from(list(TOLERANCE)), SETTINGS, st.booleans())
def test_unpadded_equals_padded_and_is_zero_at_padding(lengths, dtype, options, use_fast):
    """For all lengths (0 and 1 too) and settings, with gradients and without."""
    encoder = model(dtype, **options)
    lengths = torch.tensor(lengths)
    x = torch.randn(len(lengths), int(lengths.max()) + 1, D, dtype=dtype, requires_grad=True)
    mask = lengths_mask(lengths, x.shape[1])
    real = mask[:, 0, 0]
    y, expected = unpadded(fast(encoder) if use_fast else encoder, x, lengths), explicit(encoder, x, mask)
    assert off(y[real], expected[real]) <= TOLERANCE[dtype] and (y[~real] == 0).all()
    with torch.no_grad():
        assert off(unpadded(fast(encoder) if use_fast else encoder, x, lengths), y) <= TOLERANCE[dtype]
    if real.any() and dtype == torch.float64:
        weights = [x, *encoder.parameters()]
        found, wanted = (torch.autograd.grad(z[real].square().sum(), weights) for z in (y, expected))
        assert max(off(a, b) for a, b in zip(wanted, found, strict=True)) <= 1e-8


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=5), st.sampled_from([float("nan"), float("inf"), 1e30]), KINDS)
def test_padding_never_leaks(lengths, garbage, positional):
    """Whatever values the padding holds, the result is the same bit for bit."""
    encoder = model(positional=positional)
    lengths = torch.tensor(lengths)
    x = torch.randn(len(lengths), 7, D, dtype=torch.float64)
    dirty = x.masked_fill(~lengths_mask(lengths, 7)[:, 0, 0, :, None], garbage)
    assert torch.equal(unpadded(encoder, x, lengths), unpadded(encoder, dirty, lengths))


@pytest.mark.parametrize("positional", ["sinusoidal", "learned", "rotary", "alibi", "none"])
def test_transformer_encoder_takes_ids(positional):
    """Positions count from the start of each sequence, not of the packed one."""
    torch.manual_seed(0)
    whole = TransformerEncoder(V, 2, D, H, F, positional=positional, padding_idx=0).double().eval()
    ids = torch.tensor([[3, 4, 0, 0], [5, 6, 7, 8], [0, 0, 0, 0], [9, 0, 0, 0]])
    real = ids != 0
    y = unpadded(whole, ids, real.sum(dim=1))
    assert off(y[real], whole(ids)[real]) <= 1e-10 and (y[~real] == 0).all()


@settings(deadline=None, max_examples=40)
@given(SETTINGS, st.integers(0, 3), st.integers(0, 9))
def test_fast_equals_plain(options, batch, length):
    """In float32, for empty batches too, with and without gradients, which belong to the model's own parameters."""
    encoder, x = model(torch.float32, **options), torch.randn(batch, length, D, requires_grad=True)
    with torch.no_grad():
        assert off(fast(encoder)(x), explicit(encoder, x)) <= 1e-5
    outputs, weights = (explicit(encoder, x), fast(encoder)(x)), [x, *encoder.parameters()]
    wanted, found = (torch.autograd.grad(y.square().sum() / max(1, x.numel()), weights) for y in outputs)
    assert max(off(a, b) for a, b in zip(wanted, found, strict=True)) <= 1e-4


def test_copy_shares_parameters_and_has_faster_layers():
    """The model itself keeps its classes."""
    encoder = model(torch.float32)
    copy = fast(encoder)
    assert all(mine is theirs for mine, theirs in zip(encoder.parameters(), copy.parameters(), strict=True))
    assert list(copy.state_dict()) == list(encoder.state_dict())
    assert type(encoder.layers[0].norm1) is LayerNorm and type(encoder.layers[0].attention.q_proj) is nn.Linear
    classes = {type(module) for module in copy.modules()}
    assert {FastLinear, FastLayerNorm, FastFeedForward} <= classes and not {LayerNorm, FeedForward, nn.Linear} & classes
    assert type(fast(nn.Linear(D, D))) is FastLinear


def test_dropout_is_applied():
    copy = fast(model(torch.float32, dropout=0.5)).train()
    x = torch.randn(2, 5, D)
    with torch.no_grad():
        assert not torch.equal(copy(x), copy(x))
        assert torch.equal(copy.eval()(x), copy(x))
        network = fast(FeedForward(D, F, dropout=1.0))
        assert torch.equal(network(x), network.linear2.bias.expand(2, 5, D))


@pytest.mark.parametrize("make", [fast, lambda encoder: encoder], ids=["fast", "plain"])
def test_autocast_to_bfloat16(make):
    """bfloat16 keeps 8 significant bits: the result differs from the exact one, by a few per cent at most."""
    encoder = model(torch.float32)
    x = torch.randn(3, 6, D)
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        y = make(encoder)(x)
    exact = encoder.double()(x.double())
    assert off(make(encoder)(x.double()), exact) <= 1e-12
    assert make(encoder.bfloat16())(x.bfloat16()).dtype == torch.bfloat16
    assert 1e-6 < off(y.double(), exact) <= 0.05 * exact.abs().max().item()


def test_layers_obey_autocast():
    """A shortcut in float32 would ignore it."""
    linear, network, x = nn.Linear(D, F), FeedForward(D, F), torch.randn(2, 5, D)
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        for layer in (linear, network):
            assert fast(layer)(x).dtype == layer(x).dtype == torch.bfloat16


@pytest.mark.long
def test_fast_copy_compiles_as_one_graph_and_exports(compiles):
    batch, length = torch.export.Dim("B", max=64), torch.export.Dim("T", min=2, max=64)
    copy = fast(model(torch.float32, activation="gelu")).requires_grad_(False)
    compiles(copy, lambda b, t: (torch.randn(b, t, D),), ({0: batch, 1: length},))


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")  # torch's own deprecations
@pytest.mark.parametrize("record", [True, False], ids=["grad", "no grad"])
def test_compiled_copy_equals_plain_for_square_batches(record):
    """One graph serves B = T and B ≠ T, and the compiled backward pass gives the gradients of the plain one."""
    torch._dynamo.reset()
    encoder = model(torch.float32, activation="gelu")
    compiled = torch.compile(fast(encoder), fullgraph=True, dynamic=True, backend="aot_eager")
    for batch, length in ((3, 5), (5, 5), (2, 9), (4, 4)):
        x, mask = torch.randn(batch, length, D), torch.ones(batch, 1, 1, length, dtype=torch.bool)
        with torch.set_grad_enabled(record):
            outputs = compiled(x, mask), encoder(x, mask)
        assert off(*outputs) <= 1e-5
        if record:
            found, expected = (torch.autograd.grad(y.square().mean(), list(encoder.parameters())) for y in outputs)
            assert max(off(a, b) for a, b in zip(expected, found, strict=True)) <= 1e-5
    torch._dynamo.reset()


def test_trace_does_not_record_unpadded():
    """A trace, or another thread, sees nothing of the copy that one call makes."""
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


class Explicit(MultiHeadAttention):
    """A subclass that overrides the step in which tokens mix."""

    def attend(self, q, k, v, mask=None):
        return attend_explicitly(q, k, v, mask)


def set_attend(attention):
    attention.attend = attend_explicitly
    return attention


@pytest.mark.parametrize("change", [set_attend, partial(with_class, cls=Explicit)], ids=["instance", "subclass"])
def test_replaced_attend_sees_each_sequence_alone(change):
    encoder, lengths = model(), torch.tensor([3, 1, 5])
    x = torch.randn(3, 5, D, dtype=torch.float64)
    expected = unpadded(encoder, x, lengths)
    for layer in encoder.layers:
        layer.attention = change(layer.attention)
    torch.testing.assert_close(unpadded(encoder, x, lengths), expected, atol=1e-10, rtol=0)


def test_unpadded_leaves_no_reference_cycles():
    """Otherwise each call's modules stay in memory until Python collects garbage."""
    encoder, lengths = model(), torch.tensor([3, 1])
    x = torch.randn(2, 3, D, dtype=torch.float64)
    unpadded(encoder, x, lengths)
    gc.collect()
    unpadded(encoder, x, lengths)
    assert not [thing for thing in garbage() if isinstance(thing, nn.Module)]


def garbage():
    """What only the garbage collector frees."""
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        gc.collect()
        return list(gc.garbage)
    finally:
        gc.set_debug(0)
        gc.garbage.clear()


class TorchAttention(nn.Module):
    """Attention that is not the library's: it would attend across the whole packed sequence."""

    def __init__(self):
        super().__init__()
        self.inner = nn.MultiheadAttention(D, H, batch_first=True, dtype=torch.float64)

    def forward(self, query, key, value, mask=None):
        return self.inner(query, key, value, need_weights=False)[0]


def own_forward(cls):
    return type(f"My{cls.__name__}", (cls,), {"forward": lambda self, *args: cls.forward(self, *args)})


def replace(part, change):
    """Change one part of a model: a path, or "" for the model itself."""

    def apply(whole):
        if not part:
            return change(whole)
        whole.set_submodule(part, change(whole.get_submodule(part)))
        return whole

    return apply


def reclass(module):
    return with_class(module, own_forward(type(module)))


def set_forward(module):
    module.forward = partial(type(module).forward, module)
    return module


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            replace("encoder.layers.1.attention", lambda _: TorchAttention()),
            r"layers\.1\.attention.*got TorchAttention",
        ),
        (replace("encoder.layers.1.attention", reclass), r"layers\.1\.attention.*forward of its own"),
        (replace("encoder.layers.0.attention", set_forward), r"layers\.0\.attention.*forward of its own"),
        (replace("encoder.layers.0", reclass), r"layers\.0: .*EncoderLayer\.forward.*forward of its own"),
        (replace("encoder.layers.0", lambda _: nn.Identity()), r"layers\.0: .*got Identity"),
        (replace("encoder", reclass), r"encoder: .*Encoder\.forward.*forward of its own"),
        (replace("", reclass), r"model: .*TransformerEncoder\.forward.*forward of its own"),
    ],
    ids=range(7),
)
def test_unpadded_refuses_what_may_mix_sequences(change, words):
    whole = change(TransformerEncoder(V, 2, D, H, F).double().eval())
    ids, lengths = torch.randint(V, (3, 5)), torch.tensor([3, 1, 5])
    with pytest.raises(TypeError, match=words + r".*pad and mask instead: model\(x, lengths_mask\(lengths\)\)"):
        unpadded(whole, ids, lengths)


# `fast` takes its shortcuts only for the layers that it knows


class Halved(nn.Linear):
    """A subclass whose forward does more than a linear layer's."""

    def forward(self, x):
        return super().forward(x) / 2


class Doubling(nn.Module):
    """A parametrization."""

    def forward(self, weight):
        return 2 * weight


def hook_output(layer):
    layer.register_forward_hook(lambda module, args, output: output / 3)


def hook_input(layer):
    layer.register_forward_pre_hook(lambda module, args: (args[0] / 3,))


def replace_forward(layer):
    forward = layer.forward
    layer.forward = lambda x: forward(x) / 3


def parametrize_weight(layer):
    parametrize.register_parametrization(layer, "weight", Doubling())


def hook_every_module(layer):
    def halve(module, args, output):
        return output / 2 if isinstance(module, nn.Linear) and module.weight is layer.weight else None

    return register_module_forward_hook(halve)


@pytest.mark.parametrize("change", [hook_output, hook_input, replace_forward, parametrize_weight, hook_every_module])
@pytest.mark.parametrize("part", ["linear1", "linear2"])
@pytest.mark.parametrize("record", [True, False], ids=["grad", "no grad"])
def test_changed_layer_is_called(change, part, record):
    """Hooks, a forward set on the instance and parametrizations of a layer take effect as in the plain model."""
    encoder, x = model(torch.float32, activation="gelu"), torch.randn(2, 5, D)
    before = encoder(x)
    handle = change(getattr(encoder.layers[0].feed_forward, part))
    try:
        with torch.set_grad_enabled(record):
            expected = encoder(x)
            assert off(expected, before) > 1e-3
            assert off(fast(encoder)(x), expected) <= 1e-5
    finally:
        if handle is not None:
            handle.remove()


def test_hook_added_later_fires_in_the_copy():
    encoder, x = model(torch.float32), torch.randn(2, 5, D)
    copy = fast(encoder)
    hook_output(encoder.layers[0].feed_forward.linear1)
    with torch.no_grad():
        assert off(copy(x), encoder(x)) <= 1e-5


@pytest.mark.parametrize("record", [True, False], ids=["grad", "no grad"])
@pytest.mark.parametrize("wrap", [LowRank, lambda linear: with_class(linear, Halved)], ids=["LoRA", "subclass"])
@pytest.mark.parametrize("part", ["feed_forward.linear1", "feed_forward.linear2", "attention.q_proj"])
def test_layer_in_place_of_linear(wrap, part, record):
    encoder, x = model(torch.float32), torch.randn(2, 5, D)
    before = encoder(x)
    encoder.layers[0].set_submodule(part, wrap(encoder.layers[0].get_submodule(part)))
    with torch.set_grad_enabled(record):
        expected = encoder(x)
        assert off(expected, before) > 1e-3
        assert off(fast(encoder)(x), expected) <= 1e-5


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
def test_dynamically_quantised_model():
    encoder, x = model(torch.float32), torch.randn(2, 5, D)
    quantised = torch.ao.quantization.quantize_dynamic(encoder, {nn.Linear}, dtype=torch.qint8)
    with torch.no_grad():
        expected = quantised(x)
        assert 1e-4 < off(expected, encoder(x)) < 1
        assert off(fast(quantised)(x), expected) <= 1e-5


@pytest.mark.parametrize("activation", [nn.functional.silu, partial(nn.functional.gelu, approximate="tanh")])
def test_activation_table_may_be_changed(activation, monkeypatch):
    network, x = FeedForward(D, F, activation="gelu"), torch.randn(5, D)
    monkeypatch.setitem(ACTIVATIONS, "gelu", activation)
    with torch.no_grad():
        assert off(fast(network)(x), network(x)) <= 1e-6


def test_trace_of_the_copy_has_the_names_of_the_model():
    encoder, x = model(torch.float32), torch.randn(2, 5, D)
    traces = []
    for traced in (encoder, fast(encoder)):
        for record in (True, False):
            with torch.set_grad_enabled(record), trace(traced) as t:
                traced(x)
            traces.append(t)
    for t in traces[1:]:
        assert list(t) == list(traces[0])
        assert all(off(t[name], traces[0][name]) <= 1e-5 for name in t)


# Derivatives of every kind


def stack():
    """All layers that `fast` replaces, in float32."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(D, D), LayerNorm(D), FeedForward(D, F, activation="gelu"), nn.Linear(D, 2))


def loss(net):
    return lambda x: net(x).pow(3).sum()


def dual(net, x):
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(net(forward_ad.make_dual(x, torch.ones_like(x)))).tangent


def dual_weight(net, x):
    """Forward mode through a weight, not through the input."""
    weights = dict(net.named_parameters())
    with forward_ad.dual_level():
        weight = weights["2.linear1.weight"].detach()
        weights["2.linear1.weight"] = forward_ad.make_dual(weight, weight.clone())
        return forward_ad.unpack_dual(functional_call(net, weights, (x,))).tangent


def per_sample_gradients(net, x):
    weights = {name: w.detach() for name, w in net.named_parameters()}
    grads = vmap(grad(lambda w, row: functional_call(net, w, (row,)).sum()), (None, 0))(weights, x)
    return torch.cat([g.flatten() for g in grads.values()])


def weight_hessian(net, x):
    """Second derivatives by a weight, by two calls of backward."""
    weight = net[2].linear1.weight
    (first,) = torch.autograd.grad(loss(net)(x), weight, create_graph=True)
    return torch.autograd.grad(first.square().sum(), list(net.parameters()))[4]


def tangent(net, x):
    return jvp(net, (x,), (torch.ones_like(x),))[1]


@torch.no_grad()
def without_graph(derivative, net, x):
    return derivative(net, x)


DERIVATIVES = {
    "hessian": lambda net, x: torch.autograd.functional.hessian(loss(net), x),
    "hessian, vectorised": lambda net, x: torch.autograd.functional.hessian(loss(net), x, vectorize=True),
    "jacobian, forward mode": lambda net, x: torch.autograd.functional.jacobian(
        net, x, vectorize=True, strategy="forward-mode"
    ),
    "weight hessian": weight_hessian,
    "func.grad": lambda net, x: grad(loss(net))(x),
    "func.hessian": lambda net, x: hessian(loss(net))(x),
    "vmap": lambda net, x: vmap(net)(x),
    "vmap, no grad": partial(without_graph, lambda net, x: vmap(net)(x[None])),
    "func.jvp": tangent,
    "func.jvp, no grad": partial(without_graph, tangent),
    "dual level": dual,
    "dual level, no grad": partial(without_graph, dual),
    "dual weight, no grad": partial(without_graph, dual_weight),
    "per-sample gradients": per_sample_gradients,
}


@pytest.mark.filterwarnings("ignore:`torch.jit.script:DeprecationWarning")  # torch's own, at the first forward mode
@pytest.mark.parametrize("derivative", DERIVATIVES.values(), ids=DERIVATIVES)
def test_derivatives_equal_those_of_the_model(derivative):
    net, x = stack(), torch.randn(2, 3, D)
    expected = derivative(net, x)
    assert expected.abs().max() > 1e-3
    torch.testing.assert_close(derivative(fast(net), x), expected, atol=1e-4, rtol=1e-4)


def test_hessian_of_an_encoder():
    encoder, x = model(torch.float32, activation="gelu"), torch.randn(1, 2, D)
    with sdpa_kernel(SDPBackend.MATH):  # the one kernel of torch's that can be differentiated twice
        expected, found = (torch.autograd.functional.hessian(loss(net), x) for net in (encoder, fast(encoder)))
    torch.testing.assert_close(found, expected, atol=1e-4 * expected.abs().max().item(), rtol=0)


@pytest.mark.filterwarnings("ignore:Initializing zero-element tensors")
@pytest.mark.parametrize("shape", [(D,), (0, D), (2, 0, D), (2, 3, 1, D), (4, 0)], ids=str)
def test_linear_takes_any_shape(shape):
    """One vector, no vectors, more dimensions, no features: output and gradients as through nn.Linear."""
    linear, x = nn.Linear(shape[-1], 3), torch.randn(shape, requires_grad=True)
    outputs = [net(x) for net in (linear, fast(linear))]
    assert off(*outputs) <= 1e-6
    gradients = (torch.autograd.grad(y.square().sum(), [x, *linear.parameters()]) for y in outputs)
    assert max(off(a, b) for a, b in zip(*gradients, strict=True)) <= 1e-5


def test_frozen_weights_get_no_gradient():
    net, x = stack().requires_grad_(False), torch.randn(3, D)
    net[0].bias.requires_grad_()
    outputs = loss(net)(x), loss(fast(net))(x)
    expected, found = (torch.autograd.grad(y, net[0].bias)[0] for y in outputs)
    assert off(expected, found) <= 1e-4
    assert all(weight.grad is None for weight in net.parameters())


@torch.no_grad()
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors:UserWarning")
def test_nested_tensor_takes_the_plain_layers(activation):
    """They support neither oneDNN's product nor GELU in place, as other tensor subclasses may not."""
    net = FeedForward(D, F, activation=activation)
    x = torch.nested.nested_tensor([torch.randn(3, D), torch.randn(5, D)], layout=torch.jagged)
    assert off(fast(net)(x).values(), net(x).values()) <= 1e-6


class Halving(torch.Tensor):
    """A tensor subclass with its own linear product, as quantised weights have."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        y = super().__torch_function__(func, types, args, kwargs)
        return y / 2 if func is nn.functional.linear else y


@torch.no_grad()
def test_weight_subclass_takes_the_plain_layers():
    net, x = FeedForward(D, F), torch.randn(3, D)
    net.linear1.weight = nn.Parameter(net.linear1.weight.as_subclass(Halving))
    assert off(fast(net)(x), net(x)) <= 1e-6
