"""Checks of the exercises of 08_training."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import partial, update_wrapper

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from encoder_lib.course.checks import parts
from encoder_lib.course.checks.modules import losses_and_after
from encoder_lib.course.checks.verdict import Case, Verdict, examine, numbers
from encoder_lib.seeded import seeded
from encoder_lib.training.tasks import IGNORE_INDEX


def check_cross_entropy(attempt: Callable) -> Verdict:
    """cross_entropy(scores, targets): the mean surprise at the right classes, where the target is not −100.

    scores (N, C), targets (N,).
    """

    def scores(*rows: list[float]) -> Tensor:
        return torch.tensor(rows, dtype=torch.float64)

    cases = [
        Case("one token, two equal scores", (scores([0.0, 0.0]), torch.tensor([1]))),
        Case("one token, three classes", (scores([1.0, 0.0, -1.0]), torch.tensor([2]))),
        Case("two tokens", (scores([2.0, 0.0], [0.0, 1.0]), torch.tensor([0, 0]))),
        Case("two tokens, of which one asks", (scores([2.0, 0.0], [0.0, 1.0]), torch.tensor([0, IGNORE_INDEX]))),
        Case("a score of 1000", (scores([1000.0, 0.0]), torch.tensor([0]))),
        Case("more tokens than classes, half of them ask", (numbers(6, 2), torch.tensor([-100, 1, -100, 0, -100, 1]))),
    ]
    return examine("cross_entropy", attempt, F.cross_entropy, cases)


def check_learn(attempt: Callable) -> Verdict:
    """learn(model, draw, steps, lr): train with Adam on a new batch in every step, and give back each step's loss.

    draw() -> ids and targets (B, T), −100 where nothing is asked; model(ids) -> scores (B, T, C).
    """

    def tried(learn: Callable, before: nn.Module, draw: Questions, steps: int, lr: float) -> Tensor:
        model, draw = deepcopy(before), deepcopy(draw)
        ids, targets = draw()
        losses = learn(model, draw, steps, lr)

        def loss() -> Tensor:
            return F.cross_entropy(model(ids).flatten(0, 1), targets.flatten())

        return losses_and_after(losses, model, before, loss)

    small, large = (_tagger(3), Questions(3, 1, 4)), (_tagger(5), Questions(5, 2, 6))
    cases = [
        Case("the loss of one step that hardly moves anything, and the loss after it", (*small, 1, 1e-12)),
        Case("the loss of one step, and the loss after it", (*small, 1, 0.1)),
        Case("the losses of two steps on two different batches, and the loss after them", (*small, 2, 0.1)),
        Case("ten steps", (*large, 10, 0.05)),
    ]
    mine = update_wrapper(partial(tried, attempt), attempt, (), ()) if callable(attempt) else attempt
    return examine("learn", mine, partial(tried, parts.learn), cases)


@dataclass
class Questions:
    """Draws random ids, and at every token but each third one the question which id comes next in number."""

    n_ids: int
    rows: int
    tokens: int
    drawn: int = 0

    def __repr__(self) -> str:
        return f"() → ids and targets ({self.rows}, {self.tokens})"

    def __call__(self) -> tuple[Tensor, Tensor]:
        with seeded(self.drawn):
            ids = torch.randint(self.n_ids, (self.rows, self.tokens))
        asked = torch.arange(self.tokens) % 3 != self.drawn % 3
        self.drawn += 1
        return ids, torch.where(asked, (ids + 1) % self.n_ids, IGNORE_INDEX)


def _tagger(n_ids: int) -> nn.Sequential:
    """An embedding and a linear layer, the same whenever it is made. (B, T) -> scores (B, T, C)"""
    with seeded(0):
        return nn.Sequential(nn.Embedding(n_ids, 3), nn.Linear(3, n_ids)).double()


def check_forbid(attempt: Callable) -> Verdict:
    """forbid(place): where a token may look, if it may not look at one place. place (B, T) -> booleans (B, 1, T, T).

    A place of −100 forbids nothing.
    """

    def reference(place: Tensor) -> Tensor:
        return (torch.arange(place.shape[-1]) != place[..., None])[:, None]

    cases = [
        Case("one row of two tokens, each of which may not look at the other", (torch.tensor([[1, 0]]),)),
        Case("three tokens that may not look at the first one", (torch.tensor([[0, 0, 0]]),)),
        Case("a token that may look anywhere", (torch.tensor([[2, IGNORE_INDEX, 0]]),)),
        Case("two rows", (torch.tensor([[1, 2, 0], [2, 0, 1]]),)),
        Case("as many rows as tokens", (torch.tensor([[0, 1, 2], [1, 1, 1], [2, IGNORE_INDEX, 0]]),)),
    ]
    return examine("forbid", attempt, reference, cases)
