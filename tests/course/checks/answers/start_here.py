"""What learners answer in 00_start_here: right answers, and wrong ones by the mistake that each makes."""

import torch.nn.functional as F

from encoder_lib.course import checks

ANSWERS = {
    checks.check_mean_vector: (
        {"mean": lambda x: x.mean(dim=0), "by hand": lambda x: sum(x) / len(x)},
        {
            "over the numbers": lambda x: x.mean(dim=1),
            "over everything": lambda x: x.mean(),
            "sum": lambda x: x.sum(dim=0),
            "largest": lambda x: x.max(dim=0).values,
            "first token": lambda x: x[0],
            "last token": lambda x: x[-1],
            "median": lambda x: x.median(dim=0).values,
            "divided by T − 1": lambda x: x.sum(dim=0) / (len(x) - 1),
        },
    ),
    checks.check_unit: (
        {"norm": lambda x: x / x.norm(dim=-1, keepdim=True), "normalize": lambda x: F.normalize(x, dim=-1)},
        {
            "over the vectors": lambda x: x / x.norm(dim=0),
            "one length for all": lambda x: x / x.norm(),
            "sum 1": lambda x: x / x.sum(dim=-1, keepdim=True),
            "squared length": lambda x: x / x.square().sum(dim=-1, keepdim=True),
            "absolute sum 1": lambda x: x / x.abs().sum(dim=-1, keepdim=True),
            "dimension not kept": lambda x: x / x.norm(dim=-1),
            "softmax": lambda x: x.softmax(dim=-1),
            "in place": lambda x: x.div_(x.norm(dim=-1, keepdim=True)),
        },
    ),
}  # fmt: skip
