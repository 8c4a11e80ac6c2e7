"""Checks of the exercises of 09_pretrained."""

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from encoder_lib.course.checks.verdict import (
    CHANGED,
    Case,
    Probe,
    Told,
    Verdict,
    diagnose,
    examine,
    numbers,
    written,
)
from encoder_lib.from_torch import from_torch

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


def check_pair_loss(attempt: Callable) -> Verdict:
    """pair_loss(firsts, seconds): cross-entropy on 20 times their cosines, over rows and over columns, and the mean.

    Shapes: firsts and seconds (N, D), each of length 1 -> a number.
    """

    def reference(firsts: Tensor, seconds: Tensor) -> Tensor:
        square, own = 20 * firsts @ seconds.T, torch.arange(len(firsts))
        return (F.cross_entropy(square, own) + F.cross_entropy(square.T, own)) / 2

    axes, between = torch.eye(2).double(), torch.tensor([[0.6, 0.8], [0.8, 0.6]]).double()
    cases = [
        Case("a guess", (axes[[0, 0]], axes[[1, 1]])),
        Case("each nearest to the other's", (axes, between)),
        Case("rows that are not like the columns", (axes, between[[0, 0]])),
        Case("five pairs", tuple(F.normalize(numbers(2, 5, 3), dim=-1))),
    ]
    return examine("pair_loss", attempt, reference, cases)
