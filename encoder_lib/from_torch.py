"""Torch's own encoder, with its weights in ours."""

import torch
import torch.nn.functional as F
from torch import nn

from encoder_lib import expect
from encoder_lib.model.encoder import Encoder, EncoderLayer
from encoder_lib.model.norm import LayerNorm


def from_torch(module: nn.TransformerEncoder | nn.TransformerEncoderLayer) -> Encoder | EncoderLayer:
    """The same encoder, or layer, as one of torch's own, with its weights copied.

    The copy computes the same numbers, keeps dtype, device and train or eval mode, and shares no memory with the
    original. It takes its input batch first, whatever the original's `batch_first`, and boolean masks with
    True = may attend, where torch's `src_key_padding_mask` and boolean `mask` have True = may not.

    Raises: TypeError for any other module; ValueError for an activation other than ReLU or exact GELU, a norm that is
    not an `nn.LayerNorm` with weights, or dropout rates that differ within a layer.
    """
    if isinstance(module, nn.TransformerEncoderLayer):
        return _layer(module)
    expect.kind("module", module, nn.TransformerEncoder, "nn.TransformerEncoder or nn.TransformerEncoderLayer")
    layers = [_layer(layer) for layer in module.layers]
    shape = layers[0].attention.d_model, layers[0].attention.n_heads, layers[0].feed_forward.linear1.out_features
    with torch.device("meta"):  # no memory for weights that are replaced at once
        encoder = Encoder(len(layers), *shape)
    encoder.layers = nn.ModuleList(layers)
    encoder.norm = nn.Identity() if module.norm is None else _norm(module.norm)
    return encoder.train(module.training)


def _layer(theirs: nn.TransformerEncoderLayer) -> EncoderLayer:
    attention, norm1, norm2 = theirs.self_attn, _norm(theirs.norm1), _norm(theirs.norm2)
    rates = {theirs.dropout.p, theirs.dropout1.p, theirs.dropout2.p, attention.dropout}
    if len(rates) > 1:
        raise ValueError(f"dropout: expected one rate in the whole layer, got {sorted(rates)}; try to set all alike")
    ours = EncoderLayer(
        attention.embed_dim,
        attention.num_heads,
        theirs.linear1.out_features,
        norm_first=theirs.norm_first,
        activation=_activation(theirs.activation),
        dropout=theirs.dropout.p,
        eps=norm1.eps,
        bias=theirs.linear1.bias is not None,
    ).to(theirs.linear1.weight)
    state = {f"out_proj.{name}": weight for name, weight in attention.out_proj.state_dict().items()}
    for name, three in attention.named_parameters(recurse=False):  # in_proj_weight (3D, D) and in_proj_bias (3D,)
        state |= {f"{q}_proj.{name.removeprefix('in_proj_')}": x for q, x in zip("qkv", three.chunk(3), strict=True)}
    ours.attention.load_state_dict(state)
    ours.feed_forward.linear1.load_state_dict(theirs.linear1.state_dict())
    ours.feed_forward.linear2.load_state_dict(theirs.linear2.state_dict())
    ours.norm1, ours.norm2 = norm1, norm2
    return ours.train(theirs.training)


def _norm(theirs: nn.Module) -> LayerNorm:
    if not isinstance(theirs, nn.LayerNorm) or theirs.weight is None or len(theirs.normalized_shape) != 1:
        raise ValueError(f"norm: expected an nn.LayerNorm over the last dimension, with weights, got {theirs}")
    ours = LayerNorm(theirs.normalized_shape[0], eps=theirs.eps, bias=theirs.bias is not None).to(theirs.weight)
    ours.load_state_dict(theirs.state_dict())
    return ours


def _activation(theirs: object) -> str:
    if theirs in (F.relu, torch.relu) or isinstance(theirs, nn.ReLU):
        return "relu"
    if theirs is F.gelu or (isinstance(theirs, nn.GELU) and theirs.approximate == "none"):
        return "gelu"
    raise ValueError(f"activation: expected ReLU or exact GELU, got {theirs}")
