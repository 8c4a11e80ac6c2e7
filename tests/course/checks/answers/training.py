"""What learners answer in 08_training: right answers, and wrong ones by the mistake that each makes."""

import torch
import torch.nn.functional as F
from edits import wrong

from encoder_lib.course import checks
from encoder_lib.training.tasks import Sample


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


def _hide_for_bert(ids, share):
    asked, fate = torch.rand(ids.shape) < share, torch.rand(ids.shape)
    drawn = torch.randint(27, ids.shape)
    given = torch.where(asked & (fate < 0.9), drawn, ids)
    given = given.masked_fill(asked & (fate < 0.8), 27)
    return Sample(given, ids.masked_fill(~asked, -100), source=None)


def _hide_for_bert_by_one_number(ids, share):
    """The number that chooses a token also says what becomes of it."""
    number = torch.rand(ids.shape) / share if share else torch.ones(ids.shape)
    given = ids.clone()
    given[number < 0.1] = torch.randint(27, ids.shape)[number < 0.1]
    given[(number >= 0.2) & (number < 1)] = 27
    return Sample(given, torch.where(number < 1, ids, -100), ids)


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
    checks.check_hide_for_bert: (
        {"two numbers": _hide_for_bert, "one number": _hide_for_bert_by_one_number},
        wrong(_hide_for_bert, {
            "a plain pair": {"Sample(given, ids.masked_fill(~asked, -100), source=None)":
                             "(given, ids.masked_fill(~asked, -100))"},
            "gaps among all tokens": {"asked & (fate < 0.8)": "fate < 0.8"},
            "gaps alone have a target": {"~asked, -100": "given != 27, -100"},
            "what is given as target": {"(given, ids.masked_fill": "(given, given.masked_fill"},
            "none stays": {"asked & (fate < 0.9)": "asked"},
            "a tenth of the rest": {"asked & (fate < 0.9)": "asked & (torch.rand(ids.shape) < 0.1)"},
            "one fate for a row": {"fate = torch.rand(ids.shape) < share, torch.rand(ids.shape)":
                                   "fate = torch.rand(ids.shape) < share, torch.rand(len(ids), 1)"},
            "never a space": {"randint(27, ": "randint(1, 27, "},
            "one letter for all": {"torch.randint(27, ids.shape)": "torch.randint(27, (1,))"},
            "into the ids themselves": {"    given = given.masked_fill(": "    given = ids.masked_fill_("},
        }),
    ),
}  # fmt: skip
