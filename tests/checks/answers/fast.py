"""What learners answer in 11_fast_encoder: right answers, and wrong ones by the mistake that each makes."""

import torch

from encoder_lib import checks


def _owners(lengths):
    return torch.arange(len(lengths)).repeat_interleave(lengths)


def _same_by_blocks(lengths):
    return torch.block_diag(*(torch.ones(n, n) for n in lengths.tolist() if n)).bool()


def _same_by_loop(lengths):
    mask = torch.zeros(int(lengths.sum()), int(lengths.sum()), dtype=torch.bool)
    start = 0
    for length in lengths.tolist():
        mask[start : start + length, start : start + length] = True
        start += length
    return mask


def _same_by_ends(lengths):
    place = torch.arange(int(lengths.sum()))
    owner = torch.searchsorted(lengths.cumsum(0), place, right=True)
    return owner == owner[:, None]


def _starts_not_moved(lengths):
    mask = torch.zeros(int(lengths.sum()), int(lengths.sum()), dtype=torch.bool)
    for length in lengths.tolist():
        mask[:length, :length] = True
    return mask


def _padded(lengths):
    length = int(lengths.max())
    real = torch.arange(length) < lengths[:, None]
    return (real[:, :, None] & real[:, None, :]).flatten(0, 1)


def _blocks(lengths, size):
    return [lengths[i : i + size] for i in range(0, len(lengths), size)]


def _share_by_loop(lengths, size):
    real = computed = 0
    for start in range(0, len(lengths), size):
        batch = lengths[start : start + size].tolist()
        real += sum(batch)
        computed += len(batch) * max(batch)
    return (computed - real) / computed


def _share_by_batches(lengths, size):
    computed = sum(len(b) * int(b.max()) for b in _blocks(lengths, size))
    padding = sum(int((b.max() - b).sum()) for b in _blocks(lengths, size))
    return torch.tensor(padding / computed)


def _join(a, b, way):
    """Two halves, brought to one score by `way`, which gives a factor for each half."""
    (_, total_a, sum_a), (_, total_b, sum_b) = a, b
    f, g = way(a[0], b[0])
    return (f * sum_a + g * sum_b) / (f * total_a + g * total_b)


def _right_factors(m, n):
    return (m - m.maximum(n)).exp(), (n - m.maximum(n)).exp()


def _totals_alone(m, s, y, n, t, z):
    f, g = _right_factors(m, n)
    return (y + z) / (f * s + g * t)


def _sums_alone(m, s, y, n, t, z):
    f, g = _right_factors(m, n)
    return (f * y + g * z) / (s + t)


def _not_divided(m, s, y, n, t, z):
    f, g = _right_factors(m, n)
    return f * y + g * z


def _by_shares(m, s, y, n, t, z):
    f, g = _right_factors(m, n)
    first = f * s / (f * s + g * t)
    return first * y / torch.where(s == 0, 1, s) + (1 - first) * z / torch.where(t == 0, 1, t)


def _by_softmax(m, s, y, n, t, z):
    shares = torch.softmax(torch.cat([m, n], dim=-1), dim=-1)
    f, g = shares[:, :1], shares[:, 1:]
    return (f * y + g * z) / (f * s + g * t)


ANSWERS = {
    checks.check_join: (
        {
            "largest of both": lambda m, s, y, n, t, z: _join((m, s, y), (n, t, z), _right_factors),
            "shares of the totals": _by_shares,
            "softmax of the largest": _by_softmax,
        },
        {
            "no factors": lambda m, s, y, n, t, z: (y + z) / (s + t),
            "factors the wrong way round": lambda m, s, y, n, t, z: _join(
                (m, s, y), (n, t, z), lambda m, n: ((m.maximum(n) - m).exp(), (m.maximum(n) - n).exp())
            ),
            "the other half's factor": lambda m, s, y, n, t, z: _join(
                (m, s, y), (n, t, z), lambda m, n: _right_factors(m, n)[::-1]
            ),
            "e to the largest itself": lambda m, s, y, n, t, z: _join(
                (m, s, y), (n, t, z), lambda m, n: (m.exp(), n.exp())
            ),
            "one measure for all queries": lambda m, s, y, n, t, z: _join(
                (m, s, y), (n, t, z), lambda m, n: [(h - max(m.max(), n.max())).exp() for h in (m, n)]
            ),
            "the smaller one as measure": lambda m, s, y, n, t, z: _join(
                (m, s, y), (n, t, z), lambda m, n: ((m - m.minimum(n)).exp(), (n - m.minimum(n)).exp())
            ),
            "the first one as measure": lambda m, s, y, n, t, z: _join(
                (m, s, y), (n, t, z), lambda m, n: (torch.ones_like(m), (n - m).exp())
            ),
            "the second one as measure": lambda m, s, y, n, t, z: _join(
                (m, s, y), (n, t, z), lambda m, n: ((m - n).exp(), torch.ones_like(n))
            ),
            "the second one as measure, unless it is empty": lambda m, s, y, n, t, z: _join(
                (m, s, y), (n, t, z), lambda m, n: (
                    (torch.ones_like(m), torch.zeros_like(n)) if n.isinf().any()
                    else ((m - n).exp(), torch.ones_like(n))
                )
            ),
            "the mean of both as measure": lambda m, s, y, n, t, z: _join(
                (m, s, y), (n, t, z), lambda m, n: (((m - n) / 2).exp(), ((n - m) / 2).exp())
            ),
            "totals alone": _totals_alone,
            "sums alone": _sums_alone,
            "not divided": _not_divided,
            "mean of the outputs": lambda m, s, y, n, t, z: (y / s + z / t) / 2,
            "sum of the outputs": lambda m, s, y, n, t, z: y / s + z / t,
            "the first half alone": lambda m, s, y, n, t, z: y / s,
            "the half with the larger score": lambda m, s, y, n, t, z: torch.where(m > n, y / s, z / t),
            "differences, not powers": lambda m, s, y, n, t, z: _join(
                (m, s, y), (n, t, z), lambda m, n: (m / m.maximum(n), n / m.maximum(n))
            ),
            "one largest for all queries": lambda m, s, y, n, t, z: (y + (n - m).mean().exp() * z) / (
                s + (n - m).mean().exp() * t
            ),
        },
    ),
    checks.check_same_sequence: (
        {
            "compare owners": lambda n: _owners(n)[:, None] == _owners(n)[None, :],
            "block diagonal": _same_by_blocks,
            "loop over blocks": _same_by_loop,
            "ends": _same_by_ends,
        },
        {
            "the opposite": lambda n: _owners(n)[:, None] != _owners(n),
            "numbers in place of booleans": lambda n: (_owners(n)[:, None] == _owners(n)).long(),
            "everybody sees everybody": lambda n: torch.ones(int(n.sum()), int(n.sum()), dtype=torch.bool),
            "itself alone": lambda n: torch.eye(int(n.sum()), dtype=torch.bool),
            "itself and before": lambda n: (_owners(n)[:, None] == _owners(n)).tril(),
            "earlier sequences too": lambda n: _owners(n)[:, None] >= _owners(n),
            "every block at the beginning": _starts_not_moved,
            "lengths in place of owners": lambda n: n.repeat_interleave(n)[:, None] == n.repeat_interleave(n),
            "one row for each sequence": lambda n: torch.arange(len(n))[:, None] == _owners(n),
            "padded": _padded,
            "owners alone": _owners,
            "one too far": lambda n: (
                torch.searchsorted(n.cumsum(0), torch.arange(int(n.sum())))[:, None]
                == torch.searchsorted(n.cumsum(0), torch.arange(int(n.sum())))
            ),
            "its own block left out": lambda n: (_owners(n)[:, None] == _owners(n)).fill_diagonal_(False),
        },
    ),
    checks.check_padding_share: (
        {
            "loop": _share_by_loop,
            "padding counted": _share_by_batches,
            "split": lambda n, s: 1 - n.sum() / sum(len(b) * b.max() for b in n.split(s)),
        },
        {
            "share of the real ones": lambda n, s: 1 - _share_by_loop(n, s),
            "one batch for all": lambda n, s: _share_by_loop(n, len(n)),
            "padding for each real one": lambda n, s: 1 / (1 - _share_by_loop(n, s)) - 1,
            "mean of the batches": lambda n, s: torch.tensor([_share_by_loop(b, s) for b in _blocks(n, s)]).mean(),
            "sorted before": lambda n, s: _share_by_loop(n.sort().values, s),
            "the last batch filled up": lambda n, s: 1 - n.sum() / sum(s * b.max() for b in n.split(s)),
            "the last batch left out": lambda n, s: _share_by_loop(n[: len(n) // s * s], s),
            "how many tokens": lambda n, s: sum((b.max() - b).sum() for b in n.split(s)),
            "padded to the mean": lambda n, s: 1 - n.sum() / sum(len(b) * b.double().mean() for b in n.split(s)),
            "the first one is the longest": lambda n, s: 1 - n.sum() / sum(len(b) * b[0] for b in n.split(s)),
            "that many batches": lambda n, s: 1 - n.sum() / sum(len(b) * b.max() for b in n.chunk(s)),
            "in per cent": lambda n, s: 100 * _share_by_loop(n, s),
            "one for each batch": lambda n, s: torch.tensor([_share_by_loop(b, s) for b in _blocks(n, s)]),
            "divided as integers": lambda n, s: 1 - int(n.sum()) // sum(len(b) * int(b.max()) for b in n.split(s)),
        },
    ),
    checks.check_speed_up: (
        {
            "times": lambda t, s: t.sum() / (t / s).sum(),
            "shares": lambda t, s: 1 / ((t / t.sum()) / s).sum(),
            "loop": lambda t, s: sum(t.tolist()) / sum(a / b for a, b in zip(t.tolist(), s.tolist(), strict=True)),
        },
        {
            "the new time": lambda t, s: (t / s).sum(),
            "the other way round": lambda t, s: (t / s).sum() / t.sum(),
            "mean of the factors": lambda t, s: s.mean(),
            "mean by their times": lambda t, s: (t * s).sum() / t.sum(),
            "product of the factors": lambda t, s: s.prod(),
            "the largest factor": lambda t, s: s.max(),
            "the largest part alone": lambda t, s: s[t.argmax()],
            "harmonic mean": lambda t, s: len(s) / (1 / s).sum(),
            "what is saved": lambda t, s: 1 - (t / s).sum() / t.sum(),
            "seconds that are saved": lambda t, s: t.sum() - (t / s).sum(),
            "times multiplied": lambda t, s: t.sum() / (t * s).sum(),
            "each part by itself": lambda t, s: t / (t / s),
            "one more": lambda t, s: t.sum() / (t / s).sum() - 1,
            "what did not change left out": lambda t, s: t[s != 1].sum() / (t / s)[s != 1].sum(),
        },
    ),
}  # fmt: skip
