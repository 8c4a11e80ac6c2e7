"""What learners answer in 09_pretrained: right answers, and wrong ones by the mistake that each makes."""

import torch

from encoder_lib.course import checks


def _choose_floor(answered, unanswered):
    floors = torch.cat([answered, unanswered, torch.tensor([2.0])])
    wrong = [(answered < floor).sum() + (unanswered >= floor).sum() for floor in floors]
    return floors[torch.stack(wrong).argmin()]


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
        {"name by name": _carry, "layer by layer": _carry_by_layer},
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
        },
    ),
    checks.check_by_luck: (
        {"thrown": _by_luck, "all answers in turn": _every_answer},
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
            "in per cent": lambda rises, right: 100 * _by_luck(rises, right),
            "every round": _count(lambda won, right: won.amax(dim=1) >= right),
        },
    ),
    checks.check_choose_floor: (
        {
            "every cosine tried": _choose_floor,
            "in between": lambda a, u: _choose_floor(a, u).item() - 1e-6,
        },
        {
            "the smallest answered": lambda a, u: a.min(),
            "above all unanswered": lambda a, u: u.max() + 1e-6,
            "the mean": lambda a, u: (a.mean() + u.mean()) / 2,
            "one half": lambda a, u: 0.5,
            "always something": lambda a, u: -1.0,
        },
    ),
}  # fmt: skip
