"""Attention: held to its formula, written out here once more, and to torch's own functions and layers."""

import math
from contextlib import nullcontext

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from encoder_lib import (
    MultiHeadAttention,
    alibi_bias,
    attention,
    attention_scores,
    attention_weights,
    causal_mask,
    lengths_mask,
    masked_softmax,
    trace,
)

B, H, Q, T, K = 2, 3, 4, 5, 6
D, F64 = H * K, torch.float64
DTYPES = {torch.float16: 2e-2, torch.bfloat16: 1e-1, torch.float32: 5e-6, F64: 1e-10}  # and the most one may be off
close = torch.testing.assert_close
positions = pytest.mark.parametrize("positional", ["none", "rotary", "alibi"])
traced = pytest.mark.parametrize("traced", [False, True], ids=["fused", "traced"])


def draw_mask(*shape):
    """A random mask in which every row may attend to something."""
    return (torch.rand(shape) < 0.6) | (torch.arange(shape[-1]) == 0)


MASKS = {
    "none": lambda: None,
    "query and key": lambda: draw_mask(Q, T),
    "keys": lambda: draw_mask(1, T),
    "padding": lambda: draw_mask(B, 1, 1, T),
    "per head": lambda: draw_mask(1, H, Q, T),
    "one row dead": lambda: draw_mask(B, 1, Q, T) & (torch.arange(Q) != 1)[:, None],
    "all dead": lambda: torch.zeros(B, H, Q, T, dtype=torch.bool),
}


def on(device, mask):
    """One of the masks, drawn and moved."""
    mask = MASKS[mask]()
    return None if mask is None else mask.to(device)


def gradients(output, inputs):
    """The gradients of a fixed random sum of `output`."""
    weights = torch.randn(output.shape, generator=torch.Generator().manual_seed(1)).to(output)
    return torch.autograd.grad((output * weights).sum(), [*inputs])


def formula(module, query, key, value, mask=None):
    """Head by head, by exponentials, with the module's own parameters: the output, the scores and the weights."""
    scores, weights, fetched = [], [], []
    for h, part in enumerate(torch.arange(module.d_model).chunk(module.n_heads)):  # the head's own slice of D
        maps = (query, module.q_proj), (key, module.k_proj), (value, module.v_proj)
        q, k, v = (x @ p.weight[part].mT + p.bias[part] for x, p in maps)  # (B, T, K) each
        q, k = module.rotary(q), module.rotary(k)
        scores.append(torch.einsum("bqd,bkd->bqk", q, k) / math.sqrt(len(part)))
        if module.alibi:
            scores[h] = scores[h] + alibi_bias(module.n_heads, q.shape[1], k.shape[1], dtype=F64)[h].to(q.device)
        powers = scores[h].exp()
        if mask is not None:
            powers = powers * mask.expand(len(q), module.n_heads, q.shape[1], k.shape[1])[:, h]
        weights.append(powers / powers.sum(-1, keepdim=True).clamp(min=1e-300))
        fetched.append(weights[h] @ v)
    return module.out_proj(torch.cat(fetched, -1)), torch.stack(scores, 1), torch.stack(weights, 1)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize(("scale", "with_bias"), [(None, False), (0.3, True)])
def test_equals_scaled_dot_product_attention(mask, scale, with_bias, device):
    """Values and gradients of torch's function."""
    mask = on(device, mask)
    q, k, v = (torch.randn(B, H, n, m, dtype=F64).to(device).requires_grad_() for n, m in ((Q, K), (T, K), (T, 7)))
    bias = torch.randn(H, Q, T, dtype=F64).to(device).requires_grad_() if with_bias else None
    theirs = mask if bias is None else bias if mask is None else bias.masked_fill(~mask, -math.inf)
    ours, weights = attention(q, k, v, mask, bias=bias, scale=scale)
    expected = F.scaled_dot_product_attention(q, k, v, theirs, scale=scale)
    close(ours, expected, atol=1e-10, rtol=0)
    inputs = [q, k, v, *([bias] if with_bias else [])]
    close(gradients(ours, inputs), gradients(expected, inputs))
    assert torch.equal(ours, weights @ v)  # seven numbers a value for five keys: no other weights make this output


@given(st.lists(st.integers(0, 3), max_size=2), st.integers(0, 6), st.integers(1, 7), st.integers(1, 9))
def test_any_shape(leading, q_len, k_len, width):
    q, k = torch.randn(*leading, q_len, width, dtype=F64), torch.randn(*leading, k_len, width, dtype=F64)
    weights = attention_weights(q, k, torch.ones(q_len, k_len).bool())
    close(weights, (attention_scores(q, k, scale=1.0) / math.sqrt(width)).softmax(-1))
    assert weights.shape == (*leading, q_len, k_len)


@pytest.mark.parametrize("dtype", DTYPES)
def test_dead_rows_and_extreme_scores(dtype, device):
    """A row that may attend to nothing is exactly zero, without gradient; −1e9 would average, −inf give NaN."""
    lowest, highest = torch.finfo(dtype).min / 2, torch.finfo(dtype).max / 2
    for numbers in (torch.randn(4).tolist(), [highest, lowest, 0, 1], [lowest] * 4):
        scores = torch.tensor([numbers] * 3, device=device, dtype=dtype, requires_grad=True)
        mask = torch.tensor([[True, True, False, True], [False] * 4, [True] * 4], device=device)
        weights = masked_softmax(scores, mask)
        (weights * torch.randn(4).to(device, dtype)).sum().backward()
        assert not weights[~mask].any() and not scores.grad[1].any() and scores.grad.isfinite().all()
        close(weights.sum(-1).double(), torch.tensor([1.0, 0, 1], dtype=F64, device=device), atol=1e-2, rtol=0)


def test_weights_returned_are_those_before_dropout():
    q, k, v = torch.randn(3, B, H, T, K, dtype=F64)
    whole, weights = attention(q, k, v)
    dropped, returned = attention(q, k, v, dropout=0.5)
    assert torch.equal(returned, weights) and (dropped - whole).abs().max() > 0.01
    assert not attention(q, k, v, dropout=1.0)[0].any()


def test_attention_goes_on_with_what_a_probe_returns():
    q, k, v = torch.randn(3, B, H, T, K, dtype=F64)
    seen = []
    output, weights = attention(q, k, v, probe=lambda name, x: seen.append(name) or torch.zeros_like(x))
    assert seen == ["scores", "weights"] and not weights.any() and not output.any()
    _, weights = attention(q, k, v, probe=lambda name, x: torch.zeros_like(x) if name == "scores" else x)
    close(weights, torch.full_like(weights, 1 / T))


@positions
@pytest.mark.parametrize("mask", MASKS)
@traced
def test_equals_the_formula(positional, mask, traced, device):
    """Queries from one sequence, keys and values from another: output, gradients, and what a trace tells."""
    module = MultiHeadAttention(D, H, positional=positional).to(device, F64)
    inputs = [torch.randn(B, n, D, dtype=F64).to(device).requires_grad_() for n in (Q, T, T)]
    mask, tensors = on(device, mask), [*inputs, *module.parameters()]
    with trace(module) if traced else nullcontext() as t:
        y = module(*inputs, mask)
    expected, scores, weights = formula(module, *inputs, mask)
    close(y, expected, atol=1e-10, rtol=0)
    close(gradients(y, tensors), gradients(expected, tensors), atol=1e-9, rtol=0)
    if traced:
        close((t["scores"], t["weights"]), (scores, weights), atol=1e-10, rtol=0)


@positions
@traced
@pytest.mark.parametrize("dtype", DTYPES)
def test_another_sequence_of_the_same_length(positional, traced, dtype, device):
    """Query, key and value of one shape and three contents: none is taken for another, in any dtype."""
    module = MultiHeadAttention(D, H, positional=positional).to(device, dtype)
    inputs = [torch.randn(B, T, D).to(device, dtype).requires_grad_() for _ in range(3)]
    mask = (draw_mask(B, 1, T, T) & (torch.arange(T) != 1)[:, None]).to(device)
    with trace(module) if traced else nullcontext():
        y = module(*inputs, mask)
    assert y.dtype == dtype and torch.equal(y[:, 1], module.out_proj.bias.expand(B, D))
    assert all(g.isfinite().all() for g in gradients(y, [*inputs, *module.parameters()]))
    expected = formula(module.double(), *(x.double() for x in inputs), mask)[0]
    close(y.double(), expected, atol=DTYPES[dtype], rtol=DTYPES[dtype])


@pytest.mark.parametrize(("n_heads", "bias"), [(1, True), (H, True), (H, False), (D, True)])
def test_equals_torch_module(n_heads, bias, device):
    """nn.MultiheadAttention, whose masks mean the opposite: True there is "may not attend"."""
    ours = MultiHeadAttention(D, n_heads, bias=bias).to(device, F64)
    theirs = nn.MultiheadAttention(D, n_heads, bias=bias, batch_first=True, dtype=F64, device=device)
    for kind in ("weight", "bias")[: 1 + bias]:
        three = torch.cat([getattr(p, kind) for p in (ours.q_proj, ours.k_proj, ours.v_proj)])
        state = {f"in_proj_{kind}": three, f"out_proj.{kind}": getattr(ours.out_proj, kind)}
        theirs.load_state_dict(state, strict=False)
    padding, order = lengths_mask(torch.tensor([T, 3])).to(device), draw_mask(Q, T).to(device)
    query, key, value = (torch.randn(B, n, D, dtype=F64).to(device) for n in (Q, T, T))
    expected, _ = theirs(query, key, value, key_padding_mask=~padding[:, 0, 0], attn_mask=~order)
    close(ours(query, key, value, padding & order), expected, atol=1e-10, rtol=0)


@positions
@traced
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_masked_keys_have_no_say(positional, traced, dtype, device):
    """Other numbers in padded or later positions leave the rest as it was, bit by bit."""
    module = MultiHeadAttention(D, H, positional=positional).to(device, dtype)
    x, other = torch.randn(2, B, T, D).to(device, dtype)
    other[:, :3], other[:, 3:] = x[:, :3], 50 * other[:, 3:]
    for mask in (lengths_mask(torch.tensor([3, 3]), T).to(device), causal_mask(T).to(device)):
        with trace(module) if traced else nullcontext():
            assert torch.equal(module(x, x, x, mask)[:, :3], module(other, other, other, mask)[:, :3])


@positions
@traced
@pytest.mark.parametrize(("batch", "q_len", "k_len"), [(B, 0, T), (B, Q, 0), (0, Q, T), (1, 1, 1)])
def test_empty_and_single(positional, traced, batch, q_len, k_len):
    module = MultiHeadAttention(D, H, positional=positional).double()
    query, key = torch.randn(batch, q_len, D, dtype=F64), torch.randn(batch, k_len, D, dtype=F64)
    with trace(module) if traced else nullcontext():
        y = module(query, key, key)
    close(y, formula(module, query, key, key)[0], atol=1e-10, rtol=0)


@pytest.mark.parametrize("mask", [causal_mask(T), causal_mask(T)[:, :1]], ids=["square", "one column"])
def test_2d_mask_is_query_and_key_when_batch_equals_length(mask):
    """Two dimensions never mean (B, T), whatever B is."""
    module, x = MultiHeadAttention(D, H), torch.randn(T, T, D)
    assert torch.equal(module(x, x, x, mask), module(x, x, x, mask[None, None]))


@pytest.mark.parametrize("advised", [lambda mask: mask == 0, lambda mask: mask.exp().bool()])
def test_additive_mask_is_refused_with_advice(advised):
    """The advice for torch's masks of 0 and −inf gives the mask that is meant."""
    module, x = MultiHeadAttention(D, H), torch.randn(B, T, D)
    additive = nn.Transformer.generate_square_subsequent_mask(T)
    with pytest.raises(TypeError, match=r"try mask == 0 for a mask of 0 \(may attend\) and −inf, mask.bool\(\) for"):
        module(x, x, x, additive)
    with pytest.raises(TypeError, match=r"got torch.int64; try mask.bool\(\) for a mask of 1 \(may attend\) and 0$"):
        module(x, x, x, causal_mask(T).long())
    assert torch.equal(advised(additive), causal_mask(T))


def test_scores_do_not_overflow_in_half_precision():
    """Products of float16 that are finite after scaling; the same through a trace."""
    q = k = torch.full((1, 1, 2, 64), 40.0, dtype=torch.float16)
    assert attention_scores(q, k).tolist() == [[[[12800.0] * 2] * 2]]
    output, weights = attention(q, k, k)
    assert weights.eq(0.5).all() and output.eq(40).all()


@traced
def test_dropout_falls_on_weights_in_train_mode(traced):
    """Averaged over many draws dropout changes nothing; a single draw differs; in eval mode none does."""
    module, x = MultiHeadAttention(D, H, dropout=0.5).double(), torch.randn(1, T, D, dtype=F64)
    many = x.expand(4000, T, D)
    with trace(module) if traced else nullcontext():
        whole, dropped = module.eval()(x, x, x), module.train()(many, many, many)
    close(whole, formula(module, x, x, x)[0], atol=1e-10, rtol=0)
    assert (dropped[0] - whole[0]).abs().max() > 0.01 and (dropped[0] - dropped[1]).abs().max() > 0.01
    close(dropped.mean(0, keepdim=True), whole, atol=0.03, rtol=0)


def test_inputs_stay_and_parameters_have_the_fields_names():
    module, x, mask = MultiHeadAttention(D, H, positional="rotary"), torch.randn(B, T, D), draw_mask(B, 1, T, T)
    kept, _ = (x.clone(), mask.clone()), module(x, x, x, mask)
    close((x, mask), kept, atol=0, rtol=0)
    assert list(module.state_dict()) == [f"{p}_proj.{w}" for p in ("q", "k", "v", "out") for w in ("weight", "bias")]


@traced
def test_autocast(traced, device):
    module, x = MultiHeadAttention(D, H, positional="alibi").to(device), torch.randn(B, T, D).to(device)
    with torch.autocast(device.type, dtype=torch.bfloat16), trace(module) if traced else nullcontext():
        y = module(x, x, x)
    assert y.dtype == torch.bfloat16 and (y - module(x, x, x)).abs().max() < 5e-2


@pytest.mark.long
def test_function_compiles():
    inputs, options = [*torch.randn(3, T, K), draw_mask(T, T)], {"bias": torch.randn(T, T), "scale": 0.3}
    torch._dynamo.reset()
    compiled = torch.compile(attention, fullgraph=True, backend="aot_eager")
    close(compiled(*inputs, **options), attention(*inputs, **options))
    torch._dynamo.reset()
