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
    written,
)
from encoder_lib.course.lab.letters import GAP
from encoder_lib.model.encoder import TransformerEncoder
from encoder_lib.seeded import seeded
from encoder_lib.training.tasks import IGNORE_INDEX, Sample


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


def check_forward_with(attempt: Callable) -> Verdict:
    """forward_with(encoder, ids, masks): what the encoder gives when each layer has a mask of its own -> (B, T, D)."""

    def reference(encoder: TransformerEncoder, ids: Tensor, masks: list[Tensor]) -> Tensor:
        x = encoder.embedding(ids)  # (B, T, D)
        for layer, mask in zip(encoder.encoder.layers, masks, strict=True):
            x = layer(x, mask)
        return encoder.encoder.norm(x)

    def case(label: str, masks: list[Tensor], norm_first: bool = True) -> Case:
        with seeded(0):
            encoder = TransformerEncoder(5, len(masks), 4, 2, 6, norm_first=norm_first, positional="rotary").double()
        return Case(label, (encoder, torch.tensor([[3, 1, 4, 1], [2, 0, 2, 4]]), masks))

    anywhere = torch.ones(4, 4, dtype=torch.bool)
    before, itself = anywhere.tril(), torch.eye(4, dtype=torch.bool)
    cases = [
        case("one layer", [before]),
        case("a mask in the first layer alone", [itself, anywhere]),
        case("a mask in the second layer alone", [anywhere, before]),
        case("three layers", [before, before.T, itself]),
        case("norms that come last", [before, itself], norm_first=False),
    ]
    return examine("forward_with", attempt, reference, cases)


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


def check_hide_for_bert(attempt: Callable) -> Verdict:
    """hide_for_bert(ids, share): what BERT's training shows a model and what it asks, as a Sample. ids (B, T): letters.

    A share of the tokens has its own id as target, all others −100. Of ten such tokens eight become a gap and one an
    id drawn at random; one stays. Source: Devlin et al. 2018 (arXiv 1810.04805), section 3.1.
    """

    def hidden(hide: Callable, ids: Tensor, share: float) -> tuple[Tensor, Tensor]:
        mine = ids.clone()
        sample = written(hide(mine, share), hide)
        if not torch.equal(mine, ids):
            raise Told(CHANGED)
        if not isinstance(sample, Sample) or not all(getattr(x, "shape", 0) == ids.shape for x in sample[:2]):
            raise Told(f"expected a Sample with ids and targets of shape {tuple(ids.shape)}, as `hide` gives it")
        return sample.ids, sample.targets

    def asks(hide: Callable, ids: Tensor, share: float) -> str:
        given, targets = hidden(hide, ids, share)
        asked = targets != IGNORE_INDEX
        if abs(asked.double().mean() - share) > 0.03:
            return f"with share {share}: {asked.sum()} of {ids.numel()} tokens have a target"
        if not torch.equal(targets[asked], ids[asked]):
            return "a target is another id than that which stood there"
        return "" if torch.equal(given[~asked], ids[~asked]) else "a token without a target has changed"

    def becomes(hide: Callable) -> str:
        given, _ = hidden(hide, ids := torch.full((20, 400), 3), 1.0)
        gaps, same = (given == GAP).sum(dim=1), (given == ids).sum().item()  # (B,): in each row
        if gaps.max() - gaps.min() > 100:
            return f"with share 1.0, of 400 tokens {gaps.max()} become gaps in one row, and {gaps.min()} in another"
        if abs(gaps.sum() - 6400) < 160 and abs(same - 830) < 160:
            return ""
        return f"of 8000 tokens with a target {gaps.sum()} become gaps, and {same} are what they were"

    def drawn(hide: Callable) -> str:
        given, _ = hidden(hide, torch.full((20, 400), GAP - 1), 1.0)
        often = given[given < GAP - 1].bincount(minlength=GAP - 1)
        rare = often.argmin()
        return "" if often[rare] > 8 else f"of {often.sum()} ids drawn at random, {often[rare]} are {rare}"

    many = torch.randint(GAP, (20, 400), generator=torch.Generator().manual_seed(0))
    probes = [
        Probe("no token with a target", lambda hide: asks(hide, many[:1, :3], 0.0)),
        Probe("all with a target", lambda hide: asks(hide, many[:2, :3], 1.0)),
        Probe("15 % with a target", lambda hide: asks(hide, many, 0.15)),
        Probe("eight in ten, one in ten, one in ten", becomes),
        Probe("drawn at random", drawn),
    ]
    return diagnose("hide_for_bert", attempt, probes)
