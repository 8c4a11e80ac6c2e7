"""What learners answer in 13_your_own_task: right answers, and wrong ones by the mistake that each makes."""

import torch
import torch.nn.functional as F
from source_edits import folded, wrong

from encoder_lib.course import checks

_head_loss, _recall_at, _freeze = folded("13", __name__, "head_loss", "recall_at", "freeze")


def _by_hand(vectors, labels, weight, bias, decay):
    scores = F.linear(vectors, weight, bias)
    right = scores[torch.arange(len(labels)), labels]
    return (scores.logsumexp(dim=1) - right).mean() + decay * weight.square().sum()


def _recall_in_python(scores, relevant, k):
    ranked = sorted(range(len(scores)), key=lambda i: -scores[i])
    return sum(bool(relevant[i]) for i in ranked[:k]) / int(relevant.sum())


def _freeze_by_name(encoder, n_last):
    n = len(encoder.encoder.layers)
    last = tuple(f"encoder.layers.{i}." for i in range(n - n_last, n))
    for name, parameter in encoder.named_parameters():
        parameter.requires_grad = bool(last) and name.startswith(last)
    return [parameter for parameter in encoder.parameters() if parameter.requires_grad]


ANSWERS = {
    checks.check_head_loss: (
        {"cross_entropy": _head_loss, "by hand": _by_hand},
        wrong(_head_loss, {
            "no bias": {" + bias": ""},
            "no decay": {" + decay * weight.square().sum()": ""},
            "the mean of the squares": {"weight.square().sum()": "weight.square().mean()"},
            "the length": {"weight.square().sum()": "weight.norm()"},
            "the bias, too": {"weight.square().sum()": "(weight.square().sum() + bias.square().sum())"},
            "a sum over texts": {"scores, labels": "scores, labels, reduction='sum'"},
            "without gradients": {"F.cross_entropy(scores, labels)": "F.cross_entropy(scores, labels).detach()"},
        }) | wrong(_by_hand, {
            "exponentials of large scores": {"scores.logsumexp(dim=1)": "scores.exp().sum(dim=1).log()"},
        }),
    ),
    checks.check_recall_at: (
        {"argsort": _recall_at, "plain Python": _recall_in_python},
        wrong(_recall_at, {
            "precision": {"/ relevant.sum()": "/ k"},
            "the smallest": {"descending=True": "descending=False"},
            "found or not": {".sum() / relevant.sum()": ".any().double()"},
            "a count": {" / relevant.sum()": ""},
            "one more": {"[:k]": "[:k + 1]"},
            "of all texts": {"/ relevant.sum()": "/ len(relevant)"},
            "topk of more than there are": {"scores.argsort(descending=True)[:k]": "scores.topk(k).indices"},
        }),
    ),
    checks.check_freeze: (
        {"layers": _freeze, "names": _freeze_by_name},
        wrong(_freeze, {
            "the first layers": {"layers[len(layers) - n_last:]": "layers[:n_last]"},
            "minus zero": {"layers[len(layers) - n_last:]": "layers[-n_last:]"},
            "nothing switched on": {"        layer.requires_grad_(True)\n": ""},
            "nothing frozen": {"    encoder.requires_grad_(False)\n": ""},
            "one layer": {"layers[len(layers) - n_last:]": "layers[-1:]"},
            "all parameters": {"return learning": "return list(encoder.parameters())"},
            "a generator": {"return learning": "return encoder.parameters()"},
            "layers in place of parameters": {"learning += layer.parameters()": "learning.append(layer)"},
        }),
    ),
}  # fmt: skip
