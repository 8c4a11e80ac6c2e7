"""What learners answer in 09_pretrained: right answers, and wrong ones, named by their mistake."""

import numpy as np
import torch
import torch.nn.functional as F
from source_edits import folded

from encoder_lib.course import checks

(_by_luck_in_a_loop,) = folded("09", __name__, "by_luck")


def _pair_loss(anchors, positives, factor=20, both=lambda rows, columns: (rows + columns) / 2, own=torch.arange):
    cosines = factor * anchors @ positives.T
    targets = own(len(cosines))
    return both(F.cross_entropy(cosines, targets), F.cross_entropy(cosines.T, targets))


def _by_hand(anchors, positives):
    exponentials = (20 * anchors @ positives.T).exp()
    probabilities = [exponentials.diagonal() / exponentials.sum(dim=dim) for dim in (0, 1)]
    return -torch.cat(probabilities).log().mean()


def _by_cosines(anchors, positives):
    """Scales the vectors to length 1 again, which changes their gradients but not those of the vectors before that."""
    cosines, own = 20 * F.cosine_similarity(anchors[:, None], positives, dim=-1), torch.eye(len(anchors)).double()
    return (F.cross_entropy(cosines, own) + F.cross_entropy(cosines.T, own)) / 2


def _carry(file, letters="qkv", stacked=lambda tensor: tensor.chunk(3)):
    ours = {}
    for name, tensor in file.items():
        name = "encoder." + name.replace("self_attn", "attention").replace("linear", "feed_forward.linear")
        if "in_proj_" in name:
            parts = zip(letters, stacked(tensor), strict=True)
            ours |= {name.replace("in_proj_", f"{letter}_proj."): part for letter, part in parts}
        else:
            ours[name] = tensor
    return ours


def _carry_by_layer(file):
    ours = {}
    for n in range(len(file) // 12):
        old, new = f"layers.{n}.", f"encoder.layers.{n}."
        for kind in ("weight", "bias"):
            three = file[f"{old}self_attn.in_proj_{kind}"]
            size = len(three) // 3
            for place, letter in enumerate("qkv"):
                ours[f"{new}attention.{letter}_proj.{kind}"] = three[place * size : (place + 1) * size]
            ours[f"{new}attention.out_proj.{kind}"] = file[f"{old}self_attn.out_proj.{kind}"]
            for linear in ("linear1", "linear2"):
                ours[f"{new}feed_forward.{linear}.{kind}"] = file[f"{old}{linear}.{kind}"]
            for norm in ("norm1", "norm2"):
                ours[f"{new}{norm}.{kind}"] = file[f"{old}{norm}.{kind}"]
    return ours


def _pop(file):
    """Takes what it renames out of the file."""
    right = _carry(file)
    file.clear()
    return right


def _by_luck(points, least, count=lambda won, least: (won.amax(dim=1) >= least).double().mean(), rounds=5000, coins=1):
    """Right by default; wrong with another `count` of the tosses, with few rounds, or with a coin for each head."""
    answers = torch.randint(2, (rounds, len(points), coins)).bool()
    return count((points == answers).sum(dim=1), least)


def _every_answer(points, least):
    n, best = len(points), 0
    for number in range(2**n):
        answers = torch.tensor([bool(number >> bit & 1) for bit in range(n)])
        best += bool((points ^ answers[:, None]).sum(dim=0).max() >= least)
    return best / 2**n


def _count(count, **changes):
    """An answer that tosses correctly and then counts in another way: won (rounds, heads)."""
    return lambda points, least: _by_luck(points, least, count, **changes)


ANSWERS = {
    checks.check_carry: (
        {
            "name by name": _carry,
            "layer by layer": _carry_by_layer,
            "NumPy arrays": lambda file: {name: tensor.numpy() for name, tensor in _carry(file).items()},
        },
        {
            "as it came": lambda file: file,
            "keys before queries": lambda file: _carry(file, "kqv"),
            "stacked as columns": lambda file: _carry(file, stacked=lambda tensor: tensor.chunk(3, dim=-1)),
            "every third row": lambda file: _carry(file, stacked=lambda tensor: [tensor[i::3] for i in range(3)]),
            "without encoder.": lambda file: {k.removeprefix("encoder."): x for k, x in _carry(file).items()},
            "one layer": lambda file: {k: x for k, x in _carry(file).items() if ".0." in k},
            "a file that is empty after it": _pop,
            "the old names, too": lambda file: file | _carry(file),
            "names alone": lambda file: list(_carry(file)),
            "nothing in it": lambda file: {},
            "queries alone": lambda file: _carry(file, "q", lambda tensor: tensor.chunk(3)[:1]),
            "weights alone": lambda file: {k: x for k, x in _carry(file).items() if "weight" in k},
            "rounded": lambda file: {k: x.half() for k, x in _carry(file).items()},
            "tensors changed": lambda file: _carry({name: x.mul_(2) for name, x in file.items()}),
        },
    ),
    checks.check_by_luck: (
        {
            "tossed": _by_luck,
            "a loop": _by_luck_in_a_loop,
            "all answers, one after another": _every_answer,
            "a NumPy number": lambda points, least: np.float32(_by_luck(points, least)),
        },
        {
            "more than": _count(lambda won, least: (won.amax(dim=1) > least).double().mean()),
            "exactly": _count(lambda won, least: (won.amax(dim=1) == least).double().mean()),
            "a coin for each head": lambda points, least: _by_luck(points, least, coins=points.shape[1]),
            "one coin for all sentences": lambda points, least: (
                sum(bool((points == coin).sum(dim=0).max() >= least) for coin in (True, False)) / 2
            ),
            "the first head": _count(lambda won, least: (won[:, 0] >= least).double().mean()),
            "any head": _count(lambda won, least: (won >= least).double().mean()),
            "all together": _count(lambda won, least: (won.sum(dim=1) >= least).double().mean()),
            "how many the best has": _count(lambda won, least: won.amax(dim=1).double().mean()),
            "the answers as they are": lambda points, least: float(points.sum(dim=0).max() >= least),
            "one round": _count(lambda won, least: (won.amax(dim=1) >= least).double().mean(), rounds=1),
            "three hundred rounds": _count(lambda won, least: (won.amax(dim=1) >= least).double().mean(), rounds=300),
            "rounded": lambda points, least: round(float(_by_luck(points, least)), 1),
            "a loaded coin": lambda points, least: float(
                ((points == (torch.rand(5000, len(points), 1) < 0.6)).sum(dim=1).amax(dim=1) >= least).double().mean()),
            "in per cent": lambda points, least: 100 * _by_luck(points, least),
            "every round": _count(lambda won, least: won.amax(dim=1) >= least),
        },
    ),
    checks.check_pair_loss: (
        {"two cross-entropies": _pair_loss, "by hand": _by_hand, "cosines": _by_cosines},
        {
            "rows alone": lambda a, b: _pair_loss(a, b, both=lambda rows, _: rows),
            "columns alone": lambda a, b: _pair_loss(a, b, both=lambda _, columns: columns),
            "their sum": lambda a, b: _pair_loss(a, b, both=lambda rows, columns: rows + columns),
            "without the factor": lambda a, b: _pair_loss(a, b, factor=1),
            "the other diagonal": lambda a, b: _pair_loss(a, b, own=lambda n: torch.arange(n).flip(0)),
            "the first column": lambda a, b: _pair_loss(a, b, own=lambda n: torch.zeros(n, dtype=torch.long)),
            "anchors against anchors": lambda a, b: _pair_loss(a, a),
            "a Python number": lambda a, b: _pair_loss(a, b).item(),
            "without gradients": torch.no_grad()(lambda a, b: _pair_loss(a, b)),
            "anchors detached": lambda a, b: _pair_loss(a.detach(), b),
            "a loss detached": lambda a, b: _pair_loss(a, b, both=lambda rows, columns: (rows + columns.detach()) / 2),
        },
    ),
}  # fmt: skip
