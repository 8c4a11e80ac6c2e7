"""The same encoder, faster: `unpadded` skips padding, `fast` swaps in faster layers that share the weights."""

import platform
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd import forward_ad
from torch.nn.modules import module as modules

from encoder_lib import expect
from encoder_lib.model.attention import MultiHeadAttention, probing
from encoder_lib.model.encoder import Encoder, EncoderLayer, TransformerEncoder
from encoder_lib.model.feed_forward import ACTIVATIONS, FeedForward
from encoder_lib.model.norm import LayerNorm
from encoder_lib.packed import Packed
from encoder_lib.recast import has_hooks, share

Model = TypeVar("Model", bound=nn.Module)
HAS_ONEDNN = torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")


def is_made_by_intel() -> bool:
    """Whether the processor is Intel's."""
    try:
        return "GenuineIntel" in Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:  # not Linux
        return "Intel" in platform.processor()


# Where torch also has MKL, oneDNN is faster on AVX-512, which MKL leaves unused on processors that are not Intel's.
# On Intel's, MKL is faster for a few rows and as fast for many; on AVX2 alone, it is faster.
PREFER_ONEDNN = HAS_ONEDNN and (
    not torch.backends.mkl.is_available()
    or ("AVX512" in torch.backends.cpu.get_cpu_capability() and not is_made_by_intel())
)
IN_PLACE: dict[Callable, Callable] = {F.relu: torch.ops.aten.relu_, F.gelu: torch.ops.aten.gelu_}
FUSED: dict[Callable, str] = {F.relu: "relu", F.gelu: "gelu"}  # oneDNN's names
# Private in torch: a release that lacks it takes the plain layers.
has_global_hooks = getattr(modules, "_has_any_global_hook", lambda: True)


def unpadded(model: Encoder | TransformerEncoder, x: Tensor, lengths: Tensor) -> Tensor:
    """The model's output for the first lengths[b] tokens of each sequence, and zeros after them.

        y[b, t] = model(x, lengths_mask(lengths))[b, t]   for t < lengths[b],   else 0

    The real tokens of the batch are packed into one sequence, longest first, so that no linear layer, norm or
    activation processes padding. Attention runs on each of the original sequences separately; those of equal length
    share a batch. A `trace` of the model does not record this pass.

    Only attention may mix tokens: a subclass of MultiHeadAttention may override `attend`, which then runs on each
    sequence separately, but not `forward`. Everything else in the model has to treat each token on its own.

    Shapes: x (B, T, D), or ids (B, T) for a TransformerEncoder; lengths (B,) -> (B, T, D).
    Raises: as the model; TypeError for another model, a layer or attention with a `forward` of its own, or lengths that
    are not integers; ValueError for lengths of another shape, below 0 or above T.
    Source: Krell et al. 2021 (arXiv 2107.02027); Zhai et al. 2022, "ByteTransformer" (arXiv 2210.03052).
    """
    expect.instance("model", model, Encoder | TransformerEncoder, "an Encoder or a TransformerEncoder")
    _check_packable("model", model, TransformerEncoder if isinstance(model, TransformerEncoder) else Encoder)
    if isinstance(model, TransformerEncoder):
        expect.token_ids(x, batched=True)
        x, model = model.embedding(x), model.encoder  # (B, T, D)
        _check_packable("encoder", model, Encoder)
    for name, layer in model.layers.named_children():
        _check_packable(f"layers.{name}", layer, EncoderLayer)
        _check_packable(f"layers.{name}.attention", layer.attention, MultiHeadAttention)
    expect.vectors(x, batched=True)
    expect.lengths(lengths, x.shape[1])
    expect.check_batch("x", x, len(lengths), 0)
    order = lengths.argsort(descending=True)  # sequences of equal length become neighbours, and share a batch
    packed = Packed(lengths[order])
    with probing({}):  # a trace reads padded batches
        y = _packed_copy(model, packed)(packed.pack(x[order]))  # (1, N, D)
    return packed.unpack(y, x.shape[1])[order.argsort()]  # (B, T, D)


def _check_packable(name: str, module: object, cls: type[nn.Module]) -> None:
    """Require a module of this class whose `forward` is the class's: another one could mix the packed sequences."""
    if not isinstance(module, cls) or getattr(module.forward, "__func__", None) is not cls.forward:
        got = type(module).__name__ + (" with a forward of its own" if isinstance(module, cls) else "")
        advice = "packed without padding, sequences could mix; pad and mask instead: model(x, lengths_mask(lengths))"
        raise TypeError(f"{name}: expected a module that runs {cls.__name__}.forward, got {got}; {advice}")


def _packed_copy(model: Model, packed: Packed) -> Model:
    """The model for one call on a packed sequence: it shares parameters, and attends within each sequence only."""
    copy = share(model)
    for module in copy.modules():
        if isinstance(module, MultiHeadAttention):
            attend = share(module).attend  # of another copy, because a module that refers to itself is freed late
            module.attend = partial(packed.attend_per_sequence, attend)  # type: ignore[method-assign]
    return copy


def fast(model: Model) -> Model:
    """A copy of the model with faster layers that share its parameters and hooks: training one trains both.

    LayerNorm runs as torch's own kernel, in one pass over memory. On an AMD CPU with AVX-512, float32 matrix products
    go to oneDNN, which chooses instructions by what the processor supports, where torch's default library, MKL, chooses
    them by its maker. The feed-forward network's activation is then applied inside the product, and elsewhere in place.

    The outputs are the model's up to rounding, and so are gradients and higher derivatives. The plain layers run
    whenever a shortcut would not do exactly what they do: inside torch.func's transforms (grad, vmap, jvp, hessian),
    in forward-mode differentiation, under autocast or torch.export, for other devices, dtypes and tensor subclasses,
    for subclasses of these layers and modules in their place (LoRA, quantised layers), and for layers with hooks, also
    hooks that are added later. The copy can be compiled: torch.compile(fast(model)). It keeps the submodules that the
    model has now: after replacing one in the model, make a new copy.
    Raises: TypeError if `model` is not a module.
    """
    expect.instance("model", model, nn.Module, "a torch module")
    copy = share(model)
    for module in list(copy.modules()):
        if type(module) in FASTER:
            module.__class__ = FASTER[type(module)]
    return copy


def onednn_linear(x: Tensor, weight: Tensor, bias: Tensor | None = None, activation: str = "none") -> Tensor:
    """activation(x · weightᵀ + bias) by oneDNN, without gradients. Shapes: x (…, i), weight (o, i) -> (…, o)."""
    call = _opaque_onednn_linear if torch.compiler.is_compiling() else _onednn_linear
    return call(x, weight, bias, activation)


def _onednn_linear(x: Tensor, weight: Tensor, bias: Tensor | None, activation: str) -> Tensor:
    return torch.ops.mkldnn._linear_pointwise(x, weight, bias, activation, [], "none" if activation == "gelu" else "")


# Opaque to Inductor, whose own oneDNN lowering needs frozen weights.
_opaque_onednn_linear = torch.library.custom_op("encoder_lib::onednn_linear", _onednn_linear, mutates_args=())
_opaque_onednn_linear.register_fake(lambda x, weight, bias, activation: x.new_empty(*x.shape[:-1], weight.shape[0]))


def is_ordinary(x: Tensor, weight: Tensor) -> bool:
    """Whether both are plain tensors, outside torch.func and forward-mode differentiation, which don't know oneDNN."""
    forward_mode = getattr(forward_ad, "_current_level", 0) >= 0  # private too
    return expect.is_plain(x) and expect.is_plain(weight) and not forward_mode


def use_onednn(x: Tensor, weight: Tensor) -> bool:
    """Whether oneDNN's float32 product can be used for x · weightᵀ, and is faster than torch's default."""
    return (
        PREFER_ONEDNN
        and x.dtype == weight.dtype == torch.float32
        and x.is_cpu
        and weight.is_cpu
        and x.numel() > 0
        and not torch.is_autocast_enabled("cpu")
        and not torch.compiler.is_exporting()
        and is_ordinary(x, weight)
    )


def is_unmodified(layer: nn.Module, cls: type[nn.Module]) -> bool:
    """Whether calling `layer` runs `cls.forward` and nothing else, so that its weights may be used directly."""
    own_forward = "forward" in vars(layer) or layer._compiled_call_impl is not None
    return type(layer) is cls and not (own_forward or has_hooks(layer) or has_global_hooks())


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """F.linear, by oneDNN where that is faster. Shapes: x (…, i), weight (o, i), bias (o,) -> (…, o)."""
    if not use_onednn(x, weight):
        return F.linear(x, weight, bias)
    return (OneDNNLinear.apply if torch.is_grad_enabled() else onednn_linear)(x, weight, bias)


class OneDNNLinear(torch.autograd.Function):
    """`onednn_linear` with gradients, which are products as well and can be differentiated again.

    y = x · Wᵀ + b        ∂x = ∂y · W        ∂W = ∂yᵀ · x        ∂b = Σ ∂y
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        return onednn_linear(x, weight, bias)  # (…, o)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        x, weight = ctx.saved_tensors
        to_x, to_weight, to_bias = ctx.needs_input_grad
        rows = grad.reshape(-1, grad.shape[-1])  # (N, o)
        return (
            linear(grad, weight.t()) if to_x else None,  # (…, i)
            linear(rows.t(), x.reshape(-1, x.shape[-1]).t()) if to_weight else None,  # (o, i)
            rows.sum(dim=0) if to_bias else None,  # (o,)
        )


class FastLinear(nn.Linear):
    """nn.Linear, by oneDNN where that is faster."""

    def forward(self, x: Tensor) -> Tensor:
        return linear(x, self.weight, self.bias)


class FastFeedForward(FeedForward):
    """FeedForward that applies its activation inside oneDNN's product, or in place, when no gradients are recorded."""

    def forward(self, x: Tensor) -> Tensor:
        activation, linear1 = ACTIVATIONS[self.activation], self.linear1
        known = activation in IN_PLACE and is_unmodified(linear1, FastLinear)
        if torch.is_grad_enabled() or not known or not is_ordinary(x, linear1.weight):
            return super().forward(x)
        expect.vectors(x, self.d_model, like=linear1.weight)
        if use_onednn(x, linear1.weight):
            hidden = onednn_linear(x, linear1.weight, linear1.bias, FUSED[activation])  # (…, T, F)
        else:
            hidden = IN_PLACE[activation](linear1(x))  # (…, T, F)
        return self.linear2(self.dropout(hidden))  # (…, T, D)


class FastLayerNorm(LayerNorm):
    """LayerNorm as torch's own kernel, which computes the same formula in one pass over memory."""

    def forward(self, x: Tensor) -> Tensor:
        expect.vectors(x, like=self.weight)
        return F.layer_norm(x, (self.d_model,), self.weight, self.bias, self.eps)


FASTER: dict[type[nn.Module], type[nn.Module]] = {
    nn.Linear: FastLinear,
    FeedForward: FastFeedForward,
    LayerNorm: FastLayerNorm,
}
