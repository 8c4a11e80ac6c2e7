"""What learners answer in 03_layer_norm: right answers, and wrong ones by the mistake that each makes."""

import torch

from encoder_lib.course import checks


def _normal(x, eps, dim=-1, correction=0):
    mean = x.mean(dim=dim, keepdim=True)
    return (x - mean) / (x.var(dim=dim, correction=correction, keepdim=True) + eps).sqrt()


def _layer_norm_by_loop(x, weight, bias, eps):
    rows = []
    for token in x.flatten(0, -2):
        centred = token - sum(token) / len(token)
        rows.append(centred / (sum(centred**2) / len(token) + eps) ** 0.5 * weight + bias)
    return torch.stack(rows).reshape(x.shape)


def _deviation(x, dim=-1):
    return x - x.mean(dim=dim, keepdim=True)


def _std(x, correction=0):
    return x.std(dim=-1, correction=correction, keepdim=True)


def _in_place(x, weight, bias, eps):
    std = (x.var(dim=-1, correction=0, keepdim=True) + eps).sqrt()
    return x.sub_(x.mean(dim=-1, keepdim=True)).div_(std).mul_(weight).add_(bias)


def _undo(y, mean, variance, weight, bias, eps):
    return (y - bias) / weight * (variance + eps).sqrt() + mean


ANSWERS = {
    checks.check_layer_norm: (
        {
            "formula": lambda x, w, b, eps: _normal(x, eps) * w + b,
            "loop": _layer_norm_by_loop,
        },
        {
            "unbiased variance": lambda x, w, b, eps: _normal(x, eps, correction=1) * w + b,
            "over everything": lambda x, w, b, eps: _normal(x, eps, tuple(range(x.ndim))) * w + b,
            "eps outside the root": lambda x, w, b, eps: _deviation(x) / (_std(x) + eps) * w + b,
            "eps forgotten": lambda x, w, b, eps: _normal(x, 0) * w + b,
            "weight and bias forgotten": lambda x, w, b, eps: _normal(x, eps),
            "changes its input": _in_place,
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
            "weight before bias": lambda y, m, v, w, b, eps: (y / w - b) * (v + eps).sqrt() + m,
            "weight and bias forgotten": lambda y, m, v, w, b, eps: y * (v + eps).sqrt() + m,
            "statistics along the wrong axis": lambda y, m, v, w, b, eps: _undo(y, m.T, v.T, w, b, eps),
            "in place": lambda y, m, v, w, b, eps: y.sub_(b).div_(w).mul_((v + eps).sqrt()).add_(m),
        },
    ),
}  # fmt: skip
