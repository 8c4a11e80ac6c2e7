"""Layer, stack and TransformerEncoder: what each promises, over both norm orders and five kinds of position."""

import copy
import inspect

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

from encoder_lib import Encoder, EncoderLayer, LayerNorm, TransformerEncoder, causal_mask, padding_mask, trace

V, N, B, T, H, K, F = 11, 3, 2, 5, 4, 2, 9
D = H * K
PAD = 1
F64 = torch.float64
POSITIONS = ["sinusoidal", "learned", "rotary", "alibi", "none"]
SETTINGS = [
    {"norm_first": norm_first, "activation": activation, "bias": bias}
    for norm_first in (False, True)
    for activation in ("relu", "gelu")
    for bias in (True, False)
]


def label(settings):
    """A short name for a test."""
    return "-".join(f"{value}" for value in settings.values())


def draw_ids(batch=B, length=T):
    """Random ids without padding."""
    return torch.randint(PAD + 1, V, (batch, length))


def run(module, *inputs, traced=False):
    """The module's output, through the explicit path when traced."""
    if not traced:
        return module(*inputs)
    with trace(module):
        return module(*inputs)


def gradients(output, tensors):
    """The gradients of a fixed random sum of `output`."""
    weights = torch.randn(output.shape, generator=torch.Generator().manual_seed(1)).to(output)
    return torch.autograd.grad((output * weights).sum(), tensors)


# The layer


@pytest.mark.parametrize("norm_first", [False, True])
def test_dropout_falls_on_both_branches(norm_first):
    """With every branch dropped a pre-norm layer is the identity, a post-norm layer its two norms."""
    layer, x = EncoderLayer(D, H, F, norm_first=norm_first, dropout=1.0), torch.randn(B, T, D)
    expected = x if norm_first else layer.norm2(layer.norm1(x))
    torch.testing.assert_close(layer(x), expected)
    assert (layer.eval()(x) - expected).abs().max() > 0.01


# The stack


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("final_norm", [None, False, True])
def test_stack_is_its_layers_one_after_the_other(norm_first, final_norm):
    """N layers, each with weights of its own; the final norm follows the order unless it is asked for or refused."""
    encoder = Encoder(N, D, H, F, norm_first=norm_first, final_norm=final_norm, eps=0.1)
    x, mask = torch.randn(B, T, D), causal_mask(T)
    y = x
    for layer in encoder.layers:
        y = layer(y, mask)
    if norm_first if final_norm is None else final_norm:
        assert encoder.norm.eps == 0.1
        y = encoder.norm(y)
    else:
        assert isinstance(encoder.norm, nn.Identity)
    assert torch.equal(encoder(x, mask), y)
    first, second = encoder.layers[0].feed_forward.linear1.weight, encoder.layers[1].feed_forward.linear1.weight
    assert len(encoder.layers) == N and not torch.equal(first, second)


@pytest.mark.parametrize("settings", SETTINGS, ids=label)
@pytest.mark.parametrize("positional", ["none", "rotary", "alibi"])
def test_fused_equals_explicit(settings, positional, device):
    """With and without a trace: the same values and gradients, dead rows among them, and every weight gets one."""
    encoder = Encoder(2, D, H, F, positional=positional, **settings).to(device, F64)
    x = torch.randn(B, T, D, dtype=F64).to(device).requires_grad_()
    mask = (torch.rand(B, 1, T, T) < 0.6).to(device)
    mask[0, 0, 2] = False
    results = []
    for traced in (False, True):
        y = run(encoder, x, mask, traced=traced)
        results.append((y, *gradients(y, [x, *encoder.parameters()])))
    torch.testing.assert_close(*results, atol=1e-10, rtol=0)
    names = [name for name, _ in encoder.named_parameters()]
    got_none = {name for name, g in zip(names, results[0][2:], strict=True) if g.abs().max() < 1e-12}
    assert all("k_proj.bias" in name for name in got_none)  # it adds the same to all scores of a row


# Ids in, vectors out


@given(st.lists(st.integers(0, 6), min_size=1, max_size=4), st.integers(0, 3), st.sampled_from(POSITIONS))
def test_padding_never_leaks(lengths, extra, positional):
    """Sequences of any lengths in one batch get the vectors that each gets alone, cut to its own length."""
    model = TransformerEncoder(V, 2, D, H, F, padding_idx=PAD, positional=positional, max_len=16).double().eval()
    ids = torch.full((len(lengths), max(lengths) + extra), PAD)
    for row, length in zip(ids, lengths, strict=True):
        row[:length] = draw_ids(1, length)
    y = model(ids)
    assert y.isfinite().all()
    for b, length in enumerate(lengths):
        torch.testing.assert_close(y[[b], :length], model(ids[[b], :length]), atol=1e-10, rtol=0)


@pytest.mark.parametrize("shape", ["2d", "1, 1", "B, 1", "B, H"])
def test_padding_is_masked_together_with_any_mask(shape):
    """A mask given besides is joined with the padding mask, whichever of its shapes it has."""
    model = TransformerEncoder(V, 2, D, H, F, padding_idx=PAD, positional="none")
    ids = draw_ids(B, T)
    ids[0, 3:] = PAD
    causal = causal_mask(T)
    sizes = {"2d": (T, T), "1, 1": (1, 1, T, T), "B, 1": (B, 1, T, T), "B, H": (B, H, T, T)}[shape]
    expected = model.encoder(model.embedding(ids), padding_mask(ids, PAD) & causal)
    torch.testing.assert_close(model(ids, causal.expand(sizes)), expected)
    assert (model(ids) - expected).abs().max() > 0.01


@pytest.mark.parametrize("positional", POSITIONS)
def test_is_embedding_and_encoder(positional):
    model = TransformerEncoder(
        V, 2, D, H, F, positional=positional, max_len=8, scale=True, dropout=0.1, norm_first=True, activation="gelu"
    )
    inside = positional in ("rotary", "alibi")
    assert model.encoder.layers[1].attention.alibi == (positional == "alibi")
    assert isinstance(model.embedding.position, nn.Identity) == (inside or positional == "none")
    assert model.embedding.dropout.p == model.encoder.layers[0].dropout.p == 0.1
    assert model.embedding.token.factor == D**0.5 and model.encoder.layers[0].feed_forward.activation == "gelu"
    ids = draw_ids()
    assert torch.equal(model.eval()(ids), model.encoder(model.embedding(ids)))


@pytest.mark.parametrize("positional", POSITIONS)
@pytest.mark.parametrize("shape", [(B, 0), (B, 1), (0, T), (1, 1)])
def test_model_empty_and_single(positional, shape):
    model = TransformerEncoder(V, 2, D, H, F, positional=positional, padding_idx=PAD)
    assert model(draw_ids(*shape)).shape == (*shape, D)


@pytest.mark.long
@pytest.mark.parametrize("positional", POSITIONS)
def test_compiles(positional, compiles):
    model = TransformerEncoder(V, 1, D, H, F, positional=positional, max_len=64, padding_idx=PAD, norm_first=True)
    batch, length = torch.export.Dim("B", max=64), torch.export.Dim("T", min=2, max=64)
    ids = {0: batch, 1: length}
    compiles(model, lambda b, t: (torch.randint(V, (b, t)), causal_mask(t)), (ids, {0: length, 1: length}))


def test_eps_and_no_bias_are_those_of_every_part():
    model = TransformerEncoder(V, 1, D, H, F, norm_first=True, embedding_norm=True, eps=0.2, bias=False)
    assert [name for name, _ in model.named_parameters() if name.endswith("bias")] == ["embedding.norm.bias"]
    without = [name for name, _ in EncoderLayer(D, H, F, attention_bias=False).named_parameters() if "bias" in name]
    assert without == ["feed_forward.linear1.bias", "feed_forward.linear2.bias", "norm1.bias", "norm2.bias"]
    layer = model.encoder.layers[0]
    assert {n.eps for n in (model.embedding.norm, layer.norm1, layer.norm2, model.encoder.norm)} == {0.2}


def test_every_norm_has_the_same_default_eps():
    model = TransformerEncoder(V, 1, D, H, F, norm_first=True, embedding_norm=True)
    norms = [m for whole in (model, EncoderLayer(D, H, F)) for m in whole.modules() if isinstance(m, LayerNorm)]
    assert [norm.eps for norm in norms] == 6 * [1e-5]


def test_ids_are_read_once_in_a_pass(monkeypatch):
    """On a GPU each reading waits for all work before it."""
    model, ids, readings = TransformerEncoder(V, 2, D, H, F, padding_idx=PAD), draw_ids(), []
    for name in ("item", "tolist", "__bool__", "__int__"):
        read = getattr(torch.Tensor, name)
        monkeypatch.setattr(torch.Tensor, name, lambda x, read=read: readings.append(x.shape) or read(x))
    model(ids, causal_mask(T))
    assert len(readings) == 1


@pytest.mark.filterwarnings("ignore:There is a performance drop")  # torch's own kernel, vmapped
@pytest.mark.parametrize("positional", POSITIONS)
def test_ids_without_values(positional):
    """Meta, fake and vmapped ids have shapes and no values to check."""
    model = TransformerEncoder(V, 1, D, H, F, positional=positional, padding_idx=PAD).double()
    ids = draw_ids(B, T)
    shape = model(ids).shape
    torch.testing.assert_close(torch.func.vmap(model)(ids[:, None])[:, 0], model(ids))
    assert copy.deepcopy(model).to("meta")(ids.to("meta")).shape == shape
    with FakeTensorMode(allow_non_fake_inputs=True) as fake:
        assert model(fake.from_tensor(ids)).shape == shape
    torch.testing.assert_close(model(ids), model(ids))


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:torch.quantize")  # torch's own
def test_linear_layers_without_a_plain_weight():
    """Adapters and quantised layers take the place of nn.Linear."""

    class Adapter(nn.Module):
        def __init__(self, base):
            super().__init__()
            self.base = base

        def forward(self, x):
            return self.base(x)

    model, ids = TransformerEncoder(V, 1, D, H, F).eval(), draw_ids()
    expected = model(ids)
    quantised = torch.ao.quantization.quantize_dynamic(copy.deepcopy(model))
    assert (quantised(ids) - expected).abs().max() < 0.1
    layer = model.encoder.layers[0]
    layer.attention.q_proj, layer.feed_forward.linear1 = (
        Adapter(layer.attention.q_proj),
        Adapter(layer.feed_forward.linear1),
    )
    assert torch.equal(model(ids), expected)


@pytest.mark.parametrize("kind", [Encoder, TransformerEncoder])
def test_signature_lists_the_layers_settings(kind):
    """Completion and help show them, with EncoderLayer's defaults; an unknown one is answered with the known ones."""
    layer, shown = inspect.signature(EncoderLayer).parameters, inspect.signature(kind).parameters
    for name in ("norm_first", "activation", "dropout", "eps", "bias", "attention_bias"):
        assert shown[name].default == layer[name].default
    sizes = [4] * sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in shown.values())
    with pytest.raises(TypeError, match=f"{kind.__name__}: expected keywords among .*norm_first.*, got 'norm_frist'"):
        kind(*sizes, norm_frist=True)
