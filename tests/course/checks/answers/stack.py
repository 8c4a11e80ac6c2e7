"""What learners answer in 07_encoder_stack: right answers, and wrong ones by the mistake that each makes."""

import torch
from torch import nn

from encoder_lib.course import checks

LAST = "attention.out_proj", "feed_forward.linear2"


def _hush(layer, parts=LAST, names=("weight", "bias")):
    for part in parts:
        for name in names:
            nn.init.zeros_(getattr(layer.get_submodule(part), name))
    return layer


def _by_its_dictionary(layer):
    zeros = {name: 0 * x for name, x in layer.state_dict().items() if name.startswith(LAST)}
    layer.load_state_dict(zeros, strict=False)
    return layer


def _everything(layer):
    for parameter in layer.parameters():
        nn.init.zeros_(parameter)
    return layer


def _a_forward_of_its_own(layer):
    layer.forward = lambda x, mask=None: x
    return layer


def _a_part_gone(layer):
    layer.attention = nn.Identity()
    return layer


def _reach(arrows, n_layers, step=lambda has, arrows: has[arrows[has]]):
    has = torch.arange(len(arrows))
    for _ in range(n_layers):
        has = step(has, arrows)
    return has


def _one_after_the_other(arrows, n_layers):
    has = torch.arange(len(arrows))
    for _ in range(n_layers):
        for card in range(len(arrows)):
            has[card] = has[arrows[has[card]]]  # of what others have taken in this very layer
    return has


ANSWERS = {
    checks.check_hush: (
        {"the last map of each branch": _hush, "by its dictionary": _by_its_dictionary},
        {
            "as it was": lambda layer: layer,
            "weights alone": lambda layer: _hush(layer, names=["weight"]),
            "queries and keys": lambda layer: _hush(layer, ("attention.q_proj", "attention.k_proj", LAST[1])),
            "values, too": lambda layer: _hush(layer, ("attention.v_proj", *LAST)),
            "everything": _everything,
            "another layer": lambda layer: nn.Identity(),
            "a forward of its own": _a_forward_of_its_own,
            "a part gone": _a_part_gone,
        },
    ),
    checks.check_reach: (
        {
            "by what they have": _reach,
            "arrow by arrow": lambda arrows, n: _reach(arrows, 2**n - 1, lambda has, arrows: arrows[has]),
        },
        {
            "an arrow a layer": lambda arrows, n: _reach(arrows, n, lambda has, arrows: arrows[has]),
            "without a look": lambda arrows, n: _reach(arrows, n, lambda has, arrows: has[has]),
            "two more a layer": lambda arrows, n: _reach(arrows, max(0, 2 * n - 1), lambda has, arrows: arrows[has]),
            "a layer too many": lambda arrows, n: _reach(arrows, n + 1),
            "one after the other": _one_after_the_other,
            "how many arrows": lambda arrows, n: 2**n - 1,
            "card 0 alone": lambda arrows, n: _reach(arrows, n)[0],
        },
    ),
}  # fmt: skip
