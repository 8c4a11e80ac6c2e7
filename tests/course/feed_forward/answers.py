"""What learners answer in 05_feed_forward: right answers, and wrong ones by the mistake that each makes."""

import torch
from torch import nn

from encoder_lib.course import checks


def _larger(reads=((1, -1), (0, 1), (0, -1)), writes=(1, 1, -1), constant=0.0):
    w1 = torch.tensor(reads, dtype=torch.float32)
    return w1, torch.zeros(len(w1)), torch.tensor([writes], dtype=torch.float32), torch.tensor([constant])


ANSWERS = {
    checks.check_larger: (
        {
            "the second, and what the first has more": _larger,
            "as parameters": lambda: [nn.Parameter(part) for part in _larger()],
            "as arrays": lambda: tuple(part.numpy() for part in _larger()),
            "a generator": lambda: (part for part in _larger()),
            "half of sum and distance": lambda: _larger(((1, 1), (-1, -1), (1, -1), (-1, 1)), (0.5, -0.5, 0.5, 0.5)),
        },
        {
            "right above zero only": lambda: _larger(((1, -1), (0, 1)), (1, 1)),
            "the smaller": lambda: _larger(((-1, 1), (0, 1), (0, -1)), (-1, 1, -1)),
            "a large constant for what is below zero": lambda: (
                torch.tensor([[1.0, -1], [0, 1]]), torch.tensor([0.0, 1000]), torch.ones(1, 2), torch.tensor([-1e3]),
            ),
            "two layers": lambda: (nn.Linear(2, 3), nn.Linear(3, 1)),
            "weights as rows": lambda: tuple(part.T if part.ndim == 2 else part for part in _larger()),
            "numbers, not tensors": lambda: tuple(part.tolist() for part in _larger()),
        },
    ),
}  # fmt: skip
