"""Checks of the exercises of 05_feed_forward."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from encoder_lib.course.checks.verdict import (
    CHANGED,
    TOLERANCE,
    Case,
    Probe,
    Told,
    Verdict,
    diagnose,
    difference,
    examine,
    numbers,
    show,
    written,
)


def _network(got: Any, d_in: int, d_out: int) -> tuple[list[Tensor], int]:
    """What came back, if that is a ReLU network's parameters in float64, and its number of units. Raises: Told."""
    parts = list(got) if isinstance(got, tuple | list) else [got]
    if len(parts) != 4 or not all(isinstance(part, Tensor) for part in parts):
        kinds = ", ".join(type(part).__name__ for part in parts[:9])
        raise Told(f"expected 4 tensors (w1, b1, w2, b2), got {kinds or 'none'}")
    n = len(parts[1]) if parts[1].ndim else 0
    wanted = [(n, d_in), (n,), (d_out, n), (d_out,)]
    if [tuple(part.shape) for part in parts] != wanted:
        expected = f"(n, {d_in}), (n,), ({d_out}, n), ({d_out},)"
        raise Told(f"expected shapes {expected}, got {', '.join(str(tuple(part.shape)) for part in parts)}")
    return [part.double() for part in parts], n


def _put_out(x: Tensor, w1: Tensor, b1: Tensor, w2: Tensor, b2: Tensor) -> Tensor:
    return torch.relu(x @ w1.T + b1) @ w2.T + b2


def check_prune(attempt: Callable) -> Verdict:
    """prune(w1, b1, w2, b2): the network without the units that are silent at every x with numbers from -1 to 1."""
    two, six = torch.tensor([[0.6, -0.6], [0.5, 0.5], [-1.0, 0.5]]), torch.full((2, 6), 0.5)
    networks = {
        "one number in": ([[1.0], [-2.0], [0.5], [0.5]], [0.0, -1.0, -1.0, -0.25]),
        "two numbers in": (two, [-1.0, -1.25, 0.5]),
        "a unit that speaks in one corner alone": (six, [-2.75, -3.25]),
        "a largest sum of exactly 0": ([[1.0, -0.5], [0.25, 1.0]], [-1.5, 0.25]),
        "as many units as numbers": (numbers(4, 4), [-1.0, -4.0, 0.5, -9.0]),
        "none that speaks": (numbers(3, 2), [-9.0, -8.0, -7.0]),
        "none that is silent": (numbers(3, 2), [0.5, 0.0, 0.25]),
    }

    def look(reads: Any, constants: list[float], attempt: Callable) -> str:
        n, d = len(reads), len(reads[0])
        parts = reads, constants, numbers(d, n, seed=1), numbers(d, seed=2)
        given = [torch.as_tensor(part, dtype=torch.get_default_dtype()) for part in parts]  # that of torch.rand
        mine = [part.clone() for part in given]
        got, left = _network(written(attempt(*mine), attempt), d, d)
        if not all(map(torch.equal, given, mine)):
            raise Told(CHANGED)
        w1, b1, *_ = given = [part.double() for part in given]
        corners = torch.cartesian_prod(*[torch.tensor([-1.0, 1.0], dtype=torch.float64)] * d).view(-1, d)
        x = torch.cat([corners, numbers(9, d).tanh()])
        before, after = _put_out(x, *given), _put_out(x, *got)
        off = (before - after).abs().amax(dim=1)
        units = f"w1 {show(w1)}, b1 {show(b1)}"
        if off.max() > TOLERANCE:
            worst = int(off.argmax())
            return difference(f"{units}, x {show(x[worst])}", before[worst], after[worst])
        few = int((b1 + w1.abs().sum(dim=1) > 0).sum())  # the largest sum of each
        much = f"with {units}: the outputs are the same, but {left} units are left where {few} would do"
        return much if left > few else ""

    probes = [Probe(label, partial(look, *network)) for label, network in networks.items()]
    return diagnose("prune", attempt, probes)


def check_larger(attempt: Callable) -> Verdict:
    """larger(): (w1, b1, w2, b2) of a ReLU network 2 -> n -> 1 that gives the larger of its two numbers."""
    pairs = {
        "both above zero": [(1.0, 2.0), (5.0, 3.0), (2.0, 2.0)],
        "one below zero": [(-1.0, 2.0), (3.0, -4.0), (-2.0, 0.0)],
        "both below zero": [(-1.0, -2.0), (-5.0, -3.0), (-0.5, -0.5)],
    }

    def drawn(x: Tensor, in_units_of: float = 1.0) -> Tensor:
        """What the network with the learner's weights puts out at x (P, 2); both in units of so much."""
        return _put_out(in_units_of * x, *_network(written(attempt(), attempt), 2, 1)[0]) / in_units_of

    def reference(x: Tensor, in_units_of: float = 1.0) -> Tensor:
        return x.amax(dim=-1, keepdim=True)

    x = {label: torch.tensor(pair, dtype=torch.float64) for label, pair in pairs.items()}
    cases = [Case(label, (pair,)) for label, pair in x.items()]
    cases.append(
        Case("far from zero", (torch.cat([pair[:2] for pair in x.values()]), 1e200))
    )  # next to it no float32 counts
    return examine("larger", drawn if callable(attempt) else attempt, reference, cases)
