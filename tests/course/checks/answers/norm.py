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


def _absolute_deviation(x, weight, bias, eps):
    return _deviation(x) / (_deviation(x).abs().mean(dim=-1, keepdim=True) + eps) * weight + bias


def _norm_in_place(x, weight, bias, eps):
    std = (x.var(dim=-1, correction=0, keepdim=True) + eps).sqrt()
    return x.sub_(x.mean(dim=-1, keepdim=True)).div_(std).mul_(weight).add_(bias)


def _folded(weight, bias, matrix, constants):
    return matrix * weight, matrix @ bias + constants


def _centred(weight, bias, matrix, constants):
    new, more = _folded(weight, bias, matrix, constants)
    return new - new.mean(dim=1, keepdim=True), more  # a normalised token has mean 0


def _in_place(weight, bias, matrix, constants):
    return matrix.mul_(weight), constants.add_(matrix @ (bias / weight))


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
            "mean not subtracted": lambda x, w, b, eps: x / (_std(x) ** 2 + eps).sqrt() * w + b,
            "weight and bias forgotten": lambda x, w, b, eps: _normal(x, eps),
            "absolute deviation": _absolute_deviation,
            "changes its input": _norm_in_place,
        },
    ),
    checks.check_fold: (
        {
            "by columns": _folded,
            "with a diagonal matrix": lambda w, b, m, c: [m @ torch.diag(w), c + m @ b],
            "rows without what a mean of 0 cannot see": _centred,
        },
        {
            "gain forgotten": lambda w, b, m, c: (m, m @ b + c),
            "bias forgotten": lambda w, b, m, c: (m * w, c),
            "gain on the bias too": lambda w, b, m, c: (m * w, m * w @ b + c),
            "matrix alone": lambda w, b, m, c: m * w,
            "constants first": lambda w, b, m, c: (m @ b + c, m * w),
            "matrix transposed": lambda w, b, m, c: ((m * w).T, m @ b + c),
            "changes its input": _in_place,
        },
    ),
}  # fmt: skip
