"""What learners answer in 11_fast_encoder: right answers, and wrong ones by the mistake that each makes."""

import torch
from edits import wrong

from encoder_lib.course import checks


def _join(y, a, z, b):
    shares = torch.stack([a, b]).softmax(dim=0)
    return shares[0] * y + shares[1] * z


def _measured(y, a, z, b):
    largest = a.maximum(b)
    f, g = (a - largest).exp(), (b - largest).exp()
    return (f * y + g * z) / (f + g)


def _masked(q, k, v, mask, size=64):
    largest = torch.full((len(q), 1), -1e30)
    total, summed = torch.zeros(len(q), 1), torch.zeros(len(q), v.shape[1])
    for keys, values, seen in zip(k.split(size), v.split(size), mask.split(size, dim=1), strict=True):
        scores = (q @ keys.T / q.shape[1] ** 0.5).masked_fill(~seen, -torch.inf)
        higher = torch.maximum(largest, scores.amax(dim=1, keepdim=True))
        factor, powers = (largest - higher).exp(), (scores - higher).exp()
        total = factor * total + powers.sum(dim=1, keepdim=True)
        summed = factor * summed + powers @ values
        largest = higher
    return summed / total


def _low_scores(q, k, v, mask, size=64):
    largest, total, summed = torch.tensor(-torch.inf), 0.0, 0.0
    for start in range(0, len(k), size):
        piece = slice(start, start + size)
        scores = torch.where(mask[:, piece], q @ k[piece].T / q.shape[1] ** 0.5, torch.finfo(q.dtype).min)
        higher = scores.amax(dim=1, keepdim=True).maximum(largest)
        total = total * (largest - higher).exp() + (scores - higher).exp().sum(dim=1, keepdim=True)
        summed = summed * (largest - higher).exp() + (scores - higher).exp() @ v[piece]
        largest = higher
    return summed / total


ANSWERS = {
    checks.check_join: (
        {"softmax over the workers": _join, "measured against the larger": _measured},
        wrong(_measured, {
            "the plain mean": {"(f * y + g * z) / (f + g)": "(y + z) / 2"},
            "e to the log itself": {"a - largest": "a", "b - largest": "b"},
            "the logs as shares": {"(f * y + g * z) / (f + g)": "(a * y + b * z) / (a + b)"},
            "one measure for all queries": {"a.maximum(b)": "max(a.max(), b.max())"},
            "the first one as measure": {"a.maximum(b)": "a"},
            "the second one as measure": {"a.maximum(b)": "b"},
            "not divided": {" / (f + g)": ""},
            "shares over the queries": {"(f * y + g * z) / (f + g)": "a.softmax(dim=0) * y + b.softmax(dim=0) * z"},
            "the half with the larger total": lambda y, a, z, b: torch.where(a > b, y, z),
        }),
    ),
    checks.check_masked: (
        {"a finite start": _masked, "hidden scores that are finite": _low_scores},
        wrong(_masked, {
            "no mask": {".masked_fill(~seen, -torch.inf)": ""},
            "the mask turned round": {"~seen": "seen"},
            "the mask's first piece for all": {
                "mask.split(size, dim=1)": "[mask[:, :size]] * 9", "strict=True": "strict=False"},
            "hidden scores are 0": {"-torch.inf": "0.0"},
            "a start at minus infinity": {"-1e30": "-torch.inf"},
            "a start at 0": {"-1e30": "0.0"},
            "nothing subtracted": {"scores - higher": "scores", "largest - higher": "0 * largest"},
            "the old sums as they are": {"factor * total": "total", "factor * summed": "summed"},
            "the old total as it is": {"factor * total": "total"},
            "the factor turned round": {"largest - higher": "higher - largest"},
            "one largest for all queries": {"scores.amax(dim=1, keepdim=True)": "scores.max()"},
            "the piece's own largest": {"torch.maximum(largest, scores.amax(dim=1, keepdim=True))":
                                        "scores.amax(dim=1, keepdim=True)"},
            "not divided": {" / total": ""},
        }),
    ),
}  # fmt: skip
