"""What learners answer in 05_feed_forward: right answers, and wrong ones by the mistake that each makes."""

import torch
import torch.nn.functional as F

from encoder_lib.course import checks

relu = torch.relu


def _in_place(x, w1, b1, w2, b2):
    w1.clamp_(min=0)
    return relu(x @ w1.T + b1) @ w2.T + b2


def _bump(centre, width, slopes=(1, -2, 1), feet=(-1, 0, 1), constant=0.0, sign=1.0):
    places = torch.tensor([centre + width * foot for foot in feet])
    w1 = sign * torch.ones(len(feet), 1)
    return w1, -sign * places, torch.tensor([slopes]) / width, torch.tensor([constant])


def _steep(centre, width):
    """The slopes in the first weights, their signs in the last."""
    w1 = torch.tensor([[1.0], [2.0], [1.0]]) / width
    b1 = -w1[:, 0] * torch.tensor([centre - width, centre, centre + width])
    return w1, b1, torch.tensor([[1.0, -1.0, 1.0]]), torch.zeros(1)


ANSWERS = {
    checks.check_position_wise: (
        {
            "from the formula": lambda x, w1, b1, w2, b2: relu(x @ w1.T + b1) @ w2.T + b2,
            "functional": lambda x, w1, b1, w2, b2: F.linear(F.relu(F.linear(x, w1, b1)), w2, b2),
        },
        {
            "no bend": lambda x, w1, b1, w2, b2: (x @ w1.T + b1) @ w2.T + b2,
            "bend at the end": lambda x, w1, b1, w2, b2: relu((x @ w1.T + b1) @ w2.T + b2),
            "bend after both": lambda x, w1, b1, w2, b2: relu(relu(x @ w1.T + b1) @ w2.T + b2),
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
            "both transposed": lambda w1, b1, w2, b2: (w1.T @ w2.T, w2 @ b1 + b2),
            "biases added": lambda w1, b1, w2, b2: (w2 @ w1, b1 + b2),
            "first bias forgotten": lambda w1, b1, w2, b2: (w2 @ w1, b2),
            "bias through the transpose": lambda w1, b1, w2, b2: (w2 @ w1, b1 @ w2 + b2),
            "sum of the weights": lambda w1, b1, w2, b2: (w2 + w1, w2 @ b1 + b2),
            "the weight alone": lambda w1, b1, w2, b2: w2 @ w1,
            "one matrix": lambda w1, b1, w2, b2: torch.cat([w2 @ w1, (w2 @ b1 + b2)[:, None]], dim=1),
        },
    ),
    checks.check_bump: (
        {
            "three units": _bump,
            "opening to the left": lambda c, w: _bump(c, w, sign=-1.0),
            "steep units": _steep,
        },
        {
            "two units": lambda c, w: _bump(c, w, slopes=(1, -2), feet=(-1, 0)),
            "flat on the right at the top": lambda c, w: _bump(c, w, slopes=(1, -1), feet=(-1, 0)),
            "upside down": lambda c, w: _bump(c, w, slopes=(-1, 2, -1)),
            "width forgotten": lambda c, w: _bump(c, w, slopes=(w, -2 * w, w)),
            "as wide as the width in all": lambda c, w: _bump(c, w / 2),
            "centre forgotten": lambda c, w: _bump(0.0, w),
            "weights as rows": lambda c, w: tuple(part.T if part.ndim == 2 else part for part in _bump(c, w)),
            "numbers, not tensors": lambda c, w: tuple(part.tolist() for part in _bump(c, w)),
        },
    ),
}  # fmt: skip
