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
    show,
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
