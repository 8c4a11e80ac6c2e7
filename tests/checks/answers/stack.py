"""What learners answer in 07_encoder_stack: right answers, and wrong ones by the mistake that each makes."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

from encoder_lib import EncoderLayer, LayerNorm, checks


def _gradient_by_autograd(weights, residual):
    x = start = torch.ones((), dtype=weights.dtype, requires_grad=True)
    for w in weights:
        x = x + w * x if residual else w * x
    return torch.autograd.grad(x, start)[0]


def _gradient_by_loop(weights, residual):
    product = 1.0
    for w in weights.tolist():
        product *= (1 + w) if residual else w
    return product


def _cosines(x):
    unit = x / x.norm(dim=-1, keepdim=True)
    return unit @ unit.mT


def _off_diagonal(x):
    others = ~torch.eye(x.shape[1], dtype=torch.bool)
    return _cosines(x)[:, others].mean(dim=1)


def _by_the_sum(x):
    total, length = F.normalize(x, dim=-1).sum(dim=1), x.shape[1]
    return (total.square().sum(-1) - length) / (length * (length - 1))


def _by_pairs(x):
    pairs = [(i, j) for i in range(x.shape[1]) for j in range(i)]
    return torch.stack([F.cosine_similarity(x[:, i], x[:, j], dim=-1) for i, j in pairs]).mean(dim=0)


def _pairs_without_diagonal(products):
    length = products.shape[-1]
    return (products.sum((1, 2)) - products.diagonal(dim1=1, dim2=2).sum(-1)) / (length * (length - 1))


def _flops_by_products(t, d, f):
    products = [(t, d, d)] * 4 + [(t, d, f), (t, f, d), (t, d, t), (t, t, d)]
    return sum(2 * m * k * n for m, k, n in products)


class Stacked(nn.Module):
    def __init__(self, n_layers, d_model, n_heads, d_ff, norm_first):
        super().__init__()
        self.layers = nn.ModuleList(self.make(n_layers, d_model, n_heads, d_ff, norm_first=norm_first))
        self.norm = self.last(d_model, norm_first)

    def make(self, n_layers, *sizes, norm_first):
        return [EncoderLayer(*sizes, norm_first=norm_first) for _ in range(n_layers)]

    def last(self, d_model, norm_first):
        return LayerNorm(d_model) if norm_first else nn.Identity()

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


class SameLayer(Stacked):
    def make(self, n_layers, *sizes, norm_first):
        return super().make(1, *sizes, norm_first=norm_first) * n_layers


class Copies(Stacked):
    def make(self, n_layers, *sizes, norm_first):
        (template,) = super().make(1, *sizes, norm_first=norm_first)
        return [copy.deepcopy(template) for _ in range(n_layers)]


class Template(Stacked):
    def __init__(self, n_layers, *sizes):
        super().__init__(n_layers, *sizes)
        self.template = EncoderLayer(*sizes[:3])


class PlainList(Stacked):
    def __init__(self, n_layers, d_model, n_heads, d_ff, norm_first):
        nn.Module.__init__(self)
        self.layers = [x.double() for x in self.make(n_layers, d_model, n_heads, d_ff, norm_first=norm_first)]
        self.norm = self.last(d_model, norm_first)


class OneLayer(Stacked):
    def make(self, n_layers, *sizes, norm_first):
        return super().make(1, *sizes, norm_first=norm_first)


class OneTooMany(Stacked):
    def make(self, n_layers, *sizes, norm_first):
        return super().make(n_layers + 1, *sizes, norm_first=norm_first)


class LastUnused(OneTooMany):
    def forward(self, x, mask=None):
        for layer in self.layers[:-1]:
            x = layer(x, mask)
        return self.norm(x)


class MaskDropped(Stacked):
    def forward(self, x, mask=None):
        return super().forward(x)


class MaskOnce(Stacked):
    def forward(self, x, mask=None):
        for i, layer in enumerate(self.layers):
            x = layer(x, None if i else mask)
        return self.norm(x)


class AllReadTheFirst(Stacked):
    def forward(self, x, mask=None):
        for layer in self.layers:
            y = layer(x, mask)
        return self.norm(y)


class SumOfLayers(Stacked):
    def forward(self, x, mask=None):
        return self.norm(x + sum(layer(x, mask) for layer in self.layers))


class Backwards(Stacked):
    def forward(self, x, mask=None):
        for layer in reversed(self.layers):
            x = layer(x, mask)
        return self.norm(x)


class PostNormThroughout(Stacked):
    def make(self, n_layers, *sizes, norm_first):
        return super().make(n_layers, *sizes, norm_first=False)


class NeverANorm(Stacked):
    def last(self, d_model, norm_first):
        return nn.Identity()


class AlwaysANorm(Stacked):
    def last(self, d_model, norm_first):
        return LayerNorm(d_model)


class NormFirstOfAll(Stacked):
    def forward(self, x, mask=None):
        x = self.norm(x)
        for layer in self.layers:
            x = layer(x, mask)
        return x


ANSWERS = {
    checks.check_encoder: (
        {"a list and a loop": Stacked, "layers by name": NumberedLayers},
        {
            "one object": SameLayer,
            "copies": Copies,
            "a template beside them": Template,
            "a plain list": PlainList,
            "one layer for all": OneLayer,
            "one too many": OneTooMany,
            "the last unused": LastUnused,
            "the mask dropped": MaskDropped,
            "the mask for the first layer alone": MaskOnce,
            "each layer reads the input": AllReadTheFirst,
            "a sum of layers": SumOfLayers,
            "from the last to the first": Backwards,
            "norm_first not handed on": PostNormThroughout,
            "no norm at the end": NeverANorm,
            "a norm at the end of either": AlwaysANorm,
            "the norm at the beginning": NormFirstOfAll,
        },
    ),
    checks.check_residual_gradient: (
        {
            "product": lambda w, r: (1 + w if r else w).prod(),
            "autograd": _gradient_by_autograd,
            "loop": _gradient_by_loop,
        },
        {
            "sum in place of product": lambda w, r: (1 + w if r else w).sum(),
            "always with the residual path": lambda w, r: (1 + w).prod(),
            "never with it": lambda w, r: w.prod(),
            "one path around the whole chain": lambda w, r: r + w.prod(),
            "the two cases exchanged": lambda w, r: (w if r else 1 + w).prod(),
            "the first two terms of the product": lambda w, r: 1 + w.sum() if r else w.prod(),
            "subtracts the branch": lambda w, r: (1 - w if r else w).prod(),
            "one weight for all layers": lambda w, r: (r + w[0]) ** len(w),
            "each layer for itself": lambda w, r: 1 + w if r else w,
            "sizes without signs": lambda w, r: (1 + w if r else w).prod().abs(),
            "mean in place of product": lambda w, r: (1 + w if r else w).mean(),
            "running product": lambda w, r: (1 + w if r else w).cumprod(0),
        },
    ),
    checks.check_token_similarity: (
        {"mask": _off_diagonal, "sum of the unit vectors": _by_the_sum, "pairs": _by_pairs},
        {
            "tokens compared with themselves": lambda x: _cosines(x).mean(dim=(1, 2)),
            "not normalised": lambda x: _pairs_without_diagonal(x @ x.mT),
            "normalised over the tokens": lambda x: _pairs_without_diagonal(F.normalize(x, dim=1) @ x.mT),
            "normalised over the batch": lambda x: _pairs_without_diagonal(F.normalize(x, dim=0) @ x.mT),
            "sum in place of mean": lambda x: _off_diagonal(x) * x.shape[1] * (x.shape[1] - 1),
            "divided by T²": lambda x: _off_diagonal(x) * (1 - 1 / x.shape[1]),
            "divided by D": lambda x: _pairs_without_diagonal(x @ x.mT / x.shape[-1]),
            "without signs": lambda x: _pairs_without_diagonal(_cosines(x).abs()),
            "one number for the batch": lambda x: _off_diagonal(x).mean(),
            "neighbours alone": lambda x: F.cosine_similarity(x[:, 1:], x[:, :-1], dim=-1).mean(dim=1),
            "sequences in place of tokens": lambda x: _off_diagonal(x.transpose(0, 1)),
            "dimensions in place of tokens": lambda x: _off_diagonal(x.mT),
            "each token by itself": lambda x: (_cosines(x).sum(-1) - 1) / (x.shape[1] - 1),
            "each pair": _cosines,
        },
    ),
    checks.check_flops: (
        {
            "formula": lambda t, d, f: 2 * t * (4 * d * d + 2 * d * f) + 4 * t * t * d,
            "product by product": _flops_by_products,
            "as a float": lambda t, d, f: float(_flops_by_products(t, d, f)),
        },
        {
            "multiply-adds counted once": lambda t, d, f: _flops_by_products(t, d, f) // 2,
            "linear maps alone": lambda t, d, f: 2 * t * (4 * d * d + 2 * d * f),
            "attention alone": lambda t, d, f: 4 * t * t * d,
            "scores without the weighted mean": lambda t, d, f: 2 * t * (4 * d * d + 2 * d * f) + 2 * t * t * d,
            "three maps in attention": lambda t, d, f: 2 * t * (3 * d * d + 2 * d * f) + 4 * t * t * d,
            "one matrix in the feed-forward": lambda t, d, f: 2 * t * (4 * d * d + d * f) + 4 * t * t * d,
            "the cost of one token": lambda t, d, f: _flops_by_products(t, d, f) / t,
            "linear maps on every pair of tokens": lambda t, d, f: 2 * t * t * (4 * d * d + 2 * d * f) + 4 * t * t * d,
            "attention linear in the tokens": lambda t, d, f: 2 * t * (4 * d * d + 2 * d * f) + 4 * t * d,
            "attention without the width": lambda t, d, f: 2 * t * (4 * d * d + 2 * d * f) + 4 * t * t,
            "attention with the width squared": lambda t, d, f: 2 * t * (4 * d * d + 2 * d * f) + 4 * t * t * d * d,
            "biases counted": lambda t, d, f: _flops_by_products(t, d, f) + t * (5 * d + f),
            "f for four times d": lambda t, d, f: _flops_by_products(t, d, 4 * d),
        },
    ),
}  # fmt: skip
