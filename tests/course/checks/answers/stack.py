"""What learners answer in 07_encoder_stack: right answers, and wrong ones by the mistake that each makes."""

from copy import deepcopy  # noqa: F401 (for an edited answer)

import torch
import torch.nn.functional as F
from edits import edited, wrong
from torch import nn

from encoder_lib import EncoderLayer, LayerNorm
from encoder_lib.course import checks


def _gradient_by_autograd(weights, residual):
    x = start = torch.ones((), dtype=weights.dtype, requires_grad=True)
    for w in weights:
        x = x + w * x if residual else w * x
    return torch.autograd.grad(x, start)[0]


def _cosines(x):
    unit = x / x.norm(dim=-1, keepdim=True)
    return unit @ unit.mT


def _off_diagonal(x):
    others = ~torch.eye(x.shape[1], dtype=torch.bool)
    return _cosines(x)[:, others].mean(dim=1)


def _by_the_sum(x):
    total, length = F.normalize(x, dim=-1).sum(dim=1), x.shape[1]
    return (total.square().sum(-1) - length) / (length * (length - 1))


def _pairs_without_diagonal(products):
    length = products.shape[-1]
    return (products.sum((1, 2)) - products.diagonal(dim1=1, dim2=2).sum(-1)) / (length * (length - 1))


def _reach(arrows, n_layers, step=lambda has, arrows: has[arrows[has]]):
    has = torch.arange(len(arrows))
    for _ in range(n_layers):
        has = step(has, arrows)
    return has


class Stacked(nn.Module):
    def __init__(self, n_layers, d_model, n_heads, d_ff, norm_first):
        super().__init__()
        sizes = d_model, n_heads, d_ff
        self.layers = nn.ModuleList(EncoderLayer(*sizes, norm_first=norm_first) for _ in range(n_layers))
        self.norm = LayerNorm(d_model) if norm_first else nn.Identity()

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x)


class NumberedLayers(nn.Module):
    def __init__(self, n_layers, d_model, n_heads, d_ff, norm_first):
        super().__init__()
        self.n_layers, self.norm_first = n_layers, norm_first
        for i in range(n_layers):
            setattr(self, f"layer{i}", EncoderLayer(d_model, n_heads, d_ff, norm_first=norm_first))
        if norm_first:
            self.norm = nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        for i in range(self.n_layers):
            x = getattr(self, f"layer{i}")(x, mask)
        return self.norm(x) if self.norm_first else x


LAYERS = "EncoderLayer(*sizes, norm_first=norm_first) for _ in range(n_layers)"

ANSWERS = {
    checks.check_encoder: (
        {"a list and a loop": Stacked, "layers by name": NumberedLayers, "copies": edited(Stacked, {
            "= d_model, n_heads, d_ff\n": "= d_model, n_heads, d_ff\n"
            "        layer = EncoderLayer(*sizes, norm_first=norm_first)\n",
            LAYERS: "deepcopy(layer) for _ in range(n_layers)"})},
        wrong(Stacked, {
            "one object": {LAYERS: "[EncoderLayer(*sizes, norm_first=norm_first)] * n_layers"},
            "a plain list": {f"nn.ModuleList({LAYERS})": f"[{LAYERS}]"},
            "the mask dropped": {"layer(x, mask)": "layer(x)"},
            "each layer reads the input": {"x = layer(x, mask)": "y = layer(x, mask)", "self.norm(x)": "self.norm(y)"},
            "norm_first not handed on": {", norm_first=norm_first": ""},
            "a norm at the end of either": {" if norm_first else nn.Identity()": ""},
            "no gradient for the first": {"            x = layer": "            x = x.detach()\n            x = layer"},
        }),
    ),
    checks.check_residual_gradient: (
        {
            "product": lambda w, r: (1 + w if r else w).prod(),
            "autograd": _gradient_by_autograd,
        },
        {
            "sum in place of product": lambda w, r: (1 + w if r else w).sum(),
            "always with the residual path": lambda w, r: (1 + w).prod(),
            "never with it": lambda w, r: w.prod(),
            "one path around the whole chain": lambda w, r: r + w.prod(),
            "the first two terms of the product": lambda w, r: 1 + w.sum() if r else w.prod(),
            "each layer for itself": lambda w, r: 1 + w if r else w,
            "sizes without signs": lambda w, r: (1 + w if r else w).prod().abs(),
        },
    ),
    checks.check_token_similarity: (
        {"mask": _off_diagonal, "sum of the unit vectors": _by_the_sum},
        {
            "tokens compared with themselves": lambda x: _cosines(x).mean(dim=(1, 2)),
            "not normalised": lambda x: _pairs_without_diagonal(x @ x.mT),
            "normalised over the batch": lambda x: _pairs_without_diagonal(F.normalize(x, dim=0) @ x.mT),
            "divided by T²": lambda x: _off_diagonal(x) * (1 - 1 / x.shape[1]),
            "without signs": lambda x: _pairs_without_diagonal(_cosines(x).abs()),
            "one number for the batch": lambda x: _off_diagonal(x).mean(),
        },
    ),
    checks.check_reach: (
        {
            "by what they have": _reach,
            "arrow by arrow": lambda arrows, n: _reach(arrows, 2**n - 1, lambda has, arrows: arrows[has]),
            "card by card": lambda arrows, n: _reach(
                arrows, n, lambda has, arrows: torch.stack([has[arrows[card]] for card in has])
            ),
        },
        {
            "an arrow a layer": lambda arrows, n: _reach(arrows, n, lambda has, arrows: arrows[has]),
            "two arrows a layer": lambda arrows, n: _reach(arrows, n, lambda has, arrows: arrows[arrows[has]]),
            "without a look": lambda arrows, n: _reach(arrows, n, lambda has, arrows: has[has]),
            "two more a layer": lambda arrows, n: _reach(arrows, max(0, 2 * n - 1), lambda has, arrows: arrows[has]),
            "a layer too many": lambda arrows, n: _reach(arrows, n + 1),
            "how many arrows": lambda arrows, n: 2**n - 1,
            "card 0 alone": lambda arrows, n: _reach(arrows, n)[0],
        },
    ),
}  # fmt: skip
