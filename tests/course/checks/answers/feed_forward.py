"""What learners answer in 05_feed_forward: right answers, and wrong ones by the mistake that each makes."""

import torch
import torch.nn.functional as F

from encoder_lib.course import checks

relu = torch.relu


def _in_place(x, w1, b1, w2, b2):
    w1.clamp_(min=0)
    return relu(x @ w1.T + b1) @ w2.T + b2


def _larger(reads=((1, -1), (0, 1), (0, -1)), writes=(1, 1, -1), constant=0.0):
    w1 = torch.tensor(reads, dtype=torch.float32)
    return w1, torch.zeros(len(w1)), torch.tensor([writes], dtype=torch.float32), torch.tensor([constant])


ANSWERS = {
    checks.check_position_wise: (
        {
            "from the formula": lambda x, w1, b1, w2, b2: relu(x @ w1.T + b1) @ w2.T + b2,
            "functional": lambda x, w1, b1, w2, b2: F.linear(F.relu(F.linear(x, w1, b1)), w2, b2),
        },
        {
            "no bend": lambda x, w1, b1, w2, b2: (x @ w1.T + b1) @ w2.T + b2,
            "bend at the end": lambda x, w1, b1, w2, b2: relu((x @ w1.T + b1) @ w2.T + b2),
            "first weight not transposed": lambda x, w1, b1, w2, b2: (
                relu(x @ (w1 if w1.shape[0] == w1.shape[1] else w1.T) + b1) @ w2.T + b2
            ),
            "neither transposed": lambda x, w1, b1, w2, b2: relu(x @ w1 + b1) @ w2 + b2,
            "first bias forgotten": lambda x, w1, b1, w2, b2: relu(x @ w1.T) @ w2.T + b2,
            "mean over the tokens": lambda x, w1, b1, w2, b2: (
                relu(x.mean(-2, keepdim=True).expand_as(x) @ w1.T + b1) @ w2.T + b2
            ),
            "tokens flattened": lambda x, w1, b1, w2, b2: relu(x.flatten() @ w1.T + b1) @ w2.T + b2,
            "GELU": lambda x, w1, b1, w2, b2: F.gelu(x @ w1.T + b1) @ w2.T + b2,
            "changes a weight": _in_place,
        },
    ),
    checks.check_merge: (
        {
            "multiplied out": lambda w1, b1, w2, b2: (w2 @ w1, w2 @ b1 + b2),
            "by its effect": lambda w1, b1, w2, b2: (
                F.linear(F.linear(torch.eye(w1.shape[1]).to(w1), w1), w2).T, F.linear(b1, w2, b2),
            ),
            "einsum, as a list": lambda w1, b1, w2, b2: [torch.einsum("of,fi->oi", w2, w1), (w2 * b1).sum(1) + b2],
        },
        {
            "other order": lambda w1, b1, w2, b2: (w1 @ w2, w2 @ b1 + b2),
            "transposed": lambda w1, b1, w2, b2: ((w2 @ w1).T, w2 @ b1 + b2),
            "first bias forgotten": lambda w1, b1, w2, b2: (w2 @ w1, b2),
            "bias through the transpose": lambda w1, b1, w2, b2: (w2 @ w1, b1 @ w2 + b2),
            "one matrix": lambda w1, b1, w2, b2: torch.cat([w2 @ w1, (w2 @ b1 + b2)[:, None]], dim=1),
        },
    ),
    checks.check_larger: (
        {
            "the second, and what the first has more": _larger,
            "the first, and what the second has more": lambda: _larger(((-1, 1), (1, 0), (-1, 0))),
            "half of sum and distance": lambda: _larger(((1, 1), (-1, -1), (1, -1), (-1, 1)), (0.5, -0.5, 0.5, 0.5)),
        },
        {
            "right above zero only": lambda: _larger(((1, -1), (0, 1)), (1, 1)),
            "the smaller": lambda: _larger(((-1, 1), (0, 1), (0, -1)), (-1, 1, -1)),
            "a large constant for what is below zero": lambda: (
                torch.tensor([[1.0, -1], [0, 1]]), torch.tensor([0.0, 100]), torch.ones(1, 2), torch.tensor([-100.0]),
            ),
            "weights as rows": lambda: tuple(part.T if part.ndim == 2 else part for part in _larger()),
            "numbers, not tensors": lambda: tuple(part.tolist() for part in _larger()),
        },
    ),
}  # fmt: skip
