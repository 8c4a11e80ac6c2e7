"""Checks of the parts that a reader builds in 12_build_your_own.

The norm and the network are exercises of 03 and 05, too; the training loop of 12 is checked as in 08.
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from encoder_lib.course.kit.checking import parts
from encoder_lib.course.kit.checking.fake_device import device_mismatch
from encoder_lib.course.kit.checking.gradients import wrong_gradients
from encoder_lib.course.kit.checking.modules import build, run_on_copies
from encoder_lib.course.kit.checking.trained import examine_trained
from encoder_lib.course.kit.checking.verdict import (
    Case,
    Feedback,
    Probe,
    Verdict,
    diagnose,
    difference,
    numbers,
    require_written,
    show,
)
from encoder_lib.model.masks import lengths_mask
from encoder_lib.seeded import seeded


class Known(nn.Module):
    """A part whose formula is known, and a parameter of 1 before it, so that one sees whether training reaches it."""

    def __init__(self, formula: str, function: Callable[..., Tensor], *, takes_mask: bool = False):
        super().__init__()
        self.formula, self.function, self.takes_mask = formula, function, takes_mask
        self.one = nn.Parameter(torch.ones(()))

    def forward(self, x: Tensor, *rest: Any, **named: Any) -> Tensor:
        if len(rest) + len(named) > self.takes_mask or named.keys() - {"mask"}:
            takes = "x and mask" if self.takes_mask else "x alone"
            got = ", ".join(["x", *len(rest) * "…", *named])
            raise Feedback(f"{self.formula.split('(')[0]} takes {takes}, got {got}")
        return self.one * self.function(x, *rest, **named)


@dataclass(frozen=True)
class Trial:
    """One input to try a part on: what it tests, what the part is made with (sizes, or other parts), the inputs."""

    label: str
    sizes: tuple
    inputs: tuple
    hint: str = ""  # its hint's name if that is not the label
    plain: bool = False  # simple numbers in the parameters, so that the result can be followed by hand

    def given(self) -> str:
        """What it is, in words."""
        x = self.inputs[0]
        if formulas := [part.formula for part in tree_leaves(self.sizes) if isinstance(part, Known)]:
            return f"{show(x)}{' and a mask' * (len(self.inputs) > 1)}, {', '.join(formulas)}"
        plain = f" holding {x.tolist()}, and plain parameters" if self.plain else ""
        return f"sizes {self.sizes}, an input of shape {tuple(x.shape)}{plain}"


@dataclass(frozen=True)
class Kind:
    """A kind of part: its name, the library's class for it, and the trials, smallest first."""

    name: str
    build: Callable[..., nn.Module]
    trials: tuple[Trial, ...]
    holds_parts: bool = False

    def reference(self, trial: Trial) -> nn.Module:
        """The library's part with parameters that are always the same."""
        part = self.build(*deepcopy(trial.sizes)).double()
        for seed, (name, parameter) in enumerate(part.named_parameters()):
            parameter.data.copy_(_plain(name, parameter) if trial.plain else _random(parameter, seed))
        return part


def _plain(name: str, parameter: Tensor) -> Tensor:
    """Ones on the diagonal, or counted rows; gains of 1 and biases of 0."""
    if parameter.ndim < 2:
        return torch.zeros_like(parameter) if name.endswith("bias") else torch.ones_like(parameter)
    rows, columns = parameter.shape
    return torch.eye(rows) if rows == columns else torch.arange(1.0, rows + 1)[:, None].expand(rows, columns)


def _random(parameter: Tensor, seed: int) -> Tensor:
    return 0.7 * numbers(*parameter.shape, seed=seed) + (parameter.ndim == 1)


def parameter_names(part: nn.Module, theirs: nn.Module, *, exact: bool = False) -> dict[str, str]:
    """What each parameter of the library's part is called in the reader's part.

    It has the same name or, unless `exact`, is the only one left of its shape. In a linear layer, and among several of
    one shape, only names that end alike count, as `rms.weight` and `weight`: 03 and 05 leave the names to the reader.

    Raises: Feedback for a parameter that is missing, and for one that the library's part lacks.
    """
    mine = {name: tuple(parameter.shape) for name, parameter in part.named_parameters()}
    found: dict[str, str] = {}
    for name, parameter in sorted(theirs.named_parameters(), key=lambda named: named[0] not in mine):
        alike = [own for own, shape in mine.items() if shape == parameter.shape and own not in found.values()]
        ending = [own for own in alike if own.split(".")[-1] == name.split(".")[-1]]
        fitting = [name] if name in mine or exact else ending if ending or "." in name else alike
        if exact and name not in mine:
            given = name.split(".")[0]
            raise Feedback(
                f"expected the given {given} as a module in self.{given}; its parameters are not found there"
            )
        if len(fitting) != 1 or fitting[0] not in alike:
            got = ", ".join(f"{own} {shape}" for own, shape in mine.items()) or "none"
            raise Feedback(f"expected a parameter named {name} of shape {tuple(parameter.shape)}, got {got}")
        found[name] = fitting[0]
    if extra := [own for own in mine if own not in found.values()]:
        raise Feedback(f"expected no parameters but {', '.join(found)}, got {extra[0]}")
    if frozen := [own for own, parameter in part.named_parameters() if not parameter.requires_grad]:
        raise Feedback(f"{frozen[0]} has requires_grad=False, so training would leave it as it is")
    return found


def _made(attempt: Callable, trial: Trial) -> nn.Module:
    """What a reader's class makes of sizes or parts. Raises: Feedback if it changes a list of parts."""
    given = deepcopy(trial.sizes)
    before = tree_leaves(given)
    part = build(attempt, *given, name="…")
    if tree_leaves(given) != before:
        raise Feedback("the class changed the list of blocks that it was given; make a new one instead")
    return part


def _filled(kind: Kind, trial: Trial, attempt: Callable) -> tuple[nn.Module, nn.Module, dict[str, str]]:
    """The reader's part and the library's, filled with the same numbers, and the names that `parameter_names` finds."""
    part, theirs = _made(attempt, trial), kind.reference(trial)
    try:
        y = run_on_copies(part, *trial.inputs)
    except Exception:
        pass  # its parameters may be why; if not, it comes again
    else:
        require_written(y, type(part).forward)
    names = parameter_names(part, theirs, exact=kind.holds_parts)
    part.load_state_dict({names[name]: p for name, p in theirs.named_parameters()}, strict=False)
    return part, theirs, names


@seeded(0)
def names_in(kind: Kind, attempt: Callable) -> dict[str, str]:
    """What each parameter of the library's part is called in the reader's. Raises: whatever stops the part."""
    trial = kind.trials[-1]
    part, _, names = _filled(kind, trial, attempt)
    run_on_copies(part, *trial.inputs)
    return names


def _has_parameters(kind: Kind, attempt: Callable) -> str:
    """Whether the part has the parameters of the library's, and no others. Raises: Feedback if not."""
    _filled(kind, kind.trials[0], attempt)
    return ""


def _tried(kind: Kind, trial: Trial, attempt: Callable) -> str:
    """How the part's output differs from the library's on this trial, in words; empty if it doesn't."""
    part, theirs, _ = _filled(kind, trial, attempt)
    return difference(trial.given(), theirs(*trial.inputs).detach(), run_on_copies(part, *trial.inputs))


def _as_made(kind: Kind, attempt: Callable) -> str:
    """Whether a part begins as the library's does, where it says with which numbers: before any training."""
    trial = kind.trials[0]
    expected = build(kind.build, *trial.sizes)(*trial.inputs).detach()
    got = run_on_copies(_made(attempt, trial), *trial.inputs)
    return difference("the numbers that a new part begins with", expected, got)


def _same_in_training(attempt: Callable, trial: Trial) -> str:
    """Whether a part gives the same numbers in every call; where it gives none, the trials tell of that."""
    part = _made(attempt, trial)
    try:
        before = run_on_copies(part.eval(), *trial.inputs)
        after = [run_on_copies(part.train(mode), *trial.inputs) for mode in 6 * [True] + [False]]
        same = all(isinstance(y, Tensor) and isinstance(before, Tensor) and torch.equal(before, y) for y in after)
    except Exception:
        return ""
    return "" if same else "expected the same numbers in training, in a second call, and with eval(), got others"


def _gradients(kind: Kind, attempt: Callable) -> str:
    """Whether the part's parameters and its input get the gradients that they get in the library's part."""
    trial = kind.trials[-1]
    part, theirs, names = _filled(kind, trial, attempt)
    results, tensors = [], []
    for each, named in ((part, names), (theirs, {name: name for name in names})):
        x = trial.inputs[0].clone().requires_grad_(trial.inputs[0].is_floating_point())
        results.append(each(x, *trial.inputs[1:]))
        parameters = {own.removesuffix(".one"): each.get_parameter(named[name]) for name, own in names.items()}
        tensors.append({"x": x} | parameters if x.requires_grad else parameters)
    return wrong_gradients(results[0], tensors[0], results[1], tensors[1])


def _check(kind: Kind, attempt: Callable) -> Verdict:
    """Look at a part's parameters, training against evaluation, every trial, then gradients and another device."""
    last = kind.trials[-1]
    probes = [
        Probe("all its parameters" if kind.holds_parts else "its parameters", partial(_has_parameters, kind)),
        Probe("the same in training", partial(_same_in_training, trial=kind.trials[0])),
        *(Probe(trial.label, partial(_tried, kind, trial), trial.hint) for trial in kind.trials),
        Probe("gradients of all parameters", partial(_gradients, kind)),
        Probe("on another device", lambda thing: device_mismatch(_made(thing, last), *last.inputs)),
        *([Probe("what it begins with", partial(_as_made, kind))] if kind is NORM else []),
    ]
    name = attempt.__name__ if isinstance(attempt, type) else kind.name  # 05 has the reader's `Network`
    return replace(diagnose(kind.name, attempt, probes), exercise=name)


def _ids(*rows: list[int]) -> tuple[Tensor]:
    return (torch.tensor(rows),)


def _x(*rows: list[float]) -> Tensor:
    """One sequence of these tokens. (1, T, D)"""
    return torch.tensor([rows], dtype=torch.float64)


EMBEDDING = Kind(
    "Embedding",
    parts.Embedding,
    (
        Trial("one token", (3, 2), _ids([1]), plain=True),
        Trial("two tokens, out of order", (3, 2), _ids([2, 0]), plain=True),
        Trial("a batch of sequences", (5, 3), _ids([4, 1, 3], [2, 2, 1])),  # row 0 may be padding, which learns nothing
    ),
)


def check_own_embedding(attempt: Callable) -> Verdict:
    """Embedding(vocab_size, d_model), called with ids (B, T): a row of a table for each -> (B, T, D)."""
    return _check(EMBEDDING, attempt)


POSITIONS = Kind(
    "Positions",
    parts.Positions,
    (
        Trial("one token", (1, 2), (_x([5.0, 7.0]),), plain=True),
        Trial("three tokens, all places taken", (3, 2), (_x(*3 * [[0.0, 0.0]]),), plain=True),
        Trial("fewer tokens than places", (5, 2), (numbers(1, 3, 2),)),
        Trial("as many sequences as tokens", (6, 2), (numbers(3, 3, 2),)),
    ),
)


def check_own_positions(attempt: Callable) -> Verdict:
    """Positions(max_len, d_model), called with x (B, T, D): x plus the first T rows of a table -> (B, T, D)."""
    return _check(POSITIONS, attempt)


NORM = Kind(
    "Norm",
    parts.Norm,
    (
        Trial("one token", (4, 1e-5), (_x([2.0, 4.0, 4.0, 6.0]),), plain=True),
        Trial("a gain and a bias", (4, 1e-5), (numbers(1, 1, 4),)),
        Trial("a token whose numbers are all equal", (3, 1e-5), (_x([3.0, 3.0, 3.0]),)),
        Trial("tokens of different size", (3, 1e-5), (numbers(1, 3, 3) * torch.tensor([[1.0], [10.0], [100.0]]),)),
        Trial("a sequence without a batch", (4, 1e-5), (numbers(3, 4),)),
        Trial("a large eps", (4, 2.0), (numbers(1, 1, 4),)),
        Trial("a batch of sequences", (5, 1e-3), (numbers(2, 4, 5) + 3,)),
    ),
)


def check_own_norm(attempt: Callable) -> Verdict:
    """Norm(d_model, eps), called with x (…, D): each token at mean 0 and variance 1, times gain, plus bias."""
    return _check(NORM, attempt)


SHORT, SECOND = lengths_mask(torch.tensor([3, 2])), lengths_mask(torch.tensor([4, 1, 3]))  # (B, 1, 1, T) each
ATTENTION = Kind(
    "Attention",
    parts.Attention,
    (
        Trial("two tokens, one head", (2, 1), (_x([1.0, 0.0], [1.0, 2.0]), None), plain=True),
        Trial("one head", (3, 1), (numbers(1, 4, 3), None)),
        Trial("two heads", (4, 2), (numbers(1, 3, 4), None)),
        Trial("a batch of two", (6, 2), (numbers(2, 4, 6), None)),
        Trial("padding in the second sequence", (4, 2), (numbers(2, 3, 4), SHORT)),
        Trial("padding, and scores of −600", (4, 2), (20 * numbers(2, 3, 4, seed=20), SHORT)),
        Trial("padding in a batch of three", (6, 3), (numbers(3, 4, 6), SECOND), hint="padding in the second sequence"),
    ),
)


def check_own_attention(attempt: Callable) -> Verdict:
    """Attention(d_model, n_heads), called with x (B, T, D) and mask (B, 1, 1, T): H attentions -> (B, T, D)."""
    return _check(ATTENTION, attempt)


FEED_FORWARD = Kind(
    "FeedForward",
    parts.FeedForward,
    (
        Trial("one token of one number", (1, 2), (_x([1.0]),), plain=True),
        Trial("three tokens", (2, 6), (numbers(1, 3, 2),)),
        Trial("a batch of sequences", (3, 7), (numbers(2, 4, 3),)),
    ),
)


def check_own_feed_forward(attempt: Callable) -> Verdict:
    """FeedForward(d_model, d_ff), called with x (…, D): up to F numbers, GELU, and back down -> (…, D)."""
    return _check(FEED_FORWARD, attempt)


def _mean_of(x: Tensor, mask: Tensor | None = None) -> Tensor:
    """The mean of the tokens that may be looked at, at every token. (B, T, D) -> (B, T, D)"""
    real = torch.ones_like(x[..., :1]) if mask is None else mask[:, 0, 0, :, None].double()  # (B, T, 1)
    return ((x * real).sum(dim=1, keepdim=True) / real.sum(dim=1, keepdim=True)).expand_as(x)


def _parts_of_block(attention: str, function: Callable[..., Tensor]) -> tuple[Known, ...]:
    return (
        Known(f"attention(x) = {attention}", function, takes_mask=True),
        Known("feed_forward(x) = x²", lambda x: x**2),
        Known("norm1(x) = x / 2", lambda x: x / 2),
        Known("norm2(x) = x − 1", lambda x: x - 1),
    )


TIMES_10 = _parts_of_block("10 · x", lambda x, mask=None: 10 * x)
MEAN = _parts_of_block("the mean of the tokens", _mean_of)
BLOCK = Kind(
    "Block",
    parts.Block,
    (
        Trial("one token, to follow by hand", TIMES_10, (_x([1.0]),), plain=True),
        Trial("a mask", MEAN, (_x([1.0], [3.0]), torch.tensor([[[[True, False]]]])), plain=True),
        Trial("a batch of two", MEAN, (numbers(2, 3, 4), SHORT), hint="a mask", plain=True),
    ),
    holds_parts=True,
)


def check_own_block(attempt: Callable) -> Verdict:
    """Block(attention, feed_forward, norm1, norm2), called with x (B, T, D) and mask: the parts in post-norm order."""
    return _check(BLOCK, attempt)


STEPS = torch.arange(9.0, dtype=torch.float64)
ENDS = (
    Known("embedding(id) = id + 1", lambda ids: ids[..., None].double() + 1),
    Known("positions(x) = x + its place, 0, 1, …", lambda x: x + STEPS[: x.shape[1], None]),
    Known("norm(x) = 3 · x", lambda x: 3 * x),
)
BLOCKS = [
    Known("block 1(x) = x + 1", lambda x, mask=None: x + 1, takes_mask=True),
    Known("block 2(x) = x²", lambda x, mask=None: x**2, takes_mask=True),
    Known("block 3(x) = x + the mean of the tokens", lambda x, mask=None: x + _mean_of(x, mask), takes_mask=True),
]
IDS, MASK = torch.tensor([[2, 5, 1]]), torch.tensor([[[[True, True, False]]]])
ENCODER = Kind(
    "Encoder",
    parts.Encoder,
    (
        Trial("one block, to follow by hand", (*ENDS, BLOCKS[:1]), (IDS[:, :1],), plain=True),
        Trial("three tokens", (*ENDS, BLOCKS[:1]), (IDS,), hint="one block, to follow by hand", plain=True),
        Trial("two blocks", (*ENDS, BLOCKS[:2]), (IDS,), plain=True),
        Trial("a mask", (*ENDS, BLOCKS), (IDS, MASK), plain=True),
        Trial("a batch of two", (*ENDS, BLOCKS), (torch.tensor([[2, 5, 1], [0, 3, 0]]), SHORT), plain=True),
    ),
    holds_parts=True,
)


def check_own_encoder(attempt: Callable) -> Verdict:
    """Encoder(embedding, positions, norm, blocks), called with ids (B, T) and a mask: one vector a token (B, T, D)."""
    return _check(ENCODER, attempt)


class Reader(nn.Module):
    """An encoder to read ids with: (B, T) -> rows of a table (B, T, 2), with `looking` plus their mean."""

    def __init__(self, *, looking: bool):
        super().__init__()
        rows = torch.tensor([[1.0, 1.0], [3.0, 4.0], [1.0, 0.0], [0.0, 3.0]]).double()
        self.table, self.looking = nn.Parameter(torch.cat([rows, numbers(5, 2)])), looking

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        x = self.table[ids]  # (B, T, 2)
        return x + _mean_of(x, mask) if self.looking else x


def check_vectors_of(attempt: Callable) -> Verdict:
    """vectors_of(encoder, rows): the encoder's mean over each row's real tokens at length 1, rows (T,) -> (B, D)."""

    def case(label: str, rows: list[list[int]], *, looking: bool = False, hint: str = "") -> Case:
        return Case(label, (Reader(looking=looking), [torch.tensor(row) for row in rows]), hint)

    cases = [
        case("one token", [[1]]),
        case("two tokens", [[1, 2]]),
        case("sentences of two lengths", [[1, 5, 7, 6], [4]]),
        case("tokens that look at each other", [[1, 5, 7, 6], [4]], looking=True),
        case(
            "as many sentences as tokens",
            [[6, 4], [8, 2, 5], [3]],
            looking=True,
            hint="tokens that look at each other",
        ),
        case("a long sentence, with a word that comes twice", [[3, 8], [7, 1, 1, 6, 2, 8, 4]], looking=True),
    ]
    return examine_trained("vectors_of", attempt, parts.vectors_of, cases)
