"""Checks of the exercises: each takes the learner's function, tries it on small inputs, and answers with a verdict.

A check never raises, whatever the function returns or does, and never shows how the answer is computed.
"""

import html
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from encoder_lib.notebook import tidy
from encoder_lib.positional import RotaryPositionalEncoding, sinusoidal_table

TOLERANCE = 1e-4  # an answer computed in float32 is right too
_tries: Counter[str] = Counter()  # how often each exercise was tried since it last passed


@dataclass(frozen=True)
class Case:
    """One input to try: what it tests, in words, and the arguments."""

    label: str
    arguments: tuple


@dataclass(frozen=True)
class Verdict:
    """What passed, and the first thing that did not, with a hint."""

    exercise: str
    passed: tuple[str, ...]
    problem: str = ""
    hint: str = ""

    @property
    def correct(self) -> bool:
        return not self.problem

    def lines(self) -> list[str]:
        head = f"{self.exercise}: " + ("right." if self.correct else "not there yet.")
        lines = [head, *(f"✓ {label}" for label in self.passed)]
        if self.problem:
            lines.append(f"✗ {self.problem}")
        if self.hint:
            lines.append(f"Hint: {self.hint}")
        return lines

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        colour = "#2e7d32" if self.correct else "#b26a00"
        head, *rest = (html.escape(line, quote=True) for line in self.lines())
        items = "".join(f'<li style="white-space:pre-wrap">{line}</li>' for line in rest)
        return (
            f'<div role="status" style="border-left:4px solid {colour};padding:2px 12px"><strong>{head}</strong>'
            f'<ul style="list-style:none;padding-left:0;margin:4px 0">{items}</ul></div>'
        )


def _examine(
    exercise: str, attempt: Callable, reference: Callable, cases: Sequence[Case], hints: Sequence[str]
) -> Verdict:
    """Try `attempt` on every case, smallest first, against `reference`; stop at the first that differs."""
    passed = []
    for case in cases:
        problem = _problem(attempt, reference, case)
        if problem == _UNWRITTEN and passed:
            problem = f"{case.label}: here the function returns nothing; is a `return` missing on one path?"
        elif problem == _UNWRITTEN:
            return Verdict(exercise, (), "the function returns nothing yet: write its body, then run this cell again")
        if problem:
            _tries[exercise] += 1
            return Verdict(exercise, tuple(passed), problem, hints[min(_tries[exercise], len(hints)) - 1])
        passed.append(case.label)
    del _tries[exercise]
    return Verdict(exercise, tuple(passed))


_UNWRITTEN = "unwritten"


def _problem(attempt: Callable, reference: Callable, case: Case) -> str:
    """What is wrong with the attempt on this case, in words; empty when nothing is."""
    if not callable(attempt):
        return f"expected a function, got {type(attempt).__name__}"
    given = ", ".join(map(_show, case.arguments))
    mine = tuple(a.clone() if isinstance(a, Tensor) else a for a in case.arguments)
    try:
        got = attempt(*mine)
    except (Exception, SystemExit) as error:
        advice = "; both sides of a product need one dtype: try .to(table.dtype)" if "dtype" in str(error) else ""
        return f"{case.label}: with {given} it stopped with {type(error).__name__}: {str(error)[:300]}{advice}"
    if got is None or got is ...:
        return _UNWRITTEN
    changed = [a for a, b in zip(case.arguments, mine, strict=True) if isinstance(a, Tensor) and not _same(a, b)]
    if changed:
        return f"{case.label}: with {given} the function changed its own input; make a new tensor instead"
    try:
        return _difference(case.label, given, reference(*case.arguments), got)
    except Exception as error:  # a tensor without numbers, for instance
        return f"{case.label}: with {given} the result cannot be compared: {str(error)[:300]}"


def _difference(label: str, given: str, expected, got) -> str:
    if not isinstance(got, Tensor):
        if isinstance(expected, Tensor) and expected.ndim == 0 and isinstance(got, int | float | bool):
            got = torch.tensor(got)
        else:
            return f"{label}: with {given} expected a tensor, got {type(got).__name__}"
    if got.shape != expected.shape:
        return f"{label}: with {given} expected shape {tuple(expected.shape)}, got {tuple(got.shape)}"
    if got.is_complex():
        return f"{label}: with {given} expected real numbers, got {got.dtype}"
    kind = "boolean" if expected.dtype == torch.bool else "a number"
    if (got.dtype == torch.bool) != (expected.dtype == torch.bool):
        return f"{label}: with {given} expected each element to be {kind}, got {got.dtype}"
    if _same(expected, got):
        return ""
    if expected.numel() <= 12:
        return f"{label}: with {given}\nexpected {_show(expected)}\ngot      {_show(got)}"
    furthest = (got.detach().double() - expected.double()).abs().nan_to_num(torch.inf).argmax()
    place = tuple(i.item() for i in torch.unravel_index(furthest, expected.shape))
    return f"{label}: with {given}, at {place}: expected {expected[place].item():.4f}, got {got[place].item():.4f}"


def _same(a: Tensor, b: Tensor) -> bool:
    return a.shape == b.shape and torch.allclose(a.detach().double(), b.detach().double(), atol=TOLERANCE, rtol=0)


def _show(value) -> str:
    if isinstance(value, Tensor):
        return str(tidy(value).tolist()) if value.numel() <= 12 else f"a tensor of shape {tuple(value.shape)}"
    return repr(value)[:100]


def _numbers(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


# --- 00_start_here -----------------------------------------------------------------------------------------------


def check_mean_vector(attempt: Callable) -> Verdict:
    """mean_vector(x): the mean of the vectors x (T, D), one number for each dimension (D,)."""
    cases = [
        Case("one token", (torch.tensor([[1.0, 2.0, 3.0]], dtype=torch.float64),)),
        Case("two tokens", (torch.tensor([[1.0, 2.0], [3.0, 6.0]], dtype=torch.float64),)),
        Case("more tokens than numbers", (_numbers(5, 2),)),
        Case("more numbers than tokens", (_numbers(2, 7),)),
        Case("as many of both", (_numbers(3, 3),)),
    ]
    hints = (
        "Add up the vectors and divide by how many there are.",
        "The result has one number for each dimension: average over the tokens, which are dimension 0.",
        "x.mean(dim=…) averages over the dimension that you name.",
    )
    return _examine("mean_vector", attempt, lambda x: x.mean(dim=0), cases, hints)


def check_unit(attempt: Callable) -> Verdict:
    """unit(x): every vector of x (N, D) brought to length 1, in its own direction."""
    cases = [
        Case("one vector", (torch.tensor([[3.0, 4.0]], dtype=torch.float64),)),
        Case("two vectors", (torch.tensor([[2.0, 0.0], [0.0, -5.0]], dtype=torch.float64),)),
        Case("many numbers", (_numbers(3, 8),)),
        Case("as many vectors as numbers", (_numbers(4, 4),)),
        Case("long and short vectors", (_numbers(3, 2) * torch.tensor([[1e4], [1.0], [1e-2]]),)),
    ]
    hints = (
        "The length of a vector is the square root of the sum of its squared numbers.",
        "Each vector is divided by its own length: sum over the last dimension.",
        "Keep the summed dimension (keepdim=True), so that lengths (N, 1) divide vectors (N, D).",
    )
    return _examine("unit", attempt, lambda x: x / x.norm(dim=-1, keepdim=True), cases, hints)


# --- 01_embedding ------------------------------------------------------------------------------------------------


def check_look_up(attempt: Callable) -> Verdict:
    """look_up(table, ids): the rows of a table (V, D) by ids of any shape (…) -> (…, D)."""
    small = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], dtype=torch.float64)
    cases = [
        Case("one id", (small, torch.tensor([1]))),
        Case("ids out of order", (small, torch.tensor([2, 0, 1]))),
        Case("an id that comes twice", (small, torch.tensor([1, 0, 1]))),
        Case("the last row never asked for", (_numbers(5, 3), torch.tensor([0, 1]))),
        Case("a batch of sequences", (_numbers(4, 3), torch.tensor([[3, 1], [0, 0]]))),
        Case("more ids than rows", (_numbers(2, 5), torch.tensor([1, 1, 0, 1]))),
    ]
    hints = (
        "Make one row of zeros for each id, put a single 1 into it, and multiply with the table.",
        "A one-hot row is as long as the table is high: V, whatever the largest id is.",
        "The one-hot tensor has shape (…, V) and stands on the left of the product.",
    )
    return _examine("look_up", attempt, lambda table, ids: table[ids], cases, hints)


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
        Case("nothing but padding", (torch.tensor([0, 0]), 2, 0)),
        Case("a padding id that does not occur", (torch.tensor([1, 3]), 4, 0)),
    ]
    hints = (
        "Start with False for every row of the vocabulary; which rows does the sequence touch?",
        "A row that is used twice still counts once: the answer is True or False, not a number.",
        "The padding row stays as it is even when it is used.",
    )
    return _examine("gets_gradient", attempt, reference, cases, hints)


def check_most_similar(attempt: Callable) -> Verdict:
    """most_similar(table, word): the id of the other word whose vector has the largest cosine with this one."""

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
        Case("eight numbers a word", (_numbers(7, 8), 4)),
        Case("the same, for another word", (_numbers(7, 8), 6)),
    ]
    hints = (
        "The cosine is the dot product of two vectors that were both brought to length 1.",
        "Each word is most similar to itself: leave it out before you look for the largest.",
        "Give back the position of the largest cosine (argmax), not the cosine.",
    )
    return _examine("most_similar", attempt, reference, cases, hints)


# --- 02_positional_encoding --------------------------------------------------------------------------------------


def check_sinusoidal_table(attempt: Callable) -> Verdict:
    """sinusoidal(length, d_model, base): the table (T, D)."""
    cases = [
        Case("one position", (1, 4, 10_000.0)),
        Case("two positions, one clock", (2, 2, 10_000.0)),
        Case("three positions, two clocks", (3, 4, 10_000.0)),
        Case("another base", (3, 4, 100.0)),
        Case("more dimensions than positions", (5, 16, 10_000.0)),
        Case("a long table", (200, 6, 10_000.0)),
    ]
    hints = (
        "Column 2k holds sines and column 2k + 1 cosines of the same angle, position times ω_k.",
        "ω_k = base^(−2k / D), and k counts pairs of columns: 0, 1, … D/2 − 1.",
        "Build the angles (T, D/2) first, then let their sines and cosines alternate.",
    )

    def reference(length: int, d_model: int, base: float) -> Tensor:
        return sinusoidal_table(length, d_model, base=base, dtype=torch.float64)

    return _examine("sinusoidal", attempt, reference, cases, hints)


def check_shift_matrix(attempt: Callable) -> Verdict:
    """shift_matrix(k, d_model): the matrix (D, D) with matrix @ PE(t) = PE(t + k) for every t, base 10,000."""

    def reference(k: int, d_model: int) -> Tensor:
        sin, cos = sinusoidal_table(k + 1, d_model, dtype=torch.float64)[k].unflatten(0, (-1, 2)).T  # (D/2,) each
        return torch.block_diag(
            *(torch.stack([torch.stack([c, s]), torch.stack([-s, c])]) for s, c in zip(sin, cos, strict=True))
        )

    cases = [
        Case("no shift", (0, 4)),
        Case("one clock, one step", (1, 2)),
        Case("two clocks, one step", (1, 4)),
        Case("two clocks, three steps", (3, 4)),
        Case("eight clocks, fifty steps", (50, 16)),
    ]
    hints = (
        "Each clock turns by its own angle k · ω_i, and by nothing else: the matrix has 2 × 2 blocks on its diagonal.",
        "sin(a + b) = sin a · cos b + cos a · sin b, and cos(a + b) = cos a · cos b − sin a · sin b.",
        "Row 0 of a block gives the new sine, row 1 the new cosine; column 0 takes the old sine.",
    )
    return _examine("shift_matrix", attempt, reference, cases, hints)


def check_rotate(attempt: Callable) -> Verdict:
    """rotate(x): turn pair k of the vector at position t by t · ω_k, for x (T, K) and base 10,000."""
    ones = torch.ones(2, 2, dtype=torch.float64)
    cases = [
        Case("position 0 stays", (ones[:1],)),
        Case("one pair, two positions", (ones,)),
        Case("two pairs", (_numbers(3, 4),)),
        Case("one position of six", (_numbers(1, 6),)),
        Case("many positions", (_numbers(40, 8),)),
    ]
    hints = (
        "The numbers x[:, 0::2] and x[:, 1::2] form the pairs; turn each pair like a point in the plane.",
        "A point (a, b) turned by θ is (a · cos θ − b · sin θ, a · sin θ + b · cos θ).",
        "The angle is position times ω_k; the new pairs go back to the places where the old ones stood.",
    )

    def reference(x: Tensor) -> Tensor:
        return RotaryPositionalEncoding(x.shape[-1])(x)

    return _examine("rotate", attempt, reference, cases, hints)


# --- 09_pretrained -----------------------------------------------------------------------------------------------


def check_pool(attempt: Callable) -> Verdict:
    """pool(x, real): the mean of the real tokens' vectors, x (B, T, D) and real (B, T) -> (B, D), at length 1."""

    def reference(x: Tensor, real: Tensor) -> Tensor:
        mean = (x * real[..., None]).sum(dim=1) / real.sum(dim=1, keepdim=True)  # (B, D)
        return mean / mean.norm(dim=-1, keepdim=True)

    cases = [
        Case("one token", (torch.tensor([[[3.0, 4.0]]], dtype=torch.float64), torch.tensor([[True]]))),
        Case("two tokens", (torch.tensor([[[1.0, 0.0], [0.0, 3.0]]], dtype=torch.float64), torch.ones(1, 2).bool())),
        Case("padding at the end", (_numbers(1, 3, 2), torch.tensor([[True, True, False]]))),
        Case("sentences of two lengths", (_numbers(2, 4, 3), torch.arange(4) < torch.tensor([[4], [1]]))),
        Case("as many sentences as tokens", (_numbers(3, 3, 5), torch.arange(3) < torch.tensor([[2], [3], [1]]))),
    ]
    hints = (
        "Padding must not count: neither in the sum nor in the number that you divide by.",
        "real[..., None] has shape (B, T, 1) and silences the vectors of padding when multiplied.",
        "First the mean over the tokens, then divide each sentence's vector by its own length.",
    )
    return _examine("pool", attempt, reference, cases, hints)


def check_search(attempt: Callable) -> Verdict:
    """search(query, vectors, k): the numbers of the k unit vectors (N, D) nearest to the query (D,), best first."""
    unit = torch.nn.functional.normalize(_numbers(9, 4), dim=-1)
    square = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8], [-1.0, 0.0]], dtype=torch.float64)
    cases = [
        Case("the best of two", (square[0], square[:2], 1)),
        Case("the two best, best first", (square[1], square, 2)),
        Case("opposite directions come last", (square[3], square, 4)),
        Case("many vectors", (unit[4] * 0.5 + unit[2] * 0.5, unit, 3)),
        Case("all of them", (unit[0], unit, 9)),
    ]
    hints = (
        "The cosine of two vectors of length 1 is their dot product.",
        "vectors @ query gives one number for each vector; the largest are the nearest.",
        "Give back positions, not cosines, and the best one first: topk or a descending argsort.",
    )
    return _examine("search", attempt, lambda query, vectors, k: (vectors @ query).topk(k).indices, cases, hints)


def check_looks_back(attempt: Callable) -> Verdict:
    """looks_back(weights): for each layer and head (L, H, T, T), the mean weight on the token before -> (L, H)."""

    def reference(weights: Tensor) -> Tensor:
        return weights.diagonal(-1, dim1=-2, dim2=-1).mean(dim=-1)

    def maps(*shape: int) -> Tensor:
        return _numbers(*shape).softmax(dim=-1)

    two = torch.tensor([[[[1.0, 0.0], [0.75, 0.25]]]], dtype=torch.float64)
    cases = [
        Case("two tokens", (two,)),
        Case("three tokens", (maps(1, 1, 3, 3),)),
        Case("two heads", (maps(1, 2, 4, 4),)),
        Case("layers and heads", (maps(3, 2, 5, 5),)),
        Case("as many of everything", (maps(3, 3, 3, 3),)),
    ]
    hints = (
        "Rows look, columns are looked at: row t, column t − 1.",
        "Those entries form the diagonal just below the main one: weights.diagonal(-1, dim1=-2, dim2=-1).",
        "The first token has none before it: average over the T − 1 others.",
    )
    return _examine("looks_back", attempt, reference, cases, hints)
