"""What learners answer in 02_positional_encoding: right answers, and wrong ones by the mistake that each makes."""

import torch

from encoder_lib.course import checks


def look_back(rows, steps):
    return torch.linalg.lstsq(rows[steps:], rows[:-steps]).solution


def look_back_by_turning(rows, steps):
    width = rows.shape[1]
    angles = steps * 100 ** (-torch.arange(0, width, 2).double() / width)  # (D/2,)
    return torch.block_diag(*(torch.tensor([[a.cos(), a.sin()], [-a.sin(), a.cos()]]) for a in angles))


def _right(length):
    place = torch.arange(length).double()
    return place - place[:, None]  # (T, T): steps to the right


ANSWERS = {
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
