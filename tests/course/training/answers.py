"""What learners answer in 08_training: right answers, and wrong ones, named after their mistakes."""

import random

import numpy as np
import torch
import torch.nn.functional as F
from source_edits import folded, wrong

from encoder_lib.course import checks
from encoder_lib.training.tasks import Sample

(_forward_with,) = folded("08", __name__, "forward_with")


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


def _train_differently(model, draw, steps, lr):
    """Written differently: the gradients are cleared first, and tokens without a target are ignored."""
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


def _train_by_numpy(model, draw, steps, lr):
    return np.array(_train(model, draw, steps, lr))


def _forward_in_pre_norm(encoder, ids, masks):
    """Written for pre-norm, the order of this model."""
    x = encoder.embedding(ids)
    for layer, mask in zip(encoder.encoder.layers, masks, strict=True):
        y = layer.norm1(x)
        x = x + layer.attention(y, y, y, mask)
        x = x + layer.feed_forward(layer.norm2(x))
    norm = encoder.encoder.norm
    return F.layer_norm(x, x.shape[-1:], norm.weight, norm.bias, norm.eps)


def _forward_by_hooks(encoder, ids, masks):
    """Each layer is called with its own mask in place of the one that the encoder passes on."""
    hooks = [
        layer.register_forward_pre_hook(lambda _, given, mask=mask: (given[0], mask))
        for layer, mask in zip(encoder.encoder.layers, masks, strict=True)
    ]
    y = encoder(ids)
    for hook in hooks:
        hook.remove()
    return y


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


def _hide_for_bert_by_loops(ids, share):
    given, targets = ids.tolist(), torch.full_like(ids, -100).tolist()
    for given_row, targets_row in zip(given, targets, strict=True):
        for t, letter in enumerate(given_row):
            if random.random() < share:
                targets_row[t] = letter
                given_row[t] = random.choices([27, random.randrange(27), letter], [8, 1, 1])[0]
    return Sample(torch.tensor(given), torch.tensor(targets), None)


def _hide_for_bert_exactly(ids, share):
    """Exactly that share of the tokens, in every call."""
    order = torch.rand(ids.shape).flatten().argsort().argsort().view(ids.shape)
    asked, fate = order < round(share * ids.numel()), torch.rand(ids.shape)
    given = torch.where(asked & (fate < 0.9), torch.randint(27, ids.shape), ids)
    return Sample(given.masked_fill(asked & (fate < 0.8), 27), torch.where(asked, ids, -100), None)


ASKED_AND_FATE = "torch.rand(ids.shape) < share, torch.rand(ids.shape)"
ONE_DRAW = "(u := torch.rand(ids.shape)) < share, u"
ASKED_BY_COLUMN = "(torch.rand(ids.shape[1]) < share).expand(ids.shape), torch.rand(ids.shape)"
ASKED_BY_ROW = "(torch.rand(len(ids), 1) < share).expand(ids.shape), torch.rand(ids.shape)"
SAME_GAPS = "torch.rand(ids.shape) < share, torch.rand(ids.shape, generator=torch.Generator().manual_seed(1))"
EVERY_NTH = "(torch.arange(ids.numel()) % 20 < 20 * share).view(ids.shape), torch.rand(ids.shape)"

ANSWERS = {
    checks.check_learn: (
        {"the loop": _train, "written differently": _train_differently, "losses as a NumPy array": _train_by_numpy},
        wrong(_train, {
            "gradients never cleared": {"        optimiser.zero_grad()\n": ""},
            "SGD": {"Adam": "SGD"},
            "the same batch in every step": {"        ids, targets = draw()\n": "",
                                             "    losses = []\n": "    losses = []\n    ids, targets = draw()\n"},
            "one step too few": {"range(steps)": "range(steps - 1)"},
            "scores (B, T, C) as they are": {"(model(ids)[asked], targets[asked])": "(model(ids), targets)"},
            "nothing returned": {"    return losses": ""},
            "one loss too many": {"    return losses": "    return [*losses, 0.0]"},
            "the mean": {"    return losses": "    return sum(losses) / len(losses)"},
            "detached": {"loss.backward()": "loss.detach().requires_grad_().backward()"},
            "without gradients": {"    losses = []": "    torch.set_grad_enabled(False)\n    losses = []"},
        }),
    ),
    checks.check_forward_with: (
        {"layer by layer": _forward_with, "by hooks": _forward_by_hooks, "in pre-norm": _forward_in_pre_norm},
        wrong(_forward_with, {
            "no last norm": {"encoder.encoder.norm(x)": "x"},
            "a norm after each layer": {"x = layer(x, mask)": "x = encoder.encoder.norm(layer(x, mask))"},
            "the first mask in all layers": {"layer(x, mask)": "layer(x, masks[0])"},
            "all masks in all layers": {"layer(x, mask)": "layer(x, torch.stack(masks).all(dim=0))"},
            "masks from the top down": {"layers, masks)": "layers, masks[::-1])"},
            "True masks out": {"layer(x, mask)": "layer(x, ~mask)"},
            "no mask": {"layer(x, mask)": "layer(x)"},
            "each layer from the embedding": {"x = layer(x, mask)": "x = layer(encoder.embedding(ids), mask)"},
            "nothing returned": {"return encoder": "encoder"},
            "masks changed": {"        x = layer": "        mask.fill_diagonal_(True)\n        x = layer"},
            "all attend to themselves": {"layer(x, mask)": "layer(x, mask | torch.eye(len(mask), dtype=torch.bool))"},
            "masks taken out of the list": {"layers, masks)": "layers, [masks.pop(0) for _ in masks[:]])"},
            "detached": {"layer(x, mask)": "layer(x.detach(), mask)"},
            "no positions": {"encoder.embedding(ids)": "encoder.embedding.token(ids)"},
            "a norm without the parameters": {"encoder.encoder.norm(x)": "F.layer_norm(x, x.shape[-1:])"},
            "the last layer's norm": {"encoder.encoder.norm(x)": "encoder.encoder.layers[-1].norm2(x)"},
        }),
    ),
    checks.check_hide_for_bert: (
        {
            "two numbers": _hide_for_bert,
            "one number": _hide_for_bert_by_one_number,
            "loops": _hide_for_bert_by_loops,
            "an exact share": _hide_for_bert_exactly,
        },
        wrong(_hide_for_bert, {
            "a plain pair": {"Sample(given, ids.masked_fill(~asked, -100), source=None)":
                             "(given, ids.masked_fill(~asked, -100))"},
            "gaps among all tokens": {"asked & (fate < 0.8)": "fate < 0.8"},
            "gaps alone have a target": {"~asked, -100": "given != 27, -100"},
            "what is given as target": {"(given, ids.masked_fill": "(given, given.masked_fill"},
            "no token stays": {"asked & (fate < 0.9)": "asked"},
            "a tenth of the rest": {"asked & (fate < 0.9)": "asked & (torch.rand(ids.shape) < 0.1)"},
            "one draw for a row": {"fate = torch.rand(ids.shape) < share, torch.rand(ids.shape)":
                                   "fate = torch.rand(ids.shape) < share, torch.rand(len(ids), 1)"},
            "never a space": {"randint(27, ": "randint(1, 27, "},
            "one letter for all": {"torch.randint(27, ids.shape)": "torch.randint(27, (1,))"},
            "one draw for both decisions": {ASKED_AND_FATE: ONE_DRAW},
            "the same positions in each row": {ASKED_AND_FATE: ASKED_BY_COLUMN},
            "the same positions in each column": {ASKED_AND_FATE: ASKED_BY_ROW},
            "every n-th token": {ASKED_AND_FATE: EVERY_NTH},
            "the same gaps in every call": {ASKED_AND_FATE: SAME_GAPS},
            "a fixed seed": {"    asked,": "    torch.manual_seed(3)\n    asked,"},
            "never a z": {"randint(27, ": "randint(26, "},
            "one letter for each column": {"torch.randint(27, ids.shape)":
                                           "torch.randint(27, (ids.shape[1],)).expand(ids.shape)"},
            "the same letters in every call": {
                "torch.randint(27, ids.shape)":
                    "torch.randint(27, ids.shape, generator=torch.Generator().manual_seed(1))"},
            "often the first letters": {"torch.randint(27, ids.shape)": "(27 * torch.rand(ids.shape) ** 2).long()"},
            "no target for a space": {"torch.rand(ids.shape) < share,": "torch.rand(ids.shape) < share * (ids > 0),"},
            "ids that are not integers": {"Sample(given, ": "Sample(given.double(), "},
            "into the ids themselves": {"    given = given.masked_fill(": "    given = ids.masked_fill_("},
        }),
    ),
}  # fmt: skip
