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
NAMES = r"\b(axes|dataframe|mpl|np|numpy|pd|pil|pillow|plt|pyplot|python)s?\b|ipython|jupyter|matplotlib|pandas|torch"


class Docstring(NamedTuple):
    """The first sentence of a docstring, whose it is, and the part of the data that its file belongs to."""

    sentence: str
    name: str  # of the function, method or class
    library: str
    part: str  # "training", "validation" or "test"

    @property
    def gives_away(self) -> bool:
        """Whether the sentence names a library, or a class that only one of them has."""
        return bool(re.search(NAMES, self.sentence, re.IGNORECASE))


@cache
def docstrings() -> tuple[Docstring, ...]:
    """The public docstrings of LIBRARIES that begin with a sentence of 30 to 120 characters, each sentence once.

    A file, with all its sentences, is in one part only: half of the files are for training, a quarter each for
    validation and test. The sentences depend on the versions of the packages.
    """
    found: dict[str, Docstring] = {}
    for library, folders in LIBRARIES.items():
        site = Path(str(files(folders[0].partition("/")[0]))).parent  # wherever it is installed
        for path in (path for folder in folders for path in sorted((site / folder).rglob("*.py"))):
            file = path.relative_to(site).as_posix()
            if re.search("/(test|tests|testing)/", file):
                continue
            part = PARTS[crc32(file.encode()) % len(PARTS)]
            for name, sentence in _public(ast.parse(path.read_bytes())):
                if re.fullmatch(r"[A-Z][\w ,;:'()\"/=.-]{28,118}\.", sentence, re.ASCII):
                    found.setdefault(sentence, Docstring(sentence, name, library, part))
    return tuple(found.values())


def _public(node: ast.AST) -> Iterator[tuple[str, str]]:
    """The name of each public function, class and method, and its docstring's first sentence without markup."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef) and not child.name.startswith("_"):
            paragraph = " ".join((ast.get_docstring(child) or "").partition("\n\n")[0].split())
            plain = re.sub(r"[`*]", "", re.sub(r":[\w:]+:`~?([^`<]*?)(?: <[^>]*>)?`", r"\1", paragraph))
            yield child.name, re.split(r"(?<=[.!?]) ", plain)[0]
            if isinstance(child, ast.ClassDef):
                yield from _public(child)
