"""Files: written whole or not at all, and told from what they are not."""

import pytest

from encoder_lib.files import atomic_write


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_a_whole_file_is_written_whole_or_not_at_all(tmp_path, error):
    path = tmp_path / "f"
    with atomic_write(path) as part:
        part.write_text("old")
    with pytest.raises(type(error)), atomic_write(path) as part:
        part.write_text("half of")
        raise error
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]
