"""Checks of the parts that a reader builds in 12_build_your_own; its last two are those of 08 and 09."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from encoder_lib.checks import parts
from encoder_lib.checks.verdict import UNWRITTEN, Probe, Verdict, diagnose, difference, numbers
from encoder_lib.model.masks import causal_mask, lengths_mask
from encoder_lib.seeded import seeded


@dataclass(frozen=True)
class Trial:
    """One input to try a part on: what it tests, the sizes that the part is made with, the inputs, and a hint."""

    label: str
    sizes: tuple
    inputs: tuple
    hint: str = ""
    plain: bool = False  # simple numbers in the parameters, so that the result can be followed by hand


@dataclass(frozen=True)
class Kind:
    """A kind of part: its name, the library's class for it, and the trials, of which the last tells all apart."""

    name: str
    build: Callable[..., nn.Module]
    trials: tuple[Trial, ...]
    cut: bool = False  # a linear map that makes several vectors at once counts as several

    def groups(self, part: nn.Module, sizes: tuple) -> list[parts.Group]:
        return parts.groups(part, sizes[0] if self.cut else None)

    def reference(self, trial: Trial) -> tuple[nn.Module, list[list[Tensor]]]:
        """The library's part with parameters that are always the same, and these, group by group."""
        with seeded(0):
            part = self.build(*trial.sizes).double()
        groups = self.groups(part, trial.sizes)
        tensors = [[_drawn(piece, i, trial.plain) for piece in group] for i, group in enumerate(groups)]
        parts.fill(groups, range(len(groups)), tensors)
        return part, tensors


def _drawn(piece: parts.Piece, number: int, plain: bool) -> Tensor:
    """What a parameter is filled with: random numbers, or ones on the diagonal, counted rows, ones and zeros."""
    shape = tuple(piece.values.shape)
    if not plain:
        return 0.7 * numbers(*shape, seed=number + 10 * len(shape)) + (len(shape) == 1)
    if len(shape) == 2:
        return torch.eye(*shape) if shape[0] == shape[1] else torch.arange(1.0, shape[0] + 1)[:, None].expand(shape)
    return torch.zeros(shape) if "bias" in piece.name else torch.ones(shape)


def _made(attempt: Callable, sizes: tuple) -> Any:
    """What the reader's class makes of sizes; the placeholder as it is."""
    with seeded(0):  # whatever it draws is replaced, and the reader's random numbers go on as they were
        part = attempt(*sizes)
    if part is None or part is ...:
        return None
    if not isinstance(part, nn.Module):
        raise TypeError(f"expected a module, got {type(part).__name__}; try class …(nn.Module)")
    return part.double()


def _run(part: nn.Module, inputs: tuple) -> tuple[object, str]:
    """What a part gives for copies of the inputs, and a complaint when it changed them."""
    mine = tuple(x.clone() if isinstance(x, Tensor) else x for x in inputs)
    got = part(*mine)
    changed = any(isinstance(a, Tensor) and not torch.equal(a, b) for a, b in zip(inputs, mine, strict=True))
    return got, "the part changed its own input; make a new tensor instead" if changed else ""


def _fitting(kind: Kind, trial: Trial, attempt: Callable) -> tuple[str, nn.Module | None, tuple[int, ...]]:
    """What is wrong on this trial in words, or "", with the part and the order of parameters that comes nearest."""
    part = _made(attempt, trial.sizes)
    if part is None or (first := _run(part, trial.inputs)[0]) is None or first is ...:
        return UNWRITTEN, None, ()
    theirs, tensors = kind.reference(trial)
    expected = theirs(*trial.inputs).detach()
    given = f"sizes {trial.sizes}, an input of shape {tuple(trial.inputs[0].shape)}"
    if trial.plain:
        given += f" holding {trial.inputs[0].tolist()}, and plain parameters"
    nearest: tuple[float, str, tuple[int, ...]] = (torch.inf, "", ())
    mine = kind.groups(part, trial.sizes)
    for order in parts.orders(mine, kind.groups(theirs, trial.sizes)):
        parts.fill(mine, order, tensors)
        got, complaint = _run(part, trial.inputs)
        problem = difference(given, expected, got) or complaint
        if not problem:
            return "", part, order
        far = torch.inf
        if isinstance(got, Tensor) and got.shape == expected.shape and not got.is_complex():
            far = float((got.detach().double() - expected).abs().max().nan_to_num(torch.inf))
        if not nearest[1] or far < nearest[0]:
            nearest = (far, problem, order)
    return nearest[1], part, nearest[2]


def _tried(kind: Kind, trial: Trial, attempt: Callable) -> str:
    return _fitting(kind, trial, attempt)[0]


def _has_parameters(kind: Kind, attempt: Callable) -> str:
    """Whether the part has as many parameters as the library's, of the same shapes."""
    trial = kind.trials[0]
    part, theirs = _made(attempt, trial.sizes), kind.reference(trial)[0]
    if part is None:
        return UNWRITTEN
    try:
        first, stopped = _run(part, trial.inputs)[0], None
    except Exception as error:
        first, stopped = error, error
    if first is None or first is ...:
        return "forward gives nothing back; is a `return` missing?" if _has_body(part) else UNWRITTEN
    try:
        parts.orders(kind.groups(part, trial.sizes), kind.groups(theirs, trial.sizes))
    except ValueError as error:
        return f"made with sizes {trial.sizes}, {error}"
    if stopped is not None:
        raise stopped
    return ""


def _has_body(part: nn.Module) -> bool:
    """Whether anything is computed in a module's forward: that of a stub names nothing."""
    return bool(getattr(getattr(type(part).forward, "__code__", None), "co_names", ()))


def _as_made(kind: Kind, attempt: Callable) -> str:
    """Whether a part begins as the library's does, where it says with which numbers: before any training."""
    trial = kind.trials[0]
    with seeded(0):
        expected = kind.build(*trial.sizes).double()(*trial.inputs).detach()
    got, _ = _run(_made(attempt, trial.sizes), trial.inputs)
    return difference("the numbers that a new part begins with", expected, got)


def order_of(kind: Kind, attempt: Callable) -> tuple[type, tuple[int, ...]]:
    """A right part's class, and in which order it has its parameters: the library's parameter i is its order[i]."""
    _, part, order = _fitting(kind, kind.trials[-1], attempt)
    return type(part), order


def _same_in_training(attempt: Callable, trial: Trial) -> str:
    """Whether a part gives the same numbers in every call; where it gives none, the trials tell of that."""
    part = _made(attempt, trial.sizes)
    try:
        before, _ = _run(part.eval(), trial.inputs)
        after = [_run(part.train(mode), trial.inputs)[0] for mode in 6 * [True] + [False]]
        same = all(isinstance(y, Tensor) and isinstance(before, Tensor) and torch.equal(before, y) for y in after)
    except Exception:
        return ""
    return "" if same else "expected the same numbers in training, in a second call, and with eval(), got others"


def _gradients(kind: Kind, attempt: Callable) -> str:
    trial = kind.trials[-1]
    problem, part, order = _fitting(kind, trial, attempt)
    if problem or part is None:
        return problem
    theirs, _ = kind.reference(trial)
    for each in (part, theirs):
        each.zero_grad()
        y = each(*trial.inputs)
        if not y.requires_grad:
            return "expected gradients to reach the parameters, got a result that carries none"
        (y * numbers(*y.shape, seed=5)).sum().backward()
    mine, wanted = kind.groups(part, trial.sizes), kind.groups(theirs, trial.sizes)
    for place, group in zip(order, wanted, strict=True):
        for piece, other in zip(mine[place], group, strict=True):
            if piece.gradient is None:
                return f"no gradient reaches {piece.name}"
            if other.gradient is not None and not torch.allclose(piece.gradient, other.gradient, atol=1e-6):
                return f"{piece.name} gets another gradient than it should"
    return ""


OF_GRADIENTS = (
    "The numbers are right, and training would not move them rightly. What cuts a tensor off from the parameters: "
    ".detach(), .data, .item(), torch.no_grad(), a copy made in __init__?"
)
OF_ATTRIBUTES = "What is kept as an attribute of self, a module or a nn.Parameter, is found; a plain tensor is not."
OF_TRAINING = "Nothing here is drawn at random and nothing is averaged over calls: leave dropout and running means out."


def _check(kind: Kind, attempt: Callable, hints: Sequence[str]) -> Verdict:
    """Look at a part's parameters, try it on every trial, then its gradients, and training against evaluation."""
    probes = [
        Probe("its parameters", partial(_has_parameters, kind), f"{hints[0]} {OF_ATTRIBUTES}"),
        Probe("the same in training", partial(_same_in_training, trial=kind.trials[0]), OF_TRAINING),
        *(Probe(trial.label, partial(_tried, kind, trial), trial.hint) for trial in kind.trials),
        Probe("gradients of all parameters", partial(_gradients, kind), OF_GRADIENTS),
        *([Probe("what it begins with", partial(_as_made, kind), hints[0])] if kind is NORM else []),
    ]
    return diagnose(kind.name, attempt, probes, hints)


def _ids(*rows: list[int]) -> tuple[Tensor]:
    return (torch.tensor(rows),)


EMBEDDING = Kind(
    "Embedding",
    parts.Embedding,
    (
        Trial("one token", (3, 2), _ids([1]), plain=True),
        Trial("two tokens, out of order", (3, 2), _ids([2, 0]), "Each token gets the row of its own id.", plain=True),
        Trial("a token that comes twice", (4, 3), _ids([3, 1, 3])),
        Trial("more tokens than the vocabulary has", (2, 3), _ids([0, 1, 1, 0, 1])),
        Trial("a batch of sequences", (5, 3), _ids([4, 1, 0], [2, 2, 3])),
    ),
)


def check_own_embedding(attempt: Callable) -> Verdict:
    """Embedding(vocab_size, d_model), called with ids (B, T): a row of a table for each -> (B, T, D)."""
    hints = (
        "nn.Embedding(vocab_size, d_model) holds such a table; forward calls it with the ids.",
        "One table of vocab_size rows and d_model columns; its rows come out as they are.",
    )
    return _check(EMBEDDING, attempt, hints)


OF_LENGTH = "The table has max_len rows, a sequence has T tokens: only the first T rows are added."
POSITIONS = Kind(
    "Positions",
    parts.Positions,
    (
        Trial("one token", (1, 2), (torch.tensor([[[5.0, 7.0]]], dtype=torch.float64),), plain=True),
        Trial("three tokens, all places taken", (3, 2), (torch.zeros(1, 3, 2, dtype=torch.float64),),
              "Row 0 of the table is added to the first token of a sequence, row 1 to the second.", plain=True),
        Trial("fewer tokens than places", (5, 2), (numbers(1, 3, 2),), OF_LENGTH),
        Trial("a batch of sequences", (4, 3), (numbers(2, 4, 3),), "Every sequence of the batch gets the same rows."),
        Trial("as many sequences as tokens", (6, 2), (numbers(3, 3, 2),), "Places are counted along dimension 1."),
    ),
)  # fmt: skip


def check_own_positions(attempt: Callable) -> Verdict:
    """Positions(max_len, d_model), called with x (B, T, D): x plus the first T rows of a table -> (B, T, D)."""
    hints = (
        "A table of max_len rows is learned like that of the words, with nn.Embedding or nn.Parameter. What comes out "
        "is the sum: the words are still in it.",
        OF_LENGTH,
    )
    return _check(POSITIONS, attempt, hints)


NORM = Kind(
    "Norm",
    parts.Norm,
    (
        Trial("one token", (4, 1e-5), (torch.tensor([[[2.0, 4.0, 4.0, 6.0]]], dtype=torch.float64),),
              "By hand: the mean is 4, the deviations are −2, 0, 0 and 2, and their squares have the mean 2. (torch's "
              "std and var divide by D − 1 unless told otherwise.)", plain=True),
        Trial("a gain and a bias", (4, 1e-5), (numbers(1, 1, 4),),
              "With a gain of 1 and a bias of 0 it is right. The gain multiplies what was normalised, the bias comes "
              "last."),
        Trial("a token whose numbers are all equal", (3, 1e-5), (torch.full((1, 1, 3), 3.0, dtype=torch.float64),),
              "The variance is 0 here. What keeps the division from being one by 0?"),
        Trial("tokens of different size", (3, 1e-5), (numbers(1, 3, 3) * torch.tensor([[1.0], [10.0], [100.0]]),),
              "Each token has its own mean and variance, over the last dimension; keepdim=True keeps them apart."),
        Trial("a large eps", (4, 2.0), (numbers(1, 1, 4),),
              "eps is added to the variance, and the root is taken of both together. __init__ is given it."),
        Trial("a batch of sequences", (5, 1e-3), (numbers(2, 4, 5) + 3,)),
    ),
)  # fmt: skip


def check_own_norm(attempt: Callable) -> Verdict:
    """Norm(d_model, eps), called with x (…, D): each token at mean 0 and variance 1, times gain, plus bias."""
    hints = (
        "Two parameters of d_model numbers each: a gain that begins at 1, nn.Parameter(torch.ones(d_model)), and a "
        "bias that begins at 0.",
        "Subtract the mean first, divide by the root of variance plus eps, then times the gain, then plus the bias.",
    )
    return _check(NORM, attempt, hints)


OF_HEADS = (
    "One head is right. With more, the root is that of K, and each head has K = D / H neighbours of the D numbers, and "
    "a softmax of its own: (B, T, D) becomes (B, T, H, K), then (B, H, T, K); on the way back in the opposite order."
)
OF_MASK = (
    "Without a mask it is right. True means: may be looked at. Where it is False the score is −∞ before the softmax. "
    "The mask is (B, 1, 1, T), made for scores (B, H, T, T)."
)
SHORT, SECOND = lengths_mask(torch.tensor([3, 2])), lengths_mask(torch.tensor([4, 1, 3]))  # (B, 1, 1, T) each
ATTENTION = Kind(
    "Attention",
    parts.Attention,
    (
        Trial("two tokens, one head", (2, 1), (torch.tensor([[[1.0, 0.0], [1.0, 2.0]]], dtype=torch.float64), None),
              "By hand: all four maps leave things as they are, so queries, keys and values are the tokens. A score is "
              "the product of a query with a key: 1 and 1, 1 and 5, each over √2; the softmax shares out along a row, "
              "over the keys.", plain=True),
        Trial("one head", (3, 1), (numbers(1, 4, 3), None),
              "With maps that change nothing it is right. Three maps make queries, keys and values of x; the fourth "
              "takes what the heads have fetched, and what it gives is returned."),
        Trial("two heads", (4, 2), (numbers(1, 3, 4), None), OF_HEADS),
        Trial("as many tokens as heads", (6, 3), (numbers(1, 3, 6), None), OF_HEADS),
        Trial("a batch of two", (6, 2), (numbers(2, 4, 6), None), "One sequence is right. In a batch nobody looks into "
              "another sequence: only the last two dimensions of the keys change places."),
        Trial("padding in the second sequence", (4, 2), (numbers(2, 3, 4), SHORT), OF_MASK),
        Trial("a mask of queries and keys", (4, 2), (numbers(2, 3, 4), causal_mask(3)), OF_MASK),
        Trial("padding in a batch of three", (6, 3), (numbers(3, 4, 6), SECOND), OF_MASK),
    ),
    cut=True,
)  # fmt: skip


def check_own_attention(attempt: Callable) -> Verdict:
    """Attention(d_model, n_heads), called with x (B, T, D) and mask (B, 1, 1, T): H attentions -> (B, T, D)."""
    hints = (
        "Four linear maps D to D, each a nn.Linear with its bias: for queries, keys and values, and one behind the "
        "joined heads. Scores are queries times keys over √K, K = D / H; the softmax runs over the keys.",
        "The last linear map comes after the heads are joined, and its result is what is returned.",
    )
    return _check(ATTENTION, attempt, hints)


BY_HAND = (
    "By hand: the first map makes 1 and 2 of a 1, GELU makes 0.8413 and 1.9545 of these, the second adds the two. "
)
OF_GELU = "The bend between the two maps is GELU, nn.functional.gelu as it is, without approximation. MiniLM has it."
FEED_FORWARD = Kind(
    "FeedForward",
    parts.FeedForward,
    (
        Trial("one token of one number", (1, 2), (torch.tensor([[[1.0]]], dtype=torch.float64),), BY_HAND + OF_GELU,
              plain=True),
        Trial("a negative number", (1, 2), (torch.tensor([[[-1.0]]], dtype=torch.float64),), OF_GELU, plain=True),
        Trial("three tokens", (2, 6), (numbers(1, 3, 2),), OF_GELU),
        Trial("a network narrower than its tokens", (4, 3), (numbers(1, 2, 4),)),
        Trial("a batch of sequences", (3, 7), (numbers(2, 4, 3),)),
    ),
)  # fmt: skip


def check_own_feed_forward(attempt: Callable) -> Verdict:
    """FeedForward(d_model, d_ff), called with x (…, D): up to F numbers, GELU, and back down -> (…, D)."""
    hints = (
        "Two linear maps, each a nn.Linear with its bias, d_model to d_ff and d_ff to d_model, and one bend, which "
        "stands between them.",
        OF_GELU,
    )
    return _check(FEED_FORWARD, attempt, hints)


class Known(nn.Module):
    """A part whose formula is known, and a parameter of 1 before it, so that one sees whether training reaches it."""

    def __init__(self, formula: str, function: Callable[..., Tensor], *, takes_mask: bool = False):
        super().__init__()
        self.formula, self.function, self.takes_mask = formula, function, takes_mask
        self.one = nn.Parameter(torch.ones((), dtype=torch.float64))

    def forward(self, x: Tensor, *rest: Any, **named: Any) -> Tensor:
        if not self.takes_mask and (rest or named):
            raise TypeError(f"{self.formula}: expected one tensor, got {1 + len(rest) + len(named)}")
        return self.one * self.function(x, *rest, **named)


def _mean_of(x: Tensor, mask: Tensor | None = None) -> Tensor:
    """The mean of the tokens that may be looked at, at every token. (B, T, D) -> (B, T, D)"""
    real = torch.ones_like(x[..., :1]) if mask is None else mask[:, 0, 0, :, None].double()  # (B, T, 1)
    return ((x * real).sum(dim=1, keepdim=True) / real.sum(dim=1, keepdim=True)).expand_as(x)


def _known_parts(attention: str = "10 · x") -> tuple[Known, ...]:
    functions = {"10 · x": lambda x, mask=None: 10 * x, "the mean of the tokens": _mean_of}
    return (
        Known(f"attention(x) = {attention}", functions[attention], takes_mask=True),
        Known("feed_forward(x) = x²", lambda x: x**2),
        Known("norm1(x) = x / 2", lambda x: x / 2),
        Known("norm2(x) = x − 1", lambda x: x - 1),
    )


def _known_ends() -> tuple[Known, ...]:
    steps = torch.arange(9.0, dtype=torch.float64)
    return (
        Known("embedding(id) = id", lambda ids: ids[..., None].double()),
        Known("positions(x) = x + its place, 0, 1, …", lambda x: x + steps[: x.shape[1], None]),
        Known("norm(x) = 3 · x", lambda x: 3 * x),
    )


def _known_blocks(n: int) -> tuple[Known, ...]:
    return (
        Known("block 1(x) = x + 1", lambda x, mask=None: x + 1, takes_mask=True),
        Known("block 2(x) = x²", lambda x, mask=None: x**2, takes_mask=True),
        Known("block 3(x) = x + the mean of the tokens", lambda x, mask=None: x + _mean_of(x, mask), takes_mask=True),
    )[:n]


def _wired(reference: Callable, known: Callable[[], tuple], inputs: tuple) -> Callable[[Callable], str]:
    """Whether parts are put together as they should be: a question to ask of a class that takes parts."""

    def look(attempt: Callable) -> str:
        given = known()
        whole = _made(attempt, given)
        if whole is None or (pair := _run(whole, inputs))[0] is None or pair[0] is ...:
            return UNWRITTEN
        expected = reference(*known())(*inputs).detach()
        every = [part for entry in given for part in (entry if isinstance(entry, tuple) else [entry])]
        said = ", ".join(part.formula for part in every)
        masked = " and a mask" if len(inputs) > 1 and inputs[1] is not None else ""
        return difference(f"{_shown(inputs[0])}{masked}, {said}", expected, pair[0]) or pair[1]

    return look


def _shown(x: Tensor) -> str:
    return str(x.tolist()) if x.numel() <= 12 else f"a tensor of shape {tuple(x.shape)}"


def _keeps(known: Callable[[], tuple], inputs: tuple) -> Callable[[Callable], str]:
    """Whether the parameters of all parts belong to the whole, and get gradients."""

    def look(attempt: Callable) -> str:
        given = known()
        whole = _made(attempt, given)
        every = [part for entry in given for part in (entry if isinstance(entry, tuple) else [entry])]
        own = {id(p) for p in whole.parameters()}
        y = whole(*inputs)
        if y.requires_grad:
            (y * numbers(*y.shape)).sum().backward()
        for part in every:
            if id(part.one) not in own:
                return f"the part of formula {part.formula} is used, and its parameters are not among parameters()"
            if part.one.grad is None:
                return f"no gradient reaches the part of formula {part.formula}"
        return ""

    return look


OF_ORDER = (
    "Each half has one sum, of what comes in and what the part makes of it, and the norm takes the finished sum. All "
    "that follows reads the norm's output."
)
OF_PASSING = (
    "The mask is for attention alone: attention(x, mask). Whoever takes a mask hands it on, also when it is None."
)
OF_KEEPING = (
    "A module knows the parts that are attributes of it. A plain list hides its entries from parameters(): "
    "nn.ModuleList does not."
)
TWO = torch.tensor([[[1.0], [3.0]]], dtype=torch.float64)  # (1, 2, 1)


def check_own_block(attempt: Callable) -> Verdict:
    """Block(attention, feed_forward, norm1, norm2), called with x (B, T, D) and mask: the parts in post-norm order."""
    one, mean = _known_parts, partial(_known_parts, "the mean of the tokens")
    wired = partial(_wired, parts.Block)
    probes = [
        Probe("one token, to follow by hand", wired(one, (TWO[:, :1],))),
        Probe("two tokens that are averaged", wired(mean, (TWO,))),
        Probe("no mask, said aloud", wired(mean, (TWO, None)), OF_PASSING),
        Probe("a mask", wired(mean, (TWO, torch.tensor([[[[True, False]]]]))), OF_PASSING),
        Probe("a batch of two", wired(mean, (numbers(2, 3, 4), SHORT)), OF_PASSING),
        Probe("all its parameters", _keeps(mean, (TWO,)), OF_KEEPING),
    ]
    hints = (OF_ORDER, "The order of BERT: attention, its sum, norm1; feed-forward, its sum, norm2.")
    return diagnose("Block", attempt, probes, hints)


def check_own_encoder(attempt: Callable) -> Verdict:
    """Encoder(embedding, positions, norm, blocks), called with ids (B, T) and a mask: one vector a token (B, T, D)."""

    def known(n: int) -> Callable[[], tuple]:
        return lambda: (*_known_ends(), _known_blocks(n))

    wired = partial(_wired, parts.Encoder)
    ids, mask = torch.tensor([[2, 5, 1]]), torch.tensor([[[[True, True, False]]]])
    of_blocks = "All blocks, each once, in the order given; what one gives is what the next one gets."
    hints = (
        "Four steps, each on what the one before gives: embedding, positions (which add their rows themselves), norm, "
        "and then one block after the other.",
        "The norm stands once, behind embedding and positions, before the first block; as in MiniLM.",
    )
    probes = [
        Probe("one block, to follow by hand", wired(known(1), (ids[:, :1],)), hints[0]),
        Probe("three tokens", wired(known(1), (ids,)), hints[0]),
        Probe("two blocks", wired(known(2), (ids,)), of_blocks),
        Probe("three blocks", wired(known(3), (ids, None)), of_blocks),
        Probe("a mask", wired(known(3), (ids, mask)), OF_PASSING + " Every block takes it."),
        Probe("a batch of two", wired(known(3), (torch.tensor([[2, 5, 1], [0, 3, 0]]), SHORT)), OF_PASSING),
        Probe("all its parameters", _keeps(known(3), (ids,)), OF_KEEPING),
    ]
    return diagnose("Encoder", attempt, probes, hints)
