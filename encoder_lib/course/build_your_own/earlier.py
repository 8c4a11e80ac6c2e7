"""What a reader wrote in the exercises of earlier notebooks, read from where it was saved."""

import ast
import json
from pathlib import Path
from typing import NamedTuple

from encoder_lib import expect
from encoder_lib.course.build_your_own.source import Definition, parsed
from encoder_lib.course.kit.notebook import Source

# The exercises of earlier notebooks that a part of the encoder may grow from: notebook, function or class.
EARLIER = (
    ("01_embedding", "PaddedEmbedding"),
    ("03_layer_norm", "Norm"),
    ("04_attention", "multi_head"),
    ("05_feed_forward", "Network"),
    ("06_encoder_block", "Block"),
)


class Earlier(NamedTuple):
    """An exercise of an earlier notebook: where it stands, its name, and what was written.

    `written` says in words whether anything was; `source` is empty where nothing was.
    """

    notebook: str
    name: str
    source: str
    written: str


def earlier_work(folder: str | Path = ".") -> list[Earlier]:
    """What the reader wrote in the exercises of earlier notebooks that parts of an encoder may grow from.

    The notebooks are read as they were saved; one that cannot be read is named in `written`. What is not written there
    is looked for in mine/ beside the folder, where `make update` keeps a reader's notebooks, the newest first.

    Raises: NotADirectoryError when there is no such folder.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise NotADirectoryError(f"folder: expected the folder of the notebooks, got {str(folder)!r}")
    return [Earlier(stem, name, *_found(folder, stem, name)) for stem, name in EARLIER]


def _found(folder: Path, stem: str, name: str) -> tuple[str, str]:
    """What `_written` finds in the notebook of the folder, or else in those of the same name that are kept in mine/."""
    kept = sorted((folder.resolve().parent / "mine").glob(f"{stem}*.ipynb"), key=lambda path: -path.stat().st_mtime)
    found = [_written(path, name) for path in (folder / f"{stem}.ipynb", *kept)]
    return next((each for each in found if each[0]), found[0])


def _written(path: Path, name: str) -> tuple[str, str]:
    """The definition of that name in a notebook's exercises, empty while it is a stub; and in words what was found."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        exercises = ["".join(c["source"]) for c in cells if "exercise" in c.get("metadata", {}).get("tags", [])]
    except FileNotFoundError:
        return "", f"no {path.name} here"
    except (OSError, ValueError, LookupError, TypeError, AttributeError):  # broken, empty, or of an old format
        return "", f"{path.name} cannot be read"
    for source in exercises:
        for node in parsed(source).body:
            if isinstance(node, Definition) and node.name == name and not _is_stub(node):
                where = f"yes, in mine/{path.name}" if path.parent.name == "mine" else "yes"
                return ast.get_source_segment(source, node) or "", where
    return "", "not yet"


def _is_stub(node: Definition) -> bool:
    """Whether a function, or a method beside `__init__`, has a bare `...` or `return ...` for its body."""
    inside = node.body if isinstance(node, ast.ClassDef) else [node]
    functions = [each for each in inside if isinstance(each, ast.FunctionDef) and each.name != "__init__"]
    bodies = [function.body[ast.get_docstring(function) is not None :] for function in functions]
    return any([ast.unparse(line) for line in body] in (["..."], ["return ..."]) for body in bodies)


def show_earlier(name: str, folder: str | Path = ".") -> Source:
    """The reader's own code for the exercise of that name, to be copied from.

    Raises: ValueError for a name that is no such exercise; NotADirectoryError as `earlier_work`.
    """
    expect.choice("name", name, tuple(name for _, name in EARLIER))
    found = next(work for work in earlier_work(folder) if work.name == name)
    return Source(found.source or f"# {found.name} in {found.notebook}: {found.written}")
