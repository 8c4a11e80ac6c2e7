"""Small data sets, generated on the spot, whose right answer is known."""

import ast
import re
import sys
import sysconfig
from pathlib import Path

import torch
from torch import Tensor

from encoder_lib import expect

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
    Raises: TypeError or ValueError for a number of sentences that is not an integer ≥ 1.
    """
    expect.sizes(n_sentences=n_sentences)
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
    """
    left, right = sentences[:, :-1].flatten(), sentences[:, 1:].flatten()
    return torch.cat([left, right]), torch.cat([right, left])


def reversal(batch: int, length: int, vocab_size: int) -> tuple[Tensor, Tensor]:
    """Random sequences and the same sequences read backwards: a task that needs positions.

    Shapes: -> ids (B, T) and targets (B, T).
    """
    expect.sizes(batch=batch, length=length, vocab_size=vocab_size)
    ids = torch.randint(vocab_size, (batch, length))
    return ids, ids.flip(1)


def library_sentences() -> dict[str, str]:
    """Real English that every machine has: the first sentence of each docstring in Python's standard library.

    The source files are read, not imported. Which sentences there are depends on the version of Python.

    Returns sentence -> what it documents, such as "csv.reader", in the order of the modules' names.
    """
    folder = Path(sysconfig.get_path("stdlib"))
    found = {}
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
