"""The check of the second exercise of 05_feed_forward; that of the first is 12's."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from encoder_lib.course.checks.verdict import Case, Told, Verdict, examine, written


def _network(got: Any) -> list[Tensor]:
    """What came back, if that is the parameters of a ReLU network 2 -> n -> 1, in float64. Raises: Told."""
    parts = list(got) if isinstance(got, tuple | list) else [got]
    if len(parts) != 4 or not all(isinstance(part, Tensor) for part in parts):
        kinds = ", ".join(type(part).__name__ for part in parts[:9])
        raise Told(f"expected 4 tensors (w1, b1, w2, b2), got {kinds or 'none'}")
    n = len(parts[1]) if parts[1].ndim else 0
    wanted = [(n, 2), (n,), (1, n), (1,)]
    if [tuple(part.shape) for part in parts] != wanted:
        raise Told(
            f"expected shapes (n, 2), (n,), (1, n), (1,), got {', '.join(str(tuple(part.shape)) for part in parts)}"
        )
    return [part.double() for part in parts]


def _put_out(x: Tensor, w1: Tensor, b1: Tensor, w2: Tensor, b2: Tensor) -> Tensor:
    return torch.relu(x @ w1.T + b1) @ w2.T + b2


def check_larger(attempt: Callable) -> Verdict:
    """larger(): (w1, b1, w2, b2) of a ReLU network 2 -> n -> 1 that gives the larger of its two numbers."""
    pairs = {
        "both above zero": [(1.0, 2.0), (5.0, 3.0), (2.0, 2.0)],
        "one below zero": [(-1.0, 2.0), (3.0, -4.0), (-2.0, 0.0)],
        "both below zero": [(-1.0, -2.0), (-5.0, -3.0), (-0.5, -0.5)],
    }

    def drawn(x: Tensor, in_units_of: float = 1.0) -> Tensor:
        """What the network with the learner's weights puts out at x (P, 2); both in units of so much."""
        return _put_out(in_units_of * x, *_network(written(attempt(), attempt))) / in_units_of

    def reference(x: Tensor, in_units_of: float = 1.0) -> Tensor:
        return x.amax(dim=-1, keepdim=True)

    x = {label: torch.tensor(pair, dtype=torch.float64) for label, pair in pairs.items()}
    cases = [Case(label, (pair,)) for label, pair in x.items()]
    cases.append(
        Case("far from zero", (torch.cat([pair[:2] for pair in x.values()]), 1e200))
    )  # next to it no float32 counts
    return examine("larger", drawn if callable(attempt) else attempt, reference, cases)
