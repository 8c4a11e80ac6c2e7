"""A pretrained encoder with other norms in the place of its own."""

from collections.abc import Callable

import torch
from torch import Tensor

from encoder_lib.model.norm import LayerNorm
from encoder_lib.patch import Edit, patch
from encoder_lib.pretrained import SentenceEncoder

Norm = Callable[[Tensor, Tensor, Tensor, float], Tensor]  # x (B, T, D), weight (D,), bias (D,), eps -> (B, T, D)


def replace_norms(model: SentenceEncoder, norm: Norm) -> SentenceEncoder:
    """The same model, in which each norm in the layers computes norm(x, weight, bias, eps), with its own parameters."""
    norms = {f"encoder.{name}": m for name, m in model.encoder.encoder.named_modules() if isinstance(m, LayerNorm)}
    return SentenceEncoder(model.tokenizer, patch(model.encoder, {n: _edit(m, norm) for n, m in norms.items()}))


def _edit(module: LayerNorm, norm: Norm) -> Edit:
    bias = torch.zeros_like(module.weight) if module.bias is None else module.bias
    return lambda out, x: norm(x, module.weight, bias, module.eps)


def split_cls(for_cls: Norm, for_others: Norm) -> Norm:
    """One norm that joins two: `for_cls` gets the first token of each sequence, `for_others` gets all other tokens."""

    def norm(x: Tensor, gain: Tensor, bias: Tensor, eps: float) -> Tensor:
        first, others = for_cls(x[:, :1], gain, bias, eps), for_others(x[:, 1:], gain, bias, eps)
        return torch.cat([first, others], dim=1)

    return norm
