"""What learners answer in 09_pretrained: right answers, and wrong ones by the mistake that each makes."""

import math
from itertools import permutations

import torch
import torch.nn.functional as F

from encoder_lib.course import checks


def _pool(x, real):
    return F.normalize((x * real[..., None]).sum(dim=1) / real.sum(dim=1, keepdim=True), dim=-1)


def _pool_by_loop(x, real):
    return F.normalize(torch.stack([a[r].mean(dim=0) for a, r in zip(x, real, strict=True)]), dim=-1)


def _choose_floor(answered, unanswered):
    floors = torch.cat([answered, unanswered, torch.tensor([2.0])])
    wrong = [(answered < floor).sum() + (unanswered >= floor).sum() for floor in floors]
    return floors[torch.stack(wrong).argmin()]


def _output(x, query, key, value):
    return ((x @ query.T) @ (x @ key.T).T / len(query) ** 0.5).softmax(dim=-1) @ (x @ value.T)


def _which_is_which(matrices, x, wanted, output=_output):
    """The order whose output comes closest."""
    return min(permutations(matrices), key=lambda order: (output(x, *order) - wanted).abs().max().item())


def _up_to_rounding(matrices, x, wanted):
    for query, key, value in permutations(matrices):
        output = F.scaled_dot_product_attention(x @ query.T, x @ key.T, x @ value.T)
        if torch.allclose(output, wanted, atol=1e-5):
            return query, key, value


def _to_the_last_digit(matrices, x, wanted):
    for order in permutations(matrices):
        if torch.equal(_output(x, *order), wanted):
            return order


def _value_alone(matrices, x, wanted):
    """The one whose values have a mean that is nearest, and the two others as they come."""
    value = min(matrices, key=lambda value: ((x @ value.T).mean(dim=0) - wanted.mean(dim=0)).norm().item())
    return *(each for each in matrices if each is not value), value


def _by_luck(heads, sentences, right):
    throws = torch.randint(2, (5000, sentences, heads))
    return (throws.sum(dim=1).amax(dim=1) >= right).double().mean()


def _on_paper(heads, sentences, right):
    one = sum(math.comb(sentences, k) for k in range(right, sentences + 1)) / 2**sentences
    return 1 - (1 - one) ** heads


def _thrown(share, dim=1, rounds=5000):
    """An answer that makes something else of right throws (rounds, sentences, heads)."""
    return lambda heads, sentences, right: share(torch.randint(2, (rounds, sentences, heads)).sum(dim=dim), right)


ANSWERS = {
    checks.check_which_is_which: (
        {"the closest": _which_is_which, "up to rounding": _up_to_rounding},
        {
            "as they came": lambda matrices, x, wanted: tuple(matrices),
            "the other way round": lambda matrices, x, wanted: tuple(matrices[::-1]),
            "to the last digit": _to_the_last_digit,
            "values alone": _value_alone,
            "turned over": lambda matrices, x, wanted: _which_is_which(
                [each.T for each in matrices], x, wanted, lambda x, q, k, v: _output(x, q.T, k.T, v.T)
            ),
            "x @ W": lambda matrices, x, wanted: _which_is_which(
                matrices, x, wanted, lambda x, q, k, v: _output(x, q.T, k.T, v.T)
            ),
            "three turns of six": lambda matrices, x, wanted: min(
                [matrices, [*matrices[1:], matrices[0]], [matrices[2], *matrices[:2]]],
                key=lambda order: (_output(x, *order) - wanted).abs().max().item(),
            ),
            "values before keys": lambda matrices, x, wanted: [
                _which_is_which(matrices, x, wanted)[place] for place in (0, 2, 1)
            ],
            "their numbers": lambda matrices, x, wanted: (0, 1, 2),
        },
    ),
    checks.check_by_luck: (
        {"thrown": _by_luck, "on paper": _on_paper},
        {
            "more than": _thrown(lambda won, right: (won.amax(dim=1) > right).double().mean()),
            "exactly": _thrown(lambda won, right: (won.amax(dim=1) == right).double().mean()),
            "one coin": lambda heads, sentences, right: _on_paper(1, sentences, right),
            "as many times as there are heads": lambda heads, sentences, right: heads * _on_paper(1, sentences, right),
            "any head": _thrown(lambda won, right: (won >= right).double().mean()),
            "all together": _thrown(lambda won, right: (won.sum(dim=1) >= right).double().mean()),
            "over the wrong side": _thrown(lambda won, right: (won.amax(dim=1) >= right).double().mean(), dim=2),
            "how many the best has": _thrown(lambda won, right: won.amax(dim=1).double().mean()),
            "one round": lambda heads, sentences, right: float(
                torch.randint(2, (sentences, heads)).sum(dim=0).amax() >= right
            ),
            "three hundred rounds": _thrown(lambda won, right: (won.amax(dim=1) >= right).double().mean(), rounds=300),
            "in per cent": lambda heads, sentences, right: 100 * _on_paper(heads, sentences, right),
            "every round": _thrown(lambda won, right: won.amax(dim=1) >= right),
        },
    ),
    checks.check_pool: (
        {"masked mean": _pool, "loop": _pool_by_loop},
        {
            "padding counted in": lambda x, real: F.normalize(x.mean(dim=1), dim=-1),
            "not brought to length 1": lambda x, real: (x * real[..., None]).sum(1) / real.sum(1, keepdim=True),
            "over the batch": lambda x, real: F.normalize((x * real[..., None]).mean(dim=0), dim=-1),
            "each token at length 1 first": lambda x, real: _pool(F.normalize(x, dim=-1), real),
            "one mean for all": lambda x, real: F.normalize(x[real].mean(dim=0), dim=-1).expand(len(x), -1),
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
