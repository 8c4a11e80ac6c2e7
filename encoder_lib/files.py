"""Write files atomically, and open safetensors files, which unlike pickles cannot run code."""

import glob
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from safetensors import SafetensorError, safe_open

from encoder_lib import expect

if os.name == "posix":
    import fcntl

# first bytes of files that are often found in place of a safetensors file
PICKLE = "it is a pickle, which can run code and is never loaded; try converting it with safetensors"
MAGIC_HINTS = {
    b"version https://git-lfs": "it is a Git LFS pointer; try git lfs pull",
    b"<": "it is a web page; try downloading it again",
    b"PK": PICKLE,
    b"\x80": PICKLE,
}


@contextmanager
def atomic_write(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path to write to, and rename it to `path` if the block succeeds.

    Until then an old file stays as it is. A file that is replaced passes its permissions on; a new one gets those that
    `open` would give it. Temporary files that killed processes have left for the same `path` are deleted.

    Raises: as `destination`.
    """
    path = destination(path)
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
    _delete_abandoned(path)
    part, lock = _create_part(path, 0o666 if mode is None else 0o600)  # the umask applies; 600 until it is complete
    try:
        yield part
        _flush_to_disk(part)
        if mode is not None:
            part.chmod(mode)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
        if lock is not None:
            os.close(lock)
    if os.name == "posix":  # elsewhere a folder cannot be opened
        _flush_to_disk(path.parent)


def _create_part(path: Path, mode: int) -> tuple[Path, int | None]:
    """Create an empty temporary file beside `path`; return it, and the handle whose lock says that its process lives.

    There is no lock on Windows, where an open file could not be renamed, nor on file systems that know none.
    """
    while True:
        part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
        handle = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
        if os.name != "posix":
            os.close(handle)
            return part, None
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return part, handle
        os.close(handle)  # another process deleted it before it was locked


def _delete_abandoned(path: Path) -> None:
    """Delete the temporary files for `path` that no living process holds a lock on."""
    parts = path.parent.glob(f".{glob.escape(path.name)}.{'[0-9a-f]' * 8}.part") if os.name == "posix" else ()
    for part in parts:
        with suppress(OSError):  # it is locked, not ours, not a file, or gone already
            handle = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
                part.unlink()
            finally:
                os.close(handle)


def destination(path: str | Path) -> Path:
    """The path, links resolved, at which a file can be written.

    Raises: TypeError if it is not a path; ValueError for a zero byte in it; IsADirectoryError if it is a folder;
    FileNotFoundError if its folder does not exist.
    """
    expect.instance("path", path, str | Path, "a path", "; try 'model.safetensors'")
    if "\0" in str(path):
        raise ValueError(f"path: expected the name of a file, got {str(path)!r} with a zero byte; try leaving it out")
    path = Path(path).resolve()
    if path.is_dir():
        raise IsADirectoryError(f"{path}: expected the name of a file, got a folder; try {path / 'model.safetensors'}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path.parent}: expected a folder, got none; try creating it first")
    return path


def _flush_to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDWR if path.is_file() else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def existing_file(path: Path, most: int | None = 100_000_000) -> Path:
    """The path of an existing file of at most `most` bytes; the default is enough for a tokenizer of a million words.

    Raises: FileNotFoundError if there is no file; ValueError if it is larger.
    """
    if not path.is_file():
        raise FileNotFoundError(f"{path}: expected a file, got {'a folder' if path.exists() else 'nothing'}")
    if most is not None and path.stat().st_size > most:
        raise ValueError(f"{path}: expected at most {most:,} bytes, got {path.stat().st_size:,}")
    return path


def open_safetensors(path: Path) -> safe_open:
    """Open a safetensors file. Raises FileNotFoundError if there is no file, ValueError if it is of another kind."""
    try:
        return safe_open(existing_file(path, most=None), framework="pt")
    except SafetensorError as error:
        with open(path, "rb") as file:
            start = file.read(32)
        hints = [f"; {hint}" for magic, hint in MAGIC_HINTS.items() if start.lstrip().startswith(magic)]
        raise ValueError(f"{path}: not a safetensors file, or not all of it: {error}{''.join(hints)}") from error
