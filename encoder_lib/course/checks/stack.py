"""Checks of the exercises of 07_encoder_stack."""

from collections.abc import Callable
from copy import deepcopy
from functools import partial

import torch
from torch import Tensor

from encoder_lib.course.checks.verdict import (
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
from encoder_lib.model.encoder import EncoderLayer

WIDTH, HEADS, HIDDEN = 4, 2, 6  # of the layers that are tried
FEWEST = 4  # tensors: weight and bias of the last map of each branch


def check_reach(attempt: Callable) -> Verdict:
    """reach(arrows, n_layers): whose letter and arrow each card has, if in each layer it goes where its own points."""
    ring = torch.tensor([1, 2, 3, 4, 5, 6, 7, 8, 0])
    cases = [
        Case("no layer", (ring[:3] % 3, 0)),
        Case("one layer", (ring, 1)),
        Case("two layers", (ring, 2)),
        Case("three layers", (ring, 3)),
        Case("arrows that meet", (torch.tensor([3, 0, 1, 4, 4, 2]), 2)),
        Case("four layers", (torch.tensor([6, 3, 0, 5, 1, 7, 2, 4]), 4)),
    ]

    def reference(arrows: Tensor, n_layers: int) -> Tensor:
        has = torch.arange(len(arrows))
        for _ in range(n_layers):
            has = has[arrows[has]]
        return has

    return examine("reach", attempt, reference, cases)


def check_hush(attempt: Callable) -> Verdict:
    """hush(layer): a pre-norm layer, the fewest of whose tensors have become zero so that it gives back its input."""
    probes = (
        Probe("one token", partial(_gives_back, numbers(1, 1, WIDTH))),
        Probe("sentences of large numbers", partial(_gives_back, 100 * numbers(2, 3, WIDTH))),
        Probe("no more set than it takes", _fewest),
    )
    return diagnose("hush", attempt, probes)


def _hushed(attempt: Callable) -> tuple[EncoderLayer, int]:
    """What the attempt makes of a layer without a zero in it, and how many of its tensors have changed."""
    layer = EncoderLayer(WIDTH, HEADS, HIDDEN, norm_first=True).double()
    for seed, parameter in enumerate(layer.parameters()):
        parameter.data = numbers(*parameter.shape, seed=seed)
    before = deepcopy(layer.state_dict())
    got = written(attempt(layer), attempt)
    if not isinstance(got, EncoderLayer):
        raise Told(f"expected the layer itself, got {type(got).__name__}")
    after = got.state_dict()
    if after.keys() != before.keys():
        raise Told("a part of the layer is gone; set numbers, and leave the parts in their places")
    return got, sum(not torch.equal(before[name], after[name]) for name in before)


def _gives_back(x: Tensor, attempt: Callable) -> str:
    """How far a hushed layer is from giving back its input."""
    layer, _ = _hushed(attempt)
    return difference(f"x {show(x)}", x, EncoderLayer.forward(layer, x))


def _fewest(attempt: Callable) -> str:
    """Whether more tensors have changed than the last map of each branch has."""
    _, changed = _hushed(attempt)
    return f"{changed} tensors have changed, and {FEWEST} would do" if changed > FEWEST else ""
