"""Checks of the exercises of 01_embedding."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from encoder_lib.course.checks.modules import fed, made, of_shape
from encoder_lib.course.checks.verdict import Case, Probe, Verdict, diagnose, difference, examine, numbers, written
from encoder_lib.model.embedding import TokenEmbedding


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


def check_most_similar(attempt: Callable) -> Verdict:
    """most_similar(weight, word): the id of the other word whose vector has the largest cosine with this one."""

    def reference(table: Tensor, word: int) -> Tensor:
        cosine = torch.nn.functional.cosine_similarity(table, table[word], dim=-1)  # (V,)
        cosine[word] = -torch.inf
        return cosine.argmax()

    rows = torch.tensor([[1.0, 0.0], [0.9, 0.1], [0.0, 5.0], [20.0, 15.0]], dtype=torch.float64)
    cases = [
        Case("two words", (rows[:2], 0)),
        Case("a long vector in another direction does not win", (rows, 0)),
        Case("a word in the middle of the table", (rows, 2)),
        Case("vectors that point away", (-rows[[0, 2, 3]] * torch.tensor([[1.0], [-1.0], [1.0]]), 1)),
        Case("eight numbers a word", (numbers(7, 8), 4)),
    ]
    return examine("most_similar", attempt, reference, cases)


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
