"""The check of the second exercise of 05_feed_forward; the first is checked by `check_own_feed_forward`."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor

from encoder_lib.course.kit.checking.results import as_tensor, describe_type
from encoder_lib.course.kit.checking.verdict import Case, Feedback, Verdict, examine, require_written

FOUR = "4 tensors (w1, b1, w2, b2)"


def _network(got: Any) -> list[Tensor]:
    """Return the parameters of a ReLU network 2 -> n -> 1, in float64. Raises: Feedback for anything else."""
    if isinstance(got, Tensor | Mapping | str) or not isinstance(got, Iterable):
        raise Feedback(f"expected {FOUR}, got {describe_type(got)}")
    given = list(got)
    kinds = f"expected {FOUR}, got {', '.join(type(part).__name__ for part in given[:9]) or 'none'}"
    if len(given) != 4:
        raise Feedback(kinds)
    try:
        parts = [as_tensor(part) for part in given]
    except Feedback:
        raise Feedback(kinds) from None
    n = len(parts[1]) if parts[1].ndim else 0
    if [tuple(part.shape) for part in parts] != [(n, 2), (n,), (1, n), (1,)]:
        shapes = ", ".join(str(tuple(part.shape)) for part in parts)
        raise Feedback(f"expected shapes (n, 2), (n,), (1, n), (1,), got {shapes}")
    return [part.detach().double() for part in parts]


def _outputs_of(x: Tensor, w1: Tensor, b1: Tensor, w2: Tensor, b2: Tensor) -> Tensor:
    return torch.relu(x @ w1.T + b1) @ w2.T + b2


def check_larger(attempt: Callable) -> Verdict:
    """larger(): (w1, b1, w2, b2) of a ReLU network 2 -> n -> 1 that returns the larger of its two inputs."""
    pairs = {
        "both above zero": [(1.0, 2.0), (5.0, 3.0), (2.0, 2.0)],
        "one below zero": [(-1.0, 2.0), (3.0, -4.0), (-2.0, 0.0), (4.0, -1.0), (-6.0, 1.0)],
        "both below zero": [(-1.0, -2.0), (-5.0, -3.0), (-0.5, -0.5)],
    }

    def drawn(x: Tensor, in_units_of: float = 1.0) -> Tensor:
        """The output of the network with the learner's parameters at x (P, 2), both in the given units."""
        return _outputs_of(in_units_of * x, *_network(require_written(attempt(), attempt))) / in_units_of

    def reference(x: Tensor, in_units_of: float = 1.0) -> Tensor:
        return x.amax(dim=-1, keepdim=True)

    x = {label: torch.tensor(pair, dtype=torch.float64) for label, pair in pairs.items()}
    cases = [Case(label, (pair,)) for label, pair in x.items()]
    far = torch.cat([pair[:2] for pair in x.values()])
    cases.append(Case("far from zero", (far, 1e200)))  # next to 1e200, every number of float32 is negligible
    return examine("larger", drawn if callable(attempt) else attempt, reference, cases)
