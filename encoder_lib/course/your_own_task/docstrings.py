"""Sentences with labels that every machine has: how the docstrings of five installed packages begin."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

LIBRARIES = {  # label -> folders
    "IPython": ("IPython",),
    "Matplotlib": ("matplotlib",),
    "pandas": ("pandas/core", "pandas/io", "pandas/plotting"),
    "Pillow": ("PIL",),
    "PyTorch": ("torch/nn", "torch/optim", "torch/distributions", "torch/utils/data"),
}
PARTS = "validation", "training", "test", "training"  # a file belongs to one of them
TESTS = re.compile(r"/(test|tests|testing)/")  # folders
NAMES = re.compile(
    r"(?i)\b(axes|dataframe|mpl|np|numpy|pd|pil|pillow|plt|pyplot|python)s?\b|ipython|jupyter|matplotlib|pandas|torch"
)


class Docstring(NamedTuple):
    """The first sentence of a docstring, whose it is, and the part of the data that its file belongs to."""

    sentence: str
    name: str  # of the function or class, such as "DataFrame.merge"
    library: str
    part: str  # "training", "validation" or "test"

    @property
    def gives_away(self) -> bool:
        """Whether the sentence names a library, or a class that only one of them has."""
        return bool(NAMES.search(self.sentence))


@cache
def docstrings() -> tuple[Docstring, ...]:
    """The public docstrings of LIBRARIES that begin with a sentence of 30 to 120 characters, each sentence once.

    A file, with all its sentences, is in one part only: half of the files are for training, a quarter each for
    validation and test. The sentences depend on the versions of the packages.
    """
    found: dict[str, Docstring] = {}
    for library, folders in LIBRARIES.items():
        for folder in folders:
            site = Path(str(files(folder.partition("/")[0]))).parent  # wherever it is installed
            for path in sorted((site / folder).rglob("*.py")):
                file = path.relative_to(site).as_posix()
                if TESTS.search(file):
                    continue
                for name, text in _public(ast.parse(path.read_bytes())):
                    sentence = _first_sentence(text)
                    if re.fullmatch(r"[A-Z][\w ,;:'()\"/=.-]{28,118}\.", sentence, re.ASCII):
                        part = PARTS[crc32(file.encode()) % len(PARTS)]
                        found.setdefault(sentence, Docstring(sentence, name, library, part))
    return tuple(found.values())


def _public(node: ast.AST, outer: str = "") -> Iterator[tuple[str, str]]:
    """Name and docstring of each public function and class, and of the classes' public methods."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef) and not child.name.startswith("_"):
            yield outer + child.name, ast.get_docstring(child) or ""
            if isinstance(child, ast.ClassDef):
                yield from _public(child, f"{outer}{child.name}.")


def _first_sentence(text: str) -> str:
    """The first sentence of a docstring, without its markup."""
    paragraph = " ".join(text.partition("\n\n")[0].split())
    plain = re.sub(r":[\w:]+:`~?([^`<]*?)(?: <[^>]*>)?`", r"\1", paragraph)
    return re.split(r"(?<=[.!?]) ", re.sub(r"[`*]", "", plain))[0]
