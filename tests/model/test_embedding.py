"""Embedding: rows of a table, in torch's own numbers and gradients, and what is added to them."""

import math

import pytest
import torch
from torch import nn

from encoder_lib import TokenEmbedding, TransformerEmbedding, sinusoidal_table

V, B, T, D = 11, 2, 5, 6
F64 = torch.float64
positions = pytest.mark.parametrize("positional", ["sinusoidal", "learned", "none"])


@pytest.mark.parametrize("padding_idx", [None, 0, V - 1])
@pytest.mark.parametrize("scale", [False, True])
def test_equals_torch(padding_idx, scale, device):
    """Values and gradients of nn.Embedding, the frozen padding row among them; ids may be int32."""
    ours = TokenEmbedding(V, D, padding_idx=padding_idx, scale=scale).double().to(device)
    theirs = nn.Embedding(V, D, padding_idx=padding_idx, dtype=F64, device=device)
    theirs.load_state_dict(ours.state_dict())
    ids = torch.tensor([[*range(V)], [4] * V], dtype=torch.int32).to(device)
    weights, factor, before = torch.randn(2, V, D, dtype=F64).to(device), math.sqrt(D) if scale else 1, ids.clone()
    (ours(ids) * weights).sum().backward()
    (theirs(ids) * weights * factor).sum().backward()
    torch.testing.assert_close(ours(ids), theirs(ids) * factor, atol=1e-12, rtol=0)
    torch.testing.assert_close(ours.weight.grad, theirs.weight.grad, atol=1e-10, rtol=0)
    assert padding_idx is None or not ours.weight[padding_idx].any()
    assert torch.equal(ids, before)


@pytest.mark.parametrize("scale", [False, True])
def test_starts_with_variance_one(scale):
    """What comes out has variance 1 with and without √D; only the table differs."""
    table = TokenEmbedding(2000, 64, scale=scale)
    assert table(torch.arange(2000)).var().item() == pytest.approx(1, abs=0.02)
    assert table.weight.std().item() == pytest.approx(1 / 8 if scale else 1, rel=0.01)


@positions
@pytest.mark.parametrize("norm", [False, True])
def test_sum_of_token_and_position(positional, norm):
    """The token's vector is added once, the position's vector once; the norm is torch's, of the same eps."""
    embedding = TransformerEmbedding(V, D, positional=positional, max_len=8, scale=True, norm=norm, eps=0.1).double()
    ids = torch.randint(V, (B, T))
    expected = embedding.token.weight[ids] * math.sqrt(D)
    if positional != "none":
        table = sinusoidal_table(T, D, dtype=F64) if positional == "sinusoidal" else embedding.position.weight[:T]
        expected = expected + table
    if norm:
        nn.init.normal_(embedding.norm.weight)
        expected = nn.functional.layer_norm(expected, (D,), embedding.norm.weight, embedding.norm.bias, 0.1)
    torch.testing.assert_close(embedding(ids), expected, atol=1e-12, rtol=0)
    names = {"token.weight"} | ({"position.weight"} if positional == "learned" else set())
    assert set(embedding.state_dict()) == names | ({"norm.weight", "norm.bias"} if norm else set())


def test_dropout_in_train_mode_alone():
    embedding = TransformerEmbedding(V, 64, dropout=0.5)
    ids = torch.randint(V, (16, 32))
    whole, dropped = embedding.eval()(ids), embedding.train()(ids)
    zero = dropped == 0
    assert zero.double().mean().item() == pytest.approx(0.5, abs=0.02)
    torch.testing.assert_close(dropped[~zero], 2 * whole[~zero])
