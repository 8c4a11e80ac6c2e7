"""What learners answer in 02_positional_encoding: right answers, and wrong ones by the mistake that each makes."""

import torch

from encoder_lib.course import checks


def _angles(x, base=10_000.0):
    width = x.shape[1]
    return torch.arange(len(x)).double()[:, None] * base ** (-torch.arange(0, width, 2).double() / width)  # (T, D/2)


def _turn(x, angle):
    up, right = x[:, 0::2], x[:, 1::2]
    turned = [up * angle.cos() + right * angle.sin(), right * angle.cos() - up * angle.sin()]
    return torch.stack(turned, dim=-1).flatten(1)


def turned(x, base):
    return _turn(x, _angles(x, base))


def turned_as_complex_numbers(x, base):
    hands = torch.complex(x[:, 1::2], x[:, 0::2]) * torch.polar(torch.ones(()).double(), _angles(x, base))
    return torch.stack([hands.imag, hands.real], dim=-1).flatten(1)


def _in_halves(x, base):
    half = x.shape[1] // 2
    return turned(x.unflatten(1, (2, half)).mT.flatten(1), base).unflatten(1, (half, 2)).mT.flatten(1)


def _right(length):
    place = torch.arange(length).double()
    return place - place[:, None]  # (T, T): steps to the right


ANSWERS = {
    checks.check_turned: (
        {"addition formulas": turned, "complex numbers": turned_as_complex_numbers},
        {
            "the wrong way": lambda x, b: _turn(x, -_angles(x, b)),
            "one speed for all pairs": lambda x, b: _turn(x, _angles(x, 1.0)),
            "exponent without the minus": lambda x, b: turned(x, 1 / b),
            "base fixed at 10,000": lambda x, b: turned(x, 10_000.0),
            "positions from 1": lambda x, b: turned(torch.cat([x[:1], x]), b)[1:],
            "pairs in halves": _in_halves,
            "the table, added": lambda x, b: x + turned(torch.eye(2)[1].double().repeat(len(x), x.shape[1] // 2), b),
            "transposed": lambda x, b: turned(x, b).T,
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
