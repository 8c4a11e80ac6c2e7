"""What learners answer in 08_training: right answers, and wrong ones by the mistake that each makes."""

import torch
import torch.nn.functional as F
from edits import wrong

from encoder_lib.course import checks


def _train(model, draw, steps, lr):
    optimiser = torch.optim.Adam(model.parameters(), lr=lr)
    losses = []
    for _ in range(steps):
        ids, targets = draw()
        asked = targets != -100
        loss = F.cross_entropy(model(ids)[asked], targets[asked])
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
        losses.append(loss.item())
    return losses


def _train_otherwise(model, draw, steps, lr):
    """In another order and in other words: the gradients are cleared first, tokens without a target ignored."""
    optimiser = torch.optim.Adam(list(model.parameters()), lr)
    losses = torch.zeros(steps)
    for step in range(steps):
        optimiser.zero_grad()
        ids, targets = draw()
        loss = F.cross_entropy(model(ids).transpose(1, 2), targets, ignore_index=-100)
        loss.backward()
        losses[step] = loss.detach()
        optimiser.step()
    return losses


def _in_parts(model, draw, steps, parts, lr):
    optimiser = torch.optim.Adam(model.parameters(), lr=lr)
    losses = []
    for _ in range(steps):
        drawn = [draw() for _ in range(parts)]
        asked = sum((targets != -100).sum() for _, targets in drawn)
        total = 0
        for ids, targets in drawn:
            loss = F.cross_entropy(model(ids).flatten(0, 1), targets.flatten(), reduction="sum") / asked
            loss.backward()
            total += loss.item()
        optimiser.step()
        optimiser.zero_grad()
        losses.append(total)
    return losses


def _in_parts_divided_afterwards(model, draw, steps, parts, lr):
    optimiser, losses = torch.optim.Adam(model.parameters(), lr), []
    for _ in range(steps):
        model.zero_grad()
        total, asked = 0, 0
        for _ in range(parts):
            ids, targets = draw()
            asks = targets >= 0
            loss = -model(ids)[asks].log_softmax(-1).gather(-1, targets[asks][:, None]).sum()
            loss.backward()
            total, asked = total + loss.item(), asked + asks.sum().item()
        for parameter in model.parameters():
            parameter.grad /= asked
        optimiser.step()
        losses.append(total / asked)
    return losses


def _forbid(ids, token):
    mask = ids != token
    others = mask & (ids != 27)
    chance = (~mask).sum() / others.sum()
    drawn = others & (torch.rand(ids.shape) < chance)
    return mask[:, None, None], ~drawn[:, None, None]


def _forbid_by_rank(ids, token):
    """As many in each row, neither more nor less."""
    group = ids == token
    rank = torch.rand(ids.shape).masked_fill(group | (ids == 27), 2).argsort(-1).argsort(-1)
    return [x[:, None, None] for x in (ids != token, rank >= group.sum(-1, keepdim=True))]


ANSWERS = {
    checks.check_learn: (
        {"the loop": _train, "otherwise": _train_otherwise},
        wrong(_train, {
            "never clears the gradients": {"        optimiser.zero_grad()\n": ""},
            "SGD": {"Adam": "SGD"},
            "the same batch in every step": {"        ids, targets = draw()\n": "",
                                             "    losses = []\n": "    losses = []\n    ids, targets = draw()\n"},
            "a step too few": {"range(steps)": "range(steps - 1)"},
            "scores (B, T, C) as they are": {"(model(ids)[asked], targets[asked])": "(model(ids), targets)"},
            "gives nothing back": {"    return losses": ""},
        }),
    ),
    checks.check_learn_in_parts: (
        {"sums": _in_parts, "divided afterwards": _in_parts_divided_afterwards},
        wrong(_in_parts, {
            "the mean of the means": {', reduction="sum") / asked': ") / parts"},
            "the sum of the means": {', reduction="sum") / asked': ")"},
            "only sums": {" / asked": ""},
            "a step after each part": {"            total += loss.item()\n":
                                       "            total += loss.item()\n            optimiser.step()\n"},
            "gradients cleared after each part": {"            loss.backward()\n":
                                                  "            optimiser.zero_grad()\n            loss.backward()\n"},
            "never clears the gradients": {"        optimiser.zero_grad()\n": ""},
            "one large batch": {"        drawn = [draw() for _ in range(parts)]\n":
                                "        drawn = [[torch.cat(x) for x in zip(*[draw() for _ in range(parts)])]]\n"},
            "backward of them all": {"            loss.backward()\n            total += loss.item()\n":
                                     "            total += loss\n",
                                     "        optimiser.step()\n":
                                     "        total.backward()\n        optimiser.step()\n",
                                     "append(total)": "append(total.item())"},
            "the loss of the last part": {"total += loss.item()": "total = loss.item()"},
        }),
    ),
    checks.check_forbid: (
        {"by chance": _forbid, "by rank": _forbid_by_rank},
        wrong(_forbid, {
            "True where forbidden": {"return mask[:, None, None], ~drawn": "return ~mask[:, None, None], drawn"},
            "a control True where forbidden": {"~drawn[:, None, None]": "drawn[:, None, None]"},
            "no dimensions for heads and tokens": {"mask[:, None, None], ~drawn[:, None, None]": "mask, ~drawn"},
            "among all tokens": {"mask & (ids": "(ids"},
            "gaps, too": {"mask & (ids != 27)": "mask"},
            "a share of all tokens": {"others.sum()": "mask.numel()"},
            "a half": {"< chance": "< 0.5"},
            "the first that come": {"(torch.rand(ids.shape) < chance)":
                                    "(others.cumsum(-1) <= (~mask).sum(-1, keepdim=True))"},
            "always spaces": {"ids != token": "ids != 0"},
            "into the ids themselves": {"    others = mask &": "    ids[~mask] = -1\n    others = mask &"},
        }),
    ),
}  # fmt: skip
