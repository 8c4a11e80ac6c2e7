"""What learners answer in 05_feed_forward: right answers, and wrong ones by the mistake that each makes."""

import torch

from encoder_lib.course import checks


def _prune(w1, b1, w2, b2, speaks=lambda w1, b1: b1 + w1.abs().sum(dim=1) > 0):
    stays = speaks(w1, b1)
    return w1[stays], b1[stays], w2[:, stays], b2


def _by_every_corner(w1, b1):
    corners = torch.cartesian_prod(*[torch.tensor([-1.0, 1.0])] * w1.shape[1]).view(-1, w1.shape[1])
    return (corners @ w1.T + b1).amax(dim=0) > 0


def _by_trying(w1, b1):
    x = 2 * torch.rand(1000, w1.shape[1]) - 1
    return (x @ w1.T + b1).amax(dim=0) > 0


def _in_place(w1, b1, w2, b2):
    w2[:, b1 + w1.abs().sum(dim=1) <= 0] = 0
    return _prune(w1, b1, w2, b2)


def _larger(reads=((1, -1), (0, 1), (0, -1)), writes=(1, 1, -1), constant=0.0):
    w1 = torch.tensor(reads, dtype=torch.float32)
    return w1, torch.zeros(len(w1)), torch.tensor([writes], dtype=torch.float32), torch.tensor([constant])


ANSWERS = {
    checks.check_prune: (
        {
            "by the sizes of what it reads with": _prune,
            "by every corner": lambda *network: _prune(*network, _by_every_corner),
        },
        {
            "nothing cut": lambda *network: network,
            "silent where b is below zero": lambda *network: _prune(*network, lambda w1, b1: b1 > 0),
            "at x = 1 alone": lambda *network: _prune(*network, lambda w1, b1: b1 + w1.sum(dim=1) > 0),
            "at 1 and at −1": lambda *network: _prune(*network, lambda w1, b1: b1 + w1.sum(dim=1).abs() > 0),
            "the length of what it reads with": lambda *network: _prune(
                *network, lambda w1, b1: b1 + w1.norm(dim=1) > 0
            ),
            "a thousand tries": lambda *network: _prune(*network, _by_trying),
            "0 speaks": lambda *network: _prune(*network, lambda w1, b1: b1 + w1.abs().sum(dim=1) >= 0),
            "the silent ones alone": lambda *network: _prune(*network, lambda w1, b1: b1 + w1.abs().sum(dim=1) <= 0),
            "rows of w2": lambda w1, b1, w2, b2: (*_prune(w1, b1, w2, b2)[:2], w2[b1 + w1.abs().sum(1) > 0], b2),
            "w2 as it was": lambda w1, b1, w2, b2: (*_prune(w1, b1, w2, b2)[:2], w2, b2),
            "which ones": lambda w1, b1, w2, b2: b1 + w1.abs().sum(dim=1) > 0,
            "changes a weight": _in_place,
        },
    ),
    checks.check_larger: (
        {
            "the second, and what the first has more": _larger,
            "half of sum and distance": lambda: _larger(((1, 1), (-1, -1), (1, -1), (-1, 1)), (0.5, -0.5, 0.5, 0.5)),
        },
        {
            "right above zero only": lambda: _larger(((1, -1), (0, 1)), (1, 1)),
            "the smaller": lambda: _larger(((-1, 1), (0, 1), (0, -1)), (-1, 1, -1)),
            "a large constant for what is below zero": lambda: (
                torch.tensor([[1.0, -1], [0, 1]]), torch.tensor([0.0, 1000]), torch.ones(1, 2), torch.tensor([-1e3]),
            ),
            "weights as rows": lambda: tuple(part.T if part.ndim == 2 else part for part in _larger()),
            "numbers, not tensors": lambda: tuple(part.tolist() for part in _larger()),
        },
    ),
}  # fmt: skip
