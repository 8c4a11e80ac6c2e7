"""The masks: who may be attended to, from ids, from lengths and from the order."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from encoder_lib import causal_mask, lengths_mask, padding_mask


def test_padding_mask():
    """True where a key is real, shaped to serve all heads and queries."""
    ids = torch.tensor([[5, 6, 0], [0, 0, 7]])
    mask = padding_mask(ids, 0)
    assert mask.shape == (2, 1, 1, 3)
    assert mask[:, 0, 0].tolist() == [[True, True, False], [False, False, True]]


@given(st.lists(st.integers(0, 6), max_size=5), st.integers(0, 3))
def test_lengths_mask_is_the_padding_mask(lengths, extra):
    """Both say the same of sequences padded at their end; a length of 0 is a sequence of padding alone."""
    longest = max(lengths, default=0)
    ids = torch.tensor([[1] * n + [0] * (longest + extra - n) for n in lengths], dtype=torch.long)
    ids = ids.view(len(lengths), longest + extra)
    lengths = torch.tensor(lengths, dtype=torch.long)
    assert torch.equal(lengths_mask(lengths, longest + extra), padding_mask(ids, 0))
    assert torch.equal(lengths_mask(lengths), padding_mask(ids[:, :longest], 0))


@pytest.mark.parametrize("length", [0, 1, 2, 7])
def test_causal_mask(length):
    mask = causal_mask(length)
    assert mask.shape == (length, length)
    assert all(mask[i, j].item() == (j <= i) for i in range(length) for j in range(length))


@pytest.mark.long
def test_masks_compile():
    """Masks can be made inside a compiled function: nothing there reads values."""
    made = torch.compile(lambda ids, n: padding_mask(ids, 0) & lengths_mask(n, 4), fullgraph=True, backend="eager")
    ids, lengths = torch.tensor([[1, 1, 0, 0], [1, 1, 1, 1]]), torch.tensor([3, 2])
    assert torch.equal(made(ids, lengths), padding_mask(ids, 0) & lengths_mask(lengths, 4))
