"""Counted costs: the operations that torch counts, the bytes that operations move, and which of them sets the time."""

import pytest
import torch
import torch.nn.functional as F
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

from encoder_lib import EncoderLayer, attention, trace
from encoder_lib.course.fast_encoder.costs import PARTS, Cost, layer_costs

SIZES = [(1, 1, 32, 32, 1), (2, 7, 64, 96, 4)]  # B, T, D, F, H


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


def test_the_intensity_is_operations_for_each_byte():
    assert Cost(flops=100, bytes_moved=20).arithmetic_intensity == 5
