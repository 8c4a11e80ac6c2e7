"""Checks of the exercises of 00_start_here."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from encoder_lib.course.checks.verdict import Case, Probe, Verdict, diagnose, examine, numbers, written


def check_take(attempt: Callable) -> Verdict:
    """take(query, keys, values, allowed): the values, weighted by the softmax of the scores of what may be looked at.

    Shapes: query (K,), keys and values (T, K), allowed, booleans (T,) -> (K,). Scores are not divided by a root.
    """

    def reference(query: Tensor, keys: Tensor, values: Tensor, allowed: Tensor) -> Tensor:
        return (keys[allowed] @ query).softmax(dim=0) @ values[allowed]

    def case(label: str, *allowed: bool) -> Case:
        keys, values = numbers(2, len(allowed), 2, seed=len(allowed))
        return Case(label, (numbers(2, seed=9), keys, values, torch.tensor(allowed)))

    cases = [
        case("all looks allowed", True, True),
        case("one token forbidden", True, False, True),
        case("one token allowed", False, False, True, False),
        case("six tokens", True, False, True, True, False, True),
    ]
    return examine("take", attempt, reference, cases)


def check_hide(attempt: Callable) -> Verdict:
    """hide(T, word, secret): a mask (T, T) by which `word` learns nothing of `secret`.

    True = may look; rows look, columns are looked at. Each token looks at itself, and the word at all but the secret.
    No look too many is forbidden.
    """
    places = {"three tokens": (3, 0, 1), "eight tokens": (8, 3, 2), "the secret one first": (8, 3, 0)}
    return diagnose("hide", attempt, [Probe(label, partial(_hidden, at)) for label, at in places.items()])


def _hidden(at: tuple[int, int, int], attempt: Callable) -> str:
    """What is wrong with the mask for `at` = (T, word, secret), in words."""
    T, word, secret = at
    mask, given = written(attempt(*at), attempt), f"with T {T}, word {word}, secret {secret}"
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool or mask.shape != (T, T):
        got = f"{tuple(mask.shape)}, {mask.dtype}" if isinstance(mask, Tensor) else type(mask).__name__
        return f"{given}: expected a boolean tensor of shape {(T, T)}, got {got}"
    if not mask.diagonal().all():
        return f"{given}: token {int(mask.diagonal().long().argmin())} may not look at itself"
    if mask[word].sum() < T - 1:
        blind = next(int(j) for j in (~mask[word]).nonzero() if j != secret)
        return f"{given}: the word may not look at {blind}; forbid its look at the secret one alone"
    looks, steps = mask.double(), 1
    while steps < T and not looks[word, secret]:  # after so many layers, of whom each token has learned
        looks, steps = looks @ mask.double(), steps + 1
    if looks[word, secret]:
        return f"{given}: the word has learned of the secret one after {steps} layer{'s' * (steps > 1)}"
    forbidden = int((~mask).sum())
    return f"{given}: {forbidden} looks are forbidden, and fewer do" if forbidden >= T else ""
