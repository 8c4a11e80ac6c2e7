"""What learners answer in 03_layer_norm: right answers, and wrong ones by the mistake that each makes."""

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
}  # fmt: skip
