"""What learners answer in 02_positional_encoding: right answers, and wrong ones by the mistake that each makes."""

import math

import torch

from encoder_lib import sinusoidal_table
from encoder_lib.course import checks


def _speed(d_model, base=10_000.0):
    return base ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)


def _angles(length, d_model, base=10_000.0):
    return torch.arange(length, dtype=torch.float64)[:, None] * _speed(d_model, base)


def interleave(sin, cos):
    return torch.stack([sin, cos], dim=-1).flatten(-2)


def table_by_loop(length, d_model, base):
    return torch.tensor(
        [
            [(math.cos if i % 2 else math.sin)(t / base ** (i // 2 * 2 / d_model)) for i in range(d_model)]
            for t in range(length)
        ],
        dtype=torch.float64,
    )


def _literal(length, d_model, base):
    i = torch.arange(d_model)
    angle = torch.arange(length, dtype=torch.float64)[:, None] * base ** (-2 * i / d_model)
    return torch.where(i % 2 == 0, angle.sin(), angle.cos())


def _blocks(k, d_model):
    return torch.block_diag(*(torch.tensor(_turn(k * w), dtype=torch.float64) for w in _speed(d_model).tolist()))


def _turn(a):
    return [[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]]


def _fill_shift(k, d_model):
    matrix = torch.zeros(d_model, d_model, dtype=torch.float64)
    for i, w in enumerate(_speed(d_model).tolist()):
        matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor(_turn(k * w))
    return matrix


def _right(length):
    place = torch.arange(length).double()
    return place - place[:, None]  # (T, T): steps to the right


ANSWERS = {
    checks.check_sinusoidal_table: (
        {"angles": lambda n, d, base: interleave(_angles(n, d, base).sin(), _angles(n, d, base).cos()),
         "loop": table_by_loop, "the library's": lambda n, d, base: sinusoidal_table(n, d, base=base)},
        {
            "column number in place of pair number": _literal,
            "sines first, then cosines": lambda n, d, b: torch.cat([_angles(n, d, b).sin(), _angles(n, d, b).cos()], 1),
            "positions from 1": lambda n, d, b: table_by_loop(n + 1, d, b)[1:],
            "base fixed at 10,000": lambda n, d, b: table_by_loop(n, d, 10_000),
            "exponent without the minus": lambda n, d, b: table_by_loop(n, d, 1 / b),
            "transposed": lambda n, d, b: table_by_loop(n, d, b).T,
        },
    ),
    checks.check_shift_matrix: (
        {"blocks": lambda k, d: _blocks(k, d), "filled": _fill_shift},
        {
            "turned the wrong way": lambda k, d: _blocks(k, d).T,
            "one speed for all clocks": lambda k, d: torch.block_diag(*[torch.tensor(_turn(float(k)))] * (d // 2)),
            "only the first clock": lambda k, d: torch.block_diag(torch.tensor(_turn(float(k))), torch.eye(d - 2)),
            "one step in place of k": lambda k, d: _blocks(1, d),
            "row k of the table": lambda k, d: sinusoidal_table(k + 1, d, dtype=torch.float64)[k],
        },
    ),
    checks.check_penalty: (
        {
            "two slopes": lambda n: torch.where(_right(n) > 0, 2 * _right(n), -_right(n)),
            "a square to the left": lambda n: _right(n).clamp(min=0) + _right(n).clamp(max=0) ** 2 / 2,
            "a part of the steps back": lambda n: _right(n).abs() - 0.5 * _right(n),
        },
        {
            "both sides alike": lambda n: _right(n).abs(),
            "no abs, the right gains": lambda n: -_right(n),
            "the place itself": lambda n: torch.arange(n).double().expand(n, n),
            "grows with the place of the word": lambda n: _right(n).abs() * (1 + torch.arange(n)[:, None]),
            "one row": lambda n: torch.arange(n).double(),
            "a share of the text": lambda n: torch.where(_right(n) > 0, 2 * _right(n), -_right(n)) / n,
            "level from ten steps on": lambda n: torch.where(_right(n) > 0, 2 * _right(n), -_right(n)).clamp(max=10),
            "a list": lambda n: torch.where(_right(n) > 0, 2 * _right(n), -_right(n)).tolist(),
        },
    ),
}  # fmt: skip
