"""The checks of the exercises in 13_your_own_task."""

from collections.abc import Callable
from copy import deepcopy
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from encoder_lib.course.kit.checking.results import describe_type
from encoder_lib.course.kit.checking.trained import examine_trained
from encoder_lib.course.kit.checking.verdict import (
    Case,
    Feedback,
    Probe,
    Verdict,
    diagnose,
    examine,
    numbers,
    require_written,
)
from encoder_lib.model.encoder import TransformerEncoder


def check_head_loss(attempt: Callable) -> Verdict:
    """head_loss(vectors, labels, weight, bias, decay): mean cross-entropy, plus decay times the sum of squared weights.

    Shapes: vectors (N, D), labels (N,), weight (C, D), bias (C,), decay a number -> a number.
    """

    def reference(vectors: Tensor, labels: Tensor, weight: Tensor, bias: Tensor, decay: float) -> Tensor:
        return F.cross_entropy(vectors @ weight.T + bias, labels) + decay * weight.square().sum()

    def case(label: str, n: int, labels: list[int], size: float, decay: float) -> Case:
        parameters = size * numbers(n, 3, seed=1), numbers(n, seed=2)
        return Case(label, (numbers(len(labels), 3), torch.tensor(labels), *parameters, decay))

    zero = (numbers(1, 3), torch.tensor([1]), torch.zeros(2, 3).double(), torch.zeros(2).double(), 0.5)
    cases = [
        Case("a head of zeros", zero),
        case("one text", 2, [1], 1, 0.0),
        case("four texts", 3, [2, 0, 0, 1], 1, 0.0),
        case("with decay", 3, [2, 0, 0, 1], 1, 0.3),
        case("scores above a thousand", 4, [3, 3, 1], 3000, 0.0),
    ]
    return examine_trained("head_loss", attempt, reference, cases)


def check_recall_at(attempt: Callable) -> Verdict:
    """recall_at(scores, relevant, k): the fraction of the relevant texts that are among the k with the largest scores.

    Shapes: scores (N,), relevant, booleans (N,) -> a number.
    """

    def reference(scores: Tensor, relevant: Tensor, k: int) -> Tensor:
        return relevant[scores.argsort(descending=True)[:k]].sum().double() / relevant.sum()

    def case(label: str, relevant: list[int], scores: Tensor, k: int) -> Case:
        return Case(label, (scores, torch.tensor(relevant).bool(), k))

    cases = [
        case("one relevant text, found first", [0, 1], torch.tensor([0.1, 0.7]).double(), 1),
        case("one relevant text, found last", [1, 0, 0], torch.tensor([0.1, 0.7, 0.4]).double(), 2),
        case("one of two", [1, 0, 1, 0], torch.tensor([0.9, 0.7, -0.4, 0.5]).double(), 3),
        case("three of four", [1, 0, 1, 1, 0, 0, 1], numbers(7, seed=3), 5),
        case("a k larger than all", [1, 0, 1], numbers(3, seed=4), 10),
    ]
    return examine("recall_at", attempt, reference, cases)


def check_freeze(attempt: Callable) -> Verdict:
    """freeze(encoder, n_last): let the last layers learn and nothing else, and return the parameters that learn."""

    def look(attempt: Callable, n_layers: int, n_last: int, frozen: bool) -> str:
        encoder = deepcopy(TransformerEncoder(5, n_layers, 4, 2, 6, embedding_norm=True)).requires_grad_(not frozen)
        names = {id(parameter): name for name, parameter in encoder.named_parameters()}
        wanted = {f"encoder.layers.{n_layers - 1 - i}." for i in range(n_last)}
        got = require_written(attempt(encoder, n_last), attempt)
        for name, parameter in encoder.named_parameters():
            learns = any(name.startswith(layer) for layer in wanted)
            if parameter.requires_grad != learns:
                return f"{name} {'should learn, and is frozen' if learns else 'should be frozen, and learns'}"
        if not isinstance(got, list | tuple):
            raise Feedback(f"expected a list of parameters, got {describe_type(got)}")
        given = [names.get(id(parameter), "") for parameter in got]
        if "" in given:
            return "one of the things returned is no parameter of the encoder"
        right = [name for name in names.values() if any(name.startswith(layer) for layer in wanted)]
        if sorted(given) != sorted(right):
            return f"expected the {len(right)} parameters of the last layers, each once, got {len(given)}"
        return ""

    probes = [
        Probe("the last of two layers", partial(look, n_layers=2, n_last=1, frozen=False)),
        Probe("the last two of three", partial(look, n_layers=3, n_last=2, frozen=False)),
        Probe("an encoder that comes frozen", partial(look, n_layers=3, n_last=2, frozen=True)),
        Probe("no layer at all", partial(look, n_layers=2, n_last=0, frozen=False)),
    ]
    return diagnose("freeze", attempt, probes)
