"""torch.nn's encoder converted into ours: the same outputs and gradients to 1e-10, or an error that says why not."""

import pytest
import torch
import torch.nn.functional as F
from low_rank import LowRank
from torch import nn
from torch.nn.utils import parametrize, prune

from encoder_lib import Encoder, EncoderLayer, causal_mask, from_torch, lengths_mask

B, T, D, H, N = 2, 5, 12, 3, 4
D_FF = 7
F64 = torch.float64
LENGTHS = torch.tensor([3, T])


def torch_layer(**settings):
    """One of torch's layers in float64, with norms that are not at their initial values."""
    settings = {"dropout": 0.0, "batch_first": True, "dtype": F64} | settings
    layer = nn.TransformerEncoderLayer(D, H, D_FF, **settings)
    for name, p in layer.named_parameters():
        if "norm" in name or "bias" in name:
            nn.init.normal_(p, mean=float("norm" in name), std=0.3)
    return layer


def torch_stack(norm=None, n_layers=N, **settings):
    """One of torch's stacks, in which each layer has its own weights."""
    stack = nn.TransformerEncoder(torch_layer(**settings), n_layers, norm, enable_nested_tensor=False)
    stack.layers = nn.ModuleList(torch_layer(**settings) for _ in range(n_layers))
    return stack


def compare(theirs, kind, batch_first, device):
    """Run both on one input: compare outputs at real tokens and, in train mode, the gradient by the input."""
    ours, whole = from_torch(theirs), isinstance(theirs, nn.TransformerEncoder)
    padding = lengths_mask(LENGTHS).to(device) if kind in ("padding", "both") else None
    causal = causal_mask(T).to(device) if kind in ("causal", "both") else None
    mask = causal if padding is None else padding if causal is None else padding & causal
    not_allowed = {  # torch's two masks: True means "may not"
        "src_key_padding_mask": None if padding is None else ~padding[:, 0, 0],
        "mask" if whole else "src_mask": None if causal is None else ~causal,
    }
    real = torch.ones(B, T, dtype=torch.bool) if padding is None else padding[:, 0, 0]
    x = torch.randn(B, T, D, dtype=F64).to(device).requires_grad_(theirs.training)
    turn = (lambda x: x) if batch_first else (lambda x: x.transpose(0, 1))
    with torch.set_grad_enabled(theirs.training):  # without gradients torch takes its fast path
        results = [ours(x, mask)[real], turn(theirs(turn(x), **not_allowed))[real]]
    torch.testing.assert_close(*results, atol=1e-10, rtol=0)
    if theirs.training:
        torch.testing.assert_close(*(torch.autograd.grad(y.square().sum(), x)[0] for y in results), atol=1e-10, rtol=0)


@pytest.mark.parametrize(("mask", "mode"), [("none", "eval"), ("both", "train")])
@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("bias", [True, False])
def test_layer_equals_torch(mask, mode, batch_first, norm_first, activation, bias, device):
    """nn.TransformerEncoderLayer with all of its settings."""
    settings = {"norm_first": norm_first, "activation": activation, "bias": bias, "batch_first": batch_first}
    theirs = torch_layer(layer_norm_eps=1e-3, **settings).to(device).train(mode == "train")
    compare(theirs, mask, batch_first, device)


@pytest.mark.parametrize("mask", ["none", "padding", "causal", "both"])
@pytest.mark.parametrize("mode", ["train", "eval"])
@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("final_norm", [True, False])
def test_stack_equals_torch(mask, mode, norm_first, final_norm, device):
    """nn.TransformerEncoder, whose layers differ, with and without a final norm with another eps."""
    norm = nn.LayerNorm(D, eps=1e-2, dtype=F64) if final_norm else None
    theirs = torch_stack(norm, norm_first=norm_first).to(device).train(mode == "train")
    compare(theirs, mask, True, device)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, F64])
def test_dtype_device_mode_and_dropout_are_kept(dtype, device):
    norm = nn.LayerNorm(D)
    ours = from_torch(torch_stack(norm, dropout=0.3).to(device, dtype).eval())
    assert isinstance(ours, Encoder) and all(isinstance(layer, EncoderLayer) for layer in ours.layers)
    assert {p.dtype for p in ours.parameters()} == {dtype}
    assert {p.device.type for p in ours.parameters()} == {device.type}
    assert not any(module.training for module in ours.modules())
    assert all(module.training for module in from_torch(torch_stack(nn.LayerNorm(D))).modules())
    first = ours.layers[0]
    assert first.dropout.p == first.attention.dropout == first.feed_forward.dropout.p == 0.3


def test_copy_shares_no_memory():
    theirs = torch_stack(nn.LayerNorm(D, dtype=F64))
    places = {p.untyped_storage().data_ptr() for p in theirs.parameters()}
    assert not places & {p.untyped_storage().data_ptr() for p in from_torch(theirs).parameters()}


@pytest.mark.parametrize("activation", [torch.relu, nn.ReLU(), F.gelu, nn.GELU()], ids=range(4))
def test_activations_given_as_functions_or_modules(activation):
    """As a function and as a module; the tests above give names."""
    theirs, x = torch_layer(activation=activation), torch.randn(B, T, D, dtype=F64)
    torch.testing.assert_close(from_torch(theirs)(x), theirs(x), atol=1e-10, rtol=0)


def changed(part, value):
    """One of torch's layers in which a part is replaced."""
    layer = torch_layer()
    setattr(layer, part, value)
    return layer


def torch_attention(**settings):
    return nn.MultiheadAttention(D, H, batch_first=True, dtype=F64, **settings)


def half_in_eval():
    layer = torch_layer(dropout=0.3)
    layer.dropout2.eval()
    return layer


def mixed_batch_first():
    stack = torch_stack()
    stack.layers[1].self_attn.batch_first = False
    return stack


@pytest.mark.parametrize(
    ("theirs", "words"),
    [
        (changed("norm1", nn.Identity()), r"norm1: expected an nn\.LayerNorm"),
        (changed("norm2", nn.LayerNorm(D, elementwise_affine=False)), "norm2: .*with weights"),
        (changed("dropout2", nn.Dropout(0.3)), "dropout: expected one rate"),
        (half_in_eval(), "one mode in the whole layer"),
        (torch_layer(activation=F.silu), "activation: expected ReLU or exact GELU.*silu"),
        (torch_stack(activation=nn.GELU("tanh")), r"layers\.0\.activation: .*exact GELU.*tanh"),
        (torch_stack(nn.RMSNorm(D)), r"norm: .*nn\.LayerNorm.*RMSNorm"),
        (torch_stack(nn.LayerNorm((T, D))), "last dimension"),
        (changed("self_attn", torch_attention(add_bias_kv=True)), "self_attn: .*add_bias_kv"),
        (changed("self_attn", torch_attention(add_zero_attn=True)), "self_attn: .*add_zero_attn"),
        (changed("self_attn", torch_attention(kdim=6, vdim=6)), "self_attn: .*kdim"),
        (mixed_batch_first(), "batch_first.*different"),
        (torch_stack(n_layers=0), "at least one layer.*no layers"),
    ],
    ids=range(13),
)
def test_settings_without_equivalent_are_refused(theirs, words):
    with pytest.raises(ValueError, match=words):
        from_torch(theirs)


def doubling(cls, method="forward"):
    """A subclass of one of torch's modules that computes something else."""
    return type(f"My{cls.__name__}", (cls,), {method: lambda self, *args, **kw: 2 * getattr(cls, method)(self, *args)})


class Softplus(nn.Module):
    """A parametrization."""

    def forward(self, weight):
        return F.softplus(weight)


def with_hook(part, register="register_forward_hook"):
    stack = torch_stack()
    getattr(stack.get_submodule(part), register)(lambda *_: None)
    return stack


def pruned():
    layer = torch_layer()
    prune.l1_unstructured(layer.linear1, "weight", 0.5)
    return layer


def parametrized():
    layer = torch_layer()
    parametrize.register_parametrization(layer.self_attn, "in_proj_weight", Softplus())
    return layer


def with_own(method):
    stack = torch_stack()
    setattr(stack.layers[1], method, lambda x, *_: x)
    return stack


@pytest.mark.parametrize(
    ("theirs", "words"),
    [
        (doubling(nn.TransformerEncoderLayer)(D, H, D_FF), r"module: .*nn\.TransformerEncoderLayer\.forward, got My"),
        (doubling(nn.TransformerEncoderLayer, "_ff_block")(D, H, D_FF), "_ff_block, got My"),
        (
            doubling(nn.TransformerEncoder)(torch_layer(), 1, None, False),
            r"module: .*nn\.TransformerEncoder\.forward, got My",
        ),
        (changed("self_attn", doubling(nn.MultiheadAttention)(D, H)), "self_attn: .*got My"),
        (changed("linear1", doubling(nn.Linear)(D, D_FF)), "linear1: .*got My"),
        (changed("linear2", LowRank(nn.Linear(D_FF, D, dtype=F64))), r"linear2: expected nn\.Linear, got LowRank"),
        (changed("dropout1", doubling(nn.Dropout)(0.0)), "dropout1: .*got My"),
        (changed("dropout", nn.Identity()), "dropout: .*got Identity"),
        (torch_stack(doubling(nn.LayerNorm)(D)), "norm: .*got My"),
        (
            nn.TransformerEncoder(nn.TransformerDecoderLayer(D, H), 1, None, False),
            r"layers\.0: .*got TransformerDecoder",
        ),
        (with_hook("layers.1.linear2"), r"layers\.1\.linear2: .*without hooks"),
        (with_hook("layers.0.self_attn", "register_full_backward_hook"), r"layers\.0\.self_attn: .*without hooks"),
        (with_hook("", "register_forward_pre_hook"), "module: .*without hooks"),
        (pruned(), r"linear1: .*without hooks.*prune\.remove"),
        (parametrized(), "self_attn: .*parametrization.*remove_parametrizations"),
        (with_own("forward"), r"layers\.1: .*forward.*set on the module"),
        (with_own("_sa_block"), r"layers\.1: .*_sa_block.*set on the module"),
    ],
    ids=range(17),
)
def test_modules_that_compute_differently_are_refused(theirs, words):
    with pytest.raises(TypeError, match=words):
        from_torch(theirs)


def test_subclass_with_only_its_own_init_is_converted():
    class Small(nn.TransformerEncoderLayer):
        def __init__(self):
            super().__init__(D, H, D_FF, dropout=0.0, batch_first=True, dtype=F64)

    compare(Small().train(), "none", True, torch.device("cpu"))


@pytest.mark.parametrize("biases", ["linear1.bias", "self_attn"])
def test_biases_may_be_missing_in_one_part(biases):
    layer = torch_layer()
    if biases == "self_attn":
        layer.self_attn = torch_attention(bias=False)
    else:
        layer.linear1.bias = None
    compare(layer.train(), "none", True, torch.device("cpu"))


def test_requires_grad_is_kept():
    stack = torch_stack(nn.LayerNorm(D, dtype=F64))
    stack.layers[0].requires_grad_(False)
    stack.layers[1].self_attn.in_proj_weight.requires_grad_(False)
    ours = from_torch(stack)
    frozen = {name for name, p in ours.named_parameters() if not p.requires_grad}
    inputs = {f"layers.1.attention.{x}_proj.weight" for x in "qkv"}
    assert frozen == {name for name, _ in ours.named_parameters() if name.startswith("layers.0.")} | inputs


def test_dtype_of_each_parameter_is_kept():
    layer = torch_layer().bfloat16()
    layer.norm1.float()
    layer.self_attn.float()
    dtypes = {name.split(".")[0]: p.dtype for name, p in from_torch(layer).named_parameters()}
    bf16, f32 = torch.bfloat16, torch.float32
    assert dtypes == {"attention": f32, "norm1": f32, "feed_forward": bf16, "norm2": bf16}


def test_mode_of_each_layer_is_kept():
    stack = torch_stack(nn.LayerNorm(D)).train()
    stack.layers[1].eval()
    ours = from_torch(stack)
    assert ours.training and ours.norm.training
    assert [layer.attention.training for layer in ours.layers] == [True, False, True, True]


def test_repeated_layer_stays_one_layer():
    stack = torch_stack()
    stack.layers[2] = stack.layers[0]
    ours = from_torch(stack)
    assert ours.layers[2] is ours.layers[0] and ours.layers[1] is not ours.layers[0]
    compare(stack.train(), "none", True, torch.device("cpu"))


def test_tied_parameters_stay_tied():
    stack = torch_stack(nn.LayerNorm(D, dtype=F64))
    stack.layers[1].self_attn = stack.layers[0].self_attn
    stack.layers[3].linear1.weight = stack.layers[0].linear1.weight
    stack.layers[0].norm2 = stack.layers[0].norm1
    ours = from_torch(stack)
    assert ours.layers[1].attention.q_proj.weight is ours.layers[0].attention.q_proj.weight
    assert ours.layers[3].feed_forward.linear1.weight is ours.layers[0].feed_forward.linear1.weight
    assert ours.layers[0].norm2.bias is ours.layers[0].norm1.bias
    assert sum(p.numel() for p in ours.parameters()) == sum(p.numel() for p in stack.parameters())
    compare(stack.train(), "none", True, torch.device("cpu"))
