"""Checks of the exercises of 01_embedding."""

from collections.abc import Callable
from copy import deepcopy
from functools import wraps

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from encoder_lib.course.checks.modules import losses_and_after
from encoder_lib.course.checks.verdict import Case, Verdict, examine, numbers
from encoder_lib.seeded import seeded


def check_look_up(attempt: Callable) -> Verdict:
    """look_up(weight, ids): the rows of a table (V, D) by ids of any shape (…) -> (…, D)."""
    small = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], dtype=torch.float64)
    cases = [
        Case("one id", (small, torch.tensor([1]))),
        Case("ids out of order", (small, torch.tensor([2, 0, 1]))),
        Case("a batch of sequences", (numbers(4, 3), torch.tensor([[3, 1], [0, 0]]))),
        Case("a single id, no row of them", (small, torch.tensor(1))),
    ]
    return examine("look_up", attempt, lambda table, ids: table[ids], cases)


def check_gets_gradient(attempt: Callable) -> Verdict:
    """gets_gradient(ids, vocab_size, padding_idx): which rows (V,) training changes, as booleans."""

    def reference(ids: Tensor, vocab_size: int, padding_idx: int | None) -> Tensor:
        rows = torch.zeros(vocab_size, dtype=torch.bool)
        rows[ids.flatten()] = True
        if padding_idx is not None:
            rows[padding_idx] = False
        return rows

    cases = [
        Case("one id", (torch.tensor([1]), 3, None)),
        Case("an id that comes twice", (torch.tensor([2, 0, 2]), 4, None)),
        Case("a batch of sequences", (torch.tensor([[4, 1], [1, 0]]), 6, None)),
        Case("padding among the ids", (torch.tensor([3, 0, 0]), 5, 0)),
        Case("padding that is not id 0", (torch.tensor([0, 1, 2]), 3, 1)),
    ]
    return examine("gets_gradient", attempt, reference, cases)


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


def check_training_loop(attempt: Callable) -> Verdict:
    """training_loop(model, inputs, targets, steps, lr): train with SGD, and give back the loss of each step."""

    @wraps(attempt, (), ())
    def tried(before: nn.Module, inputs: Tensor, targets: Tensor, steps: int, lr: float) -> Tensor:
        model = deepcopy(before)
        losses = attempt(model, inputs, targets, steps, lr)
        return losses_and_after(losses, model, before, lambda: F.cross_entropy(model(inputs), targets))

    def reference(model: nn.Module, inputs: Tensor, targets: Tensor, steps: int, lr: float) -> Tensor:
        model, losses = deepcopy(model), []
        for _ in range(steps + 1):
            loss = F.cross_entropy(model(inputs), targets)
            losses.append(loss.detach())
            gradients = torch.autograd.grad(loss, list(model.parameters()))
            with torch.no_grad():
                for parameter, gradient in zip(model.parameters(), gradients, strict=True):
                    parameter.sub_(lr * gradient)
        return torch.stack(losses)  # (steps + 1,)

    cases = [
        Case("the loss of one step, and the loss after it", (_word_model(2), *_word_pairs(2, 1), 1, 0.5)),
        Case("the losses of two steps, and the loss after them", (_word_model(2), *_word_pairs(2, 1), 2, 0.5)),
        Case("ten steps", (_word_model(5), *_word_pairs(5, 6), 10, 1.0)),
    ]
    return examine("training_loop", tried if callable(attempt) else attempt, reference, cases)


def _word_model(n_words: int) -> nn.Sequential:
    """An embedding of two numbers a word and a linear layer, the same whenever it is made. ids (B,) -> (B, V)"""
    with seeded(0):
        return nn.Sequential(nn.Embedding(n_words, 2), nn.Linear(2, n_words)).double()


def _word_pairs(n_words: int, n_pairs: int) -> tuple[Tensor, Tensor]:
    """Words, and what to predict from each: the one before it, and every third time the one after it. (B,) each"""
    inputs = torch.arange(n_pairs) % n_words
    return inputs, torch.where(torch.arange(n_pairs) % 3 == 2, inputs + 1, inputs - 1) % n_words
