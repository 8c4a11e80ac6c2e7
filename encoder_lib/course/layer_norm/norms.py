"""A published encoder with other norms in the place of its own."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from encoder_lib.model.norm import LayerNorm
from encoder_lib.pretrained import SentenceEncoder

Norm = Callable[[Tensor, Tensor, Tensor, float], Tensor]  # x (B, T, D), weight (D,), bias (D,), eps -> (B, T, D)


@contextmanager
def every_norm(model: SentenceEncoder, norm: Norm) -> Iterator[None]:
    """Within the `with` block each norm of `model` behind a + gives norm(x, weight, bias, eps), with its parameters."""
    handles = [
        each.register_forward_hook(lambda module, x, _: norm(x[0], module.weight, module.bias, module.eps))
        for each in model.encoder.encoder.modules()  # not the embedding's
        if isinstance(each, LayerNorm)
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def cls_apart(for_cls: Norm, for_others: Norm) -> Norm:
    """One norm out of two: `for_cls` gets each sequence's first token, `for_others` all others."""

    def norm(x: Tensor, gain: Tensor, bias: Tensor, eps: float) -> Tensor:
        first, others = for_cls(x[:, :1], gain, bias, eps), for_others(x[:, 1:], gain, bias, eps)
        return torch.cat([first, others], dim=1)

    return norm
