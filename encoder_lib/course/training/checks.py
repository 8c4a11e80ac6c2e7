"""Checks of the exercises of 08_training."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import partial, update_wrapper

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from encoder_lib.course.kit.checking import parts
from encoder_lib.course.kit.checking.inputs import call
from encoder_lib.course.kit.checking.modules import losses_and_after
from encoder_lib.course.kit.checking.results import describe_type
from encoder_lib.course.kit.checking.trained import examine_trained
from encoder_lib.course.kit.checking.verdict import (
    Case,
    Feedback,
    Probe,
    Verdict,
    diagnose,
    examine,
    numbers,
    require_written,
)
from encoder_lib.course.training.letters import GAP
from encoder_lib.model.encoder import TransformerEncoder
from encoder_lib.seeded import seeded
from encoder_lib.training.tasks import IGNORE_INDEX, Sample


def check_learn(attempt: Callable) -> Verdict:
    """learn(model, draw, steps, lr): train with Adam on a new batch in every step, and return the loss of each step.

    draw() -> ids and targets (B, T), −100 where there is no target; model(ids) -> scores (B, T, C).
    """

    def tried(learn: Callable, before: nn.Module, draw: Questions, steps: int, lr: float) -> Tensor:
        model, draw = deepcopy(before), deepcopy(draw)
        ids, targets = draw()
        losses = learn(model, draw, steps, lr)
        return losses_and_after(losses, model, before, lambda: _loss(model, ids, targets), steps)

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
    """forward_with(encoder, ids, masks): the output of the encoder when each layer has its own mask -> (B, T, D).

    The encoder is pre-norm, as in the notebook, so an answer may be written for that order alone.
    """

    def reference(encoder: TransformerEncoder, ids: Tensor, masks: list[Tensor]) -> Tensor:
        x = encoder.embedding(ids)  # (B, T, D)
        for layer, mask in zip(encoder.encoder.layers, masks, strict=True):
            x = layer(x, mask)
        return encoder.encoder.norm(x)

    def case(label: str, masks: list[Tensor], positional: str = "rotary") -> Case:
        with seeded(0):
            encoder = TransformerEncoder(5, len(masks), 4, 2, 6, norm_first=True, positional=positional).double()
        for seed, parameter in enumerate(encoder.parameters()):  # so that no gain is 1 and no bias is 0
            parameter.data += 0.3 * numbers(*parameter.shape, seed=seed)
        return Case(label, (encoder, torch.tensor([[3, 1, 4, 1], [2, 0, 2, 4]]), masks))

    anywhere, itself = torch.ones(4, 4, dtype=torch.bool), torch.eye(4, dtype=torch.bool)
    before, others = anywhere.tril(), ~itself
    cases = [
        case("one layer", [before]),
        case("positions in the embedding", [before], positional="learned"),
        case("a mask in the first layer alone", [others, anywhere]),
        case("a mask in the second layer alone", [anywhere, before]),
        case("three layers", [before, before.T, itself]),
    ]
    return examine_trained("forward_with", attempt, reference, cases)


@dataclass
class Questions:
    """Draws random ids; the target of a token is the next higher id, and every third token has no target."""

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
    """An embedding and a linear layer, with the same parameters at every call. (B, T) -> scores (B, T, C)"""
    with seeded(0):
        return nn.Sequential(nn.Embedding(n_ids, 3), nn.Linear(3, n_ids)).double()


def check_hide_for_bert(attempt: Callable) -> Verdict:
    """hide_for_bert(ids, share): letters masked in BERT's way, as a Sample. ids (B, T): letters.

    That share of the tokens has its own id as target, all others −100. Of ten tokens with a target, eight become a gap,
    one becomes an id drawn at random, and one stays. Source: Devlin et al. 2018 (arXiv 1810.04805), section 3.1.

    The bounds on random counts are so wide that a right answer crosses one less than once in a million times.
    """
    probes = [
        Probe("no token with a target", lambda hide: _asks(hide, MANY[:1, :3], 0.0)),
        Probe("all with a target", lambda hide: _asks(hide, MANY[:2, :3], 1.0)),
        Probe("15 % with a target", lambda hide: _asks(hide, MANY, 0.15)),
        Probe("half with a target, each token by itself", _asks_each),
        Probe("eight in ten, one in ten, one in ten", _splits),
        Probe("the same where half have a target", _splits_half),
        Probe("a separate draw for each token", _draws_for_each),
        Probe("drawn at random", _draws_letters),
    ]
    return diagnose("hide_for_bert", attempt, probes)


MANY = torch.randint(GAP, (80, 100), generator=torch.Generator().manual_seed(1810))  # letters (B, T)
LAST = GAP - 1  # the largest id of a letter


def _hidden(hide: Callable, ids: Tensor, share: float) -> tuple[Tensor, Tensor]:
    """The ids and targets of the Sample that `hide` returns, (B, T) each. Raises: Feedback for anything else."""
    sample = require_written(call(hide, ids, share), hide)
    if not isinstance(sample, Sample):
        raise Feedback(f"expected a Sample, as `hide` returns it, got {describe_type(sample)}")
    for name, x in (("ids", sample.ids), ("targets", sample.targets)):
        if not isinstance(x, Tensor):
            raise Feedback(f"expected a tensor as the Sample's {name}, got {describe_type(x)}")
        if x.shape != ids.shape:
            raise Feedback(f"expected {name} of shape {tuple(ids.shape)} in the Sample, got {tuple(x.shape)}")
        if x.is_floating_point() or x.dtype == torch.bool:
            raise Feedback(f"expected whole numbers as the Sample's {name}, got {x.dtype}")
    if (strange := (sample.ids < 0) | (sample.ids > GAP)).any():
        raise Feedback(f"{sample.ids[strange][0]} among the ids is neither a letter nor a gap")
    return sample.ids, sample.targets


def _asks(hide: Callable, ids: Tensor, share: float) -> str:
    """Whether that share of the tokens has its own id as target, and all others are unchanged."""
    given, targets = _hidden(hide, ids, share)
    asked = targets != IGNORE_INDEX
    if abs(asked.double().mean() - share) > 0.03:
        return f"with share {share}: {asked.sum()} of {ids.numel()} tokens have a target"
    if not torch.equal(targets[asked], ids[asked]):
        return "the target of a token is not its own id"
    return "" if torch.equal(given[~asked], ids[~asked]) else "a token without a target has changed"


def _asks_each(hide: Callable) -> str:
    """Whether half of the tokens have a target, each chosen separately and whatever its letter is."""
    if problem := _asks(hide, MANY, 0.5):
        return problem
    first, second = (_hidden(hide, MANY, 0.5)[1] != IGNORE_INDEX for _ in range(2))
    for letter in range(GAP):
        asked = first[letter == MANY]
        if abs(asked.double().mean() - 0.5) > 0.2:
            return f"with share 0.5: {asked.sum()} of {len(asked)} tokens with id {letter} have a target"
    return _not_separately("have a target", first, second, 0.5)


def _not_separately(do: str, first: Tensor, second: Tensor, p: float) -> str:
    """What shows that tokens are not chosen separately. first, second: those of two calls, with probability p."""
    if torch.equal(first, second):
        return f"in two calls, exactly the same tokens {do}"
    for lines, line in ((first, "row"), (first.T, "column")):
        if len(lines.unique(dim=0)) < len(lines):
            return f"in two {line}s, the tokens that {do} are at the same positions"
        counts, n = lines.sum(dim=1), lines.shape[1]
        if counts.double().var() > 2.5 * n * p * (1 - p):
            return f"in one {line} {counts.max()} of {n} tokens {do}, and in another {counts.min()}"
    return ""


def _splits(hide: Callable) -> str:
    """Whether the right number of tokens become gaps and stay, in two calls on a single repeated letter."""
    n, gaps, same = 2 * MANY.numel(), 0, 0
    for letter in (0, LAST):
        given, _ = _hidden(hide, ids := torch.full_like(MANY, letter), 1.0)
        gaps, same = gaps + int((given == GAP).sum()), same + int((given == ids).sum())
    if abs(gaps - 0.8 * n) < 300 and abs(same - (0.1 + 0.1 / GAP) * n) < 230:
        return ""
    return f"of {n} tokens with a target {gaps} become gaps, and {same} are unchanged"


def _splits_half(hide: Callable) -> str:
    given, targets = _hidden(hide, MANY, 0.5)
    asked = targets != IGNORE_INDEX
    n, gaps, same = int(asked.sum()), int((given == GAP).sum()), int((given == MANY)[asked].sum())
    if abs(gaps - 0.8 * n) < 150 and abs(same - (0.1 + 0.1 / GAP) * n) < 120:
        return ""
    return f"with share 0.5, of {n} tokens with a target {gaps} become gaps, and {same} are unchanged"


def _draws_for_each(hide: Callable) -> str:
    first, second = (_hidden(hide, MANY, 1.0)[0] == GAP for _ in range(2))
    return _not_separately("become gaps", first, second, 0.8)


def _draws_letters(hide: Callable) -> str:
    """Whether the ids drawn at random are all letters, equally often, and drawn for each token separately."""
    calls = [_hidden(hide, torch.full_like(MANY, letter), 1.0)[0] for letter in (0, LAST)]
    first, second = (x.masked_fill(x == letter, GAP) for x, letter in zip(calls, (0, LAST), strict=True))  # else a gap
    often = torch.cat([first, second]).flatten().bincount(minlength=GAP + 1)[:GAP]
    expected = often.sum() / LAST * torch.ones(GAP).index_fill(0, torch.tensor([0, LAST]), 0.5)  # seen in one call
    off = (often - expected).square() / expected
    rare = often < expected / 10
    if rare.any() or off.sum() > 95:  # chi squared; 26 on average
        worst = int((rare if rare.any() else off).int().argmax())
        return f"of {often.sum()} ids drawn at random {often[worst]} are {worst}, expected about {expected[worst]:.0f}"
    drawn = first != GAP
    if (first == second)[drawn & (second != GAP)].double().mean() > 0.5:
        return "in two calls, the same ids are drawn"
    for dim, line in enumerate(("column", "row")):
        counts = F.one_hot(first, GAP + 1)[..., :GAP].sum(dim=dim)  # how often each letter is drawn in a line
        pairs, alike = ((n * (n - 1)).sum() for n in (drawn.sum(dim=dim), counts))
        if alike > 0.2 * pairs:
            return f"the ids drawn in one {line} are mostly the same"
    return ""
