"""Checks of the exercises of 09_pretrained, and of the mean with which notebook 12 makes a sentence's vector."""

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from encoder_lib.course.checks import parts
from encoder_lib.course.checks.verdict import (
    CHANGED,
    Case,
    Probe,
    Told,
    Verdict,
    diagnose,
    examine,
    numbers,
    show,
    written,
)
from encoder_lib.model.attention import attention

THROWN = 0.03  # how far a chance may be off that was found by throwing


def check_which_is_which(attempt: Callable) -> Verdict:
    """which_is_which(matrices, x, wanted): a head's three matrices (D, D) in order: queries, keys, values."""
    named = ("queries", "keys", "values")

    def look(attempt: Callable, d_model: int, order: tuple[int, ...]) -> str:
        right = numbers(3, d_model, d_model, seed=d_model).unbind()
        x = numbers(4, d_model)
        query, key, value = (x @ each.T for each in right)
        wanted = attention(query.float(), key.float(), value.float())[0].double()  # rounded
        given = [right[place] for place in order]
        got = written(attempt([each.clone() for each in given], x.clone(), wanted.clone()), attempt)
        if not isinstance(got, tuple | list) or len(got) != 3 or not all(isinstance(each, Tensor) for each in got):
            raise Told(f"expected three tensors (queries, keys, values), got {show(got)}")
        for mine, name in zip(got, named, strict=True):
            makes = [other for other, each in zip(named, right, strict=True) if torch.equal(mine.double(), each)]
            if makes != [name]:
                other = f"the {makes[0]}" if makes else "none of the three"
                return f"with D = {d_model}: what you give for the {name} makes {other}"
        return ""

    probes = [
        Probe(label, partial(look, d_model=d_model, order=order))
        for label, d_model, order in [
            ("in order already", 2, (0, 1, 2)),
            ("values first", 3, (2, 0, 1)),
            ("keys before queries", 3, (1, 0, 2)),
            ("queries last", 4, (1, 2, 0)),
            ("the other way round", 5, (2, 1, 0)),
            ("values in the middle", 4, (0, 2, 1)),
        ]
    ]
    return diagnose("which_is_which", attempt, probes)


def check_by_luck(attempt: Callable) -> Verdict:
    """by_luck(heads, sentences, right): the chance that the best of `heads` coins shows `right` heads or more."""

    def chance_by(attempt: Callable, *given: int) -> float:
        got = written(attempt(*given), attempt)
        if isinstance(got, Tensor) and got.numel() == 1:
            got = got.item()
        if not isinstance(got, int | float):
            raise Told(f"expected one number, got {type(got).__name__}")
        return got

    def steady(attempt: Callable) -> str:
        got = [chance_by(attempt, 2, 4, 3) for _ in range(10)]
        low, high = min(got), max(got)
        return f"ten calls with the same numbers give from {low:.2f} to {high:.2f}" if high - low > 2 * THROWN else ""

    def look(attempt: Callable, heads: int, sentences: int, right: int) -> str:
        one = sum(math.comb(sentences, k) for k in range(right, sentences + 1)) / 2**sentences
        chance = 1 - (1 - one) ** heads
        got = chance_by(attempt, heads, sentences, right)
        given = f"heads {heads}, sentences {sentences}, right {right}"
        return "" if abs(got - chance) < THROWN else f"with {given}: expected about {chance:.2f}, got {got:.2f}"

    probes = [
        Probe(label, partial(look, heads=heads, sentences=sentences, right=right))
        for label, heads, sentences, right in [
            ("one coin, one throw", 1, 1, 1),
            ("one coin, several throws", 1, 4, 3),
            ("the best of two", 2, 1, 1),
            ("the best of ten", 10, 4, 4),
            ("ten of twelve", 72, 12, 10),
            ("nothing asked", 3, 5, 0),
        ]
    ]
    return diagnose("by_luck", attempt, [Probe("two digits that stay", steady), *probes])


def check_pool(attempt: Callable) -> Verdict:
    """pool(x, real): the mean of the real tokens' vectors, x (B, T, D) and real (B, T) -> (B, D), at length 1."""

    one = torch.tensor([[[3.0, 4.0]]], dtype=torch.float64)
    two = torch.tensor([[[1.0, 0.0], [0.0, 3.0]]], dtype=torch.float64)
    cases = [
        Case("one token", (one, torch.tensor([[True]]))),
        Case("two tokens", (two, torch.ones(1, 2).bool())),
        Case("padding at the end", (numbers(1, 3, 2), torch.tensor([[True, True, False]]))),
        Case("sentences of two lengths", (numbers(2, 4, 3), torch.arange(4) < torch.tensor([[4], [1]]))),
        Case(
            "as many sentences as tokens",
            (numbers(3, 3, 5), torch.arange(3) < torch.tensor([[2], [3], [1]])),
            hint="sentences of two lengths",
        ),
    ]
    return examine("pool", attempt, parts.pool, cases)


def check_choose_floor(attempt: Callable) -> Verdict:
    """choose_floor(answered, unanswered): a floor with which the fewest cosines (M,) and (N,) stand on the wrong side.

    An answered question belongs at the floor or above it, an unanswered one below.
    """

    def wrong(floor: float, answered: Tensor, unanswered: Tensor) -> int:
        return int((~(answered >= floor)).sum() + (~(unanswered < floor)).sum())  # with nan all do

    def look(attempt: Callable, *cosines: list[float]) -> str:
        answered, unanswered = (torch.tensor(each, dtype=torch.float64) for each in cosines)
        mine = answered.clone(), unanswered.clone()
        floor = written(attempt(*mine), attempt)
        if not all(map(torch.equal, mine, (answered, unanswered))):
            raise Told(CHANGED)
        if isinstance(floor, Tensor) and floor.numel() == 1:
            floor = floor.item()
        if not isinstance(floor, int | float):
            raise Told(f"expected one number, got {type(floor).__name__}")
        few = min(wrong(each, answered, unanswered) for each in [*answered.tolist(), *unanswered.tolist(), torch.inf])
        got = wrong(floor, answered, unanswered)
        given = f"answered {show(answered)}, unanswered {show(unanswered)}"
        return f"with {given}: a floor of {floor:.4g} gets {got} wrong, and {few} would do" if got > few else ""

    def probe(label: str, answered: list[float], unanswered: list[float], hint: str = "") -> Probe:
        return Probe(label, lambda attempt: look(attempt, answered, unanswered), hint)

    probes = [
        probe("one of each", [0.8], [0.3]),
        probe("a gap far up", [0.9, 0.8], [0.7, 0.1], "one of each"),
        probe("two that are the wrong way round", [0.9, 0.8, 0.2], [0.3, 0.25, 0.1]),
        probe("many that are answered", [0.3, 0.4, 0.5, 0.6, 0.7], [0.65], "two that are the wrong way round"),
        probe("better to show nothing", [0.2], [0.5, 0.6, 0.7]),
    ]
    return diagnose("choose_floor", attempt, probes)
