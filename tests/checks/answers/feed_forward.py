"""What learners answer in 05_feed_forward: right answers, and wrong ones by the mistake that each makes."""

import torch
import torch.nn.functional as F

from encoder_lib import FeedForward, checks

relu = torch.relu


def _by_module(x, w1, b1, w2, b2):
    network = FeedForward(w1.shape[1], len(w1)).to(x.dtype)
    state = {"linear1.weight": w1, "linear1.bias": b1, "linear2.weight": w2, "linear2.bias": b2}
    network.load_state_dict(state)
    return network(x)


def _token_by_token(x, w1, b1, w2, b2):
    y = torch.empty_like(x)
    for place in torch.cartesian_prod(*(torch.arange(n) for n in x.shape[:-1])).reshape(-1, x.ndim - 1).tolist():
        y[tuple(place)] = w2 @ (w1 @ x[tuple(place)] + b1).clamp(min=0) + b2
    return y


def _in_place(x, w1, b1, w2, b2):
    w1.clamp_(min=0)
    return relu(x @ w1.T + b1) @ w2.T + b2


def _doubles_its_input(x, w1, b1, w2, b2):
    y = relu(x @ w1.T + b1) @ w2.T + b2
    x += y
    return y


def _dead(x, w1, b1, w2, b2):
    hidden = x @ w1.T + b1
    return torch.where(hidden > 0, hidden, 0.01 * hidden) @ w2.T + b2


def _bump(centre, width, slopes=(1, -2, 1), feet=(-1, 0, 1), constant=0.0, sign=1.0):
    places = torch.tensor([centre + width * foot for foot in feet])
    w1 = sign * torch.ones(len(feet), 1)
    return w1, -sign * places, torch.tensor([slopes]) / width, torch.tensor([constant])


def _five_units(centre, width):
    w1 = torch.tensor([[1.0], [-1.0], [1.0], [1.0], [1.0]])
    b1 = torch.tensor([width - centre, centre - 99, -centre, -centre, -centre - width])
    return w1, b1, torch.tensor([[1, 0, -1, -1, 1]]) / width, torch.zeros(1)


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
            "einsum": lambda x, w1, b1, w2, b2: (
                torch.einsum("...f,df->...d", (torch.einsum("...d,fd->...f", x, w1) + b1).clamp(min=0), w2) + b2
            ),
            "token by token": _token_by_token,
            "the library's own": _by_module,
        },
        {
            "no bend": lambda x, w1, b1, w2, b2: (x @ w1.T + b1) @ w2.T + b2,
            "bend at the end": lambda x, w1, b1, w2, b2: relu((x @ w1.T + b1) @ w2.T + b2),
            "bend after both": lambda x, w1, b1, w2, b2: relu(relu(x @ w1.T + b1) @ w2.T + b2),
            "bend before both": lambda x, w1, b1, w2, b2: (relu(x) @ w1.T + b1) @ w2.T + b2,
            "first weight not transposed": lambda x, w1, b1, w2, b2: (
                relu(x @ (w1 if w1.shape[0] == w1.shape[1] else w1.T) + b1) @ w2.T + b2
            ),
            "second weight not transposed": lambda x, w1, b1, w2, b2: (
                relu(x @ w1.T + b1) @ (w2 if w2.shape[0] == w2.shape[1] else w2.T) + b2
            ),
            "neither transposed": lambda x, w1, b1, w2, b2: relu(x @ w1 + b1) @ w2 + b2,
            "first bias forgotten": lambda x, w1, b1, w2, b2: relu(x @ w1.T) @ w2.T + b2,
            "second bias forgotten": lambda x, w1, b1, w2, b2: relu(x @ w1.T + b1) @ w2.T,
            "first bias after the bend": lambda x, w1, b1, w2, b2: (relu(x @ w1.T) + b1) @ w2.T + b2,
            "mean over the tokens": lambda x, w1, b1, w2, b2: (
                relu(x.mean(-2, keepdim=True).expand_as(x) @ w1.T + b1) @ w2.T + b2
            ),
            "tokens flattened": lambda x, w1, b1, w2, b2: relu(x.flatten() @ w1.T + b1) @ w2.T + b2,
            "hidden numbers normalised over the tokens": lambda x, w1, b1, w2, b2: (
                relu(x @ w1.T + b1).softmax(dim=-2) @ w2.T + b2
            ),
            "GELU": lambda x, w1, b1, w2, b2: F.gelu(x @ w1.T + b1) @ w2.T + b2,
            "leaky bend": _dead,
            "absolute value": lambda x, w1, b1, w2, b2: (x @ w1.T + b1).abs() @ w2.T + b2,
            "residual added": lambda x, w1, b1, w2, b2: x + relu(x @ w1.T + b1) @ w2.T + b2,
            "changes a weight": _in_place,
            "changes its input": _doubles_its_input,
            "first token alone": lambda x, w1, b1, w2, b2: relu(x[..., :1, :] @ w1.T + b1) @ w2.T + b2,
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
            "second bias forgotten": lambda w1, b1, w2, b2: (w2 @ w1, w2 @ b1),
            "bias through the first map": lambda w1, b1, w2, b2: (w2 @ w1, w1 @ b2 + b1),
            "bias through the transpose": lambda w1, b1, w2, b2: (w2 @ w1, b1 @ w2 + b2),
            "element by element": lambda w1, b1, w2, b2: (w2 * w1, w2 @ b1 + b2),
            "sum of the weights": lambda w1, b1, w2, b2: (w2 + w1, w2 @ b1 + b2),
            "with a bend": lambda w1, b1, w2, b2: (w2 @ relu(w1), w2 @ relu(b1) + b2),
            "the weight alone": lambda w1, b1, w2, b2: w2 @ w1,
            "bias as a column": lambda w1, b1, w2, b2: (w2 @ w1, (w2 @ b1 + b2)[:, None]),
            "the wrong way round": lambda w1, b1, w2, b2: (w2 @ b1 + b2, w2 @ w1),
        },
    ),
    checks.check_bump: (
        {
            "three units": _bump,
            "opening to the left": lambda c, w: _bump(c, w, sign=-1.0),
            "five units": _five_units,
            "steep units": _steep,
        },
        {
            "two units": lambda c, w: _bump(c, w, slopes=(1, -2), feet=(-1, 0)),
            "flat on the right at the top": lambda c, w: _bump(c, w, slopes=(1, -1), feet=(-1, 0)),
            "slope turned only to flat": lambda c, w: _bump(c, w, slopes=(1, -1, 1)),
            "upside down": lambda c, w: _bump(c, w, slopes=(-1, 2, -1)),
            "twice as high": lambda c, w: _bump(c, w, slopes=(2, -4, 2)),
            "width forgotten": lambda c, w: _bump(c, w, slopes=(w, -2 * w, w)),
            "as wide as the width in all": lambda c, w: _bump(c, w / 2),
            "centre forgotten": lambda c, w: _bump(0.0, w),
            "centre with the wrong sign": lambda c, w: _bump(-c, w),
            "a constant left over": lambda c, w: _bump(c, w, constant=1.0),
            "the absolute value": lambda c, w: _bump(c, w, slopes=(-1, 2, 1), feet=(-1, 0, 1)),
            "weights as rows": lambda c, w: tuple(part.T if part.ndim == 2 else part for part in _bump(c, w)),
            "numbers, not tensors": lambda c, w: tuple(part.tolist() for part in _bump(c, w)),
            "the values of the bump": lambda c, w: (1 - (torch.linspace(-1, 1, 5) - c).abs() / w).clamp(min=0),
        },
    ),
}  # fmt: skip
