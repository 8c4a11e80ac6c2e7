"""Packed rows: every real token once, in order, and each sequence by itself."""

import torch

from encoder_lib import (
    Packed,
    lengths_mask,
)

D, H, F, V = 8, 2, 12, 11


def test_pack_and_unpack_are_inverse():
    """What unpack puts under each other is what pack took, with zeros after it."""
    lengths = torch.tensor([2, 0, 3])
    x = torch.arange(3 * 4 * D).view(3, 4, D).double()
    packed = Packed(lengths)
    row = packed.pack(x)
    assert row.shape == (1, 5, D) and torch.equal(row[0, :2], x[0, :2]) and torch.equal(row[0, 2:], x[2, :3])
    assert torch.equal(packed.unpack(row, 4), x * lengths_mask(lengths, 4)[:, 0, 0, :, None])


def test_neighbours_of_one_length_share_a_batch():
    """The function sees one batch for each run of equal lengths, in the order of the row."""
    seen = []

    def note(x):
        seen.append(tuple(x.shape))
        return 2 * x

    packed = Packed(torch.tensor([3, 3, 0, 1, 3]))
    row = torch.randn(1, 10, D)
    assert torch.equal(packed.apart(note, row), 2 * row)
    assert seen == [(2, 3, D), (1, 1, D), (1, 3, D)]
