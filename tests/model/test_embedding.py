"""Embedding: rows of a table, in torch's own numbers and gradients."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from encoder_lib import TokenEmbedding, TransformerEmbedding, sinusoidal_table

V, B, T, D = 11, 2, 5, 6


def test_rows_by_index():
    """Each id fetches its row; an id that comes twice fetches the same row twice."""
    table = TokenEmbedding(3, 5)
    y = table(torch.tensor([2, 0, 2]))
    assert torch.equal(y, table.weight[[2, 0, 2]])
    assert torch.equal(y[0], y[2])


@pytest.mark.parametrize("padding_idx", [None, 0, 3, V - 1])
def test_equals_torch(padding_idx, device):
    """Values and gradients of nn.Embedding, the frozen padding row among them."""
    ours = TokenEmbedding(V, D, padding_idx=padding_idx).double().to(device)
    theirs = nn.Embedding(V, D, padding_idx=padding_idx, dtype=torch.float64, device=device)
    theirs.load_state_dict(ours.state_dict())
    ids = torch.arange(V).repeat(2, 1).to(device)
    weights = torch.randn(2, V, D, dtype=torch.float64).to(device)
    for table in (ours, theirs):
        (table(ids) * weights).sum().backward()
    assert torch.equal(ours(ids), theirs(ids))
    torch.testing.assert_close(ours.weight.grad, theirs.weight.grad, atol=1e-10, rtol=0)
    if padding_idx is not None:
        assert not ours.weight[padding_idx].any() and not ours.weight.grad[padding_idx].any()


@given(st.data(), st.integers(1, 9), st.integers(1, 5), st.booleans())
def test_equals_one_hot_product(data, vocab_size, d_model, scale):
    """A look-up is the product of a one-hot matrix and the table."""
    shape = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=3))
    ids = torch.randint(vocab_size, shape)
    table = TokenEmbedding(vocab_size, d_model, scale=scale).double()
    product = F.one_hot(ids, vocab_size).double() @ table.weight * (math.sqrt(d_model) if scale else 1)
    torch.testing.assert_close(table(ids), product, atol=1e-12, rtol=0)
    assert table(ids).shape == (*shape, d_model)


@pytest.mark.parametrize("scale", [False, True])
def test_starts_with_variance_one(scale):
    """What comes out has variance 1 with and without √D; only the table differs."""
    table = TokenEmbedding(2000, 64, scale=scale)
    assert table(torch.arange(2000)).var().item() == pytest.approx(1, abs=0.02)
    assert table.weight.std().item() == pytest.approx(1 / 8 if scale else 1, rel=0.01)


def test_only_used_rows_get_a_gradient():
    """A row that no id fetched has a gradient of zero; one fetched twice has twice the gradient."""
    table = TokenEmbedding(V, D)
    table(torch.tensor([[1, 4, 4]])).sum().backward()
    assert table.weight.grad.sum(1).tolist() == [0, D, 0, 0, 2 * D, 0, 0, 0, 0, 0, 0]


def test_gradcheck(gradcheck):
    """Gradients against finite differences, with a scale and with every id in use twice or not at all."""
    table = TokenEmbedding(4, 3, scale=True).double()
    assert gradcheck(table, ids=torch.tensor([[0, 2, 2], [3, 0, 3]]))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_other_dtypes(dtype, device):
    """The table's dtype is that of the vectors; int32 ids do as well."""
    table = TokenEmbedding(V, D).to(device, dtype)
    y = table(torch.arange(V, dtype=torch.int32, device=device))
    assert y.dtype == dtype and torch.equal(y, table.weight)


@pytest.mark.parametrize("positional", ["sinusoidal", "learned", "none"])
def test_sum_of_token_and_position(positional):
    """The token's vector is added once, the position's vector once."""
    embedding = TransformerEmbedding(V, D, positional=positional, max_len=8, scale=True)
    ids = torch.randint(V, (B, T))
    position = {
        "sinusoidal": lambda: sinusoidal_table(T, D),
        "learned": lambda: embedding.position.weight[:T],
        "none": lambda: torch.zeros(T, D),
    }[positional]()
    expected = embedding.token.weight[ids] * math.sqrt(D) + position
    torch.testing.assert_close(embedding(ids), expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize("eps", [1e-12, 0.1])
def test_norm_follows_the_sum(eps):
    """With `norm=True` each token's sum is normalised, by torch's LayerNorm of the same eps and weights."""
    embedding = TransformerEmbedding(V, D, positional="learned", max_len=8, norm=True, eps=eps).double()
    norm = nn.LayerNorm(D, eps=eps, dtype=torch.float64)
    nn.init.normal_(embedding.norm.weight)
    norm.load_state_dict(embedding.norm.state_dict())
    ids = torch.randint(V, (B, T))
    expected = norm(embedding.token.weight[ids] + embedding.position.weight[:T])
    torch.testing.assert_close(embedding(ids), expected, atol=1e-12, rtol=0)


def test_padding_is_zero_only_before_the_position():
    """A padding token's own vector is zero, but with its position it is not: padding needs a mask."""
    embedding = TransformerEmbedding(V, D, padding_idx=1)
    ids = torch.tensor([[4, 1, 1]])
    assert not embedding.token(ids)[0, 1:].any()
    torch.testing.assert_close(embedding(ids)[0, 1:], sinusoidal_table(3, D)[1:])


def test_dropout_in_train_mode_alone():
    """Half of the numbers are dropped and the others doubled in train mode, none in eval mode."""
    embedding = TransformerEmbedding(V, 64, dropout=0.5)
    ids = torch.randint(V, (16, 32))
    whole = embedding.eval()(ids)
    assert torch.equal(whole, embedding(ids))
    dropped = embedding.train()(ids)
    zero = dropped == 0
    assert zero.double().mean().item() == pytest.approx(0.5, abs=0.02)
    torch.testing.assert_close(dropped[~zero], 2 * whole[~zero])


@pytest.mark.parametrize("positional", ["sinusoidal", "learned", "none"])
def test_state_dict_round_trip(positional):
    """A second embedding loads the first one's weights and gives its vectors; the sinusoids are not among them."""
    first, second = (TransformerEmbedding(V, D, positional=positional, max_len=8, padding_idx=0) for _ in range(2))
    ids = torch.randint(V, (B, T))
    first(ids)
    second.load_state_dict(first.state_dict())
    assert torch.equal(first(ids), second(ids))
    assert set(first.state_dict()) == {"token.weight"} | ({"position.weight"} if positional == "learned" else set())


@pytest.mark.parametrize("shape", [(0, 5), (2, 0), (1, 1)])
def test_empty_and_single(shape):
    """No sequences, no tokens, one token."""
    assert TransformerEmbedding(V, D, padding_idx=0)(torch.ones(shape, dtype=torch.long)).shape == (*shape, D)
    assert TokenEmbedding(1, 1)(torch.zeros(shape, dtype=torch.long)).shape == (*shape, 1)


def test_ids_stay_as_they_are():
    """The look-up does not write to its input."""
    ids = torch.randint(V, (B, T))
    before = ids.clone()
    TransformerEmbedding(V, D, padding_idx=0)(ids)
    assert torch.equal(ids, before)
