"""Torch's own encoder, with its weights in ours: the same numbers to 1e-10."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from encoder_lib import Encoder, EncoderLayer, causal_mask, from_torch, lengths_mask

B, T, D, H, N = 2, 5, 12, 3, 4
D_FF = 7
F64 = torch.float64
LENGTHS = torch.tensor([3, T])


def torch_layer(**settings):
    """A layer of torch's, with norms that are not at their start, in float64."""
    settings = {"dropout": 0.0, "batch_first": True, "dtype": F64} | settings
    layer = nn.TransformerEncoderLayer(D, H, D_FF, **settings)
    for name, p in layer.named_parameters():
        if "norm" in name or "bias" in name:
            nn.init.normal_(p, mean=float("norm" in name), std=0.3)
    return layer


def torch_stack(norm=None, n_layers=N, **settings):
    """A stack of torch's in which each layer has weights of its own."""
    stack = nn.TransformerEncoder(torch_layer(**settings), n_layers, norm, enable_nested_tensor=False)
    stack.layers = nn.ModuleList(torch_layer(**settings) for _ in range(n_layers))
    return stack


def compare(theirs, kind, batch_first, device):
    """Both on one input: outputs at the real tokens and, in train mode, the gradients of the input."""
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
    """nn.TransformerEncoderLayer by every one of its settings."""
    settings = {"norm_first": norm_first, "activation": activation, "bias": bias, "batch_first": batch_first}
    theirs = torch_layer(layer_norm_eps=1e-3, **settings).to(device).train(mode == "train")
    compare(theirs, mask, batch_first, device)


@pytest.mark.parametrize("mask", ["none", "padding", "causal", "both"])
@pytest.mark.parametrize("mode", ["train", "eval"])
@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("final_norm", [True, False])
def test_stack_equals_torch(mask, mode, norm_first, final_norm, device):
    """nn.TransformerEncoder, whose layers differ, with and without a final norm of an eps of its own."""
    norm = nn.LayerNorm(D, eps=1e-2, dtype=F64) if final_norm else None
    theirs = torch_stack(norm, norm_first=norm_first).to(device).train(mode == "train")
    compare(theirs, mask, True, device)


def test_a_stack_of_one_layer_is_a_stack(device):
    compare(nn.TransformerEncoder(torch_layer(), 1, enable_nested_tensor=False).to(device).eval(), "none", True, device)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, F64])
def test_keeps_dtype_device_mode_and_dropout(dtype, device):
    norm = nn.LayerNorm(D)
    ours = from_torch(torch_stack(norm, dropout=0.3).to(device, dtype).eval())
    assert isinstance(ours, Encoder) and all(isinstance(layer, EncoderLayer) for layer in ours.layers)
    assert {p.dtype for p in ours.parameters()} == {dtype}
    assert {p.device.type for p in ours.parameters()} == {device.type}
    assert not any(module.training for module in ours.modules())
    assert all(module.training for module in from_torch(torch_stack(norm)).modules())
    first = ours.layers[0]
    assert first.dropout.p == first.attention.dropout == first.feed_forward.dropout.p == 0.3


def test_shares_no_memory():
    theirs = torch_stack(nn.LayerNorm(D, dtype=F64))
    places = {p.untyped_storage().data_ptr() for p in theirs.parameters()}
    assert not places & {p.untyped_storage().data_ptr() for p in from_torch(theirs).parameters()}


@pytest.mark.parametrize("activation", [torch.relu, nn.ReLU(), F.gelu, nn.GELU()], ids=range(4))
def test_activation_in_all_its_spellings(activation):
    """By name (above), as a function and as a module."""
    theirs, x = torch_layer(activation=activation), torch.randn(B, T, D, dtype=F64)
    torch.testing.assert_close(from_torch(theirs)(x), theirs(x), atol=1e-10, rtol=0)


def changed(part, value):
    """A layer of torch's in which one part is another."""
    layer = torch_layer()
    setattr(layer, part, value)
    return layer


@pytest.mark.parametrize(
    ("theirs", "words"),
    [
        (changed("norm1", nn.Identity()), r"norm: expected an nn\.LayerNorm"),
        (changed("norm2", nn.LayerNorm(D, elementwise_affine=False)), "with weights"),
        (changed("dropout2", nn.Dropout(0.3)), "one rate"),
        (torch_layer(activation=F.silu), "activation: expected ReLU or exact GELU.*silu"),
        (torch_stack(activation=nn.GELU("tanh")), "exact GELU.*tanh"),
        (torch_stack(nn.RMSNorm(D)), r"nn\.LayerNorm.*RMSNorm"),
        (torch_stack(nn.LayerNorm((T, D))), "last dimension"),
    ],
    ids=range(7),
)
def test_what_ours_cannot_do_is_refused(theirs, words):
    with pytest.raises(ValueError, match=words):
        from_torch(theirs)
