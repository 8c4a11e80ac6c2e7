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
from encoder_lib.course.checks.verdict import (
    CHANGED,
    Case,
    Probe,
    Told,
    Verdict,
    diagnose,
    examine,
    show,
    written,
)
from encoder_lib.course.lab.letters import GAP
from encoder_lib.seeded import seeded
from encoder_lib.training.tasks import IGNORE_INDEX


def check_learn(attempt: Callable) -> Verdict:
    """learn(model, draw, steps, lr): train with Adam on a new batch in every step, and give back each step's loss.

    draw() -> ids and targets (B, T), −100 where nothing is asked; model(ids) -> scores (B, T, C).
    """

    def tried(learn: Callable, before: nn.Module, draw: Questions, steps: int, lr: float) -> Tensor:
        model, draw = deepcopy(before), deepcopy(draw)
        ids, targets = draw()
        losses = learn(model, draw, steps, lr)
        return losses_and_after(losses, model, before, lambda: _loss(model, ids, targets))

    small, large = (_tagger(3), Questions(3, 1, 4)), (_tagger(5), Questions(5, 2, 6))
    cases = [
        Case("the loss of one step that hardly moves anything, and the loss after it", (*small, 1, 1e-12)),
        Case("the loss of one step, and the loss after it", (*small, 1, 0.1)),
        Case("the losses of two steps on two different batches, and the loss after them", (*small, 2, 0.1)),
        Case("ten steps", (*large, 10, 0.05)),
    ]
    mine = update_wrapper(partial(tried, attempt), attempt, (), ()) if callable(attempt) else attempt
    return examine("learn", mine, partial(tried, parts.learn), cases)


def check_learn_in_parts(attempt: Callable) -> Verdict:
    """learn_in_parts(model, next_part, steps, parts, lr): steps of Adam on `parts` parts each, one at a time."""

    def tried(learn: Callable, before: nn.Module, draw: Questions, *rest: float) -> Tensor:
        model, draw = deepcopy(before), deepcopy(draw)
        open_parts: list[Tensor] = []  # those whose backward has not come

        def one_at_a_time(_: nn.Module, args: tuple, scores: Tensor) -> None:
            if len(args[0]) > draw.rows or open_parts:
                raise Told(
                    "more than one part goes through the model before a backward: the memory of all of them is taken"
                )
            if scores.requires_grad:
                open_parts.append(scores)
                scores.register_hook(lambda _: open_parts.clear())

        ids, targets = draw()
        watched = model.register_forward_hook(one_at_a_time)
        losses = learn(model, draw, *rest)
        watched.remove()
        return losses_and_after(losses, model, before, lambda: _loss(model, ids, targets))

    def reference(before: nn.Module, draw: Questions, steps: int, n: int, lr: float) -> Tensor:
        model, draw = deepcopy(before), deepcopy(draw)
        ids, targets = draw()

        def at_once() -> tuple[Tensor, Tensor]:
            some_ids, some_targets = zip(*(draw() for _ in range(n)), strict=True)
            return torch.cat(some_ids), torch.cat(some_targets)

        losses = parts.learn(model, at_once, steps, lr)
        return losses_and_after(losses, model, before, lambda: _loss(model, ids, targets))

    small, large = (_tagger(3), Questions(3, 1, 4)), (_tagger(5), Questions(5, 2, 7))
    cases = [
        Case("one step of one part, and the loss after it", (*small, 1, 1, 0.1)),
        Case("one step of three parts that hardly moves anything", (*small, 1, 3, 1e-12)),
        Case("one step of three parts, and the loss after it", (*small, 1, 3, 0.1)),
        Case("two steps of two parts", (*small, 2, 2, 0.1)),
        Case("six steps of three parts", (*large, 6, 3, 0.05)),
    ]
    mine = update_wrapper(partial(tried, attempt), attempt, (), ()) if callable(attempt) else attempt
    return examine("learn_in_parts", mine, reference, cases)


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


def _loss(model: nn.Module, ids: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(model(ids).flatten(0, 1), targets.flatten())


def _tagger(n_ids: int) -> nn.Sequential:
    """An embedding and a linear layer, the same whenever it is made. (B, T) -> scores (B, T, C)"""
    with seeded(0):
        return nn.Sequential(nn.Embedding(n_ids, 3), nn.Linear(3, n_ids)).double()


def _two_tensors(value: object, function: Callable, what: str, names: str) -> tuple[Tensor, Tensor]:
    """What a learner's function gave, if that is two tensors. Raises: Told for anything else; as `written`."""
    pair = written(value, function)
    if not isinstance(pair, tuple | list) or len(pair) != 2 or not all(isinstance(x, Tensor) for x in pair):
        raise Told(f"expected two tensors, {what}: `return {names}`")
    return pair[0], pair[1]


def check_forbid(attempt: Callable) -> Verdict:
    """forbid(ids, token): the mask that forbids all looks at a token of ids (B, T), and a control. (B, 1, 1, T) each.

    True where one may look. The control forbids looks at about as many other tokens, no gaps among them, drawn at
    random anew with each call: the numbers are alike over all rows, or in each.
    """

    def masks(forbid: Callable, ids: Tensor, token: int) -> list[Tensor]:
        mine, (rows, length) = ids.clone(), ids.shape
        pair = _two_tensors(forbid(mine, token), forbid, "the mask and its control", "mask, control")
        if not torch.equal(mine, ids):
            raise Told(CHANGED)
        for name, mask in zip(("mask", "control"), pair, strict=True):
            if mask.dtype != torch.bool:
                raise Told(f"expected a {name} of booleans, True where one may look, got {mask.dtype}")
            if mask.shape != (rows, 1, 1, length):
                raise Told(f"expected a {name} of shape {(rows, 1, 1, length)}, got {tuple(mask.shape)}")
        return [mask[:, 0, 0] for mask in pair]  # (B, T)

    def look(forbid: Callable, ids: Tensor, token: int = 0) -> str:
        (mask, control), group = masks(forbid, ids, token), ids == token
        given = f"with ids {show(ids)}, token {token}: the"
        if not torch.equal(mask, ~group):
            pass_by, others = (mask & group).sum(), (~mask & ~group).sum()
            return f"{given} mask lets looks at {pass_by} tokens {token} pass, and forbids {others} others"
        if not (control | ~group).all():
            return f"{given} control forbids looks at {token}, too"
        if not control[ids == GAP].all():
            return f"{given} control forbids looks at gaps, {GAP}, too"
        if not group.any() and not control.all():
            return f"{given} mask forbids nothing, and the control {(~control).sum()} places"
        return ""

    def drawn(forbid: Callable, ids: Tensor, token: int = 0, times: int = 100) -> Tensor:
        return torch.stack([~masks(forbid, ids, token)[1] for _ in range(times)]).double().mean(dim=0)  # (B, T)

    def number(forbid: Callable, ids: Tensor, token: int = 0) -> str:
        wanted, got = (ids == token).sum().item(), drawn(forbid, ids, token).sum().item()
        if abs(got - wanted) < 0.1 * wanted:
            return ""
        return f"with ids {tuple(ids.shape)}: the mask forbids {wanted} places, the control about {got:.0f}"

    def evenly(forbid: Callable, ids: Tensor, token: int = 0) -> str:
        often = drawn(forbid, ids, token)[(ids != token) & (ids != GAP)]
        if often.min() > 0.25 and often.max() < 0.75:
            return ""
        return (
            f"with ids {show(ids)}, token {token}: in 100 calls it forbids the other places {show(100 * often)} times"
        )

    many = torch.randint(4, (5, 40), generator=torch.Generator().manual_seed(0)).index_fill(1, torch.arange(8), GAP)
    several = torch.tensor([[3, 0, 0, 8, GAP, 5], [7, 9, 0, 2, GAP, 4]])
    probes = [
        Probe("one row, one look to forbid", lambda forbid: look(forbid, torch.tensor([[5, 0, 7]]))),
        Probe("nothing to forbid", lambda forbid: look(forbid, torch.tensor([[5, 1, 7]]))),
        Probe("two rows", lambda forbid: look(forbid, several)),
        Probe("another token", lambda forbid: look(forbid, several, 9)),
        Probe("five rows of forty tokens", lambda forbid: look(forbid, many)),
        Probe("as many", lambda forbid: number(forbid, many)),
        Probe("drawn at random", lambda forbid: evenly(forbid, torch.tensor([[0, 1, 2, GAP, 3, 4, 0]]))),
    ]
    return diagnose("forbid", attempt, probes)
