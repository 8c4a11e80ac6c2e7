"""What a reader wrote in the exercises of earlier notebooks, read from where it was saved."""

import ast
import json
from pathlib import Path
from typing import NamedTuple

from encoder_lib import expect
from encoder_lib.course.notebook import Source

# The exercises of earlier notebooks that a part of the encoder may grow from: notebook, function or class, part.
EARLIER = (
    ("01_embedding", "look_up", "Embedding"),
    ("03_layer_norm", "layer_norm", "Norm"),
    ("04_attention", "multi_head", "Attention"),
    ("05_feed_forward", "feed_forward", "FeedForward"),
    ("06_encoder_block", "Block", "Block"),
    ("07_encoder_stack", "Stack", "Encoder"),
    ("08_training", "learn", "learn"),
    ("09_pretrained", "pool", "pool"),
)


class Earlier(NamedTuple):
    """An exercise of an earlier notebook: where it stands, its name, the part that it is for, and what was written."""

    notebook: str
    name: str
    part: str
    source: str


def earlier_work(folder: str | Path = ".") -> list[Earlier]:
    """What the reader wrote in the exercises of earlier notebooks that parts of an encoder may grow from.

    The notebooks are read as they were saved; `source` is empty where the stub still stands, or no notebook.

    Raises: NotADirectoryError when there is no such folder.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise NotADirectoryError(f"folder: expected the folder of the notebooks, got {str(folder)!r}")
    return [Earlier(stem, name, part, _written(folder / f"{stem}.ipynb", name)) for stem, name, part in EARLIER]


def _written(path: Path, name: str) -> str:
    """The definition of that name in a notebook's exercises; empty while it is a stub."""
    if not path.exists():
        return ""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if "exercise" not in cell["metadata"].get("tags", []):
            continue
        try:
            tree = ast.parse("".join(cell["source"]))
        except SyntaxError:  # the reader is still writing
            continue
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
                stub = any(isinstance(n, ast.Constant) and n.value is ... for n in ast.walk(node))
                return "" if stub else ast.get_source_segment("".join(cell["source"]), node) or ""
    return ""


def show_earlier(name: str, folder: str | Path = ".") -> Source:
    """The reader's own code for the exercise of that name, to be copied from.

    Raises: ValueError for a name that is no such exercise; NotADirectoryError as `earlier_work`.
    """
    expect.choice("name", name, tuple(name for _, name, _ in EARLIER))
    found = next(work for work in earlier_work(folder) if work.name == name)
    return Source(found.source or f"# {found.name} in {found.notebook} has not been written yet")
