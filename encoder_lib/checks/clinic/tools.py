"""What several checks of the clinic need."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from encoder_lib.checks.verdict import Case, Verdict, examine, numbers
from encoder_lib.model.attention import attention


def double(rows: list) -> Tensor:
    return torch.tensor(rows, dtype=torch.float64)


def made(thing: Callable, *sizes: float) -> nn.Module:
    """An object of the learner's class in float64, the same in each run."""
    torch.manual_seed(0)
    module = thing(*sizes)
    if not isinstance(module, nn.Module):
        raise TypeError(f"expected a class of nn.Module, got something that makes {type(module).__name__}")
    return module.double()


def run(module: nn.Module, *inputs: Tensor) -> Tensor:
    """What a module gives; its dropout draws the same in each run."""
    torch.manual_seed(0)
    return module(*inputs)


def of_shape(module: nn.Module, *shape: int) -> Tensor:
    """The one parameter of that shape."""
    found = [weight for weight in module.parameters() if weight.shape == shape]
    if len(found) != 1:
        raise ValueError(f"expected one parameter of shape {shape} in parameters(), found {len(found)}")
    return found[0]


def count(module: nn.Module, expected: int) -> str:
    got = sum(weight.numel() for weight in module.parameters())
    return "" if got == expected else f"expected {expected} trainable numbers in parameters(), got {got}"


def no_gradient(module: nn.Module, *inputs: Tensor) -> str:
    """Which parameters learn nothing."""
    y = run(module, *inputs)
    (y * numbers(*y.shape, seed=9)).sum().backward()
    names = [name for name, weight in module.named_parameters() if weight.grad is None]
    if not names:
        return ""
    total = len(list(module.parameters()))
    return f"{len(names)} of {total} parameters got no gradient; the first is {names[0]}"


def network(module: nn.Module, x: Tensor, d_ff: int) -> Tensor:
    """W₂ · relu(W₁ · x + b₁) + b₂ with the module's own weights, found by their shapes."""
    d_model = x.shape[-1]
    first, second = of_shape(module, d_ff, d_model), of_shape(module, d_model, d_ff)
    hidden = F.linear(x, first, of_shape(module, d_ff)).relu()  # (…, F)
    return F.linear(hidden, second, of_shape(module, d_model))


def all_true(*shape: int) -> Tensor:
    return torch.ones(*shape, dtype=torch.bool)


def weigh_cases(hidden: bool) -> list[Case]:
    """Inputs (scores, mask) of `weigh`, with rows that hide everything when `hidden`."""
    pair, three = double([[0, 0]]), double([[1, 2, 3]])
    cases = [
        Case("nothing hidden", (pair, all_true(1, 2))),
        Case("the last of three hidden", (three, torch.tensor([[True, True, False]]))),
        Case("scores far below zero", (double([[-30_000, -30_000]]), torch.tensor([[True, False]]))),
        Case("one mask for all queries", (numbers(2, 3, 4), torch.tensor([[True, False, True, True]]))),
    ]
    if hidden:
        rows = torch.tensor([[True, False], [False, False]])
        cases[2:2] = [Case("everything hidden", (pair, ~all_true(1, 2))), Case("one row of two", (numbers(2, 2), rows))]
    return cases


def attend_like(name: str, thing: Callable, cases: list[Case], hints: tuple[str, ...]) -> Verdict:
    return examine(name, thing, lambda q, k, v, mask: attention(q, k, v, mask)[0], cases, hints)


def attend_cases(seed: int = 0) -> list[Case]:
    """Inputs (query, key, value, mask) that any attention has to get right."""
    three = [numbers(2, 3, 4, seed=seed + i) for i in range(3)]
    formula = "Compare with the formula of attention, symbol by symbol: the scores, √K, the softmax over the keys."
    lengths = "Queries and keys differ in number here. Which of the two lengths does each line take?"
    return [
        Case("a batch", (*three, all_true(2, 1, 3)), formula),
        Case(
            "the last key hidden",
            (*three, torch.tensor([True, True, False]).expand(2, 1, 3)),
            "Here the mask hides a key, and it has a weight. Does the softmax still get the mask?",
        ),
        Case("more keys than queries", (three[0][:, :2], *three[1:], all_true(2, 1, 3)), lengths),
        Case("more queries than keys", (three[0], three[1][:, :2], three[2][:, :2], all_true(2, 1, 2)), lengths),
        Case("queries much larger than keys", (three[0] * 10, *three[1:], all_true(2, 1, 3)), formula),
    ]
