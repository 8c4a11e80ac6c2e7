"""What learners answer in 03_layer_norm: right answers, and wrong ones by the mistake that each makes."""

import torch

from encoder_lib.course import checks


def _folded(weight, bias, matrix, constants):
    return matrix * weight, matrix @ bias + constants


def _by_loop(weight, bias, matrix, constants):
    new, more = matrix.clone(), constants.clone()
    for i in range(len(weight)):
        new[:, i] = weight[i] * matrix[:, i]
        more = more + bias[i] * matrix[:, i]
    return new, more


def _centred(weight, bias, matrix, constants):
    new, more = _folded(weight, bias, matrix, constants)
    return new - new.mean(dim=1, keepdim=True), more  # a normalised token has mean 0


def _in_place(weight, bias, matrix, constants):
    return matrix.mul_(weight), constants.add_(matrix @ (bias / weight))


def _undo(y, mean, variance, weight, bias, eps):
    return (y - bias) / weight * (variance + eps).sqrt() + mean


ANSWERS = {
    checks.check_fold: (
        {
            "by columns": _folded,
            "with a diagonal matrix": lambda w, b, m, c: [m @ torch.diag(w), c + m @ b],
            "loop": _by_loop,
            "rows without what a mean of 0 cannot see": _centred,
        },
        {
            "gain on the rows": lambda w, b, m, c: (m * w[:, None] if len(w) == len(m) else m, m @ b + c),
            "gain forgotten": lambda w, b, m, c: (m, m @ b + c),
            "divided by the gain": lambda w, b, m, c: (m / w, m @ b + c),
            "bias forgotten": lambda w, b, m, c: (m * w, c),
            "bias past the matrix": lambda w, b, m, c: (m * w, b + c if len(b) == len(c) else c),
            "gain on the bias too": lambda w, b, m, c: (m * w, m * w @ b + c),
            "constants forgotten": lambda w, b, m, c: (m * w, m @ b),
            "matrix alone": lambda w, b, m, c: m * w,
            "constants first": lambda w, b, m, c: (m @ b + c, m * w),
            "matrix transposed": lambda w, b, m, c: ((m * w).T, m @ b + c),
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
