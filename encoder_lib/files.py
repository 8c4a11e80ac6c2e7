"""Files: one writer, which leaves a whole file or none, and one reader, of safetensors: nothing is unpickled."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError, safe_open

from encoder_lib import expect

# how files begin that often lie where a safetensors file should
IMPOSTORS = {
    b"version https://git-lfs": "it is a Git LFS pointer; try git lfs pull",
    b"<": "it is a web page; try the download again",
    b"PK": "it is a pickle, which can run code and is never read; try converting it with safetensors",
    b"\x80": "it is a pickle, which can run code and is never read; try converting it with safetensors",
}


@contextmanager
def atomic_write(path: str | Path) -> Iterator[Path]:
    """Where to write a file that takes its place in one step, when the block has ended well, and not before.

    Raises: as `destination`.
    """
    path = destination(path)
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        yield part
        _to_disk(part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    if os.name == "posix":  # elsewhere a folder cannot be opened
        _to_disk(path.parent)


def destination(path: str | Path) -> Path:
    """Where a file will be: the end of a link, in a folder that is there.

    Raises: TypeError for what is no path; ValueError for one with a zero byte; FileNotFoundError or IsADirectoryError
    for a place where no file can be.
    """
    expect.kind("path", path, str | Path, "a path", "; try 'model.safetensors'")
    if "\0" in str(path):
        raise ValueError(f"path: expected the name of a file, got {str(path)!r} with a zero byte; leave it out")
    path = Path(path).resolve()
    if path.is_dir():
        raise IsADirectoryError(f"{path}: expected the name of a file, got a folder; try {path / 'model.safetensors'}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path.parent}: expected a folder, got none; try making it first")
    return path


def _to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDWR if path.is_file() else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def existing_file(path: Path, most: int | None = 100_000_000) -> Path:
    """The path of a file that is there, of at most so many bytes (a tokenizer of a million words fits)."""
    if not path.is_file():
        raise FileNotFoundError(f"{path}: expected a file, got {'a folder' if path.exists() else 'nothing'}")
    if most is not None and path.stat().st_size > most:
        raise ValueError(f"{path}: expected at most {most:,} bytes, got {path.stat().st_size:,}")
    return path


def open_safetensors(path: Path) -> safe_open:
    """A safetensors file, opened. Raises FileNotFoundError where there is none, ValueError for another kind of file."""
    try:
        return safe_open(existing_file(path, most=None), framework="pt")
    except SafetensorError as error:
        with open(path, "rb") as file:
            start = file.read(32)
        hints = [f"; {hint}" for magic, hint in IMPOSTORS.items() if start.lstrip().startswith(magic)]
        raise ValueError(f"{path}: not a safetensors file, or not all of it: {error}{''.join(hints)}") from error
