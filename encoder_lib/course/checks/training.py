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
from encoder_lib.course.checks.verdict import Case, Told, Verdict, examine, numbers, written
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
        Case("a score of 1000 at the wrong class", (scores([1000.0, 0.0]), torch.tensor([1]))),
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


def check_hide_words(attempt: Callable) -> Verdict:
    """hide_words(ids, chance, fate, drawn, mask_id): what BERT's training shows a model, and what it asks. (B, T) each.

    Where `chance` is below 0.15 a token is asked. Of those, a `fate` below 0.8 hides it behind mask_id, one below 0.9
    puts the token in `drawn` there, and any other leaves it. All that are not asked have the target −100.
    Source: Devlin et al. 2018 (arXiv 1810.04805), section 3.1.
    """

    def reference(ids: Tensor, chance: Tensor, fate: Tensor, drawn: Tensor, mask_id: int) -> Tensor:
        shown = torch.where(fate < 0.8, mask_id, torch.where(fate < 0.9, drawn, ids))
        asked = chance < 0.15
        return torch.stack([torch.where(asked, shown, ids), torch.where(asked, ids, IGNORE_INDEX)])

    def tried(hide_words: Callable, *given: Tensor | int) -> Tensor:
        pair = written(hide_words(*given), hide_words)
        if not isinstance(pair, tuple | list) or len(pair) != 2 or not all(isinstance(x, Tensor) for x in pair):
            raise Told("expected two tensors, what the model gets and what it is asked: `return given, targets`")
        if pair[0].shape != pair[1].shape:
            raise Told(f"expected two tensors of one shape, got {tuple(pair[0].shape)} and {tuple(pair[1].shape)}")
        return torch.stack([x.long() for x in pair])

    def row(ids: list[int], chance: list[float], fate: list[float], drawn: list[int]) -> tuple[Tensor, ...]:
        return tuple(torch.tensor([x]) for x in (ids, chance, fate, drawn))

    many = torch.Generator().manual_seed(0)
    ids, drawn = (torch.randint(90, (4, 30), generator=many) for _ in range(2))
    chance, fate = (torch.rand(4, 30, generator=many, dtype=torch.float64) for _ in range(2))
    cases = [
        Case("a token that is not chosen", (*row([5], [0.6], [0.3], [7]), 99)),
        Case("a chosen token that is hidden", (*row([5], [0.1], [0.3], [7]), 99)),
        Case("a chosen token that is replaced", (*row([5], [0.1], [0.85], [7]), 99)),
        Case("a chosen token that stays", (*row([5], [0.1], [0.95], [7]), 99)),
        Case(
            "four tokens, another id for what is hidden",
            (*row([1, 2, 3, 4], [0.9, 0.1, 0.2, 0.0], [0.1] * 4, [8] * 4), 50),
        ),
        Case("four rows of thirty tokens", (ids, chance, fate, drawn, 99)),
    ]
    mine = update_wrapper(partial(tried, attempt), attempt, (), ()) if callable(attempt) else attempt
    return examine("hide_words", mine, reference, cases)
