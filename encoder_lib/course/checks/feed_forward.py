"""Checks of the exercises of 05_feed_forward."""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import torch
from torch import Tensor

from encoder_lib.course.checks.verdict import (
    Case,
    Probe,
    Told,
    Verdict,
    diagnose,
    examine,
    numbers,
    problem_on,
    written,
)


def _weights(d_in: int, d_ff: int, d_out: int, seed: int = 1) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Weights and biases of two linear maps as torch.nn.Linear holds them: (F, D), (F,), (D, F), (D,)."""
    drawn = numbers(d_ff * (d_in + 1) + d_out * (d_ff + 1), seed=seed)
    w1, b1, w2, b2 = drawn.split([d_ff * d_in, d_ff, d_out * d_ff, d_out])
    return w1.view(d_ff, d_in), b1, w2.view(d_out, d_ff), b2


def _tensors(got: Any, names: str) -> list[Tensor]:
    """What came back, if that is a tensor for each name. Raises: Told otherwise."""
    given = list(got) if isinstance(got, tuple | list) else [got]
    if len(given) != names.count(",") + 1 or not all(isinstance(each, Tensor) for each in given):
        kinds = ", ".join(type(each).__name__ for each in given[:9])
        raise Told(f"expected {names.count(',') + 1} tensors ({names}), got {kinds or 'none'}")
    return given


def check_position_wise(attempt: Callable) -> Verdict:
    """feed_forward(x, w1, b1, w2, b2): relu(x · w1ᵀ + b1) · w2ᵀ + b2 for x (…, T, D), weights as in nn.Linear."""
    one = torch.ones(1, 1, dtype=torch.float64)
    cases = [
        Case("one number, one unit that fires", (3 * one, 2 * one, one[0], -one, one[0])),
        Case("one unit that stays silent", (-3 * one, 2 * one, one[0], -one, one[0])),
        Case("one token", (numbers(1, 2), *_weights(2, 3, 2))),
        Case("two tokens", (numbers(2, 3), *_weights(3, 5, 3))),
        Case("as many hidden numbers as others, and as many tokens", (numbers(4, 4), *_weights(4, 4, 4))),
        Case("a batch of sequences", (numbers(2, 3, 4), *_weights(4, 7, 4))),
    ]

    def reference(x: Tensor, w1: Tensor, b1: Tensor, w2: Tensor, b2: Tensor) -> Tensor:
        return torch.relu(x @ w1.T + b1) @ w2.T + b2

    return examine("feed_forward", attempt, reference, cases)


def check_merge(attempt: Callable) -> Verdict:
    """merge(w1, b1, w2, b2): the one map (w, b) that two linear maps without a bend between them amount to."""
    one = torch.ones(1, 1, dtype=torch.float64)
    weights = {
        "one number": (2 * one, 3 * one[0], 5 * one, 7 * one[0]),
        "two numbers, without biases": tuple(w * (w.ndim - 1) for w in _weights(2, 2, 2)),
        "two numbers, with biases": _weights(2, 2, 2),
        "another width at the end": _weights(2, 4, 3),
    }

    def part(place: int) -> Callable:
        """The attempt, as far as it gives w, or b."""
        return wraps(attempt, (), ())(lambda *given: _tensors(written(attempt(*given), attempt), "w, b")[place])

    def look(given: tuple[Tensor, ...], _: Callable) -> str:
        return problem_on(part(0), lambda w1, b1, w2, b2: w2 @ w1, Case("w", given)) or problem_on(
            part(1), lambda w1, b1, w2, b2: w2 @ b1 + b2, Case("b", given)
        )

    return diagnose("merge", attempt, [Probe(label, partial(look, given)) for label, given in weights.items()])


def check_larger(attempt: Callable) -> Verdict:
    """larger(): (w1, b1, w2, b2) of a ReLU network 2 -> n -> 1 that gives the larger of its two numbers."""
    pairs = {
        "both above zero": [(1.0, 2.0), (5.0, 3.0), (2.0, 2.0)],
        "one below zero": [(-1.0, 2.0), (3.0, -4.0), (-2.0, 0.0)],
        "both below zero": [(-1.0, -2.0), (-5.0, -3.0), (-0.5, -0.5)],
        "large ones": [(-400.0, -401.0), (300.0, -1.0), (250.0, 251.0)],
    }

    def drawn(x: Tensor) -> Tensor:
        """What the network with the learner's weights puts out at x (P, 2)."""
        got = _tensors(written(attempt(), attempt), "w1, b1, w2, b2")
        n = len(got[1]) if got[1].ndim else 0
        if [tuple(part.shape) for part in got] != [(n, 2), (n,), (1, n), (1,)]:
            shapes = ", ".join(str(tuple(part.shape)) for part in got)
            raise Told(f"expected shapes (n, 2), (n,), (1, n), (1,), got {shapes}")
        w1, b1, w2, b2 = (part.to(x.dtype) for part in got)
        return torch.relu(x @ w1.T + b1) @ w2.T + b2

    def reference(x: Tensor) -> Tensor:
        return x.amax(dim=-1, keepdim=True)

    cases = [Case(label, (torch.tensor(pair, dtype=torch.float64),)) for label, pair in pairs.items()]
    return examine("larger", drawn if callable(attempt) else attempt, reference, cases)
