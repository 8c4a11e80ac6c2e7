"""Checks of the exercises of 09_pretrained."""

from collections.abc import Callable

import torch
from torch import Tensor

from encoder_lib.checks.verdict import Case, Verdict, examine, numbers


def check_pool(attempt: Callable) -> Verdict:
    """pool(x, real): the mean of the real tokens' vectors, x (B, T, D) and real (B, T) -> (B, D), at length 1."""

    def reference(x: Tensor, real: Tensor) -> Tensor:
        mean = (x * real[..., None]).sum(dim=1) / real.sum(dim=1, keepdim=True)  # (B, D)
        return mean / mean.norm(dim=-1, keepdim=True)

    cases = [
        Case("one token", (torch.tensor([[[3.0, 4.0]]], dtype=torch.float64), torch.tensor([[True]]))),
        Case("two tokens", (torch.tensor([[[1.0, 0.0], [0.0, 3.0]]], dtype=torch.float64), torch.ones(1, 2).bool())),
        Case("padding at the end", (numbers(1, 3, 2), torch.tensor([[True, True, False]]))),
        Case("sentences of two lengths", (numbers(2, 4, 3), torch.arange(4) < torch.tensor([[4], [1]]))),
        Case("as many sentences as tokens", (numbers(3, 3, 5), torch.arange(3) < torch.tensor([[2], [3], [1]]))),
    ]
    hints = (
        "Padding must not count: neither in the sum nor in the number that you divide by.",
        "real[..., None] has shape (B, T, 1) and silences the vectors of padding when multiplied.",
        "First the mean over the tokens, then divide each sentence's vector by its own length.",
    )
    return examine("pool", attempt, reference, cases, hints)


def check_search(attempt: Callable) -> Verdict:
    """search(query, vectors, k): the numbers of the k unit vectors (N, D) nearest to the query (D,), best first."""
    unit = torch.nn.functional.normalize(numbers(9, 4), dim=-1)
    square = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8], [-1.0, 0.0]], dtype=torch.float64)
    cases = [
        Case("the best of two", (square[0], square[:2], 1)),
        Case("the two best, best first", (square[1], square, 2)),
        Case("opposite directions come last", (square[3], square, 4)),
        Case("many vectors", (unit[4] * 0.5 + unit[2] * 0.5, unit, 3)),
        Case("all of them", (unit[0], unit, 9)),
    ]
    hints = (
        "The cosine of two vectors of length 1 is their dot product.",
        "vectors @ query gives one number for each vector; the largest are the nearest.",
        "Give back positions, not cosines, and the best one first: topk or a descending argsort.",
    )
    return examine("search", attempt, lambda query, vectors, k: (vectors @ query).topk(k).indices, cases, hints)


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
        Case("two heads", (maps(1, 2, 4, 4),)),
        Case("layers and heads", (maps(3, 2, 5, 5),)),
        Case("as many of everything", (maps(3, 3, 3, 3),)),
    ]
    hints = (
        "Rows look, columns are looked at: row t, column t − 1.",
        "Those entries form the diagonal just below the main one: weights.diagonal(-1, dim1=-2, dim2=-1).",
        "The first token has none before it: average over the T − 1 others.",
    )
    return examine("looks_back", attempt, reference, cases, hints)
