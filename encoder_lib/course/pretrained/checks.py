"""The checks of the exercises in 09_pretrained."""

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

NEAR = 0.04  # the largest error allowed in a fraction that was estimated: 5.6 standard deviations of 5000 rounds
FEW_ROUNDS = 400
LITTLE = 4  # a table with at most this many entries is written out


def check_carry(attempt: Callable) -> Verdict:
    """carry(file): the tensors of an nn.TransformerEncoder under our names, with queries, keys and values separated."""

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
                f"{name} is none of our names" for name in foreign[:1]
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
    """by_luck(points, least): how often the best head has `least` points or more if coins choose the right answers.

    Each sentence has one coin, which all heads share. Shapes: points, booleans (N, heads).

    Five thousand rounds in a loop take a fifth of a second, so each table is tried once. The result is a fraction of
    all rounds and shows how many there were: fractions of 300 rounds are all multiples of 1/300.
    """
    found: list[tuple[float, float]] = []  # the fraction returned, and the exact one

    def look(attempt: Callable, points: Tensor, least: int) -> str:
        answers = torch.cartesian_prod(*[torch.tensor([True, False])] * len(points)).view(-1, len(points), 1)  # all
        chance = ((points == answers).sum(dim=1).amax(dim=1) >= least).double().mean().item()
        got = as_number(require_written(call(attempt, points, least), attempt))
        found.append((got, chance))
        if abs(got - chance) < NEAR:
            return ""
        shown = f"points of shape {tuple(points.shape)}" if points.numel() > LITTLE else f"points {points.tolist()}"
        given = f"with {shown}, least {least}"
        again = sorted(as_number(call(attempt, points, least)) for _ in range(5))
        if again[-1] - again[0] > 2 * NEAR:
            return f"{given}: five calls give from {again[0]:.2f} to {again[-1]:.2f}; play more rounds"
        return f"{given}: expected about {chance:.2f}, got {got:.2f}"

    def rounds(attempt: Callable) -> str:
        fractions = torch.tensor([got for got, _ in found], dtype=torch.float64)
        exact = all(abs(got - chance) < 1e-6 for got, chance in found)
        for n in range(1, FEW_ROUNDS + 1):
            if not exact and ((n * fractions) - (n * fractions).round()).abs().max() < 1e-4:
                return f"all results are multiples of 1/{n}, as if from {n} rounds; another {n} may give something else"
        return ""

    probes = [
        Probe(label, partial(look, points=points, least=least))
        for label, points, least in [
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
    """pair_loss(anchors, positives): cross-entropy on 20 times the cosines, averaged over rows and columns.

    Shapes: anchors and positives (N, D), each vector of length 1 -> a number. Gradients are compared with respect to
    the vectors before they were scaled to length 1: with respect to the scaled ones, two right answers may differ.
    """

    def tried(loss: Callable, anchors: Tensor, positives: Tensor) -> Any:
        return require_written(call(loss, F.normalize(anchors, dim=-1), F.normalize(positives, dim=-1)), loss)

    def reference(anchors: Tensor, positives: Tensor) -> Tensor:
        cosines, own = 20 * anchors @ positives.T, torch.arange(len(anchors))
        return (F.cross_entropy(cosines, own) + F.cross_entropy(cosines.T, own)) / 2

    axes, between = torch.eye(2).double(), torch.tensor([[0.6, 0.8], [0.8, 0.6]]).double()
    cases = [
        Case("equal cosines", (axes[[0, 0]], axes[[1, 1]])),
        Case("each nearest to the other's", (axes, between)),
        Case("rows that are not like the columns", (axes, between[[0, 0]])),
        Case("five pairs", tuple(F.normalize(numbers(2, 5, 3), dim=-1))),
    ]
    mine = update_wrapper(partial(tried, attempt), attempt, (), ()) if callable(attempt) else attempt
    return examine_trained("pair_loss", mine, partial(tried, reference), cases)
