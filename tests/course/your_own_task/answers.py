"""What learners answer in 13_your_own_task: right answers, and wrong ones by the mistake that each makes."""

import torch.nn.functional as F  # noqa: F401  (for the folded answers)
from source_edits import edited, folded, wrong

from encoder_lib.course import checks

_head_loss, _recall_at, _freeze = folded("13", __name__, "head_loss", "recall_at", "freeze")

CROSS, LOGARITHM = "F.cross_entropy(scores, labels)", "F.nll_loss(scores.log_softmax(dim=1), labels)"
FIRST = "scores.argsort(descending=True)[:k]"
LEARNING = "return [p for p in encoder.parameters() if p.requires_grad]"
ANSWERS = {
    checks.check_head_loss: (
        {"cross_entropy": _head_loss, "log_softmax": edited(_head_loss, {CROSS: LOGARITHM})},
        wrong(_head_loss, {
            "no bias": {" + bias": ""},
            "no decay": {" + decay * weight.square().sum()": ""},
            "the bias, too": {"weight.square().sum()": "(weight.square().sum() + bias.square().sum())"},
            "without gradients": {CROSS: f"{CROSS}.detach()"},
            "the logarithm of zero": {CROSS: "F.nll_loss(scores.softmax(dim=1).log(), labels)"},
        }),
    ),
    checks.check_recall_at: (
        {"argsort": _recall_at, "topk": edited(_recall_at, {FIRST: "scores.topk(min(k, len(scores))).indices"})},
        wrong(_recall_at, {
            "precision": {"/ relevant.sum()": "/ k"},
            "the smallest": {"descending=True": "descending=False"},
            "one more": {"[:k]": "[:k + 1]"},
            "found or not": {".sum() / relevant.sum()": ".any().double()"},
            "topk of more than there are": {FIRST: "scores.topk(k).indices"},
        }),
    ),
    checks.check_freeze: (
        {"parameters": _freeze, "those that learn": edited(_freeze, {"return learning": LEARNING})},
        wrong(_freeze, {
            "the first layers": {"layers[len(layers) - n_last:]": "layers[:n_last]"},
            "minus zero": {"layers[len(layers) - n_last:]": "layers[-n_last:]"},
            "nothing switched on": {"        layer.requires_grad_(True)\n": ""},
            "nothing frozen": {"    encoder.requires_grad_(False)\n": ""},
            "one layer": {"layers[len(layers) - n_last:]": "layers[-1:]"},
            "all parameters": {"return learning": "return list(encoder.parameters())"},
            "layers in place of parameters": {"learning += layer.parameters()": "learning.append(layer)"},
        }),
    ),
}  # fmt: skip
