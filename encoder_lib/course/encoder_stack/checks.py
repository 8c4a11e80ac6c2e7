"""Checks of the exercises of 07_encoder_stack."""

from collections.abc import Callable

import torch
from torch import Tensor

from encoder_lib.course.kit.checking.layers import examine_layer
from encoder_lib.course.kit.checking.verdict import Case, Verdict, examine, numbers
from encoder_lib.model.encoder import Encoder
from encoder_lib.model.masks import lengths_mask


def check_stack(attempt: Callable) -> Verdict:
    """Stack(n_layers, d_model, n_heads, d_ff, norm_first), called with (x, mask): x (B, T, D) -> (B, T, D).

    Its parts are `layers` and, in pre-norm order, `norm`, as in Encoder.
    """
    x, padding = numbers(2, 4, 6), lengths_mask(torch.tensor([4, 2]))
    cases = [
        Case("one layer", (1, 4, 2, 8, False, numbers(1, 1, 4), None)),
        Case("three layers", (3, 4, 2, 6, False, numbers(1, 3, 4), None)),
        Case("padding in the second sentence", (2, 6, 3, 6, False, x, padding)),
        Case("two layers, pre-norm", (2, 6, 1, 12, True, x, padding)),
    ]
    return examine_layer("Stack", "layers and norm", attempt, Encoder, cases)


def check_reach(attempt: Callable) -> Verdict:
    """reach(arrows, n_layers): the position of the card whose letter and arrow each card holds after the layers."""
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
