"""What learners answer in 00_start_here: right answers, and wrong ones by the mistake that each makes."""

import torch
from edits import wrong

from encoder_lib.course import checks


def _take(query, keys, values, allowed):
    scores = keys[allowed] @ query
    return scores.softmax(dim=0) @ values[allowed]


def _take_by_infinity(query, keys, values, allowed):
    """A forbidden score is minus infinity."""
    return (keys @ query).masked_fill(~allowed, -torch.inf).softmax(dim=0) @ values


def _take_by_hand(query, keys, values, allowed):
    """Weights are set to zero and shared out once more."""
    weights = (keys @ query).softmax(dim=0) * allowed
    return (weights / weights.sum()) @ values


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
        {"of fewer tokens": _take, "by infinity": _take_by_infinity, "shared out again": _take_by_hand},
        {"forbidden too late": _forbidden_too_late, "scores of zero": _forbidden_scores_of_zero}
        | wrong(_take, {
            "every look": {"keys[allowed]": "keys", "values[allowed]": "values"},
            "what is forbidden": {"keys[allowed]": "keys[~allowed]", "values[allowed]": "values[~allowed]"},
            "no softmax": {"scores.softmax(dim=0)": "scores"},
            "a root": {"keys[allowed] @ query": "keys[allowed] @ query / len(query) ** 0.5"},
            "keys for values": {"values[allowed]": "keys[allowed]"},
            "nothing given back": {"return scores": "scores"},
        }),
    ),
    checks.check_hide: (
        {
            "nobody looks at the other": closed(lambda word, other: (ALL, other)),
            "by comparison": lambda n, word, other: (torch.arange(n) != other).expand(n, n) | torch.eye(n).bool(),
        },
        {
            "the word looks at nobody": closed(lambda word, other: (word, ALL)),
            "its look alone": closed(lambda word, other: (word, other)),
            "both looks of the two": closed(lambda word, other: (word, other), lambda word, other: (other, word)),
            "the other looks at nobody": closed(lambda word, other: (other, ALL)),
            "nobody looks at the word": closed(lambda word, other: (ALL, word)),
            "numbers": lambda *at: closed(lambda word, other: (ALL, other))(*at).double(),
        },
    ),
}  # fmt: skip
