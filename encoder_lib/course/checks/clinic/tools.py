"""What several checks of the clinic need."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from encoder_lib.course.checks.modules import count, run, unreached
from encoder_lib.course.checks.verdict import Case, Verdict, examine, numbers, problem_on
from encoder_lib.model.attention import attention, masked_softmax


def double(rows: list | float) -> Tensor:
    return torch.tensor(rows, dtype=torch.float64)


def all_true(*shape: int) -> Tensor:
    return torch.ones(*shape, dtype=torch.bool)


def trainable(module: nn.Module, expected: int) -> str:
    """Whether a module learns so many numbers."""
    got = count(module)
    return "" if got == expected else f"expected {expected} trainable numbers in parameters(), got {got}"


def other_shape(module: nn.Module, *shape: int) -> str:
    """Whether what a module gives has the shape of what it got."""
    got = run(module, numbers(*shape)).shape
    return "" if got == shape else f"with x of shape {shape} expected the same shape, got {tuple(got)}"


def no_gradient(module: nn.Module, *inputs: Tensor) -> str:
    """Which parameters learn nothing."""
    names, total = unreached(module, *inputs), len(list(module.parameters()))
    return f"{len(names)} of {total} parameters got no gradient; the first is {names[0]}" if names else ""


def weighs(thing: Callable, hidden: bool) -> str:
    """What is wrong with weigh(scores, mask); tried with rows that hide everything when `hidden`."""
    pair, three = double([[0, 0]]), double([[1, 2, 3]])
    cases = [
        Case("nothing hidden", (pair, all_true(1, 2))),
        Case("the last of three hidden", (three, torch.tensor([[True, True, False]]))),
        Case("scores far below zero", (double([[-100_000, -100_000]]), torch.tensor([[True, False]]))),
        Case("one mask for all queries", (numbers(2, 3, 4), torch.tensor([[True, False, True, True]]))),
    ]
    if hidden:
        rows = torch.tensor([[True, False], [False, False]])
        cases[2:2] = [Case("everything hidden", (pair, ~all_true(1, 2))), Case("one row of two", (numbers(2, 2), rows))]
    return next(filter(None, (problem_on(thing, masked_softmax, case) for case in cases)), "")


def attend_like(name: str, thing: Callable, cases: list[Case]) -> Verdict:
    return examine(name, thing, lambda q, k, v, mask: attention(q, k, v, mask)[0], cases)


def attend_cases() -> list[Case]:
    """Inputs (query, key, value, mask) that any attention has to get right."""
    three = [numbers(2, 3, 4, seed=i) for i in range(3)]
    return [
        Case("a batch", (*three, all_true(2, 1, 3)), hint="attention in a batch"),
        Case("the last key hidden", (*three, torch.tensor([True, True, False]).expand(2, 1, 3))),
        Case("more keys than queries", (three[0][:, :2], *three[1:], all_true(2, 1, 3))),
    ]
