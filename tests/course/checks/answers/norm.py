"""What learners answer in 03_layer_norm: right answers, and wrong ones by the mistake that each makes."""

import torch

from encoder_lib.course import checks


def _by_trying(width):
    token = torch.eye(width)[0]
    return ((token - token.mean()) / token.std(correction=0)).max()


def _folded(weight, bias, matrix, constants):
    return matrix * weight, matrix @ bias + constants


def _centred(weight, bias, matrix, constants):
    new, more = _folded(weight, bias, matrix, constants)
    return new - new.mean(dim=1, keepdim=True), more  # a normalised token has mean 0


def _in_place(weight, bias, matrix, constants):
    return matrix.mul_(weight), constants.add_(matrix @ (bias / weight))


ANSWERS = {
    checks.check_largest: (
        {
            "formula": lambda width: (width - 1) ** 0.5,
            "by trying": _by_trying,
        },
        {
            "mean not subtracted": lambda width: width**0.5,
            "square not undone": lambda width: width - 1,
            "unbiased spread": lambda width: (width - 1) / width**0.5,
            "spread not divided by": lambda width: 1 - 1 / width,
            "half of the numbers up": lambda width: 1,
            "that of [CLS]": lambda width: 19.57,
            "the token": lambda width: torch.eye(width)[0],
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
