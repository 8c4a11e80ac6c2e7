"""What learners answer in 00_start_here: right answers, and wrong ones by the mistake that each makes."""

import math

import torch
import torch.nn.functional as F
from source_edits import folded, wrong

from encoder_lib.course import checks

(_take,) = folded("00", __name__, "take")


def _take_by_infinity(query, keys, values, allowed):
    """The score of a masked token is minus infinity."""
    return (keys @ query).masked_fill(~allowed, -torch.inf).softmax(dim=0) @ values


def _take_by_hand(query, keys, values, allowed):
    """Weights are set to zero and shared out once more."""
    weights = (keys @ query).softmax(dim=0) * allowed
    return (weights / weights.sum()) @ values


def _take_by_loop(query, keys, values, allowed):
    """Plain numbers, token by token, and an array in the end."""
    total, taken = 0.0, 0.0
    for key, value, ok in zip(keys, values, allowed, strict=True):
        if ok:
            weight = math.exp(key @ query)
            total, taken = total + weight, taken + weight * value.numpy()
    return taken / total


def _take_fused(query, keys, values, allowed):
    return F.scaled_dot_product_attention(query[None], keys, values, allowed[None], scale=1.0)[0]


def _forbidden_in_place(query, keys, values, allowed):
    scores = keys @ query
    values[~allowed] = 0
    return scores[allowed].softmax(dim=0) @ values[allowed]


def _forbidden_too_late(query, keys, values, allowed):
    return ((keys @ query).softmax(dim=0) * allowed) @ values


def _forbidden_scores_of_zero(query, keys, values, allowed):
    return ((keys @ query) * allowed).softmax(dim=0) @ values


def closed(*closings):
    """An answer that begins with a mask of ones, and puts False at some (row, column), made from word and other."""

    def hide(length, word, other):
        mask = torch.ones(length, length, dtype=torch.bool)
        for closing in closings:
            mask[closing(word, other)] = False
        return mask.fill_diagonal_(True)

    return hide


ALL = slice(None)
ANSWERS = {
    checks.check_take: (
        {"of fewer tokens": _take, "by infinity": _take_by_infinity, "shared out again": _take_by_hand,
         "a loop": _take_by_loop, "fused": _take_fused},
        {"forbidden too late": _forbidden_too_late, "scores of zero": _forbidden_scores_of_zero,
         "changes the values": _forbidden_in_place}
        | wrong(_take, {
            "every look": {"keys[allowed]": "keys", "values[allowed]": "values"},
            "what is forbidden": {"keys[allowed]": "keys[~allowed]", "values[allowed]": "values[~allowed]"},
            "no softmax": {"scores.softmax(dim=0)": "scores"},
            "a root": {"keys[allowed] @ query": "keys[allowed] @ query / len(query) ** 0.5"},
            "keys for values": {"values[allowed]": "keys[allowed]"},
            "nothing given back": {"return scores": "scores"},
            "columns of the keys": {"keys[allowed] @ query": "query @ keys[allowed]"},
            "divided once more": {"@ values[allowed]": "@ values[allowed] / allowed.sum()"},
            "two numbers to a key": {"keys[allowed] @ query": "(keys[allowed] * query)[:, :2].sum(dim=1)"},
        })
        | wrong(_take_by_infinity, {
            "a score of -10": {"-torch.inf": "-10"},
            "a score of -100": {"-torch.inf": "-100"},
        }),
    ),
    checks.check_hide: (
        {
            "nobody looks at the other": closed(lambda word, other: (ALL, other)),
            "an array": lambda *at: closed(lambda word, other: (ALL, other))(*at).numpy(),
            "by comparison": lambda n, word, other: (torch.arange(n) != other).expand(n, n) | torch.eye(n).bool(),
        },
        {
            "the word looks at nobody": closed(lambda word, other: (word, ALL)),
            "its look alone": closed(lambda word, other: (word, other)),
            "both looks of the two": closed(lambda word, other: (word, other), lambda word, other: (other, word)),
            "the other looks at nobody": closed(lambda word, other: (other, ALL)),
            "all but the last look at the other": closed(lambda word, other: (slice(-1), other)),
            "the other too looks at nobody": closed(lambda word, other: (ALL, other), lambda word, other: (other, ALL)),
            "not itself": lambda length, word, other: (torch.arange(length) != other).expand(length, length),
            "eight tokens at most": lambda length, word, other: (
                closed(lambda word, other: (ALL, other))(8, word, other)[:length, :length]
            ),
            "nobody looks at the word": closed(lambda word, other: (ALL, word)),
            "numbers": lambda *at: closed(lambda word, other: (ALL, other))(*at).double(),
        },
    ),
}  # fmt: skip
