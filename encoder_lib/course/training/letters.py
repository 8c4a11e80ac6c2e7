"""Letters of real text, some of them hidden: the text, how to fill gaps, and how far counting gets."""

import random
import re
from functools import cache
from pydoc_data.topics import topics

import torch
import torch.nn.functional as F
from torch import Tensor, nn

LETTERS = " abcdefghijklmnopqrstuvwxyz"  # ids 0 to 26
GAP = len(LETTERS)  # the id of a hidden letter


@cache
def manual() -> tuple[Tensor, Tensor]:
    """Real English that comes with every Python: the prose of its manual, some 230,000 letters, each paragraph once.

    The paragraphs depend on the version of Python. A tenth of them, drawn at random, is held out.

    Shapes: -> ids to train on (N,), held-out ids (M,).
    """
    paragraphs: dict[str, None] = {}  # in order; some are part of several topics
    for paragraph in "\n\n".join(topics.values()).split("\n\n"):
        prose = " ".join(paragraph.split())
        if len(prose) > 60 and sum(x.islower() or x == " " for x in prose) > 0.85 * len(prose):  # no tables or programs
            paragraphs[re.sub("[^a-z]+", " ", prose.lower()).strip()] = None
    order = random.Random(0).sample(list(paragraphs), len(paragraphs))
    held_out = len(order) // 10
    return to_ids(" ".join(order[held_out:])), to_ids(" ".join(order[:held_out]))


def to_ids(text: str) -> Tensor:
    """A text as ids: lowercase letters, "_" for a gap, and a space for all else. Shapes: T letters -> (T,)."""
    id_of = {letter: i for i, letter in enumerate(LETTERS + "_")}
    return torch.tensor([id_of.get(letter, 0) for letter in text.lower()], dtype=torch.long)


def to_text(ids: Tensor) -> str:
    """Ids as a text, gaps as "_". Shapes: (T,) -> T letters."""
    return "".join((LETTERS + "_")[i] for i in ids.tolist())


@torch.no_grad()
def fill(model: nn.Module, text: str) -> str:
    """The text as `to_ids` reads it, with the letter of the highest score in each gap, in uppercase."""
    return filled_in(text, model(to_ids(text)[None])[0].argmax(dim=-1))


def filled_in(text: str, answers: Tensor) -> str:
    """The text as `to_ids` reads it, with these answers (T,) in its gaps, in uppercase."""
    ids = to_ids(text)  # (T,)
    filled = torch.where(ids == GAP, answers, ids)  # (T,)
    pairs = zip(to_text(ids), to_text(filled), strict=True)
    return "".join(letter.upper() if before == "_" else letter for before, letter in pairs)


def by_counts(text: Tensor, ids: Tensor, left: int, right: int) -> Tensor:
    """Predict each letter of `ids` by counting: the one that is most often between the same neighbours in `text`.

    The neighbours are `left` letters before it and `right` letters after it. Where `text` never has all of them
    together, or one of them is itself a gap, fewer count: an n-gram model with back-off.

    Shapes: text (N,), ids (B, T) -> (B, T).
    """
    answers = torch.full_like(ids, text.mode().values.item())  # (B, T): the most common letter
    for n in range(1, max(left, right) + 1):
        for before, after in ((n - 1, n), (n, n - 1), (n, n)):
            sides = min(before, left), min(after, right)
            known, which = _neighbours(text, sides).unique(return_inverse=True)
            between = which * GAP + text[sides[0] : len(text) - sides[1]]  # neighbours and their letter, as one number
            best = between.bincount(minlength=len(known) * GAP).view(-1, GAP).argmax(dim=-1)
            wanted = _neighbours(F.pad(ids, sides, value=GAP), sides)  # (B, T)
            index = torch.searchsorted(known, wanted).clamp(max=len(known) - 1)
            answers = torch.where(known[index] == wanted, best[index], answers)
    return answers


def _neighbours(ids: Tensor, sides: tuple[int, int]) -> Tensor:
    """One number for the neighbours of each letter that has all of them. Shapes: (…, T) -> (…, T − left − right)."""
    digits = (GAP + 1) ** torch.arange(sum(sides) + 1)
    digits[sides[0]] = 0  # not the letter itself
    return (ids.unfold(-1, len(digits), 1) * digits).sum(dim=-1)
