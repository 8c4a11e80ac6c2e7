"""The same encoder, faster: `unpadded` computes no padding, `fast` takes quicker layers on the same weights."""

import copy
from functools import partial
from typing import Any, TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from encoder_lib import expect
from encoder_lib.model.attention import MultiHeadAttention
from encoder_lib.model.encoder import Encoder, TransformerEncoder
from encoder_lib.model.feed_forward import FeedForward
from encoder_lib.model.norm import LayerNorm
from encoder_lib.packed import Packed
from encoder_lib.recast import with_class

Model = TypeVar("Model", bound=nn.Module)
ONEDNN = torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")  # is it there?
# Where MKL is there too, oneDNN is the quicker one on AVX-512, which MKL leaves unused on processors that are not
# Intel's; on AVX2 alone, MKL is.
PREFER_ONEDNN = ONEDNN and (not torch.backends.mkl.is_available() or "AVX512" in torch.backends.cpu.get_cpu_capability())
IN_PLACE = {"relu": torch.ops.aten.relu_, "gelu": torch.ops.aten.gelu_}


def unpadded(model: Encoder | TransformerEncoder, x: Tensor, lengths: Tensor) -> Tensor:
    """What the model gives for the first lengths[b] tokens of each sequence, and zeros after them.

        y[b, t] = model(x, lengths_mask(lengths))[b, t]   for t < lengths[b],   else 0

    The real tokens are packed into one strip, longest sequence first, so that no linear map, norm or activation meets
    padding; attention is computed for each sequence alone, and for those of one length together. A trace of the model
    does not see it: it reads padded batches.

    Shapes: x (B, T, D), or ids (B, T) for a TransformerEncoder; lengths (B,) -> (B, T, D).
    Raises: as the model; TypeError for another model, lengths that are not integers; ValueError for lengths of another
    shape, below 0 or above T.
    Source: Krell et al. 2021 (arXiv 2107.02027); Zhai et al. 2022, "ByteTransformer" (arXiv 2210.03052).
    """
    expect.kind("model", model, Encoder | TransformerEncoder, "an Encoder or a TransformerEncoder")
    if isinstance(model, TransformerEncoder):
        expect.token_ids(x, batched=True)
        x, model = model.embedding(x), model.encoder  # (B, T, D)
    expect.vectors(x, batched=True)
    expect.lengths(lengths, x.shape[1])
    expect.batch_of("x", x, len(lengths), 0)
    order = lengths.argsort(descending=True)  # neighbours of one length share a batch
    packed = Packed(lengths[order])
    strip = _packed_twin(model, packed)(packed.pack(x[order]))  # (1, N, D)
    return packed.unpack(strip, x.shape[1])[order.argsort()]  # (B, T, D)


def _packed_twin(module: Model, packed: Packed) -> Model:
    """The module on the same weights, for one call on a strip: attention takes each sequence alone."""
    twin = copy.copy(module)
    twin._modules = {name: _packed_twin(child, packed) for name, child in twin._modules.items() if child is not None}
    if isinstance(twin, MultiHeadAttention):
        twin.fused.forward = partial(packed.attend_per_sequence, copy.copy(twin.fused))
    return twin


def fast(model: Model) -> Model:
    """A twin of the model on the same weights: what trains one trains both, and what it computes stays the same.

    Layer norms run in one pass over memory, as torch's own kernel. On a CPU with AVX-512, float32 matrix products go to
    oneDNN, which picks instructions by what the processor has; torch's default library, MKL, picks them by who made it.
    There the activation is applied while the product is still in the cache, and elsewhere in place. Everything else,
    and any other device or dtype, goes the usual way.

    Shapes: those of the model.
    Raises: TypeError for what is no module.
    """
    expect.kind("model", model, nn.Module, "a torch module")
    twin = copy.deepcopy(model, {id(weight): weight for weight in (*model.parameters(), *model.buffers())})
    for module in list(twin.modules()):
        for name, child in module.named_children():
            if type(child) in FASTER:
                setattr(module, name, with_class(child, FASTER[type(child)]))
    return with_class(twin, FASTER[type(twin)]) if type(twin) in FASTER else twin


def onednn_linear(x: Tensor, weight: Tensor, bias: Tensor | None = None, activation: str = "none") -> Tensor:
    """activation(x · weightᵀ + bias), by oneDNN. Shapes: x (…, i), weight (o, i), bias (o,) -> (…, o)."""
    call = _opaque_onednn_linear if torch.compiler.is_compiling() else _onednn_linear
    return call(x, weight, bias, activation)


def _onednn_linear(x: Tensor, weight: Tensor, bias: Tensor | None, activation: str) -> Tensor:
    return torch.ops.mkldnn._linear_pointwise(x, weight, bias, activation, [], "none" if activation == "gelu" else "")


# For torch's compiler it is a box that it need not open: its own recipe for oneDNN wants weights that never change.
_opaque_onednn_linear = torch.library.custom_op("encoder_lib::onednn_linear", _onednn_linear, mutates_args=())
_opaque_onednn_linear.register_fake(lambda x, weight, bias, activation: x.new_empty(*x.shape[:-1], weight.shape[0]))


def use_onednn(x: Tensor) -> bool:
    """True when oneDNN's float32 product serves and is quicker than torch's default.

    It serves numbers on the CPU, at least one, where there is no autocast and no graph to export.
    """
    plain = x.dtype == torch.float32 and x.device.type == "cpu" and x.numel() > 0
    return PREFER_ONEDNN and plain and not torch.is_autocast_enabled("cpu") and not torch.compiler.is_exporting()


class OneDNNLinear(torch.autograd.Function):
    """`product`, and its gradients, which are two more: ∂x = ∂y · W and ∂W = ∂yᵀ · x."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.has_bias = bias is not None
        return onednn_linear(x, weight, bias)  # (…, o)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        x, weight = ctx.saved_tensors
        rows = grad.flatten(0, -2)  # (N, o)
        to_weight = onednn_linear(rows.t(), x.flatten(0, -2).t())  # (o, i)
        return onednn_linear(grad, weight.t()), to_weight, rows.sum(dim=0) if ctx.has_bias else None


class FastLinear(nn.Linear):
    """nn.Linear, by oneDNN where it pays."""

    def forward(self, x: Tensor) -> Tensor:
        if not use_onednn(x):
            return super().forward(x)
        return (OneDNNLinear.apply if torch.is_grad_enabled() else onednn_linear)(x, self.weight, self.bias)


class FastFeedForward(FeedForward):
    """FeedForward whose activation takes no memory of its own when no gradient has to pass it.

    By oneDNN it is applied inside the first product, and otherwise in place.
    """

    def forward(self, x: Tensor) -> Tensor:
        if torch.is_grad_enabled():
            return super().forward(x)
        expect.vectors(x, like=self.linear1.weight)
        weight, bias = self.linear1.weight, self.linear1.bias
        if use_onednn(x):
            hidden = onednn_linear(x, weight, bias, self.activation)  # (…, T, F)
        else:
            hidden = IN_PLACE[self.activation](F.linear(x, weight, bias))  # (…, T, F)
        return self.linear2(self.dropout(hidden))  # (…, T, D)


class FastLayerNorm(LayerNorm):
    """LayerNorm in one pass over memory: torch's own kernel computes the same formula."""

    def forward(self, x: Tensor) -> Tensor:
        expect.vectors(x, like=self.weight)
        return F.layer_norm(x, (self.d_model,), self.weight, self.bias, self.eps)


FASTER = {nn.Linear: FastLinear, FeedForward: FastFeedForward, LayerNorm: FastLayerNorm}
