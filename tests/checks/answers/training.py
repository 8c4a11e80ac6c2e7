"""What learners answer in 08_training: right answers, and wrong ones by the mistake that each makes."""

import math

import torch
import torch.nn.functional as F

from encoder_lib import checks


def _at(values, targets):
    return values[torch.arange(len(targets)), targets]


def _surprise(scores, targets):
    return -_at(scores.softmax(-1), targets).log()


def _by_loop(scores, targets):
    total = 0.0
    for row, target in zip(scores.tolist(), targets.tolist(), strict=True):
        total += math.log(sum(math.exp(s) for s in row)) - row[target]
    return total / len(targets)


def _right(scores, targets):
    return scores.argmax(-1) == targets


def _count_by_loop(scores, targets, real):
    right = [
        scores[b, t].argmax() == targets[b, t]
        for b in range(len(targets))
        for t in range(targets.shape[1])
        if real[b, t]
    ]
    return sum(right) / len(right)


ANSWERS = {
    checks.check_cross_entropy: (
        {
            "formula": lambda s, t: _surprise(s, t).mean(),
            "log-sum-exp": lambda s, t: (s.logsumexp(-1) - _at(s, t)).mean(),
            "one-hot": lambda s, t: -(F.one_hot(t, s.shape[1]) * s.log_softmax(-1)).sum(-1).mean(),
            "by loop": _by_loop,
        },
        {
            "softmax twice": lambda s, t: F.cross_entropy(s.softmax(-1), t),
            "mean over classes too": lambda s, t: -(F.one_hot(t, s.shape[1]) * s.log_softmax(-1)).mean(),
            "all classes": lambda s, t: -s.log_softmax(-1).mean(),
            "no logarithm": lambda s, t: (1 - _at(s.softmax(-1), t)).mean(),
            "no minus": lambda s, t: -_surprise(s, t).mean(),
            "sum in place of mean": lambda s, t: _surprise(s, t).sum(),
            "one number a token": lambda s, t: _surprise(s, t),
            "softmax over the tokens": lambda s, t: -_at(s.softmax(0), t).log().mean(),
            "base 2": lambda s, t: _surprise(s, t).mean() / math.log(2),
            "no softmax": lambda s, t: -_at(s, t).mean(),
            "the largest probability": lambda s, t: -s.softmax(-1).amax(-1).log().mean(),
            "log of the mean": lambda s, t: -_at(s.softmax(-1), t).mean().log(),
            "squared error": lambda s, t: (s.softmax(-1) - F.one_hot(t, s.shape[1])).square().sum(-1).mean(),
            "first column": lambda s, t: -s.log_softmax(-1)[:, 0].mean(),
        },
    ),
    checks.check_real_accuracy: (
        {
            "select": lambda s, t, real: _right(s, t)[real].double().mean(),
            "multiply": lambda s, t, real: (_right(s, t) & real).sum() / real.sum(),
            "by loop": _count_by_loop,
        },
        {
            "padding counts": lambda s, t, real: _right(s, t).double().mean(),
            "divided by all tokens": lambda s, t, real: (_right(s, t) & real).double().mean(),
            "padding counts as right": lambda s, t, real: (_right(s, t) | ~real).double().mean(),
            "mean of the sentences": lambda s, t, real: ((_right(s, t) & real).sum(1) / real.sum(1)).mean(),
            "right padding counted": lambda s, t, real: _right(s, t).sum() / real.sum(),
            "only padding": lambda s, t, real: (_right(s, t) & ~real).sum() / real.sum(),
            "share of errors": lambda s, t, real: 1 - _right(s, t)[real].double().mean(),
            "a count": lambda s, t, real: (_right(s, t) & real).sum(),
            "whole sentences": lambda s, t, real: (_right(s, t) | ~real).all(1).double().mean(),
            "smallest score": lambda s, t, real: (s.argmin(-1) == t)[real].double().mean(),
            "a number for each sentence": lambda s, t, real: (_right(s, t) & real).sum(1) / real.sum(1),
            "probability": lambda s, t, real: s.softmax(-1).gather(2, t[..., None])[..., 0][real].mean(),
        },
    ),
    checks.check_breaks: (
        {
            "largest against smallest": lambda whole, removed: removed.amax(dim=1) < whole.min(),
            "every pair": lambda whole, removed: (removed[:, :, None] < whole).flatten(1).all(1),
        },
        {
            "means": lambda whole, removed: removed.mean(1) < whole.mean(),
            "seed by seed": lambda whole, removed: (removed < whole).all(1),
            "worst against worst": lambda whole, removed: removed.amin(1) < whole.min(),
            "best against best": lambda whole, removed: removed.amax(1) < whole.max(),
            "worst against best": lambda whole, removed: removed.amin(1) < whole.max(),
            "best against mean": lambda whole, removed: removed.amax(1) < whole.mean(),
            "any seed": lambda whole, removed: (removed < whole).any(1),
            "a tie counts": lambda whole, removed: removed.amax(1) <= whole.min(),
            "the other way round": lambda whole, removed: removed.amax(1) > whole.min(),
            "over the parts": lambda whole, removed: removed.amax(0) < whole.min(),
            "one answer for all": lambda whole, removed: removed.max() < whole.min(),
            "the first seed": lambda whole, removed: removed[:, 0] < whole[0],
            "a fixed limit": lambda whole, removed: removed.amax(1) < 0.9,
            "how far": lambda whole, removed: whole.min() - removed.amax(1),
        },
    ),
}  # fmt: skip
