"""Checks of the exercises of 09_pretrained."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from encoder_lib.course.checks.verdict import (
    CHANGED,
    Probe,
    Told,
    Verdict,
    diagnose,
    numbers,
    show,
    written,
)
from encoder_lib.torch_twin import from_torch

THROWN = 0.03  # how far a chance may be off that was found by throwing
LITTLE = 4  # so many entries of a table are written out


def check_carry(attempt: Callable) -> Verdict:
    """carry(file): the tensors of an nn.TransformerEncoder under the names of ours, queries, keys and values apart."""

    def look(attempt: Callable, d_model: int, n_layers: int) -> str:
        layer = nn.TransformerEncoderLayer(d_model, 1, d_model + 1)
        theirs = nn.TransformerEncoder(layer, n_layers, enable_nested_tensor=False)
        for seed, parameter in enumerate(theirs.parameters()):
            parameter.data = numbers(*parameter.shape, seed=seed)
        file = theirs.state_dict()
        right = {f"encoder.{name}": x for name, x in from_torch(theirs).state_dict().items()}
        given = {name: x.clone() for name, x in file.items()}
        got = written(attempt(given), attempt)
        if given.keys() != file.keys() or any(not torch.equal(given[name], x) for name, x in file.items()):
            raise Told(CHANGED)
        if not isinstance(got, dict) or not all(isinstance(x, Tensor) for x in got.values()):
            raise Told(f"expected a dictionary of tensors, got {type(got).__name__}")
        missing, foreign = [name for name in right if name not in got], [name for name in got if name not in right]
        if missing or foreign:
            said = [f"{missing[0]} is missing"] * bool(missing) + [f"{foreign[0]} has no place in ours"] * bool(foreign)
            return ", and ".join(said)
        for name, x in right.items():
            if got[name].shape != x.shape:
                return f"{name}: expected shape {tuple(x.shape)}, got {tuple(got[name].shape)}"
        wrong = [name for name, x in right.items() if not torch.equal(got[name].double(), x)]
        return f"{wrong[0]} has the right shape and the numbers of another tensor" if wrong else ""

    probes = [
        Probe("one layer", partial(look, d_model=2, n_layers=1)),
        Probe("another width", partial(look, d_model=5, n_layers=1)),
        Probe("two layers", partial(look, d_model=2, n_layers=2)),
        Probe("eleven layers", partial(look, d_model=3, n_layers=11)),
    ]
    return diagnose("carry", attempt, probes)


def check_by_luck(attempt: Callable) -> Verdict:
    """by_luck(rises, right): the chance that the best head has `right` or more where coins choose the answers.

    One coin for each sentence, for all heads alike. Shapes: rises, booleans (N, heads).
    """

    def chance_by(attempt: Callable, rises: Tensor, right: int) -> float:
        mine = rises.clone()
        got = written(attempt(mine, right), attempt)
        if not torch.equal(mine, rises):
            raise Told(CHANGED)
        if isinstance(got, Tensor) and got.numel() == 1:
            got = got.item()
        if not isinstance(got, int | float):
            raise Told(f"expected one number, got {type(got).__name__}")
        return got

    def steady(attempt: Callable) -> str:
        got = [chance_by(attempt, torch.tensor([[True], [False], [True], [True]]), 3) for _ in range(10)]
        low, high = min(got), max(got)
        return f"ten calls with the same table give from {low:.2f} to {high:.2f}" if high - low > 2 * THROWN else ""

    def look(attempt: Callable, rises: Tensor, right: int) -> str:
        answers = torch.cartesian_prod(*[torch.tensor([True, False])] * len(rises)).view(-1, len(rises), 1)  # all
        chance = ((rises == answers).sum(dim=1).amax(dim=1) >= right).double().mean().item()
        got = chance_by(attempt, rises, right)
        given = f"rises of shape {tuple(rises.shape)}" if rises.numel() > LITTLE else f"rises {rises.tolist()}"
        said = f"with {given}, right {right}: expected about {chance:.2f}, got {got:.2f}"
        return "" if abs(got - chance) < THROWN else said

    probes = [
        Probe(label, partial(look, rises=rises, right=right))
        for label, rises, right in [
            ("one head, one sentence", torch.tensor([[True]]), 1),
            ("one head, several sentences", torch.tensor([[True], [False], [True], [True]]), 3),
            ("two heads that are alike", torch.tensor([[True, True]]), 1),
            ("two heads that are opposite", torch.tensor([[True, False]]), 1),
            ("many heads", numbers(6, 20, seed=1) > 0, 5),
            ("ten of twelve", numbers(12, 72, seed=2) > 0, 10),
            ("nothing asked", torch.tensor([[True], [False]]), 0),
        ]
    ]
    return diagnose("by_luck", attempt, [Probe("two digits that stay", steady), *probes])


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
