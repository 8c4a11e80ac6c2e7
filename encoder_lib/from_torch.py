"""Convert torch.nn's encoder into ours."""

from collections.abc import Callable
from copy import deepcopy
from functools import cache

import torch
import torch.nn.functional as F
from torch import nn
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
Split = Callable[[nn.Parameter | None], list[nn.Parameter | None]]


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
    kinds = nn.TransformerEncoder | nn.TransformerEncoderLayer
    expect.instance("module", module, kinds, "nn.TransformerEncoder or nn.TransformerEncoderLayer")
    for name, part in module.named_modules():
        _check_unchanged(name or "module", part)
    theirs = deepcopy(module)  # its parameters become ours
    split = cache(_in_three)  # the same parts whenever a parameter comes again
    if isinstance(theirs, nn.TransformerEncoderLayer):
        return _layer("", theirs, split)
    _check_class("module", theirs, nn.TransformerEncoder)
    layers = {layer: _layer(f"layers.{n}.", layer, split) for n, layer in enumerate(theirs.layers)}
    if not layers or len({layer.self_attn.batch_first for layer in layers}) > 1:
        got = "different ones" if layers else "no layers"
        raise ValueError(f"layers: expected at least one layer, and one batch_first in all of them, got {got}")
    first = layers[theirs.layers[0]]
    with torch.device("meta"):
        ours = Encoder(1, first.attention.d_model, first.attention.n_heads, first.feed_forward.linear1.out_features)
    ours.layers = nn.ModuleList(layers[layer] for layer in theirs.layers)
    ours.norm = nn.Identity().train(theirs.training) if theirs.norm is None else _norm("norm", theirs.norm)
    ours.training = ours.layers.training = theirs.training
    return ours


def _in_three(parameter: nn.Parameter | None) -> list[nn.Parameter | None]:
    """The parts of a parameter for queries, keys and values."""
    if parameter is None:
        return [None] * 3
    return [nn.Parameter(part.clone(), parameter.requires_grad) for part in parameter.detach().chunk(3)]


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


def _layer(prefix: str, theirs: nn.TransformerEncoderLayer, split: Split) -> EncoderLayer:
    """Our layer with the parameters of theirs."""
    _check_class(prefix.removesuffix(".") or "module", theirs, nn.TransformerEncoderLayer)
    for name, cls in PARTS.items():
        _check_class(prefix + name, theirs.get_submodule(name), cls)
    _check_settings(prefix, theirs)
    attention = theirs.self_attn
    with torch.device("meta"):  # no memory for parameters that are replaced at once
        ours = EncoderLayer(
            attention.embed_dim,
            attention.num_heads,
            theirs.linear1.out_features,
            norm_first=theirs.norm_first,
            activation=_activation(prefix, theirs.activation),
            dropout=theirs.dropout.p,
        )
    ours.norm1, ours.norm2 = (_norm(prefix + name, theirs.get_submodule(name)) for name in ("norm1", "norm2"))
    projections = ours.attention.q_proj, ours.attention.k_proj, ours.attention.v_proj
    parts = split(attention.in_proj_weight), split(attention.in_proj_bias)
    for projection, weight, bias in zip(projections, *parts, strict=True):
        projection.weight, projection.bias = weight, bias  # type: ignore[assignment]
    _move(attention.out_proj, ours.attention.out_proj)
    _move(theirs.linear1, ours.feed_forward.linear1)
    _move(theirs.linear2, ours.feed_forward.linear2)
    return ours.train(theirs.training)


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


def _norm(name: str, theirs: nn.Module) -> LayerNorm:
    if not isinstance(theirs, nn.LayerNorm) or theirs.weight is None or len(theirs.normalized_shape) != 1:
        raise ValueError(f"{name}: expected an nn.LayerNorm over the last dimension, with weights, got {theirs}")
    _check_class(name, theirs, nn.LayerNorm)
    with torch.device("meta"):
        ours = LayerNorm(theirs.normalized_shape[0], eps=theirs.eps)
    _move(theirs, ours)
    return ours.train(theirs.training)


def _move(theirs: nn.Linear | nn.LayerNorm, ours: nn.Linear | LayerNorm) -> None:
    """Give our module the parameters of theirs; the bias may be missing."""
    ours.weight, ours.bias = theirs.weight, theirs.bias


def _activation(prefix: str, theirs: object) -> str:
    if theirs in (F.relu, torch.relu) or type(theirs) is nn.ReLU:
        return "relu"
    if theirs is F.gelu or (type(theirs) is nn.GELU and theirs.approximate == "none"):
        return "gelu"
    raise ValueError(f"{prefix}activation: expected ReLU or exact GELU, got {theirs}")
