"""The library on a device other than the CPU: nothing that it computes with stays behind, forward or backward.

The device stands for a GPU and refuses to mix its tensors with the CPU's. Once it is there it can't be taken away
again, so this file is also a program, which the test runs in a process of its own.
"""

import os
import subprocess
import sys
from functools import partial

import torch
from torch import nn

from encoder_lib import (
    Encoder,
    EncoderLayer,
    FeedForward,
    LayerNorm,
    LearnedPositionalEncoding,
    MultiHeadAttention,
    RMSNorm,
    RotaryPositionalEncoding,
    SinusoidalPositionalEncoding,
    TokenEmbedding,
    TransformerEmbedding,
    TransformerEncoder,
    alibi_bias,
    attention,
    expect,
    fast,
    from_torch,
    lengths_mask,
    padding_mask,
    trace,
    unpadded,
)

B, T, D, H, F, V, PAD = 2, 5, 8, 2, 16, 11, 0
LENGTHS = torch.tensor([5, 2])
IDS = torch.tensor([[3, 1, 4, 1, 5], [9, 2, PAD, PAD, PAD]])
POSITIONS = ("none", "sinusoidal", "learned", "rotary", "alibi")


def attend(module, x, ids, lengths):
    bias = alibi_bias(H, T, T, dtype=x.dtype, device=x.device)
    heads = x[:, None].expand(B, H, T, D)
    return attention(heads, heads, heads, padding_mask(ids, PAD), bias=bias)[0]


def run_masked(module, x, ids, lengths):
    return module(x, lengths_mask(lengths, T))


def run_attention(module, x, ids, lengths):
    return module(x, x, x, lengths_mask(lengths))


def run_traced(module, x, ids, lengths):
    with trace(module) as t:
        y = module(ids)
    return y.sum() + t["encoder.layers.1.attention.scores"].square().sum()


def run_on_vectors(module, x, ids, lengths):
    return module(x)


def run_on_ids(module, x, ids, lengths):
    return module(ids)


def run_unpadded(module, x, ids, lengths):
    return unpadded(module, ids, lengths)


def cases():
    """The name of each case, how its module is made, and how that is called."""
    yield "attention", nn.Identity, attend
    for kind in (LayerNorm, RMSNorm, SinusoidalPositionalEncoding, RotaryPositionalEncoding):
        yield kind.__name__, partial(kind, D), run_on_vectors
    yield "LearnedPositionalEncoding", partial(LearnedPositionalEncoding, D, 9), run_on_vectors
    yield "TokenEmbedding", partial(TokenEmbedding, V, D, padding_idx=PAD), run_on_ids
    for activation in ("relu", "gelu"):
        yield f"FeedForward {activation}", partial(FeedForward, D, F, activation=activation), run_on_vectors
    theirs = partial(nn.TransformerEncoderLayer, D, H, F, dropout=0.0, batch_first=True)
    yield "from_torch", lambda: from_torch(theirs()), run_masked
    for position in POSITIONS[:3]:
        yield f"TransformerEmbedding {position}", partial(TransformerEmbedding, V, D, positional=position), run_on_ids
    for position in ("none", "rotary", "alibi"):
        yield f"MultiHeadAttention {position}", partial(MultiHeadAttention, D, H, positional=position), run_attention
        yield f"EncoderLayer {position}", partial(EncoderLayer, D, H, F, positional=position), run_masked
        yield f"Encoder {position}", partial(Encoder, 2, D, H, F, positional=position, norm_first=True), run_masked
    for position in POSITIONS:
        make = partial(TransformerEncoder, V, 2, D, H, F, positional=position, padding_idx=PAD)
        for how in (run_on_ids, run_traced, run_unpadded):
            yield f"TransformerEncoder {position} {how.__name__}", make, how
        yield f"fast TransformerEncoder {position}", lambda make=make: fast(make()), run_on_ids


def results(module, call, device):
    """The output and all gradients, on the CPU again. On `device` the output has to be, too."""
    module.zero_grad()
    x = torch.randn(B, T, D, generator=torch.Generator().manual_seed(1)).to(device).requires_grad_()
    y = call(module.to(device), x, IDS.to(device), LENGTHS.to(device))
    assert y.device.type == device
    y.square().sum().backward()
    gradients = [leaf.grad for leaf in (x, *module.parameters()) if leaf.grad is not None]
    return [tensor.detach().cpu().clone() for tensor in (y, *gradients)]


def test_everything_runs_on_a_device_other_than_the_cpu():
    """As on the CPU, also by a module that has been in use there, and there once more when it comes back."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, __file__], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


if __name__ == "__main__":
    import far_device  # noqa: F401 (from here on the device is there)

    # Its tensors are a subclass, for which no table is kept; a GPU's are not.
    expect.is_plain = lambda x: True
    for name, make, call in cases():
        torch.manual_seed(0)
        module = make()
        try:
            here = results(module, call, "cpu")
            torch.testing.assert_close(results(module, call, "far"), here)
            torch.testing.assert_close(results(module, call, "cpu"), here)
        except Exception as error:
            error.add_note(f"in the case {name!r}")
            raise
