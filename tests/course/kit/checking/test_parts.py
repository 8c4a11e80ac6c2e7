"""The library's parts in the reader's form, and which parameter of a part is which."""

import pytest
import torch
from torch import nn

from encoder_lib.course.kit.checking import parts
from encoder_lib.course.kit.checking.verdict import Told


def names(groups):
    return [[piece.name for piece in group] for group in groups]


def test_weight_and_bias_of_a_linear_map_stay_together_and_the_rest_follows():
    part = parts.FeedForward(2, 3)
    part.register_parameter("scale", nn.Parameter(torch.ones(1)))
    assert names(parts.groups(part)) == [
        ["linear1.weight", "linear1.bias"], ["linear2.weight", "linear2.bias"], ["scale"],
    ]  # fmt: skip
    assert names(parts.groups(nn.Linear(2, 3, bias=False))) == [["weight"]]


def test_a_map_that_makes_three_vectors_is_cut_into_three():
    groups = parts.groups(nn.Linear(2, 6), 2)
    assert [[tuple(piece.values.shape) for piece in group] for group in groups] == [[(2, 2), (2,)]] * 3
    linear = nn.Linear(2, 6)
    parts.fill(parts.groups(linear, 2), (2, 0, 1), [[torch.full((2, 2), float(i)), torch.zeros(2)] for i in range(3)])
    assert linear.weight[:, 0].tolist() == [1, 1, 2, 2, 0, 0]  # the first of ours goes to the third of theirs


def test_the_gradient_of_a_piece_is_that_of_its_rows():
    linear = nn.Linear(1, 2)
    first, second = (group[0] for group in parts.groups(linear, 1))
    assert first.gradient is None
    (linear(torch.ones(1)) * torch.tensor([3.0, 5.0])).sum().backward()
    assert first.gradient.tolist() == [[3.0]] and second.gradient.tolist() == [[5.0]]


def test_all_orders_are_those_that_the_shapes_allow():
    four, norm = parts.groups(parts.Attention(2, 1)), parts.groups(parts.Norm(2, 1e-5))
    assert len(parts.orders(four, four)) == 24 and parts.orders(norm, norm) == [(0, 1), (1, 0)]
    up_down, down_up = parts.groups(parts.FeedForward(2, 3)), parts.groups(parts.FeedForward(2, 3))[::-1]
    assert parts.orders(down_up, up_down) == [(1, 0)]


class Products(nn.Module):
    """The two maps of a network as plain parameters, with weights as in x @ w."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w2, self.b2 = nn.Parameter(torch.zeros(d_ff, d_model)), nn.Parameter(torch.zeros(d_model))
        self.w1, self.b1 = nn.Parameter(torch.zeros(d_model, d_ff)), nn.Parameter(torch.zeros(d_ff))


def test_plain_parameters_may_be_transposed_weights():
    mine, network = Products(2, 3), parts.FeedForward(2, 3)
    groups, theirs = parts.groups(mine), parts.groups(network)
    assert names(groups) == [["w2"], ["b2"], ["w1"], ["b1"], ["w2"], ["w1"]]
    as_products = next(
        o for o in parts.orders(groups, theirs) if all(p.transposed for p in parts.pieces(groups, o)[::2])
    )
    parts.fill(groups, as_products, [[piece.values for piece in group] for group in theirs])
    x = torch.randn(4, 2)
    torch.testing.assert_close(nn.functional.gelu(x @ mine.w1 + mine.b1) @ mine.w2 + mine.b2, network(x))


@pytest.mark.parametrize("mine", [nn.Identity(), nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 4), nn.Linear(4, 2))])
def test_parameters_that_cannot_be_meant_are_told_by_their_names(mine):
    with pytest.raises(Told, match=r"nn\.Linear\(2, 3\) with weight \(3, 2\) and bias \(3,\), .*; got") as error:
        parts.orders(parts.groups(mine), parts.groups(parts.FeedForward(2, 3)))
    assert all(name in str(error.value) for name, _ in mine.named_parameters())
