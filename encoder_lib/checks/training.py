"""Checks of the exercises of 08_training."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from encoder_lib.checks.verdict import Case, Verdict, examine, numbers


def check_cross_entropy(attempt: Callable) -> Verdict:
    """cross_entropy(scores, targets): the mean surprise at the right classes, scores (N, C) and targets (N,)."""

    def scores(*rows: list[float]) -> Tensor:
        return torch.tensor(rows, dtype=torch.float64)

    cases = [
        Case("one token, two equal scores", (scores([0.0, 0.0]), torch.tensor([1]))),
        Case("one token, three classes", (scores([1.0, 0.0, -1.0]), torch.tensor([2]))),
        Case("two tokens", (scores([2.0, 0.0], [0.0, 1.0]), torch.tensor([0, 0]))),
        Case("as many tokens as classes", (numbers(3, 3), torch.tensor([2, 0, 2]))),
        Case("more classes than tokens", (3 * numbers(2, 7), torch.tensor([6, 1]))),
        Case("more tokens than classes", (numbers(6, 2), torch.tensor([0, 1, 1, 0, 0, 1]))),
    ]
    hints = (
        "Turn each token's scores into probabilities first: a softmax over the classes, once.",
        "Of each token you need one probability alone, that of its target: p[torch.arange(N), targets].",
        "The surprise is minus the natural logarithm of that probability; then the mean over the tokens.",
    )
    return examine("cross_entropy", attempt, F.cross_entropy, cases, hints)


def check_real_accuracy(attempt: Callable) -> Verdict:
    """real_accuracy(scores, targets, real): the share of real tokens whose largest score is the target's.

    scores (B, T, C), targets (B, T), real (B, T) with True for tokens that are no padding.
    """

    def reference(scores: Tensor, targets: Tensor, real: Tensor) -> Tensor:
        return (scores.argmax(-1) == targets)[real].double().mean()

    def case(label: str, answers: list, targets: list, lengths: list, n_classes: int) -> Case:
        named = torch.tensor(answers)  # (B, T)
        scores = numbers(*named.shape, n_classes, seed=len(label)) + 9 * F.one_hot(named, n_classes)
        real = torch.arange(named.shape[1]) < torch.tensor(lengths)[:, None]  # (B, T)
        return Case(label, (scores, torch.tensor(targets), real))

    cases = [
        case("two tokens, no padding", [[1, 0]], [[1, 1]], [2], 2),
        case("padding that happens to be right", [[1, 0, 0]], [[0, 0, 0]], [2], 2),
        case("padding that is wrong", [[1, 1, 1, 1]], [[1, 0, 0, 0]], [2], 3),
        case("sentences of two lengths", [[2, 1, 0, 0], [1, 2, 0, 3]], [[2, 0, 0, 0], [1, 2, 0, 3]], [1, 4], 4),
        case(
            "as many of everything", [[0, 1, 2], [2, 2, 0], [1, 1, 1]], [[0, 1, 2], [0, 2, 0], [2, 0, 0]], [3, 2, 1], 3
        ),
        case("nothing is right", [[0, 0], [1, 0]], [[1, 0], [0, 1]], [1, 2], 2),
    ]
    hints = (
        "The answer of a token is the class with its largest score: argmax over the last dimension.",
        "Padding must not count: neither among the right answers nor in the number that you divide by.",
        "Divide once, by the number of all real tokens of the batch; a longer sentence weighs more.",
    )
    return examine("real_accuracy", attempt, reference, cases, hints)


def check_breaks(attempt: Callable) -> Verdict:
    """breaks(whole, removed): which removals do worse on their best seed than the whole model on its worst.

    whole (S,): the whole model's accuracy for each seed; removed (P, S): the same for each part taken out. -> (P,)
    """

    def reference(whole: Tensor, removed: Tensor) -> Tensor:
        return removed.amax(dim=1) < whole.amin()

    def share(*values: float | list[float]) -> Tensor:
        return torch.tensor(values, dtype=torch.float64)

    cases = [
        Case("one seed", (share(0.9), share([0.3], [0.95]))),
        Case("one lucky seed is enough", (share(0.9, 0.95), share([0.2, 0.92], [0.2, 0.85]))),
        Case("a weak seed of the whole model", (share(0.99, 0.6), share([0.7, 0.65], [0.5, 0.55]))),
        Case("worse on each seed, yet not apart", (share(0.8, 0.9, 0.99), share([0.7, 0.82, 0.9], [0.7, 0.7, 0.7]))),
        Case("a tie breaks nothing", (share(0.9, 0.9), share([0.9, 0.9], [0.9, 0.1], [0.8, 0.8]))),
        Case(
            "as many parts as seeds",
            (share(0.97, 0.95, 0.99), share([0.3, 0.2, 0.4], [0.99, 0.4, 0.99], [0.96, 0.1, 0.1])),
        ),
    ]
    hints = (
        "For each part, one number counts: the accuracy of its best seed.",
        "All parts are compared with one and the same number: the worst seed of the whole model.",
        "removed is (P, S): the largest over the seeds is removed.amax(dim=1), one number for each part.",
    )
    return examine("breaks", attempt, reference, cases, hints)
