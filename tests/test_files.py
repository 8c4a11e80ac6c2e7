"""Files are written whole or not at all, and files of the wrong kind are named."""

import os
import stat
import subprocess
import sys

import pytest

from encoder_lib.files import MAGIC_HINTS, atomic_write, destination, existing_file, open_safetensors

if os.name == "posix":
    import fcntl

posix = pytest.mark.skipif(os.name != "posix", reason="permissions and locks of POSIX")


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_a_file_is_written_whole_or_not_at_all(tmp_path, error):
    path = tmp_path / "f"
    with atomic_write(path) as part:
        part.write_text("old")
    with pytest.raises(type(error)), atomic_write(path) as part:
        part.write_text("half of")
        raise error
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_a_file_is_replaced_when_the_block_ends(tmp_path):
    """Until then the old one can be read; a link leads to the new one afterwards."""
    path, link = tmp_path / "f", tmp_path / "link"
    path.write_text("old")
    link.symlink_to(path)
    with atomic_write(str(link)) as part:
        part.write_text("new")
        assert path.read_text() == "old" and part.parent == tmp_path
    assert path.read_text() == "new" and link.is_symlink()


def test_content_is_on_disk_before_the_file_is_renamed(tmp_path, monkeypatch):
    events, fsync, replace = [], os.fsync, type(tmp_path).replace
    monkeypatch.setattr(os, "fsync", lambda handle: (events.append("to disk"), fsync(handle))[1])
    monkeypatch.setattr(type(tmp_path), "replace", lambda a, b: (events.append("renamed"), replace(a, b))[1])
    with atomic_write(tmp_path / "f") as part:
        part.write_text("new")
    assert events == ["to disk", "renamed", "to disk"][: 3 if os.name == "posix" else 2]


@posix
@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_permissions_are_kept_or_follow_the_umask(tmp_path, umask):
    before = os.umask(umask)
    try:
        for mode in (0o600, 0o664, 0o444, None):
            path = tmp_path / f"{mode}"
            if mode is not None:
                path.write_text("old")
                path.chmod(mode)
            with atomic_write(path) as part:
                part.write_text("new")
                assert mode is None or stat.S_IMODE(part.stat().st_mode) == 0o600, "nobody else may read it early"
            assert path.read_text() == "new"
            assert stat.S_IMODE(path.stat().st_mode) == (0o666 & ~umask if mode is None else mode)
    finally:
        os.umask(before)


WRITE = """
import sys
from encoder_lib.files import atomic_write

with atomic_write(sys.argv[1]) as part:
    print(part, flush=True)
    sys.stdin.read()
"""


@posix
def test_only_parts_of_dead_processes_are_deleted(tmp_path):
    path = tmp_path / "f[1]"
    others = [tmp_path / name for name in (".f.0123abcd.part", ".f[1].mine.part", "f[1].0123abcd.part")]
    for other in others:
        other.touch()
    command = [sys.executable, "-c", WRITE, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        left = process.stdout.readline().strip()
        with atomic_write(path) as part:
            part.write_text("first")
        assert os.path.exists(left), "its process is alive"
        process.kill()
    assert os.path.exists(left)
    with atomic_write(path) as outer:
        assert not os.path.exists(left)
        outer.write_text("outer")
        with atomic_write(path) as inner:
            inner.write_text("inner")
        assert path.read_text() == "inner"
    assert path.read_text() == "outer" and set(tmp_path.iterdir()) == {path, *others}


@posix
def test_a_part_deleted_before_it_is_locked_is_recreated(tmp_path, monkeypatch):
    """Another writer may take it for abandoned in that moment."""
    lock = fcntl.flock

    def too_late(handle, operation):
        monkeypatch.undo()
        next(tmp_path.glob(".f.*.part")).unlink()
        lock(handle, operation)

    monkeypatch.setattr(fcntl, "flock", too_late)
    with atomic_write(tmp_path / "f") as part:
        part.write_text("new")
    assert (tmp_path / "f").read_text() == "new"


@posix
def test_a_file_system_without_locks_is_enough(tmp_path, monkeypatch):
    def refuse(handle, operation):
        raise OSError("no locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    (tmp_path / ".f.0123abcd.part").touch()
    with atomic_write(tmp_path / "f") as part:
        part.write_text("new")
    assert {path.name for path in tmp_path.iterdir()} == {"f", ".f.0123abcd.part"}, "whose it is cannot be known"


@pytest.mark.parametrize(
    ("place", "error", "words"),
    [
        ("", IsADirectoryError, "got a folder; try"),
        ("no/f", FileNotFoundError, "expected a folder, got none; try"),
        ("a\0b", ValueError, "with a zero byte; try leaving it out"),
    ],
)
def test_an_impossible_path_is_refused_before_the_block_runs(tmp_path, place, error, words):
    with pytest.raises(error, match=words), atomic_write(tmp_path / place):
        raise AssertionError("the block must not begin")
    with pytest.raises(error, match=words):
        destination(f"{tmp_path}/{place}")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_or_too_large_file_is_refused(tmp_path):
    path = tmp_path / "f"
    with pytest.raises(FileNotFoundError, match="expected a file, got nothing"):
        existing_file(path)
    with pytest.raises(FileNotFoundError, match="expected a file, got a folder"):
        existing_file(tmp_path)
    path.write_bytes(b"1234")
    assert existing_file(path, most=4) == existing_file(path, most=None) == path
    with pytest.raises(ValueError, match="expected at most 3 bytes, got 4"):
        existing_file(path, most=3)


@pytest.mark.parametrize("start", MAGIC_HINTS, ids=repr)
def test_a_file_of_another_kind_is_named_with_a_hint(tmp_path, start):
    (tmp_path / "f").write_bytes(b" \n" + start + b" and more than thirty-two bytes of it")
    with pytest.raises(ValueError, match=f"not a safetensors file.*{MAGIC_HINTS[start].split(';')[0]}; try"):
        open_safetensors(tmp_path / "f")
