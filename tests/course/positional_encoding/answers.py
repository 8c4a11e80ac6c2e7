"""Answers that learners give in 02_positional_encoding: right ones, and wrong ones named by their mistake."""

import math

import numpy as np
import torch
from torch import nn

from encoder_lib import sinusoidal_table
from encoder_lib.course import checks


def look_back(rows, steps):
    return torch.linalg.lstsq(rows[steps:], rows[:-steps]).solution


def look_back_by_rotation(rows, steps, base=None):
    """A rotation for each clock, at the speeds found in the second row or at the speeds of a given base."""
    width = rows.shape[1]
    speeds = torch.atan2(rows[1, 0::2], rows[1, 1::2])  # (D/2,)
    angles = steps * (speeds if base is None else base ** (-torch.arange(0, width, 2).double() / width))
    return torch.block_diag(*(torch.tensor([[a.cos(), a.sin()], [-a.sin(), a.cos()]]) for a in angles))


def clock_table(length, width, base, exponent=lambda columns, width: columns / width):
    """The table; `exponent` gives the exponent of the speeds, without its minus sign, for the columns 0, 2, 4, …"""
    angle = torch.arange(length)[:, None] * base ** -exponent(torch.arange(0, width, 2).double(), width)  # (T, D/2)
    rows = torch.empty(length, width).double()
    rows[:, 0::2], rows[:, 1::2] = angle.sin(), angle.cos()
    return rows


def _look_back_in_place(rows, steps):
    matrix = look_back(rows, steps)
    rows.zero_()
    return matrix


def _by_loop(length, width, base):
    """Plain numbers, position by position, made into an array at the end."""
    speeds = [base ** (-2 * k / width) for k in range(width // 2)]
    return np.array([[f(t * w) for w in speeds for f in (math.sin, math.cos)] for t in range(length)])


ANSWERS = {
    checks.check_clock_table: (
        {
            "every second column": clock_table,
            "the function of the library": lambda length, width, base: sinusoidal_table(length, width, base=base),
            "a loop": _by_loop,
            "in float32": lambda *sizes: clock_table(*sizes).float(),
        },
        {
            "cosine before sine": lambda *sizes: clock_table(*sizes).unflatten(1, (-1, 2)).flip(-1).flatten(1),
            "all sines, then all cosines": lambda *sizes: clock_table(*sizes).unflatten(1, (-1, 2)).mT.flatten(1),
            "k, not 2k": lambda *sizes: clock_table(*sizes, lambda columns, width: columns / 2 / width),
            "no division by D": lambda *sizes: clock_table(*sizes, lambda columns, width: columns),
            "a speed for every column": lambda length, width, base: clock_table(length, 2 * width, base)[:, ::2],
            "always base 100": lambda length, width, base: clock_table(length, width, 100),
            "base 100 or 10,000": lambda length, width, base: clock_table(
                length, width, 100 if base == 100 else 10_000
            ),
            "three clocks at most": lambda *sizes: clock_table(*sizes) * (torch.arange(sizes[1]) < 6),
            "transposed": lambda *sizes: clock_table(*sizes).T,
            "a list": lambda *sizes: clock_table(*sizes).tolist(),
        },
    ),
    checks.check_look_back: (
        {
            "least squares": look_back,
            "rotated back": look_back_by_rotation,
            "a parameter": lambda rows, steps: nn.Parameter(look_back(rows, steps)),
            "an array": lambda rows, steps: np.linalg.pinv(rows[steps:].numpy()) @ rows[:-steps].numpy(),
            "in float32": lambda rows, steps: look_back(rows, steps).float(),
        },
        {
            "to the right, not to the left": lambda rows, steps: look_back(rows, steps).T,
            "always one step": lambda rows, _: look_back(rows, 1),
            "always three steps": lambda rows, _: look_back(rows, 3),
            "one, three or five steps": lambda rows, steps: look_back(rows, steps if steps in (1, 3, 5) else 3),
            "always the speeds of base 100": lambda rows, steps: look_back_by_rotation(rows, steps, 100),
            "changes the rows": _look_back_in_place,
            "not a number": lambda rows, steps: look_back(rows, steps) * torch.nan,
            "the identity": lambda rows, _: torch.eye(rows.shape[1]).double(),
            "the products of the pairs, added up": lambda rows, steps: rows[steps:].T @ rows[:-steps],
            "only three of the pairs": lambda rows, steps: look_back(rows[: steps + 3], steps),
            "rows rounded to one decimal": lambda rows, steps: look_back(rows.round(decimals=1), steps),
            "the scores": lambda rows, _: rows @ rows.T,
            "a list": lambda rows, steps: look_back(rows, steps).tolist(),
        },
    ),
}  # fmt: skip
