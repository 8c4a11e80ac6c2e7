"""Checks of the exercises of 01_embedding."""

from collections.abc import Callable
from copy import deepcopy
from functools import partial, update_wrapper
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from encoder_lib.course.checks.modules import fed, losses_and_after, made, of_shape
from encoder_lib.course.checks.verdict import Case, Probe, Verdict, diagnose, difference, examine, numbers, written
from encoder_lib.model.embedding import TokenEmbedding
from encoder_lib.seeded import seeded


def check_descend(attempt: Callable) -> Verdict:
    """descend(model, given, beside, steps, lr): steps of SGD by hand, on all pairs each; gives back each one's loss."""

    def tried(descend: Callable, before: nn.Module, *given: Any) -> Tensor:
        model = deepcopy(before)
        losses = descend(model, *given)
        return losses_and_after(losses, model, before, lambda: F.cross_entropy(model(given[0]), given[1]))

    def reference(model: nn.Module, given: Tensor, beside: Tensor, steps: int, lr: float) -> list[Tensor]:
        optimiser, losses = torch.optim.SGD(model.parameters(), lr=lr), []
        for _ in range(steps):
            optimiser.zero_grad()
            losses.append(F.cross_entropy(model(given), beside))
            losses[-1].backward()
            optimiser.step()
        return losses

    with seeded(0):
        model = nn.Sequential(TokenEmbedding(5, 2), nn.Linear(2, 5)).double()
    pairs = torch.tensor([0, 3, 3, 4]), torch.tensor([1, 2, 4, 0])
    cases = [
        Case("the loss of one step that hardly moves anything, and the loss after it", (model, *pairs, 1, 1e-12)),
        Case("the loss of one step, and the loss after it", (model, *pairs, 1, 0.5)),
        Case("two steps, and the loss after them", (model, *pairs, 2, 0.5)),
        Case("ten steps", (model, *pairs, 10, 1.0)),
    ]
    mine = update_wrapper(partial(tried, attempt), attempt, (), ()) if callable(attempt) else attempt
    return examine("descend", mine, partial(tried, reference), cases)


def check_table_gradient(attempt: Callable) -> Verdict:
    """table_gradient(ids, arriving, vocab_size): what reaches a table (V, D) of the gradients (T, D) of its copies."""

    def reference(ids: Tensor, arriving: Tensor, vocab_size: int) -> Tensor:
        return arriving.new_zeros(vocab_size, arriving.shape[1]).index_add(0, ids, arriving)

    small = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], dtype=torch.float64)
    cases = [
        Case("one id", (torch.tensor([1]), small[:1, :1], 2)),
        Case("ids out of order", (torch.tensor([2, 0, 1]), small, 3)),
        Case("rows that are not read", (torch.tensor([3, 1]), small[:2], 5)),
        Case("an id that comes twice", (torch.tensor([2, 3, 2]), small, 4)),
        Case("many ids", (torch.arange(40) ** 2 % 7, numbers(40, 3), 9)),
    ]
    return examine("table_gradient", attempt, reference, cases)


def check_padded_embedding(attempt: Callable) -> Verdict:
    """PaddedEmbedding(vocab_size, d_model, padding_idx), called with ids (B, T): rows of a table -> (B, T, D)."""
    probes = [
        Probe("the rows of a table", _reads_rows),
        Probe("a start with mean 0 and spread 1", _starts_as_randn),
        Probe("padding with id 2", partial(_trains_as_ours, 2, 0)),
        Probe("padding with id 0", partial(_trains_as_ours, 0, 0)),
        Probe("after three steps of training", partial(_trains_as_ours, 2, 3)),
        Probe("no padding, after three steps of training", partial(_trains_as_ours, None, 3)),
    ]
    return diagnose("PaddedEmbedding", attempt, probes)


def _reads_rows(attempt: Callable) -> str:
    module, ids = made(attempt, 4, 3, None, name="PaddedEmbedding"), torch.tensor([[2, 1], [3, 3]])
    got = written(fed(module, ids), type(module).forward)
    return difference(f"vocab_size 4, d_model 3, ids {ids.tolist()}", of_shape(module, 4, 3)[ids].detach(), got)


def _starts_as_randn(attempt: Callable) -> str:
    table = of_shape(made(attempt, 60, 50, None), 60, 50)
    mean, spread = table.mean().item(), table.std().item()
    right = abs(mean) < 0.1 and abs(spread - 1) < 0.1
    return "" if right else f"expected numbers of mean 0 and spread 1, got mean {mean:.2f} and spread {spread:.2f}"


def _trains_as_ours(padding_idx: int | None, n_steps: int, attempt: Callable) -> str:
    """What is wrong with what comes out after so many steps of SGD, beside the library's part from the same start."""
    mine, theirs = made(attempt, 4, 3, padding_idx), TokenEmbedding(4, 3, padding_idx=padding_idx).double()
    ids = torch.tensor([[1, 3, 0], [3, 2, 2]])
    with torch.no_grad():
        theirs.weight.copy_(of_shape(mine, 4, 3))
        theirs.weight[[] if padding_idx is None else padding_idx] = 0
    for module in (mine, theirs):
        optimiser = torch.optim.SGD(module.parameters(), lr=0.5)
        for step in range(n_steps):
            optimiser.zero_grad()
            (module(ids) * numbers(2, 3, 3, seed=step)).sum().backward()
            optimiser.step()
    return difference(f"padding_idx {padding_idx}, ids {ids.tolist()}", theirs(ids).detach(), fed(mine, ids))
