"""Positions: the table's formula, what follows from it, and the four modules that tell a token where it stands."""

import copy
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from encoder_lib import (
    LearnedPositionalEncoding,
    RotaryPositionalEncoding,
    SinusoidalPositionalEncoding,
    alibi_bias,
    sinusoidal_table,
)
from encoder_lib.model.positional import _kept_table

B, H, T, D = 2, 3, 5, 8
F64 = torch.float64


def rotation(shift, d_model, base=10_000.0):
    """The matrix (D, D) by which a row of the table, written as a row vector, moves `shift` positions on."""
    blocks = []
    for k in range(d_model // 2):
        angle = shift / base ** (2 * k / d_model)
        blocks.append(
            torch.tensor([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]], dtype=F64)
        )
    return torch.block_diag(*blocks)


def literal_table(length, d_model):
    """A wrong reading of the formula: each dimension i gets a frequency 10000^(−2i/D) of its own."""
    position, i = torch.arange(length, dtype=F64)[:, None], torch.arange(d_model, dtype=F64)
    angle = position / 10_000 ** (2 * i / d_model)
    return torch.where(i % 2 == 0, angle.sin(), angle.cos())


@given(st.integers(0, 40), st.integers(1, 12), st.floats(1.5, 1e6), st.integers(0, 10_000))
def test_table_equals_the_formula(length, half, base, start):
    """Every number, worked out alone with Python's math."""
    table = sinusoidal_table(length, 2 * half, base=base, dtype=F64, start=start)
    assert table.shape == (length, 2 * half)
    for t in range(0, length, 7):
        for i in range(2 * half):
            angle = (start + t) / base ** (2 * (i // 2) / (2 * half))
            assert table[t, i].item() == pytest.approx(math.cos(angle) if i % 2 else math.sin(angle), abs=1e-10)


@pytest.mark.parametrize(("dtype", "limit"), [(torch.float32, 6e-8), (torch.float16, 5e-4), (torch.bfloat16, 4e-3)])
def test_table_is_rounded_once(dtype, limit):
    """Computed in float64: far positions are as exact as near ones, in any dtype."""
    exact = sinusoidal_table(5000, 64, dtype=F64)
    assert (sinusoidal_table(5000, 64, dtype=dtype).double() - exact).abs().max() <= limit


def test_wavelengths_fall_from_two_pi():
    """D/2 clocks, each slower than the one before, with wavelengths from 2π up to nearly 2π · base."""
    row = sinusoidal_table(2, 512, dtype=F64)[1]
    wavelengths = 2 * math.pi / torch.atan2(row[0::2], row[1::2])
    assert len(wavelengths) == 256 and (wavelengths.diff() > 0).all()
    assert wavelengths[0].item() == pytest.approx(2 * math.pi)
    assert wavelengths[-1].item() == pytest.approx(2 * math.pi * 10_000 ** (510 / 512))


@pytest.mark.parametrize("shift", [0, 1, 7, 50, 150])
def test_a_shift_is_a_rotation(shift):
    """One matrix moves every row by the same number of positions, whichever row it is."""
    table = sinusoidal_table(200, 32, dtype=F64)
    assert (table[: 200 - shift] @ rotation(shift, 32) - table[shift:]).abs().max() < 1e-12


def test_a_shift_of_the_literal_formula_is_no_linear_map():
    """Read literally, sine and cosine of one clock are parted, and then not even the best matrix moves the rows."""
    for table, linear in ((sinusoidal_table(200, 16, dtype=F64), True), (literal_table(200, 16), False)):
        now, later = table[:-7], table[7:]
        error = (now @ (torch.linalg.pinv(now) @ later) - later).abs().max()
        assert error < 1e-3 if linear else error > 0.5
    assert (literal_table(200, 16)[:-7] @ rotation(7, 16) - literal_table(200, 16)[7:]).abs().max() > 0.5


def test_dot_products_depend_on_distance_alone():
    """Σ cos(ω_k · distance), wherever the two positions stand."""
    table = sinusoidal_table(120, 32, dtype=F64)
    products = table @ table.T
    for distance in (0, 1, 5, 60):
        clocks = sum(math.cos(distance / 10_000 ** (2 * k / 32)) for k in range(16))
        assert (products.diagonal(distance) - clocks).abs().max() < 1e-11


@pytest.mark.parametrize("d_model", [8, 64])
def test_no_two_positions_are_alike(d_model):
    """The nearest two of a thousand rows are still apart."""
    table = sinusoidal_table(1000, d_model, dtype=F64)
    assert torch.pdist(table).min() > 0.1


@pytest.mark.parametrize("leading", [(), (B,), (B, H)])
@pytest.mark.parametrize("offset", [0, 1, 1000])
def test_sinusoidal_module_adds_the_rows(leading, offset, device):
    """x plus the rows from `offset` on, for any dimensions before (T, D)."""
    x = torch.randn(*leading, T, D).to(device)
    before = x.clone()
    y = SinusoidalPositionalEncoding(D).to(device)(x, offset=offset)
    assert torch.equal(y, x + sinusoidal_table(T, D, start=offset).to(device))
    assert torch.equal(x, before)


@pytest.mark.parametrize("lengths", [(3, 50, 4), (1, 2, 3, 4, 5), (0, 1, 0)])
@pytest.mark.parametrize("module", [SinusoidalPositionalEncoding, RotaryPositionalEncoding])
def test_grows_on_demand(module, lengths):
    """A module that has seen other lengths gives what a new one gives, bit by bit."""
    grown = module(D, base=300.0)
    for length in lengths:
        x = torch.randn(B, length, D)
        assert torch.equal(grown(x), module(D, base=300.0)(x))


@pytest.mark.parametrize("module", [SinusoidalPositionalEncoding, RotaryPositionalEncoding])
def test_no_table_is_kept_in_the_module(module, device):
    """Nothing to move or to store, and no rounding is left behind by a stay in half precision."""
    encoding = module(D)
    x = torch.randn(B, 9, D, dtype=F64).to(device)
    expected = encoding(x)
    encoding.to(device).half()(x.half())
    assert not list(encoding.named_buffers()) and not encoding.state_dict()
    assert torch.equal(encoding.double()(x), expected) and torch.equal(copy.deepcopy(encoding)(x), expected)


@pytest.mark.parametrize("module", [SinusoidalPositionalEncoding, RotaryPositionalEncoding])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_takes_the_input_s_dtype(module, dtype, device):
    """One module serves inputs of any floating-point dtype, one after the other."""
    encoding = module(D).to(device)
    x = torch.randn(B, T, D, dtype=F64).to(device)
    expected = encoding(x)
    y = encoding(x.to(dtype))
    assert y.dtype == dtype and (y.double() - expected).abs().max() < 4 * torch.finfo(dtype).eps * expected.abs().max()


def test_learned_rows():
    """x plus the first rows of the table, or the rows from `offset` on; only they get a gradient."""
    encoding, x = LearnedPositionalEncoding(D, 9), torch.randn(B, T, D)
    assert torch.equal(encoding(x), x + encoding.weight[:T])
    y = encoding(x, offset=4)
    assert torch.equal(y, x + encoding.weight[4:])
    y.sum().backward()
    assert encoding.weight.grad.sum(1).tolist() == [0] * 4 + [B * D] * T


@pytest.mark.parametrize("module", [lambda p: SinusoidalPositionalEncoding(64, dropout=p),
                                    lambda p: LearnedPositionalEncoding(64, 50, dropout=p)])  # fmt: skip
def test_dropout_in_train_mode_alone(module):
    """Dropout falls on the sum."""
    encoding, x = module(0.25), torch.randn(8, 50, 64)
    whole = encoding.eval()(x)
    assert torch.equal(whole, encoding(x))
    dropped = encoding.train()(x)
    assert (dropped == 0).double().mean().item() == pytest.approx(0.25, abs=0.02)
    torch.testing.assert_close(dropped[dropped != 0], whole[dropped != 0] / 0.75)


def test_rotary_is_multiplication_by_a_complex_number():
    """Each pair of numbers is one complex number, turned by e^(i·t·ω)."""
    x = torch.randn(B, H, T, D, dtype=F64)
    omega = torch.tensor([10_000 ** (-2 * k / D) for k in range(D // 2)], dtype=F64)
    for offset in (0, 11):
        turn = torch.polar(torch.ones(T, D // 2, dtype=F64), torch.arange(offset, offset + T)[:, None] * omega)
        expected = torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (-1, 2))) * turn).flatten(-2)
        y = RotaryPositionalEncoding(D)(x, offset=offset)
        torch.testing.assert_close(y, expected, atol=1e-12, rtol=0)
        torch.testing.assert_close(y.norm(dim=-1), x.norm(dim=-1), atol=1e-12, rtol=0)


@pytest.mark.parametrize(("dtype", "limit"), [(torch.float32, 1e-4), (F64, 1e-11)])
@pytest.mark.parametrize("shift", [1, 40, 1000])
def test_rotary_scores_depend_on_distance_alone(dtype, limit, shift, device):
    """Queries and keys that both move by `shift` positions score as before."""
    rotary = RotaryPositionalEncoding(16).to(device, dtype)
    q, k = torch.randn(2, H, T, 16, dtype=dtype).to(device)
    here = rotary(q) @ rotary(k).mT
    there = rotary(q, offset=shift) @ rotary(k, offset=shift).mT
    assert (here - there).abs().max() < limit
    assert (here - rotary(q, offset=1) @ rotary(k).mT).abs().max() > 0.1  # moving one alone does change them


@pytest.mark.parametrize(
    ("n_heads", "exponents"),
    [
        (1, [8]),
        (2, [4, 8]),
        (8, [1, 2, 3, 4, 5, 6, 7, 8]),
        (12, [1, 2, 3, 4, 5, 6, 7, 8, 0.5, 1.5, 2.5, 3.5]),
        (16, [h / 2 for h in range(1, 17)]),
    ],
)
def test_alibi_slopes_of_the_paper(n_heads, exponents):
    """Geometric slopes 2^(−8h/H); for 12 heads those of 8 and then every other one of 16."""
    bias = alibi_bias(n_heads, 4, 6, dtype=F64)
    assert bias.shape == (n_heads, 4, 6)
    assert (-bias[:, 0, 1]).tolist() == pytest.approx([2.0**-e for e in exponents])
    for i in range(4):
        for j in range(6):
            torch.testing.assert_close(bias[:, i, j], bias[:, 0, 1] * abs(i - j))


def test_alibi_dtype_device_and_empty(device):
    """In the dtype and on the device that are asked for; without tokens, without numbers."""
    assert alibi_bias(2, 3, 3).dtype == torch.float32
    half = alibi_bias(2, 3, 3, dtype=torch.bfloat16, device=device)
    assert half.dtype == torch.bfloat16 and half.device.type == device.type
    assert alibi_bias(2, 0, 3).shape == (2, 0, 3)


@pytest.mark.parametrize(
    "module", [SinusoidalPositionalEncoding(4), LearnedPositionalEncoding(4, 9), RotaryPositionalEncoding(4)],
    ids=lambda m: type(m).__name__,
)  # fmt: skip
def test_gradcheck(module, gradcheck):
    """Gradients against finite differences."""
    assert gradcheck(copy.deepcopy(module).double(), torch.randn(2, 3, 4, dtype=F64), offset=2)


@pytest.mark.parametrize("offset", [0, 3])
def test_long_sequence_equals_its_pieces(offset):
    """A sequence cut in two, the second piece with its offset, gets the vectors of the whole."""
    x = torch.randn(B, 9, D)
    for encoding in (SinusoidalPositionalEncoding(D), LearnedPositionalEncoding(D, 12), RotaryPositionalEncoding(D)):
        pieces = encoding(x[:, :4], offset=offset), encoding(x[:, 4:], offset=offset + 4)
        assert torch.equal(torch.cat(pieces, 1), encoding(x, offset=offset))


@pytest.mark.parametrize("module", [SinusoidalPositionalEncoding, RotaryPositionalEncoding])
def test_compiles_with_an_offset(module):
    """As one graph, which has no table to grow, for any length and offset."""
    torch._dynamo.reset()
    encoding = module(D).eval()
    compiled = torch.compile(encoding, fullgraph=True, dynamic=True, backend="aot_eager")
    for length, offset in ((5, 3), (9, 70), (4, 0)):
        x = torch.randn(B, length, D)
        torch.testing.assert_close(compiled(x, offset), encoding(x, offset), atol=1e-6, rtol=0)
    torch._dynamo.reset()


def test_the_table_keeps_its_size_when_dtypes_take_turns():
    """Mixed precision calls one module with two dtypes: a table is made for each, once, and only so many are kept."""
    encode, before = SinusoidalPositionalEncoding(8, base=55.0), _kept_table.cache_info()
    for _ in range(6):
        for dtype in (torch.float32, torch.float64):
            encode(torch.zeros(4, 8, dtype=dtype))
    after = _kept_table.cache_info()
    assert after.misses - before.misses == 2 and after.hits - before.hits == 10
    assert after.currsize <= after.maxsize == 16


def test_a_table_grown_in_inference_mode_serves_training():
    """Reading ahead before training is harmless."""
    rotate = RotaryPositionalEncoding(8)
    with torch.inference_mode():
        rotate(torch.zeros(4, 8))
    x = torch.randn(4, 8, requires_grad=True)
    rotate(x).square().sum().backward()
    assert x.grad.isfinite().all()
