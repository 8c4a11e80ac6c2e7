"""Attention: torch's own numbers, what masks keep out, and the fused path against the one that can be read."""

import math

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
D = H * K
F64 = torch.float64
POSITIONS = ["none", "rotary", "alibi"]
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


def draw_mask(*shape, dead_row=False):
    """A random mask in which every row may attend to something, but for one when asked."""
    mask = torch.rand(shape) < 0.6
    mask[..., 0] = True
    if dead_row:
        mask[0, ..., 1, :] = False
    return mask


MASKS = {
    "none": lambda: None,
    "query and key": lambda: draw_mask(Q, T),
    "padding": lambda: draw_mask(B, 1, 1, T),
    "per head": lambda: draw_mask(1, H, Q, T),
    "one row dead": lambda: draw_mask(B, 1, Q, T, dead_row=True),
    "all dead": lambda: torch.zeros(B, H, Q, T, dtype=torch.bool),
}


def gradients(module, output, inputs):
    """The gradients of a fixed random sum of `output`, of the inputs and of every weight."""
    weights = torch.randn(output.shape, generator=torch.Generator().manual_seed(1)).to(output)
    parameters = [p for p in module.parameters()] if module else []
    return torch.autograd.grad((output * weights).sum(), [*inputs, *parameters])


# The functions


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("scale", [None, 0.3])
@pytest.mark.parametrize("with_bias", [False, True])
def test_equals_scaled_dot_product_attention(mask, scale, with_bias, device):
    """Values and gradients of torch's function, over masks, scales and biases; dead rows are zero in both."""
    mask = MASKS[mask]()
    q, k, v = (torch.randn(B, H, n, m, dtype=F64).to(device).requires_grad_() for n, m in ((Q, K), (T, K), (T, 7)))
    bias = torch.randn(H, Q, T, dtype=F64).to(device) if with_bias else None
    mask = None if mask is None else mask.to(device)
    theirs = mask
    if with_bias:
        theirs = bias if mask is None else bias.masked_fill(~mask, -math.inf)
    ours, weights = attention(q, k, v, mask, bias=bias, scale=scale)
    expected = F.scaled_dot_product_attention(q, k, v, theirs, scale=scale)
    torch.testing.assert_close(ours, expected, atol=1e-10, rtol=0)
    torch.testing.assert_close(gradients(None, ours, (q, k, v)), gradients(None, expected, (q, k, v)))
    assert weights.shape == (B, H, Q, T)


@pytest.mark.parametrize(("dtype", "limit"), [(torch.float32, 5e-6), (torch.float16, 2e-2), (torch.bfloat16, 1e-1)])
def test_precision(dtype, limit, device):
    """Against float64, with a mask and a dead row."""
    q, k, v = (torch.randn(B, H, n, K, dtype=F64).to(device) for n in (Q, T, T))
    mask = draw_mask(B, 1, Q, T, dead_row=True).to(device)
    ours, weights = attention(q.to(dtype), k.to(dtype), v.to(dtype), mask)
    assert ours.dtype == weights.dtype == dtype
    assert (ours.double() - attention(q, k, v, mask)[0]).abs().max() < limit


@given(st.lists(st.integers(0, 3), max_size=2), st.integers(0, 6), st.integers(1, 7), st.integers(1, 9), st.data())
def test_rows_of_weights_sum_to_one_or_zero(leading, q_len, k_len, width, data):
    """Each row is non-negative and sums to 1, or to 0 where nothing is allowed; what is not allowed weighs nothing."""
    q, k = torch.randn(*leading, q_len, width, dtype=F64), torch.randn(*leading, k_len, width, dtype=F64)
    mask = torch.rand(q_len, k_len) < data.draw(st.sampled_from([0.0, 0.3, 0.7, 1.0]))
    weights = attention_weights(10 * q, k, mask)
    assert weights.shape == (*leading, q_len, k_len) and (weights >= 0).all()
    sums = mask.any(-1).double().expand(*leading, q_len)
    torch.testing.assert_close(weights.sum(-1), sums, atol=1e-12, rtol=0)
    assert not weights.masked_select(~mask).any()


def test_written_out_by_hand():
    """Two queries, three keys, with Python's own arithmetic."""
    q, k, v = ([[1.0, 0.0], [0.5, 2.0]], [[1.0, 1.0], [0.0, -1.0], [2.0, 0.5]], [[1.0], [10.0], [100.0]])
    for i, query in enumerate(q):
        scores = [sum(a * b for a, b in zip(query, key, strict=True)) / math.sqrt(2) for key in k]
        total = sum(math.exp(s) for s in scores)
        mean = sum(math.exp(s) / total * value[0] for s, value in zip(scores, v, strict=True))
        assert attention(*map(torch.tensor, (q, k, v)))[0][i].item() == pytest.approx(mean, rel=1e-6)


def test_output_is_a_weighted_mean():
    """No output leaves the range of the values; equal scores give the plain mean."""
    q, k, v = torch.randn(B, Q, K), torch.randn(B, T, K), torch.randn(B, T, K)
    output, weights = attention(q, k, v)
    assert (output <= v.amax(1, keepdim=True)).all() and (output >= v.amin(1, keepdim=True)).all()
    assert torch.equal(output, weights @ v)
    torch.testing.assert_close(attention(0 * q, k, v)[0], v.mean(1, keepdim=True).expand(B, Q, K))


@pytest.mark.parametrize("width", [4, 64, 512])
def test_scale_keeps_the_variance_of_the_scores(width):
    """Unscaled scores of standard normal vectors have variance K, scaled ones 1, and only those keep a soft softmax."""
    q, k = torch.randn(256, width), torch.randn(256, width)
    assert attention_scores(q, k, scale=1.0).var().item() == pytest.approx(width, rel=0.1)
    assert attention_scores(q, k).var().item() == pytest.approx(1, rel=0.1)


def test_softmax_is_over_the_keys():
    """Rows sum to 1, columns do not."""
    weights = attention_weights(torch.randn(Q, K), torch.randn(T, K))
    torch.testing.assert_close(weights.sum(-1), torch.ones(Q))
    assert (weights.sum(0) - 1).abs().max() > 0.05


@pytest.mark.parametrize("dtype", DTYPES)
def test_dead_row_is_exactly_zero_with_finite_gradients(dtype, device):
    """A row that may attend to nothing has weights of zero and no gradient; −1e9 would average, −inf give NaN."""
    scores = torch.randn(B, Q, T).to(device, dtype).requires_grad_()
    mask = draw_mask(B, Q, T, dead_row=True).to(device)
    weights = masked_softmax(scores, mask)
    (weights * torch.randn(T).to(device, dtype)).sum().backward()
    assert not weights[0, 1].any() and not scores.grad[0, 1].any()
    assert scores.grad.isfinite().all() and scores.grad[1].any()
    assert weights[1].sum(-1).double().allclose(torch.ones(Q, dtype=F64, device=device), atol=1e-2)


@pytest.mark.parametrize("scores", [torch.full((2, 3), -1e9), torch.tensor([[1e30, -1e30, 0.0]] * 2)])
def test_extreme_scores_stay_finite(scores):
    """Huge scores of either sign neither overflow nor bring back what the mask forbids."""
    mask = torch.tensor([[True, True, False], [False, False, False]])
    weights = masked_softmax(scores, mask)
    torch.testing.assert_close(weights.sum(-1), torch.tensor([1.0, 0.0]))
    assert not weights[~mask].any()


@pytest.mark.parametrize("mask", MASKS)
def test_function_gradcheck(mask):
    """Gradients of query, key, value and bias against finite differences, dead rows among them."""
    mask = MASKS[mask]()
    shapes = (B, H, Q, 2), (B, H, T, 2), (B, H, T, 2), (H, Q, T)
    inputs = [torch.randn(shape, dtype=F64, requires_grad=True) for shape in shapes]
    assert torch.autograd.gradcheck(lambda q, k, v, b: attention(q, k, v, mask, bias=b), inputs)


# The module


def torch_twin(ours):
    """An nn.MultiheadAttention with the same weights."""
    weight = ours.q_proj.weight
    bias = ours.q_proj.bias is not None
    theirs = nn.MultiheadAttention(ours.d_model, ours.n_heads, bias=bias, batch_first=True, dtype=weight.dtype)
    three = ours.q_proj, ours.k_proj, ours.v_proj
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([p.weight for p in three]))
        theirs.out_proj.weight.copy_(ours.out_proj.weight)
        if bias:
            theirs.in_proj_bias.copy_(torch.cat([p.bias for p in three]))
            theirs.out_proj.bias.copy_(ours.out_proj.bias)
    return theirs.to(weight.device).train(ours.training)


@pytest.mark.parametrize("mode", ["train", "eval"])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("mask", ["none", "padding", "causal", "both"])
def test_equals_torch_module(mode, bias, mask, device):
    """nn.MultiheadAttention, whose masks mean the opposite: True there is "may not attend"."""
    ours = MultiHeadAttention(D, H, bias=bias).to(device, F64).train(mode == "train")
    theirs = torch_twin(ours)
    x = torch.randn(B, T, D, dtype=F64).to(device).requires_grad_()
    padding = lengths_mask(torch.tensor([T, 3])).to(device) if mask in ("padding", "both") else None
    causal = causal_mask(T, device=device) if mask in ("causal", "both") else None
    allowed = padding if causal is None else causal if padding is None else padding & causal
    expected, weights = theirs(
        x,
        x,
        x,
        key_padding_mask=None if padding is None else ~padding[:, 0, 0],
        attn_mask=None if causal is None else ~causal,
        average_attn_weights=False,
    )
    output = ours(x, x, x, allowed)
    torch.testing.assert_close(output, expected, atol=1e-10, rtol=0)
    torch.testing.assert_close(gradients(ours, output, [x])[0], gradients(None, expected, [x])[0], atol=1e-10, rtol=0)
    with trace(ours) as t:
        ours(x, x, x, allowed)
    torch.testing.assert_close(t["weights"], weights, atol=1e-10, rtol=0)
    if mask == "both":  # the same mask read the other way round is another result
        assert (ours(x, x, x, ~allowed) - expected).abs().max() > 0.01


def test_equals_torch_module_in_cross_attention():
    """Queries from one sequence, keys and values from two others of another length."""
    ours = MultiHeadAttention(D, H).double()
    query, key, value = (torch.randn(B, n, D, dtype=F64) for n in (Q, T, T))
    allowed = draw_mask(B, 1, 1, T)
    expected, _ = torch_twin(ours)(query, key, value, key_padding_mask=~allowed[:, 0, 0])
    assert expected.shape == (B, Q, D)
    torch.testing.assert_close(ours(query, key, value, allowed), expected, atol=1e-10, rtol=0)


def test_heads_are_slices():
    """Each head works on its own slice of K numbers, and the output joins them in order."""
    module, x = MultiHeadAttention(D, H).double(), torch.randn(B, T, D, dtype=F64)
    q, k, v = (p(x).split(K, dim=-1) for p in (module.q_proj, module.k_proj, module.v_proj))
    heads = [attention(q[h], k[h], v[h])[0] for h in range(H)]
    torch.testing.assert_close(module(x, x, x), module.out_proj(torch.cat(heads, -1)), atol=1e-10, rtol=0)


@pytest.mark.parametrize("n_heads", [1, D])
def test_one_head_and_heads_of_width_one(n_heads):
    """H = 1 and H = D, against torch."""
    ours, x = MultiHeadAttention(D, n_heads).double(), torch.randn(B, T, D, dtype=F64)
    torch.testing.assert_close(ours(x, x, x), torch_twin(ours)(x, x, x)[0], atol=1e-10, rtol=0)


@pytest.mark.parametrize("positional", POSITIONS)
@pytest.mark.parametrize("mode", ["train", "eval"])
@pytest.mark.parametrize("mask", MASKS)
def test_fused_equals_explicit(positional, mode, mask, device):
    """With and without a trace: the same values, and the same gradients of inputs and weights."""
    module = MultiHeadAttention(D, H, positional=positional).to(device, F64).train(mode == "train")
    inputs = [torch.randn(B, n, D, dtype=F64).to(device).requires_grad_() for n in (Q, T, T)]
    mask = MASKS[mask]()
    mask = None if mask is None else mask.to(device)
    fused = module(*inputs, mask)
    with trace(module) as t:
        explicit = module(*inputs, mask)
    assert t["weights"].shape == (B, H, Q, T)
    torch.testing.assert_close(fused, explicit, atol=1e-10, rtol=0)
    torch.testing.assert_close(
        gradients(module, fused, inputs), gradients(module, explicit, inputs), atol=1e-10, rtol=0
    )


@pytest.mark.parametrize("positional", POSITIONS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("traced", [False, True])
def test_dead_row_in_the_module(positional, dtype, traced, device):
    """A query that may attend to nothing gets the output's bias and nothing else; every gradient is finite."""
    module = MultiHeadAttention(D, H, positional=positional).to(device, dtype)
    x = torch.randn(B, T, D).to(device, dtype).requires_grad_()
    mask = draw_mask(B, 1, T, T, dead_row=True).to(device)
    if traced:
        with trace(module):
            y = module(x, x, x, mask)
    else:
        y = module(x, x, x, mask)
    assert torch.equal(y[0, 1], module.out_proj.bias)
    assert all(g.isfinite().all() for g in gradients(module, y, [x]))


@pytest.mark.parametrize("positional", POSITIONS)
def test_alibi_and_rotary_act_on_scores(positional):
    """The scores are those of the plain module, turned or lowered by distance as the two papers say."""
    module, x = MultiHeadAttention(D, H, positional=positional).double(), torch.randn(B, T, D, dtype=F64)
    with trace(module) as t:
        module(x, x, x)
    q, k = (p(x).unflatten(-1, (H, K)).transpose(1, 2) for p in (module.q_proj, module.k_proj))
    if positional == "rotary":
        q, k = module.rotary(q), module.rotary(k)
    scores = q @ k.mT / math.sqrt(K)
    if positional == "alibi":
        scores = scores + alibi_bias(H, T, T, dtype=F64)
    torch.testing.assert_close(t["scores"], scores, atol=1e-10, rtol=0)


@pytest.mark.parametrize(("positional", "blind"), [("none", True), ("rotary", False), ("alibi", False)])
def test_permutation(positional, blind):
    """Without positions attention cannot tell the order: shuffled tokens give shuffled outputs. With them it can."""
    module, x = MultiHeadAttention(D, H, positional=positional).double(), torch.randn(B, T, D, dtype=F64)
    order = torch.tensor([3, 0, 4, 1, 2])
    shuffled = x[:, order]
    error = (module(shuffled, shuffled, shuffled) - module(x, x, x)[:, order]).abs().max()
    assert error < 1e-12 if blind else error > 1e-3


@pytest.mark.parametrize("positional", POSITIONS)
@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, F64])
def test_masked_keys_have_no_say(positional, traced, dtype, device):
    """Other numbers in padded or later positions leave the rest as it was, bit by bit."""
    module = MultiHeadAttention(D, H, positional=positional).to(device, dtype)
    x = torch.randn(B, T, D).to(device, dtype)
    other = x.clone()
    other[:, 3:] = 50 * torch.randn(B, T - 3, D).to(device, dtype)

    def run(x, mask):
        if not traced:
            return module(x, x, x, mask)
        with trace(module):
            return module(x, x, x, mask)

    for mask in (lengths_mask(torch.tensor([3, 3]), T).to(device), causal_mask(T, device=device)):
        assert torch.equal(run(x, mask)[:, :3], run(other, mask)[:, :3])
        assert not torch.equal(run(x, None)[:, :3], run(other, None)[:, :3])


@pytest.mark.parametrize("positional", POSITIONS)
@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize(("batch", "q_len", "k_len"), [(B, 0, 0), (B, 0, T), (B, Q, 0), (0, Q, T), (1, 1, 1)])
def test_empty_and_single(positional, traced, batch, q_len, k_len):
    """No queries give no outputs; no keys give the output's bias; one token sees itself."""
    module = MultiHeadAttention(D, H, positional=positional)
    query, key = torch.randn(batch, q_len, D), torch.randn(batch, k_len, D)
    if traced:
        with trace(module):
            y = module(query, key, key)
    else:
        y = module(query, key, key)
    assert y.shape == (batch, q_len, D)
    if k_len == 0:
        assert torch.equal(y, module.out_proj.bias.expand_as(y))
    if k_len == 1:
        torch.testing.assert_close(y, module.out_proj(module.v_proj(key)))


@pytest.mark.parametrize("positional", POSITIONS)
@pytest.mark.parametrize("mask", ["none", "one row dead"])
def test_gradcheck(positional, mask, gradcheck):
    """Gradients of the three inputs and of every weight against finite differences."""
    mask = MASKS[mask]()
    module = MultiHeadAttention(4, 2, positional=positional).double()
    inputs = [torch.randn(B, n, 4, dtype=F64) for n in (Q, T, T)]
    assert gradcheck(module, *inputs, mask=mask)


def test_mask_shapes_agree():
    """A mask may leave out what it does not need: all shapes that say the same give the same."""
    module, x = MultiHeadAttention(D, H), torch.randn(B, T, D)
    mask = draw_mask(T, T)
    expected = module(x, x, x, mask)
    for shape in ((1, 1, T, T), (B, 1, T, T), (1, H, T, T), (B, H, T, T)):
        torch.testing.assert_close(module(x, x, x, mask.expand(shape)), expected)
    keys = draw_mask(T)
    for shape in ((1, T), (1, 1, 1, T), (B, 1, 1, T), (B, H, 1, T)):
        torch.testing.assert_close(module(x, x, x, keys.expand(shape)), module(x, x, x, keys.expand(T, T)))


def test_square_mask_in_a_square_batch():
    """B = T: spelled out in 4 dimensions, (query, key) and (B, T) are told apart."""
    module, x, mask = MultiHeadAttention(D, H), torch.randn(T, T, D), causal_mask(T)
    one_by_one = torch.cat([module(x[[b]], x[[b]], x[[b]], mask) for b in range(T)])
    torch.testing.assert_close(module(x, x, x, mask[None, None]), one_by_one, atol=1e-6, rtol=0)
    assert (module(x, x, x, mask[:, None, None]) - one_by_one).abs().max() > 1e-3


@pytest.mark.parametrize("traced", [False, True])
def test_dropout_falls_on_weights_in_train_mode(traced):
    """Averaged over many draws dropout changes nothing; a single draw differs; in eval mode none does."""
    module, x = MultiHeadAttention(D, H, dropout=0.5).double(), torch.randn(1, T, D, dtype=F64)
    whole = module.eval()(x, x, x)
    assert torch.equal(module(x, x, x), whole)
    with trace(module):
        torch.testing.assert_close(module(x, x, x), whole, atol=1e-12, rtol=0)
    many = x.expand(4000, T, D)
    if traced:
        with trace(module.train()):
            dropped = module(many, many, many)
    else:
        dropped = module.train()(many, many, many)
    assert (dropped[0] - whole[0]).abs().max() > 0.01 and (dropped[0] - dropped[1]).abs().max() > 0.01
    torch.testing.assert_close(dropped.mean(0, keepdim=True), whole, atol=0.03, rtol=0)


def test_state_dict_round_trip_and_untouched_input():
    """A second module loads the first one's weights, without the rotary table; inputs are not written to."""
    first, second = (MultiHeadAttention(D, H, positional="rotary") for _ in range(2))
    x, mask = torch.randn(B, T, D), draw_mask(B, 1, T, T, dead_row=True)
    kept = x.clone(), mask.clone()
    y = first(x, x, x, mask)
    second.load_state_dict(first.state_dict())
    assert torch.equal(second(x, x, x, mask), y) and torch.equal(x, kept[0]) and torch.equal(mask, kept[1])
    names = [f"{p}_proj.{w}" for p in ("q", "k", "v", "out") for w in ("weight", "bias")]
    assert list(first.state_dict()) == names


@pytest.mark.parametrize("positional", POSITIONS)
def test_autocast(positional, device):
    """Under autocast the halves of the work that torch chooses run in bfloat16, in both paths."""
    module, x = MultiHeadAttention(D, H, positional=positional).to(device), torch.randn(B, T, D).to(device)
    expected = module(x, x, x)
    with torch.autocast(device.type, dtype=torch.bfloat16):
        fused = module(x, x, x)
        with trace(module):
            explicit = module(x, x, x)
    assert fused.dtype == torch.bfloat16
    assert (fused - expected).abs().max() < 5e-2 and (explicit - expected).abs().max() < 5e-2


def test_function_compiles():
    """The function, with everything that it takes, as one graph."""
    q, k, v = torch.randn(B, Q, K), torch.randn(B, T, K), torch.randn(B, T, K)
    bias, mask = torch.randn(Q, T), draw_mask(Q, T)
    torch._dynamo.reset()
    compiled = torch.compile(attention, fullgraph=True, backend="aot_eager")
    expected = attention(q, k, v, mask, bias=bias, scale=0.3)
    torch.testing.assert_close(compiled(q, k, v, mask, bias=bias, scale=0.3), expected)
    torch._dynamo.reset()
