"""Checks of the exercises of 01_embedding."""

from collections.abc import Callable
from copy import deepcopy
from functools import partial, update_wrapper
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from encoder_lib.course.kit.checking.gradients import missing_gradients
from encoder_lib.course.kit.checking.modules import build, losses_and_after, parameter_of_shape, run_on_copies
from encoder_lib.course.kit.checking.verdict import (
    Case,
    Feedback,
    Probe,
    Verdict,
    diagnose,
    difference,
    examine,
    numbers,
    require_written,
)
from encoder_lib.model.embedding import TokenEmbedding
from encoder_lib.seeded import seeded


def check_descend(attempt: Callable) -> Verdict:
    """descend(model, given, beside, steps, lr): gradient descent on all pairs; returns the loss of each step."""

    def tried(descend: Callable, before: nn.Module, *given: Any) -> Tensor:
        model = deepcopy(before)
        losses = descend(model, *given)
        ids, beside, steps, _ = given
        return losses_and_after(losses, model, before, lambda: F.cross_entropy(model(ids), beside), steps)

    def reference(model: nn.Module, given: Tensor, beside: Tensor, steps: int, lr: float) -> list[Tensor]:
        optimiser, losses = torch.optim.SGD(model.parameters(), lr=lr), []
        for _ in range(steps):
            optimiser.zero_grad()
            losses.append(F.cross_entropy(model(given), beside))
            losses[-1].backward()
            optimiser.step()
        return losses

    def case(label: str, model: nn.Module, given: list[int], beside: list[int], steps: int, lr: float) -> Case:
        return Case(label, (model, torch.tensor(given), torch.tensor(beside), steps, lr))

    with seeded(0):
        small = nn.Sequential(TokenEmbedding(5, 2), nn.Linear(2, 5)).double()
        loud = nn.Linear(3, 8)
        nn.init.normal_(loud.weight, std=2.0)  # so that some gradients are large
        wide = nn.Sequential(TokenEmbedding(8, 3), loud).double()
        deep = nn.Sequential(TokenEmbedding(7, 4), nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 7)).double()
    cases = [
        case(
            "the loss of one step that hardly changes anything, and the loss after it",
            small,
            [0, 3, 3, 4],
            [1, 2, 4, 0],
            1,
            1e-12,
        ),
        case("the loss of one step, and the loss after it", wide, [0, 7, 3, 3, 5], [1, 2, 4, 0, 6], 1, 0.5),
        case("two steps, and the loss after them", small, [2, 1, 4], [3, 3, 0], 2, 0.8),
        case("a model with more layers", deep, [6, 5, 0, 2, 2, 1], [1, 5, 3, 3, 0, 5], 3, 0.3),
        case("ten steps", wide, [1, 1, 6, 4], [5, 0, 3, 3], 10, 0.1),
    ]
    mine = update_wrapper(partial(tried, attempt), attempt, (), ()) if callable(attempt) else attempt
    return examine("descend", mine, partial(tried, reference), cases)


def check_table_gradient(attempt: Callable) -> Verdict:
    """table_gradient(ids, arriving, vocab_size): the gradient of a table (V, D), if (T, D) arrives at its copies."""

    def reference(ids: Tensor, arriving: Tensor, vocab_size: int) -> Tensor:
        return arriving.new_zeros(vocab_size, arriving.shape[1]).index_add(0, ids, arriving)

    small = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], dtype=torch.float64)
    cases = [
        Case("one id", (torch.tensor([1]), small[:1, :1], 2)),
        Case("ids out of order", (torch.tensor([2, 0, 1]), small, 3)),
        Case("rows that are not read", (torch.tensor([3, 1]), -small[1:], 5)),
        Case("an id that occurs twice", (torch.tensor([2, 3, 2]), small, 4)),
        Case("many ids", (torch.arange(40) ** 2 % 7, numbers(40, 5), 9)),
    ]
    return examine("table_gradient", attempt, reference, cases)


def check_padded_embedding(attempt: Callable) -> Verdict:
    """PaddedEmbedding(vocab_size, d_model, padding_idx), called with ids (B, T): rows of a table (B, T, D)."""
    probes = [
        Probe("the rows of a table", _reads_rows),
        Probe("a start with mean 0 and standard deviation 1", _starts_as_randn),
        Probe("a gradient for the table", _table_has_gradient),
        Probe("padding with id 2", partial(_trains_as_ours, 5, 3, 2, 0)),
        Probe("padding with id 0", partial(_trains_as_ours, 4, 2, 0, 0)),
        Probe("after three steps of training", partial(_trains_as_ours, 6, 4, 3, 3)),
        Probe("no padding, after three steps of training", partial(_trains_as_ours, 5, 2, None, 3)),
    ]
    return diagnose("PaddedEmbedding", attempt, probes)


def _table(module: nn.Module, vocab_size: int, d_model: int) -> Tensor:
    """The table of a learner's module. Raises: Feedback if there is none, or if the module has other parameters."""
    table = parameter_of_shape(module, vocab_size, d_model)
    others = [name for name, weight in module.named_parameters() if weight is not table and weight.requires_grad]
    if others:
        raise Feedback(f"expected the table to be the only parameter, found {', '.join(others)} as well")
    return table


def _reads_rows(attempt: Callable) -> str:
    for sizes, rows in (((4, 3), [[2, 1], [0, 0]]), ((9, 2), [[5, 7, 1, 5]])):  # the largest id is not read
        module, ids = build(attempt, *sizes, None, name="PaddedEmbedding"), torch.tensor(rows)
        got = require_written(run_on_copies(module, ids), type(module).forward)
        given = f"vocab_size {sizes[0]}, d_model {sizes[1]}, ids {rows}"
        if problem := difference(given, _table(module, *sizes)[ids].detach(), got):
            return problem
    return ""


def _starts_as_randn(attempt: Callable) -> str:
    table = _table(build(attempt, 60, 50, None), 60, 50).detach()
    mean, deviation = table.mean().item(), table.std().item()
    if not (abs(mean) < 0.1 and abs(deviation - 1) < 0.1):
        return f"expected mean 0 and standard deviation 1, got {mean:.2f} and {deviation:.2f}"
    if (within := (table.abs() < 1).double().mean().item()) < 0.63 or within > 0.73:
        return f"expected 68 % of a normal distribution between −1 and 1, got {100 * within:.0f} %"
    if any(len(table.unique(dim=dim)) < table.shape[dim] for dim in (0, 1)):
        return "expected every number to be drawn separately, got rows or columns that are equal"
    again = attempt(60, 50, None).double()
    if torch.equal(table, _table(again, 60, 50)):
        return "expected another table in a second object, got the same one; is a seed set in __init__?"
    return ""


def _table_has_gradient(attempt: Callable) -> str:
    module = build(attempt, 6, 2, None)
    weight = _table(module, 6, 2)
    name = next(name for name, other in module.named_parameters() if other is weight)
    return missing_gradients(run_on_copies(module, torch.tensor([[4, 1, 1]])), {name: weight})


def _trains_as_ours(vocab_size: int, d_model: int, padding_idx: int | None, n_steps: int, attempt: Callable) -> str:
    """Compare the vectors after some steps of SGD with those of the library's embedding, from the same start."""
    sizes = vocab_size, d_model
    mine, theirs = build(attempt, *sizes, padding_idx), TokenEmbedding(*sizes, padding_idx=padding_idx).double()
    padding = 1 if padding_idx is None else padding_idx
    ids = torch.tensor([[1, 3, padding, 0], [padding, 2, 2, 3]])
    with torch.no_grad():
        theirs.weight.copy_(_table(mine, *sizes))
        theirs.weight[[] if padding_idx is None else padding_idx] = 0
    for module in (mine, theirs):
        optimiser = torch.optim.SGD(module.parameters(), lr=0.5)
        for step in range(n_steps):
            optimiser.zero_grad()
            (run_on_copies(module, ids) * numbers(2, 4, d_model, seed=step)).sum().backward()
            optimiser.step()
    return difference(f"padding_idx {padding_idx}, ids {ids.tolist()}", theirs(ids).detach(), run_on_copies(mine, ids))
