"""What learners answer in 11_fast_encoder: right answers, and wrong ones by the mistake that each makes."""

import torch
from edits import wrong

from encoder_lib.course import checks


def _blocks(lengths, size):
    return [lengths[i : i + size] for i in range(0, len(lengths), size)]


def _share_by_loop(lengths, size):
    real = computed = 0
    for start in range(0, len(lengths), size):
        batch = lengths[start : start + size].tolist()
        real += sum(batch)
        computed += len(batch) * max(batch)
    return (computed - real) / computed


def _join(m, s, y, n, t, z):
    largest = m.maximum(n)
    f, g = (m - largest).exp(), (n - largest).exp()
    return (f * y + g * z) / (f * s + g * t)


def _by_shares(m, s, y, n, t, z):
    first = torch.sigmoid(m + s.log() - n - t.log())
    return first * y / s + (1 - first) * z / t


ANSWERS = {
    checks.check_join: (
        {
            "largest of both": _join,
            "shares of the totals, by a sigmoid": _by_shares,
        },
        wrong(_join, {
            "no factors": {"f * y + g * z": "y + z", "f * s + g * t": "s + t"},
            "e to the largest itself": {"m - largest": "m", "n - largest": "n"},
            "one measure for all queries": {"m.maximum(n)": "max(m.max(), n.max())"},
            "the first one as measure": {"m.maximum(n)": "m"},
            "the second one as measure": {"m.maximum(n)": "n"},
            "not divided": {" / (f * s + g * t)": ""},
            "the half with the larger score": lambda m, s, y, n, t, z: torch.where(m > n, y / s, z / t),
        }),
    ),
    checks.check_padding_share: (
        {
            "loop": _share_by_loop,
            "split": lambda n, s: 1 - n.sum() / sum(len(b) * b.max() for b in n.split(s)),
        },
        {
            "share of the real ones": lambda n, s: 1 - _share_by_loop(n, s),
            "one batch for all": lambda n, s: _share_by_loop(n, len(n)),
            "mean of the batches": lambda n, s: torch.tensor([_share_by_loop(b, s) for b in _blocks(n, s)]).mean(),
            "sorted before": lambda n, s: _share_by_loop(n.sort().values, s),
            "the last batch filled up": lambda n, s: 1 - n.sum() / sum(s * b.max() for b in n.split(s)),
            "the first one is the longest": lambda n, s: 1 - n.sum() / sum(len(b) * b[0] for b in n.split(s)),
            "one for each batch": lambda n, s: torch.tensor([_share_by_loop(b, s) for b in _blocks(n, s)]),
        },
    ),
}  # fmt: skip
