"""What learners answer in 09_pretrained: right answers, and wrong ones by the mistake that each makes."""

import numpy as np
import torch
import torch.nn.functional as F

from encoder_lib.course import checks


def _pair_loss(firsts, seconds, factor=20, both=lambda rows, columns: (rows + columns) / 2, own=torch.arange):
    square = factor * firsts @ seconds.T
    targets = own(len(square))
    return both(F.cross_entropy(square, targets), F.cross_entropy(square.T, targets))


def _by_hand(firsts, seconds):
    grown = (20 * firsts @ seconds.T).exp()
    shares = [grown.diagonal() / grown.sum(dim=dim) for dim in (0, 1)]
    return -torch.cat(shares).log().mean()


def _by_cosines(firsts, seconds):
    """Vectors are brought to length 1 once more, which changes their gradients and not those of what they come from."""
    square, own = 20 * F.cosine_similarity(firsts[:, None], seconds, dim=-1), torch.eye(len(firsts)).double()
    return (F.cross_entropy(square, own) + F.cross_entropy(square.T, own)) / 2


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


def _by_luck(rises, right, count=lambda won, right: (won.amax(dim=1) >= right).double().mean(), rounds=5000, coins=1):
    """Right, but for what another `count` makes of the throws, few rounds, or a coin for each of the heads."""
    answers = torch.randint(2, (rounds, len(rises), coins)).bool()
    return count((rises == answers).sum(dim=1), right)


def _by_luck_in_a_loop(rises, right):
    rounds = 0
    for _ in range(5000):
        flipped = rises != torch.randint(2, (len(rises), 1)).bool()
        rounds += flipped.sum(dim=0).max() >= right
    return rounds / 5000


def _every_answer(rises, right):
    n, best = len(rises), 0
    for number in range(2**n):
        answers = torch.tensor([bool(number >> place & 1) for place in range(n)])
        best += bool((rises ^ answers[:, None]).sum(dim=0).max() >= right)
    return best / 2**n


def _count(count, **changes):
    """An answer that makes something else of right throws: won (rounds, heads)."""
    return lambda rises, right: _by_luck(rises, right, count, **changes)


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
            "thrown": _by_luck,
            "a loop": _by_luck_in_a_loop,
            "all answers in turn": _every_answer,
            "a NumPy number": lambda rises, right: np.float32(_by_luck(rises, right)),
        },
        {
            "more than": _count(lambda won, right: (won.amax(dim=1) > right).double().mean()),
            "exactly": _count(lambda won, right: (won.amax(dim=1) == right).double().mean()),
            "a coin for each head": lambda rises, right: _by_luck(rises, right, coins=rises.shape[1]),
            "one coin for all sentences": lambda rises, right: (
                sum(bool((rises == coin).sum(dim=0).max() >= right) for coin in (True, False)) / 2
            ),
            "the first head": _count(lambda won, right: (won[:, 0] >= right).double().mean()),
            "any head": _count(lambda won, right: (won >= right).double().mean()),
            "all together": _count(lambda won, right: (won.sum(dim=1) >= right).double().mean()),
            "how many the best has": _count(lambda won, right: won.amax(dim=1).double().mean()),
            "the answers as they are": lambda rises, right: float(rises.sum(dim=0).max() >= right),
            "one round": _count(lambda won, right: (won.amax(dim=1) >= right).double().mean(), rounds=1),
            "three hundred rounds": _count(lambda won, right: (won.amax(dim=1) >= right).double().mean(), rounds=300),
            "rounded": lambda rises, right: round(float(_by_luck(rises, right)), 1),
            "a loaded coin": lambda rises, right: float(
                ((rises == (torch.rand(5000, len(rises), 1) < 0.6)).sum(dim=1).amax(dim=1) >= right).double().mean()),
            "in per cent": lambda rises, right: 100 * _by_luck(rises, right),
            "every round": _count(lambda won, right: won.amax(dim=1) >= right),
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
            "the square of the firsts": lambda a, b: _pair_loss(a, a),
            "a number of Python's": lambda a, b: _pair_loss(a, b).item(),
            "without gradients": torch.no_grad()(lambda a, b: _pair_loss(a, b)),
            "firsts detached": lambda a, b: _pair_loss(a.detach(), b),
            "a loss detached": lambda a, b: _pair_loss(a, b, both=lambda rows, columns: (rows + columns.detach()) / 2),
        },
    ),
}  # fmt: skip
