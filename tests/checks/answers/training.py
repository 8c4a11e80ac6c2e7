"""What learners answer in 08_training: right answers, and wrong ones by the mistake that each makes."""

import math
from copy import deepcopy

import torch
import torch.nn.functional as F

from encoder_lib import checks


def _asked(answer):
    """An answer for those that ask, given the tokens that do."""
    return lambda scores, targets: answer(scores[targets != -100], targets[targets != -100])


def _at(values, targets):
    return values[torch.arange(len(targets)), targets]


def _surprise(scores, targets):
    return -_at(scores.softmax(-1), targets).log()


def _by_loop(scores, targets):
    total, asked = 0.0, 0
    for row, target in zip(scores.tolist(), targets.tolist(), strict=True):
        if target != -100:
            total += math.log(sum(math.exp(s) for s in row)) - row[target]
            asked += 1
    return total / asked


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
    """In another order and in other words: the gradients are cleared first, tokens that ask nothing ignored."""
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


def _train_wrongly(*, clear=True, early=False, backward=True, step=True, optimise="Adam", loss_of=None, redraw=True):
    """The loop with one mistake."""

    def learn(model, draw, steps, lr):
        optimiser = getattr(torch.optim, optimise)(model.parameters(), lr=lr)
        losses, batch = [], draw()
        for i in range(steps):
            ids, targets = draw() if redraw and i else batch
            loss = (loss_of or _mean_of_asked)(model(ids), targets)
            if backward:
                loss.backward()
            if early:
                optimiser.zero_grad()
            if step:
                optimiser.step()
            if clear:
                optimiser.zero_grad()
            losses.append(loss.item())
        return losses

    return learn


def _mean_of_asked(scores, targets):
    return F.cross_entropy(scores.flatten(0, 1), targets.flatten())


def _forbid(place):
    return (torch.arange(place.shape[1]) != place[..., None])[:, None]


def _forbid_by_loop(place):
    rows, tokens = place.shape
    mask = torch.ones(rows, 1, tokens, tokens, dtype=torch.bool)
    for row in range(rows):
        for token in range(tokens):
            if place[row, token] != -100:
                mask[row, 0, token, place[row, token]] = False
    return mask


ANSWERS = {
    checks.check_cross_entropy: (
        {
            "formula": _asked(lambda s, t: _surprise(s, t).mean()),
            "log-sum-exp": _asked(lambda s, t: (s.logsumexp(-1) - _at(s, t)).mean()),
            "one-hot": _asked(lambda s, t: -(F.one_hot(t, s.shape[1]) * s.log_softmax(-1)).sum(-1).mean()),
            "by loop": _by_loop,
            "those that ask nothing set to 0": lambda s, t: (
                (_surprise(s, t.clamp(min=0)) * (t != -100)).sum() / (t != -100).sum()
            ),
        },
        {
            "softmax twice": lambda s, t: F.cross_entropy(s.softmax(-1), t),
            "mean over classes too": _asked(lambda s, t: -(F.one_hot(t, s.shape[1]) * s.log_softmax(-1)).mean()),
            "all classes": _asked(lambda s, t: -s.log_softmax(-1).mean()),
            "no logarithm": _asked(lambda s, t: (1 - _at(s.softmax(-1), t)).mean()),
            "no minus": _asked(lambda s, t: -_surprise(s, t).mean()),
            "sum in place of mean": _asked(lambda s, t: _surprise(s, t).sum()),
            "one number a token": _asked(_surprise),
            "softmax over the tokens": _asked(lambda s, t: -_at(s.softmax(0), t).log().mean()),
            "base 2": _asked(lambda s, t: _surprise(s, t).mean() / math.log(2)),
            "no softmax": _asked(lambda s, t: -_at(s, t).mean()),
            "the largest probability": _asked(lambda s, t: -s.softmax(-1).amax(-1).log().mean()),
            "log of the mean": _asked(lambda s, t: -_at(s.softmax(-1), t).mean().log()),
            "squared error": _asked(
                lambda s, t: (s.softmax(-1) - F.one_hot(t, s.shape[1])).square().sum(-1).mean()
            ),
            "first column": _asked(lambda s, t: -s.log_softmax(-1)[:, 0].mean()),
            "crashes at −100": lambda s, t: _surprise(s, t).mean(),
            "−100 taken for class 0": lambda s, t: _surprise(s, t.clamp(min=0)).mean(),
            "divided by all tokens": lambda s, t: (_surprise(s, t.clamp(min=0)) * (t != -100)).mean(),
            "class 0 left out too": lambda s, t: _surprise(s[t > 0], t[t > 0]).mean(),
        },
    ),
    checks.check_learn: (
        {"the loop": _train, "otherwise": _train_otherwise, "as the wrong ones are made": _train_wrongly()},
        {
            "never clears the gradients": _train_wrongly(clear=False),
            "clears them before the step": _train_wrongly(early=True),
            "never asks for gradients": _train_wrongly(backward=False),
            "never steps": _train_wrongly(step=False),
            "SGD": _train_wrongly(optimise="SGD"),
            "the same batch in every step": _train_wrongly(redraw=False),
            "a mean over all tokens": _train_wrongly(
                loss_of=lambda s, t: F.cross_entropy(s.flatten(0, 1), t.flatten(), reduction="sum") / t.numel()
            ),
            "a sum": _train_wrongly(
                loss_of=lambda s, t: F.cross_entropy(s.flatten(0, 1), t.flatten(), reduction="sum")
            ),
            "−100 taken for class 0": _train_wrongly(
                loss_of=lambda s, t: _mean_of_asked(s, t.clamp(min=0))
            ),
            "a step too few": lambda m, draw, steps, lr: _train(m, draw, steps - 1, lr),
            "a learning rate of its own": lambda m, draw, steps, lr: _train(m, draw, steps, 0.003),
            "draws twice in a step": lambda m, draw, steps, lr: _train(m, lambda: (draw(), draw())[1], steps, lr),
            "the last loss alone": lambda *given: _train(*given)[-1],
            "trains a copy": lambda m, *given: _train(deepcopy(m), *given),
            "never gives the losses back": lambda *given: _train(*given) and None,
        },
    ),
    checks.check_forbid: (
        {
            "compare": lambda place: (torch.arange(place.shape[1]) != place[..., None])[:, None],
            "by loop": _forbid_by_loop,
            "none of all": lambda place: ~(place[:, None, :, None] == torch.arange(place.shape[1])),
        },
        {
            "True where forbidden": lambda place: ~_forbid(place),
            "no room for heads": lambda place: _forbid(place)[:, 0],
            "heads in front": lambda place: _forbid(place).transpose(0, 1),
            "looked at in rows": lambda place: _forbid(place).transpose(-2, -1),
            "forbidden to all": lambda place: _forbid(place) & _forbid(place).all(dim=2, keepdim=True),
            "places of the first row": lambda place: _forbid(place[:1]).expand(len(place), -1, -1, -1),
            "itself": lambda place: _forbid(torch.arange(place.shape[1]).expand_as(place)),
            "that place and all before it": lambda place: (torch.arange(place.shape[1]) > place[..., None])[:, None],
            "one place further": lambda place: _forbid(place + 1),
            "nothing": lambda place: torch.ones_like(_forbid(place)),
            "that place alone is allowed": lambda place: _forbid(place) ^ (place >= 0)[:, None, :, None],
            "−100 taken for place 0": lambda place: _forbid(place.clamp(min=0)),
            "crashes at −100": lambda place: ~F.one_hot(place, place.shape[1]).bool()[:, None],
            "for scores": lambda place: torch.where(_forbid(place), 0.0, -torch.inf),
            "numbers": lambda place: _forbid(place).double(),
            "rows mixed up": lambda place: _forbid(place.flip(0)),
        },
    ),
}  # fmt: skip
