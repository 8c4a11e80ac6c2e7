"""Files: written whole or not at all, and told from what they are not."""

import os

import pytest

from encoder_lib.files import IMPOSTORS, atomic_write, existing_file, open_safetensors


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_a_whole_file_is_written_whole_or_not_at_all(tmp_path, error):
    path = tmp_path / "f"
    with atomic_write(path) as part:
        part.write_text("old")
    with pytest.raises(type(error)), atomic_write(path) as part:
        part.write_text("half of")
        raise error
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_a_file_takes_its_place_when_the_block_has_ended(tmp_path):
    """Until then the old one is there, also for who reads meanwhile; a link leads to the new one."""
    path, link = tmp_path / "f", tmp_path / "link"
    path.write_text("old")
    link.symlink_to(path)
    with atomic_write(str(link)) as part:
        part.write_text("new")
        assert path.read_text() == "old" and part.parent == tmp_path
    assert path.read_text() == "new" and link.is_symlink()


def test_the_numbers_reach_the_disk_before_the_file_gets_its_place(tmp_path, monkeypatch):
    events, fsync, replace = [], os.fsync, type(tmp_path).replace
    monkeypatch.setattr(os, "fsync", lambda handle: (events.append("to disk"), fsync(handle))[1])
    monkeypatch.setattr(type(tmp_path), "replace", lambda a, b: (events.append("in its place"), replace(a, b))[1])
    with atomic_write(tmp_path / "f") as part:
        part.write_text("new")
    assert events == ["to disk", "in its place", "to disk"][: 3 if os.name == "posix" else 2]


@pytest.mark.parametrize(
    ("place", "error", "words"),
    [("", IsADirectoryError, "got a folder; try"), ("no/f", FileNotFoundError, "expected a folder, got none; try")],
)
def test_a_place_where_no_file_can_be_is_refused_before_anything_is_written(tmp_path, place, error, words):
    with pytest.raises(error, match=words), atomic_write(tmp_path / place):
        raise AssertionError("the block must not begin")
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_there_and_no_larger_than_expected(tmp_path):
    path = tmp_path / "f"
    with pytest.raises(FileNotFoundError, match="expected a file, got nothing"):
        existing_file(path)
    with pytest.raises(FileNotFoundError, match="expected a file, got a folder"):
        existing_file(tmp_path)
    path.write_bytes(b"1234")
    assert existing_file(path, most=4) == existing_file(path, most=None) == path
    with pytest.raises(ValueError, match="expected at most 3 bytes, got 4"):
        existing_file(path, most=3)


@pytest.mark.parametrize("start", IMPOSTORS, ids=repr)
def test_an_impostor_is_named_with_a_way_out(tmp_path, start):
    (tmp_path / "f").write_bytes(b" \n" + start + b" and more than thirty-two bytes of it")
    with pytest.raises(ValueError, match=f"not a safetensors file.*{IMPOSTORS[start].split(';')[0]}; try"):
        open_safetensors(tmp_path / "f")
