"""Checks of the exercises of 00_start_here."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from encoder_lib.course.kit.checking.mistakes import LOW_SCORE, Mistakes, examine_with_mistakes
from encoder_lib.course.kit.checking.results import as_tensor
from encoder_lib.course.kit.checking.verdict import Case, Feedback, Probe, Verdict, diagnose, numbers, require_written


def check_take(attempt: Callable) -> Verdict:
    """take(query, keys, values, allowed): the weighted mean of the values of the tokens that may be attended to.

    Shapes: query (K,), keys and values (T, K), allowed, booleans (T,) -> (K,). Scores are not divided by √K.
    """

    def case(label: str, width: int, *allowed: bool, scores_near: float = 0.0) -> Case:
        seed = 10 * len(allowed)
        query, (keys, values) = numbers(width, seed=seed), numbers(2, len(allowed), width, seed=seed + 1)
        keys += scores_near * query / (query @ query)  # moves each score by as much
        return Case(label, (query, keys, values, torch.tensor(allowed)))

    cases = [
        case("all tokens allowed", 2, True, True),
        case("one token masked out", 3, True, False, True),
        case("one token allowed", 2, False, False, True, False),
        case("six tokens", 4, True, False, True, True, False, True),
        case("very low scores", 2, False, True, True, False, True, scores_near=LOW_SCORE),
    ]
    return examine_with_mistakes("take", attempt, _take, cases, TAKE_MISTAKES)


def _take(query: Tensor, keys: Tensor, values: Tensor, allowed: Tensor) -> Tensor:
    return (keys[allowed] @ query).softmax(dim=0) @ values[allowed]


def _filled(query: Tensor, keys: Tensor, values: Tensor, allowed: Tensor, score: float) -> Tensor:
    return (keys @ query).masked_fill(~allowed, score).softmax(dim=0) @ values


TAKE_MISTAKES: Mistakes = [
    ("a softmax over all tokens", lambda q, k, v, ok: _take(q, k, v, torch.ones_like(ok))),
    ("weights set to 0 after the softmax", lambda q, k, v, ok: ((k @ q).softmax(dim=0) * ok) @ v),
    ("a score of 0 for masked tokens", lambda q, k, v, ok: ((k @ q) * ok).softmax(dim=0) @ v),
    *(("a finite score for masked tokens", partial(_filled, score=score)) for score in (-1.0, -5.0, -10.0, -100.0)),
    ("the masked tokens alone", lambda q, k, v, ok: _take(q, k, v, ~ok)),
    ("scores divided by √K", lambda q, k, v, ok: _take(q / len(q) ** 0.5, k, v, ok)),
    ("scores without a softmax", lambda q, k, v, ok: (k[ok] @ q) @ v[ok]),
    ("keys in place of values", lambda q, k, v, ok: _take(q, k, k, ok)),
    ("a product with the columns of the keys", lambda q, k, v, ok: (q @ k[ok]).softmax(dim=0) @ v[ok]),
    ("a mean that divides once more", lambda q, k, v, ok: _take(q, k, v, ok) / ok.sum()),
    ("the weights alone", lambda q, k, v, ok: (k[ok] @ q).softmax(dim=0)),
]

EXAMPLES = [(3, 0, 1), (2, 1, 0), (8, 3, 2), (5, 1, 4), (9, 6, 0), (11, 2, 7)]  # T, word, secret


def check_hide(attempt: Callable) -> Verdict:
    """hide(T, word, secret): a mask (T, T) with which nothing of `secret` reaches `word`.

    True = may attend; row i attends to column j. Each token attends to itself, and the word to all but the secret.
    No more is masked out than necessary.
    """
    questions = {
        "a boolean mask for any number of tokens": lambda mask, word, secret: "",
        "each token attends to itself": _cannot_attend_to_itself,
        "the word attends to all but the secret": _cannot_attend_to_others,
        "the word learns nothing of the secret": _leak,
        "as little as possible is masked out": _masks_too_much,
    }
    probes = [Probe(label, partial(_first_problem, question)) for label, question in questions.items()]
    return diagnose("hide", attempt, probes)


def _first_problem(question: Callable[[Tensor, int, int], str], attempt: Callable) -> str:
    """What the question finds wrong with the mask of the first example in which it finds something, or ""."""
    for T, word, secret in EXAMPLES:
        given = f"with T {T}, word {word}, secret {secret}"
        wanted = f"a boolean mask of shape {(T, T)}"
        try:
            mask = as_tensor(require_written(attempt(T, word, secret), attempt), wanted)
        except Feedback as complaint:
            raise Feedback(f"{given}: {complaint}") from None
        if mask.dtype != torch.bool or mask.shape != (T, T):
            return f"{given}: expected {wanted}, got {mask.dtype} of shape {tuple(mask.shape)}"
        if objection := question(mask, word, secret):
            return f"{given}: {objection}"
    return ""


def _cannot_attend_to_itself(mask: Tensor, word: int, secret: int) -> str:
    """Which token can't attend to itself."""
    return "" if mask.diagonal().all() else f"token {int(mask.diagonal().long().argmin())} can't attend to itself"


def _cannot_attend_to_others(mask: Tensor, word: int, secret: int) -> str:
    """Which token besides the secret one the word can't attend to."""
    lost = [j for j in (~mask[word]).nonzero().flatten().tolist() if j != secret]
    return f"the word can't attend to token {lost[0]}" if lost else ""


def _leak(mask: Tensor, word: int, secret: int) -> str:
    """After how many layers the word has learned something of the secret."""
    learned = torch.eye(len(mask)).bool()  # (T, T): row i says of which tokens token i has learned
    for n_layers in range(1, len(mask)):
        learned = (mask.double() @ learned.double()) > 0
        if learned[word, secret]:
            return f"the word has learned of the secret after {n_layers} layer{'s' * (n_layers > 1)}"
    return ""


def _masks_too_much(mask: Tensor, word: int, secret: int) -> str:
    """Whether too many entries are masked out."""
    return "fewer masked entries are enough" if (~mask).sum() >= len(mask) else ""
