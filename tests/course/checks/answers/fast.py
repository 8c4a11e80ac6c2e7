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


def _padding(lengths, pool):
    batches = lengths.view(-1, pool).sort(dim=1).values.view(-1, 16)
    return 1 - lengths.sum() / (16 * batches.amax(dim=1).sum())


def _by_loop(lengths, pool):
    places = 0
    for start in range(0, len(lengths), pool):
        here = sorted(lengths[start : start + pool].tolist(), reverse=True)
        places += sum(16 * longest for longest in here[::16])
    return (places - lengths.sum().item()) / places


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
    checks.check_padding: (
        {"sorted": _padding, "a loop, the longest first": _by_loop},
        wrong(_padding, {
            "as they come": {".sort(dim=1).values": ""},
            "one pool of all": {"lengths.view(-1, pool)": "lengths.view(1, -1)"},
            "the share of the tokens": {"1 - lengths": "lengths"},
            "to the longest of all": {"16 * batches.amax(dim=1).sum()": "lengths.max() * len(lengths)"},
            "to the longest of the pool": {"view(-1, 16)": "view(-1, pool)", "(16 *": "(pool *"},
            "the mean of the shares": {
                "1 - lengths.sum() / (16 * batches.amax(dim=1).sum())":
                "(1 - batches.sum(dim=1) / (16 * batches.amax(dim=1))).mean()"},
            "how many": {"1 - lengths.sum() / (16 * batches.amax(dim=1).sum())":
                         "16 * batches.amax(dim=1).sum() - lengths.sum()"},
            "each with every pool-th": {"view(-1, pool).sort(dim=1)": "view(pool, -1).sort(dim=0)"},
        }),
    ),
}  # fmt: skip
