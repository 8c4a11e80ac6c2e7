"""A published encoder with other norms in the place of its own, and how large its vectors are on their way up."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from encoder_lib.model.norm import LayerNorm
from encoder_lib.pretrained import SentenceEncoder
from encoder_lib.trace import trace

Norm = Callable[[Tensor, Tensor, Tensor, float], Tensor]  # x (B, T, D), weight (D,), bias (D,), eps -> (B, T, D)


@contextmanager
def every_norm(model: SentenceEncoder, norm: Norm) -> Iterator[None]:
    """Within the `with` block each layer norm of `model` gives norm(x, weight, bias, eps), each with its parameters."""
    handles = [
        each.register_forward_hook(lambda module, x, _: norm(x[0], module.weight, module.bias, module.eps))
        for each in model.encoder.modules()
        if isinstance(each, LayerNorm)
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@torch.no_grad()
def sizes(model: SentenceEncoder, text: str) -> list[float]:
    """The typical size of a text's numbers as they enter the first layer, and as they leave each one."""
    with trace(model.encoder) as t:
        model.encoder(model.ids(text))
    keys = ["embedding", *(f"encoder.layers.{n}" for n in range(len(model.encoder.encoder.layers)))]
    return [t[key].square().mean().sqrt().item() for key in keys]
