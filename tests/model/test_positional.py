"""Positions: the table's formula, what follows from it, and the modules that tell a token where it stands."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch._subclasses.fake_tensor import FakeTensorMode

from encoder_lib import (
    Encoder,
    LearnedPositionalEncoding,
    RotaryPositionalEncoding,
    SinusoidalPositionalEncoding,
    alibi_bias,
    sinusoidal_table,
)
from encoder_lib.model import positional

B, H, T, D = 2, 3, 5, 8
F64 = torch.float64
TABLED = pytest.mark.parametrize("module", [SinusoidalPositionalEncoding, RotaryPositionalEncoding])


@given(st.integers(0, 40), st.integers(1, 12), st.floats(1.5, 1e6))
def test_table_equals_the_formula(length, half, base):
    """Every number, worked out alone with Python's math."""
    table = sinusoidal_table(length, 2 * half, base=base, dtype=F64)
    assert table.shape == (length, 2 * half)
    for t in range(0, length, 7):
        for i in range(2 * half):
            angle = t / base ** (2 * (i // 2) / (2 * half))
            assert table[t, i].item() == pytest.approx(math.cos(angle) if i % 2 else math.sin(angle), abs=1e-10)


@pytest.mark.parametrize(("dtype", "limit"), [(torch.float32, 6e-8), (torch.bfloat16, 4e-3)])
def test_table_is_rounded_once(dtype, limit):
    """Computed in float64: far positions are as exact as near ones, in any dtype."""
    exact = sinusoidal_table(5000, 64, dtype=F64)
    assert (sinusoidal_table(5000, 64, dtype=dtype).double() - exact).abs().max() <= limit


@pytest.mark.parametrize("leading", [(), (B,), (B, H)])
def test_sinusoidal_module_adds_the_rows(leading, device):
    x = torch.randn(*leading, T, D).to(device)
    before = x.clone()
    assert torch.equal(SinusoidalPositionalEncoding(D).to(device)(x), x + sinusoidal_table(T, D).to(device))
    assert torch.equal(x, before)


@TABLED
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, F64])
def test_takes_the_inputs_dtype_and_keeps_no_table(module, dtype, device):
    """One module serves inputs of any dtype, one after the other; there is nothing to move or to store."""
    encoding = module(D).to(device)
    x = torch.randn(B, T, D, dtype=F64).to(device)
    expected = encoding(x)
    y = encoding.half()(x.to(dtype))
    assert y.dtype == dtype and (y.double() - expected).abs().max() < 4 * torch.finfo(dtype).eps * expected.abs().max()
    assert not encoding.state_dict() and torch.equal(encoding(x), expected)


def test_learned_rows():
    """x plus the first rows of the table; only they get a gradient."""
    encoding, x = LearnedPositionalEncoding(D, 9), torch.randn(B, T, D)
    y = encoding(x)
    assert torch.equal(y, x + encoding.weight[:T])
    y.sum().backward()
    assert encoding.weight.grad.sum(1).tolist() == [B * D] * T + [0] * 4


def test_learned_rows_start_with_mean_0_and_variance_1():
    weight = LearnedPositionalEncoding(64, 500).weight
    assert weight.shape == (500, 64) and abs(weight.mean()) < 0.02 and weight.var().item() == pytest.approx(1, abs=0.03)


def test_rotary_is_multiplication_by_a_complex_number():
    """Each pair of numbers is one complex number, turned by e^(i·t·ω)."""
    x = torch.randn(B, H, T, D, dtype=F64)
    omega = torch.tensor([10_000 ** (-2 * k / D) for k in range(D // 2)], dtype=F64)
    turn = torch.polar(torch.ones(T, D // 2, dtype=F64), torch.arange(T)[:, None] * omega)
    expected = torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (-1, 2))) * turn).flatten(-2)
    torch.testing.assert_close(RotaryPositionalEncoding(D)(x), expected, atol=1e-12, rtol=0)


@pytest.mark.parametrize(("dtype", "limit"), [(torch.float32, 1e-4), (F64, 1e-11)])
@pytest.mark.parametrize("shift", [1, 1000])
def test_rotary_scores_depend_on_distance_alone(dtype, limit, shift, device):
    """Queries and keys that both stand `shift` positions further on score as before."""
    rotary, (q, k) = RotaryPositionalEncoding(16), torch.randn(2, T, 16, dtype=dtype).to(device)
    moved = [torch.cat([x.new_zeros(shift, 16), x]) for x in (q, k)]
    here, there = rotary(q) @ rotary(k).mT, (rotary(moved[0]) @ rotary(moved[1]).mT)[shift:, shift:]
    assert (here - there).abs().max() < limit


@pytest.mark.parametrize(
    ("n_heads", "exponents"),
    [
        (1, [8]),
        (8, [1, 2, 3, 4, 5, 6, 7, 8]),
        (12, [1, 2, 3, 4, 5, 6, 7, 8, 0.5, 1.5, 2.5, 3.5]),
        (16, [h / 2 for h in range(1, 17)]),
    ],
)
def test_alibi_slopes_of_the_paper(n_heads, exponents, device):
    """Geometric slopes 2^(−8h/H); for 12 heads those of 8 and then every other one of 16."""
    bias = alibi_bias(n_heads, 4, 6, dtype=F64, device=device)
    slopes = torch.tensor([2.0**-e for e in exponents], dtype=F64, device=device)
    distance = torch.tensor([[abs(i - j) for j in range(6)] for i in range(4)], device=device)
    torch.testing.assert_close(bias, -slopes[:, None, None] * distance)
    assert alibi_bias(n_heads, 0, 3).shape == (n_heads, 0, 3) and alibi_bias(1, 2, 2).dtype == torch.float32


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_alibi_is_rounded_once_in_half_precision(dtype):
    """A half has no room for the distance 4,999 itself, or for most others above 2,048."""
    assert torch.equal(alibi_bias(2, 1, 5000, dtype=dtype), alibi_bias(2, 1, 5000, dtype=F64).to(dtype))


@TABLED
@pytest.mark.long
def test_compiles(module, compiles):
    batch, length = torch.export.Dim("B"), torch.export.Dim("T")
    compiles(module(D), lambda b, t: (torch.randn(b, t, D),), ({0: batch, 1: length},))


def test_inference_mode_before_training_keeps_gradients():
    rotate, x = RotaryPositionalEncoding(8), torch.randn(4, 8, requires_grad=True)
    with torch.inference_mode():
        rotate(torch.zeros(4, 8))
    rotate(x).square().sum().backward()
    assert x.grad.isfinite().all()


@TABLED
def test_one_table_serves_all_lengths_up_to_a_power_of_two(module):
    """Another dtype gets its own; a longer input gets a longer one, whose first rows are the same."""
    positional._cached_table.cache_clear()
    encoding, x = module(D), torch.randn(9, D)
    short = [encoding(x[:length]) for length in (5, 8, 6)]
    assert positional._cached_table.cache_info().misses == 1
    encoding(x[:5].double()), encoding(x)
    assert all(torch.equal(y, encoding(x)[: len(y)]) for y in short)
    assert positional._cached_table.cache_info().misses == 3


@TABLED
def test_cached_table_serves_inference_training_and_transforms(module):
    """A table that was made in inference mode or inside torch.func does no harm to later calls."""
    positional._cached_table.cache_clear()
    encoding, x = module(D), torch.randn(T, D, dtype=F64)
    with torch.inference_mode():
        expected = encoding(x).clone()
    assert torch.equal(torch.func.vmap(encoding)(x[None])[0], expected)
    with FakeTensorMode() as fake:
        assert encoding(fake.from_tensor(x)).shape == x.shape
    weights = torch.randn(T, D, dtype=F64)
    by_func = torch.func.grad(lambda y: (encoding(y) * weights).sum())(x)
    x.requires_grad_()
    (encoding(x) * weights).sum().backward()
    assert torch.equal(encoding(x), expected)
    torch.testing.assert_close(x.grad, by_func)


def test_default_device_affects_tables_but_not_layers():
    """A table is made where torch's default device is; a layer's is where its input is."""
    x, encodings = torch.randn(T, D), [SinusoidalPositionalEncoding(D), RotaryPositionalEncoding(D)]
    expected = [encoding(x) for encoding in encodings]
    positional._cached_table.cache_clear()
    with torch.device("meta"):
        assert sinusoidal_table(T, D).is_meta and alibi_bias(H, T, T).is_meta
        assert not alibi_bias(H, T, T, device=torch.device("cpu")).is_meta
        assert all(torch.equal(encoding(x), y) for encoding, y in zip(encodings, expected, strict=True))


def test_alibi_bias_is_computed_once_for_all_layers():
    positional._cached_alibi.cache_clear()
    model = Encoder(3, D, 2, 16, positional="alibi")
    with torch.inference_mode():
        expected = model(torch.ones(B, T, D)).clone()
    output = model(torch.ones(B, T, D))
    output.sum().backward()
    assert positional._cached_alibi.cache_info().misses == 1 and torch.equal(output, expected)
