"""Small data sets, generated on the spot, whose right answer is known, and real sentences that every machine has."""

import ast
import re
import string
import sys
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from encoder_lib import expect
from encoder_lib.model.encoder import TransformerEncoder

IGNORE_INDEX = -100  # the target of a token that no question is asked of; the loss leaves it out

KINDS = {
    "animals": ("cat", "dog", "horse", "bird"),
    "foods": ("bread", "rice", "fish", "apple"),
    "people": ("Ana", "Ben", "Chen", "Dina"),
    "places": ("Rome", "Cairo", "Lima", "Oslo"),
}
SENTENCES = (("animals", "eats", "foods"), ("people", "buys", "foods"), ("people", "visits", "places"))


def kinds_corpus(n_sentences: int, *, seed: int = 0) -> tuple[Tensor, list[str]]:
    """Sentences of three words: an animal eats a food, a person buys a food, a person visits a place.

    Which animal, food, person or place is drawn at random, so that two words of one kind keep the same company. The
    vocabulary lists the kinds one after the other, then the verbs.

    Shapes: -> ids (N, 3), and the vocabulary as a list of words, one for each id.
    Raises: TypeError or ValueError for a number of sentences that is not an integer ≥ 1, or a seed that is none.
    """
    expect.sizes(n_sentences=n_sentences)
    seed = expect.seed(seed)
    words = [word for kind in KINDS.values() for word in kind] + [verb for _, verb, _ in SENTENCES]
    draw = torch.Generator().manual_seed(seed)
    templates = torch.tensor(
        [
            [
                [words.index(w) for w in KINDS[subject]],
                [words.index(verb)] * 4,
                [words.index(w) for w in KINDS[object_]],
            ]
            for subject, verb, object_ in SENTENCES
        ]
    )  # (3 templates, 3 places, 4 words)
    template = torch.randint(len(SENTENCES), (n_sentences, 1), generator=draw)  # (N, 1)
    word = torch.randint(templates.shape[-1], (n_sentences, 3), generator=draw)  # (N, 3)
    return templates[template, torch.arange(3), word], words


def neighbours(sentences: Tensor) -> tuple[Tensor, Tensor]:
    """Every pair of words that stand side by side, in both directions: the word, and what to predict from it.

    Shapes: sentences (N, T) -> words (2 · N · (T − 1),) and neighbours, the same.
    Raises: TypeError or ValueError for sentences that are not ids (N, T).
    """
    expect.token_ids(sentences, name="sentences", batched=True)
    left, right = sentences[:, :-1].flatten(), sentences[:, 1:].flatten()
    return torch.cat([left, right]), torch.cat([right, left])


class Sample(NamedTuple):
    """Sequences, what they ask for, and the place of the token in each that holds the answer: (B, T) each."""

    ids: Tensor
    targets: Tensor
    source: Tensor


def reversal(batch: int, length: int, vocab_size: int) -> tuple[Tensor, Tensor]:
    """Random sequences and the same sequences read backwards: a task that needs positions.

    Shapes: -> ids (B, T) and targets (B, T).
    Raises: TypeError or ValueError for sizes that are not integers ≥ 1.
    """
    expect.sizes(batch=batch, length=length, vocab_size=vocab_size)
    ids = torch.randint(vocab_size, (batch, length))
    return ids, ids.flip(1)


def padded_reversal(batch: int, length: int, vocab_size: int, *, shortest: int = 4) -> Sample:
    """Sequences of `shortest` to `length` tokens to read backwards, padded to `length` with the id `vocab_size`.

    Shapes: -> ids, targets and source (B, T), the last two IGNORE_INDEX where there is padding.
    Raises: TypeError or ValueError for sizes that are not integers ≥ 1; ValueError for a `shortest` above `length`.
    """
    expect.sizes(batch=batch, length=length, vocab_size=vocab_size, shortest=shortest)
    if shortest > length:
        raise ValueError(f"shortest: expected at most length={length}, got {shortest}; try shortest={length}")
    lengths = torch.randint(shortest, length + 1, (batch, 1))
    source = lengths - 1 - torch.arange(length)  # (B, T): negative beyond the end
    ids = torch.randint(vocab_size, (batch, length)).masked_fill(source < 0, vocab_size)
    source = source.masked_fill(source < 0, IGNORE_INDEX)
    return Sample(ids, _copied(ids, source), source)


def copy_back(batch: int, length: int, vocab_size: int, *, back: int = 3) -> Sample:
    """Random sequences whose every token asks for the one `back` places before it; the first ones ask nothing.

    Shapes: -> ids, targets and source (B, T), the last two IGNORE_INDEX at the first `back` tokens.
    Raises: TypeError or ValueError for sizes that are not integers ≥ 1; ValueError for a `back` not below `length`.
    """
    expect.sizes(batch=batch, length=length, vocab_size=vocab_size, back=back)
    if back >= length:
        raise ValueError(f"back: expected less than length={length}, got {back}; try back={max(1, length // 2)}")
    ids = torch.randint(vocab_size, (batch, length))
    source = (torch.arange(length) - back).expand(batch, length)  # (B, T): negative before the beginning
    source = source.masked_fill(source < 0, IGNORE_INDEX)
    return Sample(ids, _copied(ids, source), source)


def pointers(batch: int, n_words: int, vocab_size: int) -> Sample:
    """Random words, then as many pointers, each of which asks for the word at the place that it names.

    Ids below `vocab_size` are words; id vocab_size + p points at place p.

    Shapes: -> ids, targets and source (B, 2 · n_words), the last two IGNORE_INDEX at the words.
    Raises: TypeError or ValueError for sizes that are not integers ≥ 1.
    """
    expect.sizes(batch=batch, n_words=n_words, vocab_size=vocab_size)
    words = torch.randint(vocab_size, (batch, n_words))
    places = torch.randint(n_words, (batch, n_words))
    ids = torch.cat([words, vocab_size + places], dim=1)  # (B, 2 · n_words)
    source = torch.cat([torch.full_like(places, IGNORE_INDEX), places], dim=1)
    return Sample(ids, _copied(ids, source), source)


def brackets(batch: int, length: int) -> Sample:
    """Opening (0) and closing (1) brackets that match; each asks where its partner stands.

    All balanced sequences are equally likely: with r tokens to go at depth d, (r − d)(d + 2) of 2r(d + 1) of them go on
    with an opening bracket.

    Shapes: -> ids, targets and source (B, T), the last two the same.
    Raises: TypeError for sizes that are not integers; ValueError for sizes below 1 or an odd length.
    """
    expect.sizes(batch=batch)
    if expect.integer("length", length, least=2) % 2:
        raise ValueError(f"length: expected an even number, since brackets come in pairs, got {length}")
    depth, closes = torch.zeros(batch), []
    for left in range(length, 0, -1):
        opens = torch.rand(batch) < (left - depth) * (depth + 2) / (2 * left * (depth + 1))
        closes.append(~opens)
        depth = depth + torch.where(opens, 1, -1)
    ids = torch.stack(closes, dim=1).long()  # (B, T)
    level = (1 - 2 * ids).cumsum(1) + ids  # (B, T): how deep a pair lies, the same number for both its brackets
    order = (level * length + torch.arange(length)).argsort(
        1
    )  # level by level; at each, opening and closing take turns
    pairs = order.unflatten(1, (-1, 2))  # (B, T/2, 2)
    partner = torch.empty_like(ids).scatter(1, order, pairs.flip(2).flatten(1))
    return Sample(ids, partner, partner)


def _copied(ids: Tensor, source: Tensor) -> Tensor:
    """The tokens at the places that `source` names, IGNORE_INDEX where it names none. Shapes: (B, T) each."""
    return ids.gather(1, source.clamp(min=0)).masked_fill(source < 0, IGNORE_INDEX)


def right_map(source: Tensor) -> Tensor:
    """The attention map that looks at the answers: 1 at the token that holds it; NaN in rows that ask nothing.

    Shapes: source (…, T) -> (…, T, T).
    Raises: TypeError for a source that is no tensor of integers; ValueError for a place beyond its end.
    """
    _expect_places(source)
    places = torch.arange(source.shape[-1], device=source.device)
    looks = (source[..., None] == places).to(torch.get_default_dtype())  # (…, T, T)
    return looks.masked_fill((source < 0)[..., None], torch.nan)


def weight_on(source: Tensor, weights: Tensor) -> Tensor:
    """How much weight each head gives to the token that holds the answer, averaged over all tokens that ask.

    Shapes: source (B, T), weights (B, H, T, T) -> (H,).
    Raises: TypeError for other tensors; ValueError for other shapes, a place beyond the end, or when no token asks.
    """
    _expect_places(source)
    expect.vectors(weights, name="weights")
    if source.ndim != 2 or weights.ndim != 4 or (len(weights), *weights.shape[2:]) != (*source.shape, source.shape[1]):
        shapes = f"{tuple(source.shape)} and {tuple(weights.shape)}"
        raise ValueError(f"expected source (B, T) and weights (B, H, T, T), got {shapes}; try the maps of a trace")
    asks = source >= 0  # (B, T)
    if not asks.any():
        raise ValueError("source: expected at least one token that asks, got none; try the source of a task's draw")
    places = source.clamp(min=0).to(weights.device)[:, None, :, None].expand(-1, weights.shape[1], -1, 1)
    there = weights.gather(3, places)[..., 0].transpose(1, 2)  # (B, T, H)
    return there[asks].mean(dim=0)


def _expect_places(source: Tensor) -> None:
    expect.token_ids(source, name="source")
    if source.numel() and source.max() >= source.shape[-1]:
        most = source.shape[-1] - 1
        raise ValueError(f"source: expected places from 0 to {most}, or {IGNORE_INDEX}, got {source.max().item()}")


def spell(ids: Tensor, symbols: Sequence[str]) -> list[str]:
    """The symbols that ids stand for. Shapes: ids (T,) -> T strings.

    Raises: TypeError or ValueError for what is no row of ids; IndexError for an id without a symbol.
    """
    expect.token_ids(ids, name="ids")
    if ids.ndim != 1:
        raise ValueError(f"ids: expected one sequence (T,), got shape {tuple(ids.shape)}; try ids[0]")
    wrong = ids[(ids < 0) | (ids >= len(symbols))]
    if len(wrong):
        raise IndexError(f"ids: expected numbers from 0 to {len(symbols) - 1}, got {wrong[0].item()}")
    return [symbols[i] for i in ids.tolist()]


@dataclass(frozen=True)
class Task:
    """A question about sequences: `draw(batch)` asks it, an id stands for one of `symbols`, a target for a class."""

    draw: Callable[[int], Sample]
    symbols: tuple[str, ...]
    answers: int
    length: int
    padding_idx: int | None = None

    def read(self, ids: Tensor) -> list[str]:
        """One sequence in symbols. Shapes and errors: as `spell`."""
        return spell(ids, self.symbols)


LETTERS = tuple(string.ascii_lowercase[:10])
TASKS = {
    "reverse": Task(partial(padded_reversal, length=16, vocab_size=10, shortest=16), LETTERS, 10, 16),
    "pointer": Task(partial(pointers, n_words=8, vocab_size=10), LETTERS + tuple(f"→{p}" for p in range(8)), 10, 16),
    "brackets": Task(partial(brackets, length=16), ("(", ")"), 16, 16),
    "padded": Task(partial(padded_reversal, length=12, vocab_size=10), (*LETTERS, "·"), 10, 12, padding_idx=10),
}


def solver(task: Task, *, n_layers: int = 1, n_heads: int = 1, d_model: int = 64, **settings: Any) -> nn.Sequential:
    """A model for a task, in float32: an encoder, and a linear map from each token's vector to the scores of answers.

    Shapes: ids (B, T) -> (B, T, answers).
    Raises: TypeError for what is no Task, and as TransformerEncoder.
    """
    expect.kind("task", task, Task, "a Task", "; try TASKS['reverse']")
    expect.sizes(d_model=d_model)
    own = {"positional": "learned", "max_len": 2 * task.length, "padding_idx": task.padding_idx}
    settings = {**own, **settings}
    encoder = TransformerEncoder(len(task.symbols), n_layers, d_model, n_heads, 2 * d_model, **settings)
    return nn.Sequential(encoder, nn.Linear(d_model, task.answers)).float()


def library_sentences() -> dict[str, str]:
    """Real English that every machine has: the first sentence of each docstring in Python's standard library.

    The source files are read, not imported. Which sentences there are depends on the version of Python.

    Returns sentence -> what it documents, such as "csv.reader", in the order of the modules' names.
    """
    folder = Path(sysconfig.get_path("stdlib"))
    found: dict[str, str] = {}
    for module in sorted(sys.stdlib_module_names):
        path = folder / f"{module}.py"
        if module.startswith("_") or not path.exists():
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in [tree, *tree.body]:
            name = getattr(node, "name", "")
            if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and not name.startswith("_"):
                first = " ".join(re.split(r"(?<=[.!?])\s|\n\n", (ast.get_docstring(node) or "").strip())[0].split())
                if re.fullmatch(r"[A-Z][\x20-\x7e]{28,158}\.", first):
                    found.setdefault(first, f"{module}.{name}".rstrip("."))
    return found


@cache
def wonderland() -> str:
    """How "Alice's Adventures in Wonderland" begins: 646 words of real English, the same on every machine.

    Source: Lewis Carroll 1865, chapter I; in the public domain.
    """
    return Path(__file__).with_name("wonderland.txt").read_text(encoding="utf-8")
