"""What learners answer in 03_layer_norm: right answers, and wrong ones by the mistake that each makes."""

import torch
import torch.nn.functional as F

from encoder_lib import checks


def _normal(x, eps, dim=-1, correction=0):
    mean = x.mean(dim=dim, keepdim=True)
    return (x - mean) / (x.var(dim=dim, correction=correction, keepdim=True) + eps).sqrt()


def _layer_norm_by_loop(x, weight, bias, eps):
    rows = []
    for token in x.flatten(0, -2):
        centred = token - sum(token) / len(token)
        rows.append(centred / (sum(centred**2) / len(token) + eps) ** 0.5 * weight + bias)
    return torch.stack(rows).reshape(x.shape)


def _no_parentheses(x, weight, bias, eps):
    variance = x.var(dim=-1, correction=0, keepdim=True)
    return x - x.mean(dim=-1, keepdim=True) / (variance + eps).sqrt() * weight + bias


def _deviation(x, dim=-1):
    return x - x.mean(dim=dim, keepdim=True)


def _std(x, correction=0):
    return x.std(dim=-1, correction=correction, keepdim=True)


def _sum_of_squares(x, weight, bias, eps):
    return _deviation(x) / (_deviation(x).square().sum(dim=-1, keepdim=True) + eps).sqrt() * weight + bias


def _absolute_deviation(x, weight, bias, eps):
    return _deviation(x) / (_deviation(x).abs().mean(dim=-1, keepdim=True) + eps) * weight + bias


def _in_place(x, weight, bias, eps):
    std = (x.var(dim=-1, correction=0, keepdim=True) + eps).sqrt()
    return x.sub_(x.mean(dim=-1, keepdim=True)).div_(std).mul_(weight).add_(bias)


def _batch_norm_by_loop(x, eps):
    features = [(f - f.mean()) / (f.var(correction=0) + eps).sqrt() for f in x.unbind(-1)]
    return torch.stack(features, dim=-1)


def _batch_norm_in_place(x, eps):
    x -= x.mean(dim=(0, 1))
    return x / (x.square().mean(dim=(0, 1)) + eps).sqrt()


def _undo(y, mean, variance, weight, bias, eps):
    return (y - bias) / weight * (variance + eps).sqrt() + mean


ANSWERS = {
    checks.check_layer_norm: (
        {
            "formula": lambda x, w, b, eps: _normal(x, eps) * w + b,
            "torch's own": lambda x, w, b, eps: F.layer_norm(x, x.shape[-1:], w, b, eps),
            "loop": _layer_norm_by_loop,
            "in float32": lambda x, w, b, eps: (_normal(x, eps).float() * w.float() + b.float()),
        },
        {
            "unbiased variance": lambda x, w, b, eps: _normal(x, eps, correction=1) * w + b,
            "over the tokens": lambda x, w, b, eps: _normal(x, eps, -2) * w + b,
            "over the first axis": lambda x, w, b, eps: _normal(x, eps, 0) * w + b,
            "over everything": lambda x, w, b, eps: _normal(x, eps, tuple(range(x.ndim))) * w + b,
            "over the whole sequence": lambda x, w, b, eps: _normal(x, eps, (-2, -1)) * w + b,
            "over all but the last": lambda x, w, b, eps: _normal(x, eps, tuple(range(x.ndim - 1))) * w + b,
            "eps outside the root": lambda x, w, b, eps: _deviation(x) / (_std(x) + eps) * w + b,
            "unbiased, eps outside": lambda x, w, b, eps: _deviation(x) / (_std(x, 1) + eps) * w + b,
            "eps forgotten": lambda x, w, b, eps: _normal(x, 0) * w + b,
            "eps fixed": lambda x, w, b, eps: _normal(x, 1e-5) * w + b,
            "divided by the variance": lambda x, w, b, eps: _deviation(x) / (_std(x) ** 2 + eps) * w + b,
            "not divided": lambda x, w, b, eps: _deviation(x) * w + b,
            "mean not subtracted": lambda x, w, b, eps: x / (_std(x) ** 2 + eps).sqrt() * w + b,
            "RMS norm": lambda x, w, b, eps: F.rms_norm(x, x.shape[-1:], w, eps) + b,
            "weight and bias forgotten": lambda x, w, b, eps: _normal(x, eps),
            "bias forgotten": lambda x, w, b, eps: _normal(x, eps) * w,
            "weight and bias before": lambda x, w, b, eps: _normal(x * w + b, eps),
            "bias before weight": lambda x, w, b, eps: (_normal(x, eps) + b) * w,
            "no parentheses": _no_parentheses,
            "sum in place of mean": _sum_of_squares,
            "absolute deviation": _absolute_deviation,
            "changes its input": _in_place,
        },
    ),
    checks.check_batch_norm: (
        {
            "two axes": lambda x, eps: _normal(x, eps, (0, 1)),
            "flattened": lambda x, eps: _normal(x.flatten(0, 1), eps, 0).reshape(x.shape),
            "loop over features": _batch_norm_by_loop,
        },
        {
            "layer norm": lambda x, eps: _normal(x, eps),
            "over the batch alone": lambda x, eps: _normal(x, eps, 0),
            "over the tokens alone": lambda x, eps: _normal(x, eps, 1),
            "over everything": lambda x, eps: _normal(x, eps, (0, 1, 2)),
            "over the sequence": lambda x, eps: _normal(x, eps, (1, 2)),
            "over batch and features": lambda x, eps: _normal(x, eps, (0, 2)),
            "unbiased variance": lambda x, eps: _normal(x, eps, (0, 1), correction=1),
            "eps outside the root": lambda x, eps: _deviation(x, (0, 1)) / (x.std((0, 1), correction=0) + eps),
            "eps forgotten": lambda x, eps: _normal(x, 0, (0, 1)),
            "divided by the variance": lambda x, eps: _deviation(x, (0, 1)) / (x.var((0, 1), correction=0) + eps),
            "only centred": lambda x, eps: _deviation(x, (0, 1)),
            "one axis after the other": lambda x, eps: _normal(_normal(x, eps, 0), eps, 1),
            "the tokens lost": lambda x, eps: _normal(x.flatten(0, 1), eps, 0),
            "changes its input": _batch_norm_in_place,
        },
    ),
    checks.check_undo: (
        {
            "backwards": _undo,
            "with powers": lambda y, m, v, w, b, eps: m + (v + eps) ** 0.5 * ((y - b) / w),
        },
        {
            "eps forgotten": lambda y, m, v, w, b, eps: _undo(y, m, v, w, b, 0),
            "eps outside the root": lambda y, m, v, w, b, eps: (y - b) / w * (v.sqrt() + eps) + m,
            "variance in place of its root": lambda y, m, v, w, b, eps: (y - b) / w * (v + eps) + m,
            "weight before bias": lambda y, m, v, w, b, eps: (y / w - b) * (v + eps).sqrt() + m,
            "weight and bias forgotten": lambda y, m, v, w, b, eps: y * (v + eps).sqrt() + m,
            "bias forgotten": lambda y, m, v, w, b, eps: y / w * (v + eps).sqrt() + m,
            "mean before the root": lambda y, m, v, w, b, eps: ((y - b) / w + m) * (v + eps).sqrt(),
            "mean forgotten": lambda y, m, v, w, b, eps: (y - b) / w * (v + eps).sqrt(),
            "forwards again": lambda y, m, v, w, b, eps: (y - m) / (v + eps).sqrt() * w + b,
            "statistics of y": lambda y, m, v, w, b, eps: _undo(y, y.mean(-1, True), y.var(-1, True), w, b, eps),
            "statistics along the wrong axis": lambda y, m, v, w, b, eps: _undo(y, m.T, v.T, w, b, eps),
            "in place": lambda y, m, v, w, b, eps: y.sub_(b).div_(w).mul_((v + eps).sqrt()).add_(m),
        },
    ),
}  # fmt: skip
