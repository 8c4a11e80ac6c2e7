"""Packed strips: every real token once, in order, and each sequence by itself."""

import pytest
import torch

from encoder_lib import Packed, lengths_mask

D = 8


def test_pack_and_unpack_are_inverse():
    """What unpack puts under each other is what pack took, with zeros after it."""
    lengths = torch.tensor([2, 0, 3])
    x = torch.arange(3 * 4 * D).view(3, 4, D).double()
    packed = Packed(lengths)
    strip = packed.pack(x)
    assert strip.shape == (1, 5, D) and torch.equal(strip[0, :2], x[0, :2]) and torch.equal(strip[0, 2:], x[2, :3])
    assert torch.equal(packed.unpack(strip, 4), x * lengths_mask(lengths, 4)[:, 0, 0, :, None])


def test_neighbours_of_one_length_share_a_batch():
    """The function sees one batch for each run of equal lengths, in the order of the strip."""
    seen = []

    def note(x):
        seen.append(tuple(x.shape))
        return 2 * x

    packed = Packed(torch.tensor([3, 3, 0, 1, 3]))
    strip = torch.randn(1, 10, D)
    assert torch.equal(packed.apart(note, strip), 2 * strip)
    assert seen == [(2, 3, D), (1, 1, D), (1, 3, D)]


@pytest.mark.parametrize("lengths", [[], [0, 0]], ids=["no sequences", "no tokens"])
def test_a_strip_of_nothing_stays_one(lengths):
    """Batches without sequences, or without a real token, go through and come back."""
    packed = Packed(torch.tensor(lengths, dtype=torch.long))
    x = torch.randn(len(lengths), 2, D)
    strip = packed.pack(x)
    assert strip.shape == (1, 0, D) and packed.runs == []
    assert packed.apart(lambda x: 1 / 0, strip).shape == (1, 0, D)
    assert torch.equal(packed.unpack(strip, 2), torch.zeros_like(x))


def test_gradients_reach_the_real_tokens_alone():
    packed, x = Packed(torch.tensor([1, 3])), torch.randn(2, 3, D, requires_grad=True)
    packed.unpack(packed.pack(x), 3).sum().backward()
    assert torch.equal(x.grad[..., 0], torch.tensor([[1.0, 0, 0], [1, 1, 1]]))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: Packed([1, 3]), TypeError, "lengths: expected a tensor"),
        (lambda: Packed(torch.tensor([1.0])), TypeError, "lengths: expected integers"),
        (lambda: Packed(torch.tensor([[1]])), ValueError, r"lengths: expected shape \(B,\)"),
        (lambda: Packed(torch.tensor([-1])), ValueError, "lengths: expected 0 … 0, got -1"),
        (lambda: Packed(torch.tensor([1, 3])).pack(torch.zeros(2, 2, D)), ValueError, "2 sequences of at least 3"),
        (lambda: Packed(torch.tensor([1])).pack(torch.zeros(1, D)), ValueError, "expected 3 dimensions"),
        (lambda: Packed(torch.tensor([1])).unpack(torch.zeros(1, 2, D), 3), ValueError, "packed strip of 1 tokens"),
        (lambda: Packed(torch.tensor([3])).unpack(torch.zeros(1, 3, D), 2), ValueError, "length: .* at least 3, got 2"),
        (lambda: Packed(torch.tensor([3])).apart(len, torch.zeros(1, 2, D)), ValueError, "packed strip of 3 tokens"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()
