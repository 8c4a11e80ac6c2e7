"""Checks of the exercises of 09_pretrained."""

from collections.abc import Callable
from functools import partial, update_wrapper
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from encoder_lib.course.kit.checking.inputs import call
from encoder_lib.course.kit.checking.results import as_number, as_tensor, describe_type
from encoder_lib.course.kit.checking.trained import examine_trained
from encoder_lib.course.kit.checking.verdict import Case, Feedback, Probe, Verdict, diagnose, numbers, require_written
from encoder_lib.from_torch import from_torch

NEAR = 0.04  # how far a chance may be off that was found by throwing: 5.6 standard deviations of 5000 rounds
FEW_ROUNDS = 400
LITTLE = 4  # so many entries of a table are written out


def check_carry(attempt: Callable) -> Verdict:
    """carry(file): the tensors of an nn.TransformerEncoder under the names of ours, queries, keys and values apart."""

    def look(attempt: Callable, d_model: int, n_layers: int) -> str:
        layer = nn.TransformerEncoderLayer(d_model, 1, d_model + 1)
        theirs = nn.TransformerEncoder(layer, n_layers, enable_nested_tensor=False)
        for seed, parameter in enumerate(theirs.parameters()):
            parameter.data = numbers(*parameter.shape, seed=seed)
        right = {f"encoder.{name}": x for name, x in from_torch(theirs).state_dict().items()}
        got = require_written(call(attempt, theirs.state_dict()), attempt)
        if not isinstance(got, dict):
            raise Feedback(f"expected a dictionary of tensors, got {describe_type(got)}")
        missing, foreign = [name for name in right if name not in got], [name for name in got if name not in right]
        if missing or foreign:
            said = [f"{name} is missing" for name in missing[:1]] + [
                f"{name} has no place in ours" for name in foreign[:1]
            ]
            return ", and ".join(said)
        for name, x in right.items():
            mine = as_tensor(got[name], f"a tensor for {name}")
            if mine.shape != x.shape:
                return f"{name}: expected shape {tuple(x.shape)}, got {tuple(mine.shape)}"
            if not torch.equal(mine.double(), x):
                others = [other for other, y in right.items() if y.shape == x.shape and torch.equal(mine.double(), y)]
                return (
                    f"{name} has the right shape and the numbers of {others[0] if others else 'no tensor of the file'}"
                )
        return ""

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

    Five thousand rounds in a loop take a fifth of a second, so a table is tried once. What came out is a share of all
    rounds, which says how many there were: shares of 300 rounds are all multiples of 1/300.
    """
    found: list[tuple[float, float]] = []  # what was given back, and what is right

    def look(attempt: Callable, rises: Tensor, right: int) -> str:
        answers = torch.cartesian_prod(*[torch.tensor([True, False])] * len(rises)).view(-1, len(rises), 1)  # all
        chance = ((rises == answers).sum(dim=1).amax(dim=1) >= right).double().mean().item()
        got = as_number(require_written(call(attempt, rises, right), attempt))
        found.append((got, chance))
        if abs(got - chance) < NEAR:
            return ""
        shown = f"rises of shape {tuple(rises.shape)}" if rises.numel() > LITTLE else f"rises {rises.tolist()}"
        given = f"with {shown}, right {right}"
        again = sorted(as_number(call(attempt, rises, right)) for _ in range(5))
        if again[-1] - again[0] > 2 * NEAR:
            return f"{given}: five calls give from {again[0]:.2f} to {again[-1]:.2f}; play more rounds"
        return f"{given}: expected about {chance:.2f}, got {got:.2f}"

    def rounds(attempt: Callable) -> str:
        shares = torch.tensor([got for got, _ in found], dtype=torch.float64)
        exact = all(abs(got - chance) < 1e-6 for got, chance in found)
        for n in range(1, FEW_ROUNDS + 1):
            if not exact and ((n * shares) - (n * shares).round()).abs().max() < 1e-4:
                return (
                    f"all that came out is a multiple of 1/{n}, as in {n} rounds; the next {n} may say something else"
                )
        return ""

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
    return diagnose("by_luck", attempt, [*probes, Probe("two digits that stay", rounds)])


def check_pair_loss(attempt: Callable) -> Verdict:
    """pair_loss(firsts, seconds): cross-entropy on 20 times their cosines, over rows and over columns, and the mean.

    Shapes: firsts and seconds (N, D), each of length 1 -> a number. Gradients are compared towards what the vectors
    were before they got length 1: later, those of two right answers may differ.
    """

    def tried(loss: Callable, firsts: Tensor, seconds: Tensor) -> Any:
        return require_written(call(loss, F.normalize(firsts, dim=-1), F.normalize(seconds, dim=-1)), loss)

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
    mine = update_wrapper(partial(tried, attempt), attempt, (), ()) if callable(attempt) else attempt
    return examine_trained("pair_loss", mine, partial(tried, reference), cases)
