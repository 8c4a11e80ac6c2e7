"""The checks of the exercises in 13_your_own_task."""

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from encoder_lib.course.kit.checking.results import describe_type
from encoder_lib.course.kit.checking.trained import examine_trained
from encoder_lib.course.kit.checking.verdict import Case, Probe, Verdict, diagnose, examine, numbers, require_written
from encoder_lib.model.encoder import TransformerEncoder


def check_head_loss(attempt: Callable) -> Verdict:
    """head_loss(vectors, labels, weight, bias, decay): mean cross-entropy, plus decay times the sum of squared weights.

    Shapes: vectors (N, D), labels (N,), weight (C, D), bias (C,), decay a number -> a number.
    """

    def reference(vectors: Tensor, labels: Tensor, weight: Tensor, bias: Tensor, decay: float) -> Tensor:
        return F.cross_entropy(vectors @ weight.T + bias, labels) + decay * weight.square().sum()

    def case(label: str, n: int, labels: list[int], size: float, decay: float) -> Case:
        parameters = size * numbers(n, 3, seed=1), size * numbers(n, seed=2)
        return Case(label, (numbers(len(labels), 3), torch.tensor(labels), *parameters, decay))

    cases = [
        case("a head of zeros", 2, [1], 0, 0.5),
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

    cases = [
        ("one relevant text, found first", [0.1, 0.7], [0, 1], 1),
        ("one relevant text, found last", [0.1, 0.7, 0.4], [1, 0, 0], 2),
        ("one of two", [0.9, 0.7, -0.4, 0.5], [1, 0, 1, 0], 3),
        ("a k larger than all", numbers(3, seed=4), [1, 0, 1], 10),
    ]
    inputs = [Case(label, (torch.as_tensor(s).double(), torch.tensor(r).bool(), k)) for label, s, r, k in cases]
    return examine("recall_at", attempt, reference, inputs)


def check_freeze(attempt: Callable) -> Verdict:
    """freeze(encoder, n_last): let the last layers learn and nothing else, and return the parameters that learn."""

    def look(attempt: Callable, n_layers: int, n_last: int, learning: bool = True) -> str:
        encoder = TransformerEncoder(5, n_layers, 4, 2, 6, embedding_norm=True).requires_grad_(learning)
        ids = [id(p) for layer in encoder.encoder.layers[n_layers - n_last :] for p in layer.parameters()]
        got = require_written(attempt(encoder, n_last), attempt)
        for name, parameter in encoder.named_parameters():
            if (learns := parameter.requires_grad) != (id(parameter) in ids):
                return f"{name} {'should be frozen, and learns' if learns else 'should learn, and is frozen'}"
        if not isinstance(got, list | tuple) or {*map(id, got)} - {*map(id, encoder.parameters())}:
            return f"expected a list of nothing but parameters of the encoder, got {describe_type(got)}"
        right = sorted(map(id, got)) == sorted(ids)
        return "" if right else f"expected the {len(ids)} parameters of the last layers, each once, got {len(got)}"

    probes = [
        Probe("the last two of three", partial(look, n_layers=3, n_last=2)),
        Probe("an encoder that is frozen at first", partial(look, n_layers=3, n_last=2, learning=False)),
        Probe("no layer at all", partial(look, n_layers=2, n_last=0)),
    ]
    return diagnose("freeze", attempt, probes)
