"""Packed sequences: every real token once and in order, and attention within each sequence only."""

import pytest
import torch

from encoder_lib import Packed, lengths_mask

D, H, K = 8, 2, 4


def test_unpack_inverts_pack():
    lengths = torch.tensor([2, 0, 3])
    x = torch.arange(3 * 4 * D).view(3, 4, D).double()
    packed = Packed(lengths)
    y = packed.pack(x)
    assert y.shape == (1, 5, D) and torch.equal(y[0, :2], x[0, :2]) and torch.equal(y[0, 2:], x[2, :3])
    assert torch.equal(packed.unpack(y, 4), x * lengths_mask(lengths, 4)[:, 0, 0, :, None])


def test_neighbours_of_equal_length_share_a_batch():
    """Attention is called once for each run of equal lengths, in the order of the packed sequence."""
    shapes = []

    def attend(q, k, v):
        shapes.append(tuple(q.shape))
        return 2 * q + k * v

    q, k, v = torch.randn(3, 1, H, 10, K)
    assert torch.equal(Packed(torch.tensor([3, 3, 0, 1, 3])).attend_per_sequence(attend, q, k, v), 2 * q + k * v)
    assert shapes == [(2, H, 3, K), (1, H, 1, K), (1, H, 3, K)]


@pytest.mark.parametrize("lengths", [[], [0, 0]], ids=["no sequences", "no tokens"])
def test_nothing_to_pack(lengths):
    """Batches without sequences, or without a real token, are packed and unpacked without calling attention."""
    packed = Packed(torch.tensor(lengths, dtype=torch.long))
    x = torch.randn(len(lengths), 2, D)
    y = packed.pack(x)
    assert y.shape == (1, 0, D) and packed.runs == []
    heads = torch.zeros(1, H, 0, K)
    assert packed.attend_per_sequence(lambda *_: 1 / 0, heads, heads, heads).shape == (1, H, 0, K)
    assert torch.equal(packed.unpack(y, 2), torch.zeros_like(x))
