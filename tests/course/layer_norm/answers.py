"""Answers to the first exercise of 03_layer_norm: right ones, and wrong ones by the mistake that each makes."""

import numpy as np
import torch

from encoder_lib.course import checks


def _by_trying(width):
    token = torch.eye(width)[0]
    return ((token - token.mean()) / token.std(correction=0)).max()


ANSWERS = {
    checks.check_largest: (
        {
            "formula": lambda width: (width - 1) ** 0.5,
            "by trying": _by_trying,
            "an array": lambda width: np.array(width - 1.0) ** 0.5,
        },
        {
            "mean not subtracted": lambda width: width**0.5,
            "square not undone": lambda width: width - 1,
            "divided by the unbiased deviation": lambda width: (width - 1) / width**0.5,
            "not divided by the deviation": lambda width: 1 - 1 / width,
            "half of the components above the mean": lambda width: 1,
            "the value for [CLS]": lambda width: 19.57,
            "not a number": lambda width: float("nan"),
            "with eps": lambda width: torch.nn.functional.layer_norm(torch.eye(width)[0], (width,)).max(),
            "the token": lambda width: torch.eye(width)[0],
        },
    ),
}  # fmt: skip
