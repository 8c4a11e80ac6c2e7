"""What learners answer in 11_fast_encoder: right answers, and wrong ones by the mistake that each makes."""

import torch
from edits import wrong

from encoder_lib.course import checks


def _means(strip, lengths):
    owner = torch.arange(len(lengths)).repeat_interleave(lengths)
    sums = strip.new_zeros(len(lengths), strip.shape[2])
    return sums.index_add(0, owner, strip[0]) / lengths[:, None]


def _by_matrix(strip, lengths):
    ends = lengths.cumsum(0)[:, None]
    places = torch.arange(strip.shape[1])
    belongs = (places < ends) & (places >= ends - lengths[:, None])
    return belongs.to(strip.dtype) @ strip[0] / lengths[:, None]


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
    checks.check_strip_means: (
        {
            "index_add": _means,
            "a matrix": _by_matrix,
            "loop": lambda s, n: torch.stack([text.mean(dim=0) for text in s[0].split(n.tolist())]),
        },
        wrong(_means, {
            "not divided": {" / lengths[:, None]": ""},
            "divided by the longest": {"/ lengths[:, None]": "/ lengths.max()"},
            "divided by the mean length": {"/ lengths[:, None]": "* len(lengths) / lengths.sum()"},
            "equal cuts": {"repeat_interleave(lengths)": "repeat_interleave(strip.shape[1] // len(lengths) + 1)"
                           "[: strip.shape[1]]"},
            "in turn": {"torch.arange(len(lengths)).repeat_interleave(lengths)":
                        "torch.arange(strip.shape[1]) % len(lengths)"},
            "one mean for all": lambda s, n: s.mean(dim=1),
            "a batch of one": lambda s, n: _means(s, n)[None],
        }),
    ),
}  # fmt: skip
