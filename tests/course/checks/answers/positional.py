"""What learners answer in 02_positional_encoding: right answers, and wrong ones by the mistake that each makes."""

import torch

from encoder_lib import sinusoidal_table
from encoder_lib.course import checks


def look_back(rows, steps):
    return torch.linalg.lstsq(rows[steps:], rows[:-steps]).solution


def look_back_by_turning(rows, steps):
    width = rows.shape[1]
    angles = steps * 100 ** (-torch.arange(0, width, 2).double() / width)  # (D/2,)
    return torch.block_diag(*(torch.tensor([[a.cos(), a.sin()], [-a.sin(), a.cos()]]) for a in angles))


def clock_table(length, width, base, exponent=lambda columns, width: columns / width):
    """The table; `exponent` gives the exponent of the speeds, without its minus, for the columns 0, 2, 4, …"""
    angle = torch.arange(length)[:, None] * base ** -exponent(torch.arange(0, width, 2).double(), width)  # (T, D/2)
    rows = torch.empty(length, width).double()
    rows[:, 0::2], rows[:, 1::2] = angle.sin(), angle.cos()
    return rows


ANSWERS = {
    checks.check_clock_table: (
        {
            "every second column": clock_table,
            "the library's": lambda length, width, base: sinusoidal_table(length, width, base=base),
            "in float32": lambda *sizes: clock_table(*sizes).float(),
        },
        {
            "cosine before sine": lambda *sizes: clock_table(*sizes).unflatten(1, (-1, 2)).flip(-1).flatten(1),
            "all sines, then all cosines": lambda *sizes: clock_table(*sizes).unflatten(1, (-1, 2)).mT.flatten(1),
            "k, not 2k": lambda *sizes: clock_table(*sizes, lambda columns, width: columns / 2 / width),
            "no division by D": lambda *sizes: clock_table(*sizes, lambda columns, width: columns),
            "a speed for every column": lambda length, width, base: clock_table(length, 2 * width, base)[:, ::2],
            "base 100, whatever is asked": lambda length, width, base: clock_table(length, width, 100),
            "transposed": lambda *sizes: clock_table(*sizes).T,
            "a list": lambda *sizes: clock_table(*sizes).tolist(),
        },
    ),
    checks.check_look_back: (
        {
            "least squares": look_back,
            "turned back": look_back_by_turning,
            "in float32": lambda rows, steps: look_back(rows, steps).float(),
        },
        {
            "ahead": lambda rows, steps: look_back(rows, steps).T,
            "one step, whatever is asked": lambda rows, _: look_back(rows, 1),
            "three steps, whatever is asked": lambda rows, _: look_back(rows, 3),
            "nothing changed": lambda rows, _: torch.eye(rows.shape[1]).double(),
            "the pairs, summed up": lambda rows, steps: rows[steps:].T @ rows[:-steps],
            "three pairs alone": lambda rows, steps: look_back(rows[: steps + 3], steps),
            "rows with one decimal": lambda rows, steps: look_back(rows.round(decimals=1), steps),
            "the matches": lambda rows, _: rows @ rows.T,
            "a list": lambda rows, steps: look_back(rows, steps).tolist(),
        },
    ),
}  # fmt: skip
