"""Checks of the exercises of 11_fast_encoder."""

from collections.abc import Callable

import torch
from torch import Tensor

from encoder_lib.checks.verdict import Case, Verdict, examine, numbers


def _lengths(count: int, most: int, seed: int) -> Tensor:
    return torch.randint(0, most + 1, (count,), generator=torch.Generator().manual_seed(seed))


def check_same_sequence(attempt: Callable) -> Verdict:
    """same_sequence(lengths): which tokens of a packed row may attend to which, for lengths (B,) -> (N, N), boolean."""
    cases = [
        Case("one sequence sees all of itself", (torch.tensor([2]),)),
        Case("two sequences, the longer one first", (torch.tensor([2, 1]),)),
        Case("two sequences, the shorter one first", (torch.tensor([1, 2]),)),
        Case("two of one length are still two", (torch.tensor([2, 2]),)),
        Case("sequences of one token see themselves alone", (torch.ones(4, dtype=torch.long),)),
        Case("an empty sequence in the middle", (torch.tensor([1, 0, 2]),)),
        Case("nine sequences of any lengths", (_lengths(9, 6, 0),)),
    ]
    hints = (
        "How many tokens does the whole row have? Both sides of the mask are that long.",
        "Write down, for a small row, the number of the sequence that each token belongs to.",
        "Two tokens belong together when their numbers are equal; a row of numbers against a column of them compares "
        "all pairs at once.",
    )

    def reference(lengths: Tensor) -> Tensor:
        owner = torch.arange(len(lengths)).repeat_interleave(lengths)  # (N,)
        return owner[:, None] == owner

    return examine("same_sequence", attempt, reference, cases, hints)


def check_padding_share(attempt: Callable) -> Verdict:
    """padding_share(lengths, size): the share of padding when the sequences are padded in batches of `size`."""
    cases = [
        Case("one batch of two", (torch.tensor([3, 1]), 2)),
        Case("equal lengths need no padding", (torch.tensor([4, 4, 4]), 3)),
        Case("batches of one need none", (torch.tensor([5, 1, 3]), 1)),
        Case("two batches, each padded to its own longest", (torch.tensor([8, 7, 2, 1]), 2)),
        Case("the same lengths in another order", (torch.tensor([8, 1, 7, 2]), 2)),
        Case("the last batch is smaller", (torch.tensor([6, 3, 4, 2, 5]), 2)),
        Case("a batch that is larger than what there is", (torch.tensor([6, 3]), 8)),
        Case("fifty sequences", (1 + _lengths(50, 40, 1), 8)),
    ]
    hints = (
        "Count the tokens that a padded batch holds: how many sequences, and how long is each one then?",
        "Each batch is padded to its own longest sequence. Add up the tokens of all batches before you divide.",
        "The share is that of the tokens which are not real among all that are computed.",
    )

    def reference(lengths: Tensor, size: int) -> Tensor:
        computed = sum(len(part) * part.max() for part in lengths.split(size))
        return 1 - lengths.sum().double() / computed

    return examine("padding_share", attempt, reference, cases, hints)


def check_speed_up(attempt: Callable) -> Verdict:
    """speed_up(times, factors): how many times as fast the whole is when part p is factors[p] times as fast."""
    cases = [
        Case("one part is the whole", (torch.tensor([2.0]), torch.tensor([4.0]))),
        Case("half of the time, twice as fast", (torch.tensor([1.0, 1.0]), torch.tensor([2.0, 1.0]))),
        Case("nine tenths, ten times as fast", (torch.tensor([9.0, 1.0]), torch.tensor([10.0, 1.0]))),
        Case("a part that takes no time any more", (torch.tensor([3.0, 1.0]), torch.tensor([torch.inf, 1.0]))),
        Case("a part that became slower", (torch.tensor([1.0, 3.0]), torch.tensor([0.5, 1.0]))),
        Case("nothing changed", (torch.tensor([0.2, 0.3]), torch.ones(2))),
        Case("five parts", (numbers(5).exp(), numbers(5, seed=1).exp())),
    ]
    hints = (
        "Work with times, not with speeds: how long did everything take, and how long does it take now?",
        "A part that is s times as fast takes 1/s of its time. Add up the new times of all parts.",
        "How many times as fast the whole is: the old time over the new one.",
    )

    def reference(times: Tensor, factors: Tensor) -> Tensor:
        return times.sum() / (times / factors).sum()

    return examine("speed_up", attempt, reference, cases, hints)
