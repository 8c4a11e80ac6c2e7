"""Checks of the exercises of 09_pretrained."""

from collections.abc import Callable

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
    difference,
    examine,
    numbers,
    written,
)

PROJECTIONS = ("q_proj", "k_proj", "v_proj", "out_proj")  # of MultiHeadAttention


def check_translate(attempt: Callable) -> Verdict:
    """translate(theirs): the tensors of an nn.MultiheadAttention, by its names -> by those of MultiHeadAttention."""

    def theirs(d_model: int) -> dict[str, Tensor]:
        shapes = {
            "in_proj_weight": (3 * d_model, d_model),
            "in_proj_bias": (3 * d_model,),
            "out_proj.weight": (d_model, d_model),
            "out_proj.bias": (d_model,),
        }
        return {name: numbers(*shape, seed=seed) for seed, (name, shape) in enumerate(shapes.items())}

    def tensors(translate: Callable, d_model: int) -> dict[str, Tensor]:
        """What the attempt makes of fresh tensors."""
        given = theirs(d_model)
        got = written(translate(given), translate)
        if given.keys() != theirs(d_model).keys():
            raise Told(CHANGED)
        if not isinstance(got, dict):
            raise Told(f"expected a dictionary, name -> tensor, got {type(got).__name__}")
        return got

    def names(translate: Callable) -> str:
        got = tensors(translate, 2)
        wanted = [f"{part}.{kind}" for part in PROJECTIONS for kind in ("weight", "bias")]
        if missing := [name for name in wanted if name not in got]:
            return f"{missing[0]} is missing"
        return next((f"there is no {name!r} in our layer" for name in got if name not in wanted), "")

    def part(d_model: int, name: str, place: int | None = None) -> Callable[[Callable], str]:
        """Whether one of ours is what it should be: the third `place` of a stack, or all of theirs."""

        def look(translate: Callable) -> str:
            kind = name.partition(".")[2]
            stack = theirs(d_model)[name if place is None else f"in_proj_{kind}"]
            wanted = stack if place is None else stack[place * d_model : (place + 1) * d_model]
            return difference(f"D = {d_model}, {name}", wanted, tensors(translate, d_model)[name])

        return look

    probes = [
        Probe("the names of our layer", names),
        Probe("the map behind the heads", part(2, "out_proj.weight")),
        Probe("its bias", part(2, "out_proj.bias")),
        Probe("queries", part(2, "q_proj.weight", 0)),
        Probe("keys", part(2, "k_proj.weight", 1), hint="queries"),
        Probe("values", part(2, "v_proj.weight", 2), hint="queries"),
        Probe("the bias of the queries", part(3, "q_proj.bias", 0)),
        Probe("the bias of the keys", part(3, "k_proj.bias", 1), hint="the bias of the queries"),
        Probe("the bias of the values", part(3, "v_proj.bias", 2), hint="the bias of the queries"),
        Probe("another width", part(5, "v_proj.weight", 2)),
    ]
    return diagnose("translate", attempt, probes)


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


def check_search(attempt: Callable) -> Verdict:
    """search(query, vectors, k): the numbers of the k unit vectors (N, D) nearest to the query (D,), best first."""
    unit = torch.nn.functional.normalize(numbers(9, 4), dim=-1)
    square = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8], [-1.0, 0.0]], dtype=torch.float64)
    cases = [
        Case("a single vector", (square[0], square[:1], 1)),
        Case("the best of two", (square[1], square[:2], 1)),
        Case("the two best, best first", (square[1], square, 2)),
        Case("opposite directions come last", (square[3], square, 4)),
        Case("many vectors", (unit[4] * 0.5 + unit[2] * 0.5, unit, 3), hint="the best of two"),
    ]
    return examine("search", attempt, lambda query, vectors, k: (vectors @ query).topk(k).indices, cases)


def check_looks_back(attempt: Callable) -> Verdict:
    """looks_back(weights): for each layer and head (L, H, T, T), the mean weight on the token before -> (L, H)."""

    def reference(weights: Tensor) -> Tensor:
        return weights.diagonal(-1, dim1=-2, dim2=-1).mean(dim=-1)

    def maps(*shape: int) -> Tensor:
        return numbers(*shape).softmax(dim=-1)

    two = torch.tensor([[[[1.0, 0.0], [0.75, 0.25]]]], dtype=torch.float64)
    cases = [
        Case("two tokens", (two,)),
        Case("three tokens", (maps(1, 1, 3, 3),)),
        Case("layers and heads", (maps(3, 2, 5, 5),)),
    ]
    return examine("looks_back", attempt, reference, cases)
