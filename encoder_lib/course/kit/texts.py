"""The texts of the course: a corpus of three sentence patterns, Python's docstrings, and the beginning of a book."""

import ast
import re
import sys
import sysconfig
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

KINDS = {
    "animals": ("cat", "dog", "horse", "bird"),
    "foods": ("bread", "rice", "fish", "apple"),
    "people": ("Ana", "Ben", "Chen", "Dina"),
    "places": ("Rome", "Cairo", "Lima", "Oslo"),
}
SENTENCES = (("animals", "eats", "foods"), ("people", "buys", "foods"), ("people", "visits", "places"))


def kinds_corpus(n_sentences: int, *, seed: int = 0) -> tuple[Tensor, list[str]]:
    """Sentences of three words: an animal eats a food, a person buys a food, a person visits a place.

    The animal, food, person or place is drawn at random, so that words of the same kind have the same neighbours. The
    vocabulary lists the kinds one after the other, then the verbs.

    Shapes: -> ids (N, 3), and the vocabulary as a list with one word for each id.
    """
    words = [word for kind in KINDS.values() for word in kind] + [verb for _, verb, _ in SENTENCES]
    draw = torch.Generator().manual_seed(seed)
    choices = [[KINDS[subject], [verb] * 4, KINDS[object_]] for subject, verb, object_ in SENTENCES]
    # (3 patterns, 3 positions, 4 words)
    templates = torch.tensor([[[words.index(word) for word in place] for place in row] for row in choices])
    template = torch.randint(len(SENTENCES), (n_sentences, 1), generator=draw)  # (N, 1)
    word = torch.randint(templates.shape[-1], (n_sentences, 3), generator=draw)  # (N, 3)
    return templates[template, torch.arange(3), word], words


def neighbours(sentences: Tensor) -> tuple[Tensor, Tensor]:
    """All pairs of neighbouring words, in both directions: a word, and the word to predict from it.

    Shapes: sentences (N, T) -> words (2 · N · (T − 1),) and neighbours, the same.
    """
    left, right = sentences[:, :-1].flatten(), sentences[:, 1:].flatten()
    return torch.cat([left, right]), torch.cat([right, left])


def library_texts() -> list[str]:
    """English texts of many lengths that every machine has: all docstrings in Python's standard library."""
    return [text for _, text in _docstrings() if text]


def library_sentences() -> dict[str, str]:
    """English sentences that every machine has: the first of each docstring in Python's standard library.

    The sentences depend on the version of Python.

    Returns sentence -> what it documents, such as "csv.reader", in the order of the modules' names.
    """
    found: dict[str, str] = {}
    for name, text in _docstrings():
        first = " ".join(re.split(r"(?<=[.!?])\s|\n\n", text)[0].split())
        if re.fullmatch(r"[A-Z][\x20-\x7e]{28,158}\.", first):
            found.setdefault(first, name)
    return found


@cache
def _docstrings() -> list[tuple[str, str]]:
    """Name and docstring of each public module, function and class. The source files are read, not imported."""
    folder, found = Path(sysconfig.get_path("stdlib")), []
    for module in sorted(sys.stdlib_module_names):
        path = folder / f"{module}.py"
        if module.startswith("_") or not path.exists():
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in [tree, *tree.body]:
            name = getattr(node, "name", "")
            if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and not name.startswith("_"):
                found.append((f"{module}.{name}".rstrip("."), (ast.get_docstring(node) or "").strip()))
    return found


@cache
def wonderland() -> str:
    """The beginning of "Alice's Adventures in Wonderland": 646 words of English, the same on every machine.

    Source: Lewis Carroll 1865, chapter I; in the public domain.
    """
    return Path(__file__).with_name("wonderland.txt").read_text(encoding="utf-8")
