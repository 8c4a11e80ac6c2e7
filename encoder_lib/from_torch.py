"""Convert torch.nn's encoder into ours."""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.parametrize import is_parametrized

from encoder_lib import expect
from encoder_lib.model.encoder import Encoder, EncoderLayer
from encoder_lib.model.norm import LayerNorm
from encoder_lib.recast import has_hooks

COMPUTE = ("forward", "_sa_block", "_ff_block")  # the methods in which torch's layers compute
PARTS = {
    "self_attn": nn.MultiheadAttention,
    "self_attn.out_proj": nn.Linear,
    "linear1": nn.Linear,
    "linear2": nn.Linear,
    "dropout": nn.Dropout,
    "dropout1": nn.Dropout,
    "dropout2": nn.Dropout,
}
Copies = dict[object, Any]  # what has been copied, by the original's id, so that what is shared stays shared


def from_torch(module: nn.TransformerEncoder | nn.TransformerEncoderLayer) -> Encoder | EncoderLayer:
    """The same encoder, or layer, as one of torch's own, with its parameters copied.

    The copy computes the same numbers and shares no memory with the original. It keeps the dtype, device and
    requires_grad of each parameter, and the mode (train or eval) of each layer. A layer that occurs twice in the
    original occurs twice in the copy, and tied parameters stay tied.

    The copy takes its input batch first, whatever the original's `batch_first`, and boolean masks with
    True = may attend, where torch's `src_key_padding_mask` and boolean `mask` have True = may not. Outputs at padding
    may differ, because torch returns zeros there when it uses nested tensors (`enable_nested_tensor`).

    Raises: TypeError for any other module, for a subclass or a part that computes in its own way (such as a LoRA
    layer), and for hooks and parametrizations; ValueError for an activation other than ReLU or exact GELU, a norm that
    is not an `nn.LayerNorm` with weights, dropout rates or modes that differ within a layer, attention with
    `add_bias_kv`, `add_zero_attn`, `kdim` or `vdim`, layers that differ in `batch_first`, or a stack without layers.
    """
    expect.instance(
        "module",
        module,
        nn.TransformerEncoder | nn.TransformerEncoderLayer,
        "nn.TransformerEncoder or nn.TransformerEncoderLayer",
    )
    for name, part in module.named_modules():
        _check_unchanged(name or "module", part)
    copies: Copies = {}
    if isinstance(module, nn.TransformerEncoderLayer):
        return _layer("", module, copies)
    _check_class("module", module, nn.TransformerEncoder)
    layers = [_layer(f"layers.{n}.", layer, copies) for n, layer in enumerate(module.layers)]
    if not layers or len({layer.self_attn.batch_first for layer in module.layers}) > 1:
        got = "different ones" if layers else "no layers"
        raise ValueError(f"layers: expected at least one layer, and one batch_first in all of them, got {got}")
    shape = layers[0].attention.d_model, layers[0].attention.n_heads, layers[0].feed_forward.linear1.out_features
    with torch.device("meta"):  # no memory for parameters that are replaced at once
        encoder = Encoder(len(layers), *shape)
    encoder.layers = nn.ModuleList(layers)
    encoder.norm = nn.Identity().train(module.training) if module.norm is None else _norm("norm", module.norm, copies)
    encoder.training = encoder.layers.training = module.training
    return encoder


def _check_unchanged(name: str, module: nn.Module) -> None:
    """Require a module without hooks, parametrizations or methods of its own: the copy would lose them."""
    if has_hooks(module):
        hint = "remove them first (prune.remove and remove_weight_norm remove theirs), and add others to the copy"
        raise TypeError(f"{name}: expected a module without hooks, got some; {hint}")
    if is_parametrized(module):
        hint = "try torch.nn.utils.parametrize.remove_parametrizations(module, name) first"
        raise TypeError(f"{name}: expected plain parameters, got a parametrization; {hint}")
    if own := [method for method in COMPUTE if method in vars(module)]:
        hint = f"try `del module.{own[0]}`, or copy the parameters into an Encoder by hand"
        raise TypeError(f"{name}: expected the {own[0]} of its class, got one that was set on the module; {hint}")


def _check_class(name: str, module: nn.Module, cls: type[nn.Module]) -> None:
    """Require a module of this class that computes as the class does."""
    found = type(module)
    hint = "convert the layer that it wraps or extends, or copy the parameters into an Encoder by hand"
    if not isinstance(module, cls):
        raise TypeError(f"{name}: expected nn.{cls.__name__}, got {found.__name__}; {hint}")
    for method in COMPUTE:
        if getattr(found, method, None) is not getattr(cls, method, None):
            raise TypeError(f"{name}: expected nn.{cls.__name__}.{method}, got {found.__name__}.{method}; {hint}")


def _layer(prefix: str, theirs: nn.TransformerEncoderLayer, copies: Copies) -> EncoderLayer:
    if id(theirs) in copies:
        return copies[id(theirs)]
    _check_class(prefix.removesuffix(".") or "module", theirs, nn.TransformerEncoderLayer)
    for name, cls in PARTS.items():
        _check_class(prefix + name, theirs.get_submodule(name), cls)
    attention = theirs.self_attn
    norm1, norm2 = (_norm(prefix + name, theirs.get_submodule(name), copies) for name in ("norm1", "norm2"))
    _check_settings(prefix, theirs)
    with torch.device("meta"):  # no memory for parameters that are replaced at once
        ours = EncoderLayer(
            attention.embed_dim,
            attention.num_heads,
            theirs.linear1.out_features,
            norm_first=theirs.norm_first,
            activation=_activation(prefix, theirs.activation),
            dropout=theirs.dropout.p,
        )
    weights, biases = (_copy(x, copies, parts=3) for x in (attention.in_proj_weight, attention.in_proj_bias))
    projections = ours.attention.q_proj, ours.attention.k_proj, ours.attention.v_proj
    for projection, weight, bias in zip(projections, weights, biases, strict=True):
        projection.register_parameter("weight", weight)
        projection.register_parameter("bias", bias)
    _fill(ours.attention.out_proj, attention.out_proj, copies)
    _fill(ours.feed_forward.linear1, theirs.linear1, copies)
    _fill(ours.feed_forward.linear2, theirs.linear2, copies)
    ours.norm1, ours.norm2 = norm1, norm2
    copies[id(theirs)] = ours.train(theirs.training)
    return ours


def _check_settings(prefix: str, theirs: nn.TransformerEncoderLayer) -> None:
    attention = theirs.self_attn
    rates = {theirs.dropout.p, theirs.dropout1.p, theirs.dropout2.p, attention.dropout}
    if len(rates) > 1:
        raise ValueError(f"{prefix}dropout: expected one rate in the whole layer, got {sorted(rates)}")
    if len({part.training for part in theirs.modules()}) > 1:
        hint = "try .train() or .eval() on the layer"
        raise ValueError(f"{prefix}training: expected one mode in the whole layer, got parts in both; {hint}")
    sizes = {attention.embed_dim, attention.kdim, attention.vdim}
    if attention.bias_k is not None or attention.add_zero_attn or len(sizes) > 1:
        wanted = "no add_bias_kv, no add_zero_attn, and kdim and vdim as embed_dim"
        raise ValueError(f"{prefix}self_attn: expected attention with {wanted}, got another")


def _norm(name: str, theirs: nn.Module, copies: Copies) -> LayerNorm:
    if not isinstance(theirs, nn.LayerNorm) or theirs.weight is None or len(theirs.normalized_shape) != 1:
        raise ValueError(f"{name}: expected an nn.LayerNorm over the last dimension, with weights, got {theirs}")
    _check_class(name, theirs, nn.LayerNorm)
    with torch.device("meta"):
        ours = LayerNorm(theirs.normalized_shape[0], eps=theirs.eps)
    _fill(ours, theirs, copies)
    return ours.train(theirs.training)


def _fill(ours: nn.Module, theirs: nn.Linear | nn.LayerNorm, copies: Copies) -> None:
    """Give our module copies of their weight and bias."""
    ours.register_parameter("weight", _copy(theirs.weight, copies)[0])
    ours.register_parameter("bias", _copy(theirs.bias, copies)[0])


def _copy(theirs: Tensor | None, copies: Copies, parts: int = 1) -> Sequence[nn.Parameter | None]:
    """A parameter's copy, in equal parts. Asked again for the same parameter, it returns the same copy."""
    if theirs is None:
        return [None] * parts
    key = (id(theirs), parts)
    if key not in copies:
        copies[key] = [nn.Parameter(x.clone(), theirs.requires_grad) for x in theirs.detach().chunk(parts)]
    return copies[key]


def _activation(prefix: str, theirs: object) -> str:
    if theirs in (F.relu, torch.relu) or type(theirs) is nn.ReLU:
        return "relu"
    if theirs is F.gelu or (type(theirs) is nn.GELU and theirs.approximate == "none"):
        return "gelu"
    raise ValueError(f"{prefix}activation: expected ReLU or exact GELU, got {theirs}")
