"""Counted costs: the operations that torch counts, the bytes that operations move, and which of them sets the time."""

import pytest
import torch
import torch.nn.functional as F
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

from encoder_lib import EncoderLayer, attention, trace
from encoder_lib.lab.costs import PARTS, Cost, layer_costs

SIZES = [(1, 1, 32, 32, 1), (2, 7, 64, 96, 4), (3, 16, 96, 32, 3), (1, 48, 32, 160, 8)]  # B, T, D, F, H


# Counts.


class Moved(TorchDispatchMode):
    """Bytes that the operations of attention and of linear maps read and write."""

    COUNTED = ("mm", "bmm", "addmm", "mul", "_softmax")

    def __init__(self):
        super().__init__()
        self.bytes = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        if func.overloadpacket.__name__ in self.COUNTED:
            self.bytes += sum(x.nbytes for x in tree_leaves((args, out)) if isinstance(x, torch.Tensor) and x.ndim)
        return out


def moved(function):
    with torch.no_grad(), Moved() as count:
        function()
    return count.bytes


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_bytes_by_count_are_those_that_operations_read_and_write(sizes, dtype):
    batch, tokens, width, hidden, heads = sizes
    layer = EncoderLayer(width, heads, hidden, bias=False).to(dtype)
    costs = layer_costs(batch, tokens, width, d_ff=hidden, n_heads=heads, number=layer.norm1.weight.element_size())
    x = torch.randn(batch, tokens, width, dtype=dtype)
    a = layer.attention
    assert moved(lambda: [p(x) for p in (a.q_proj, a.k_proj, a.v_proj, a.out_proj)]) == costs["projections"].bytes_moved
    assert moved(lambda: layer.feed_forward(x)) == costs["feed-forward"].bytes_moved
    query, key, value = torch.randn(3, batch, heads, tokens, width // heads, dtype=dtype)
    assert moved(lambda: attention(query, key, value)) == costs["attention, explicit"].bytes_moved
    output = F.scaled_dot_product_attention(query, key, value)
    assert sum(t.nbytes for t in (query, key, value, output)) == costs["attention, fused"].bytes_moved


@pytest.mark.parametrize("sizes", SIZES)
def test_flops_by_count_are_those_that_torch_counts(sizes):
    batch, tokens, width, hidden, heads = sizes
    layer = EncoderLayer(width, heads, hidden)
    costs = layer_costs(batch, tokens, width, d_ff=hidden, n_heads=heads)
    x = torch.randn(batch, tokens, width)

    def counted(function):
        with FlopCounterMode(display=False) as counter:
            function()
        return counter.get_total_flops()

    assert counted(lambda: layer.feed_forward(x)) == costs["feed-forward"].flops
    query, key, value = torch.randn(3, batch, heads, tokens, width // heads)
    assert counted(lambda: attention(query, key, value)) == costs["attention, explicit"].flops
    assert costs["attention, fused"].flops == costs["attention, explicit"].flops
    with trace(layer):
        assert counted(lambda: layer(x)) == sum(costs[part].flops for part in PARTS[:3])


@pytest.mark.parametrize("width", [64, 384, 1024])
def test_attention_costs_as_much_as_the_feed_forward_when_t_is_f(width):
    for tokens, sign in ((4 * width - 1, -1), (4 * width, 0), (4 * width + 1, 1)):
        costs = layer_costs(3, tokens, width, d_ff=4 * width, n_heads=2)
        difference = costs["attention, fused"].flops - costs["feed-forward"].flops
        assert (difference > 0) - (difference < 0) == sign


def test_the_intensity_is_operations_for_each_byte():
    assert Cost(flops=100, bytes_moved=20).arithmetic_intensity == 5


@pytest.mark.parametrize("name", ["batch", "tokens", "d_model", "d_ff", "n_heads", "number"])
@pytest.mark.parametrize(("value", "error"), [(0, ValueError), (-1, ValueError), (2.0, TypeError), ("2", TypeError)])
def test_sizes_that_are_none_are_refused(name, value, error):
    sizes = {"batch": 1, "tokens": 1, "d_model": 1, "d_ff": 1, "n_heads": 1, "number": 4} | {name: value}
    with pytest.raises(error, match=f"{name}: expected an integer"):
        layer_costs(sizes.pop("batch"), sizes.pop("tokens"), sizes.pop("d_model"), **sizes)


def test_a_cost_that_is_none_is_refused():
    for wrong in ({"flops": 0, "bytes_moved": 1}, {"flops": 1, "bytes_moved": 0}):
        with pytest.raises(ValueError, match="expected an integer of at least 1"):
            Cost(**wrong)
